"""Mean-field local step of GaP-KL-NMF: q(H) prod q(z), each frame by coordinate ascent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from ssvi.batches.frames import Frames
from ssvi.checks import require_count, require_not_negative
from ssvi.local_steps.gamma_process_nmf.factors import (
    FactorisationStep,
    Prepared,
    add_missing,
    count_frame_tables,
    frame_rates,
    scaled_activity,
)
from ssvi.local_steps.splits import add_shares, gather, most_entries, pull_towards
from ssvi.models.gamma_process_nmf import GammaProcessNMF
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import Keys
from ssvi.numerics.special import digamma, log_gamma
from ssvi.typing import Array


@kernel
def _expected_logs(shape: Array, rates: Array, logs: Array, activity: npt.NDArray[Any]) -> float:
    """Fill in E[log H] and exp of it relative to the largest; return the largest."""
    for k in range(shape.size):
        logs[k] = digamma(shape[k]) - math.log(rates[k])
    largest = float(logs.max())
    scaled_activity(np.exp(logs - largest), activity)
    return largest


@kernel
def _prior_bound(b: float, shape: Array, rates: Array, logs: Array, means: Array) -> float:
    """Return E_q[log p(H) - log q(H)] of one frame."""
    bound = shape.size * (b * math.log(b) - log_gamma(b))
    for k in range(shape.size):
        bound += (b - shape[k]) * logs[k] - (b - rates[k]) * means[k]
        bound += log_gamma(shape[k]) - shape[k] * math.log(rates[k])
    return bound


@kernel
def mean_field_frames(
    indptr: npt.NDArray[np.int64],
    columns: npt.NDArray[Any],
    counts: npt.NDArray[Any],
    missing_indptr: npt.NDArray[np.int64],
    missing_columns: npt.NDArray[Any],
    weights: npt.NDArray[Any],
    means: Array,
    whole_rates: Array,
    b: float,
    max_rounds: int,
    tolerance: float,
    activations: Array,
    shares: npt.NDArray[Any],
    missed: Array,
    tables: Array,
) -> float:
    """Handle each frame of a shard: fill in E[H], add to shares, missed and tables; return the sum of the local ELBOs.

    The bound lacks the logarithms that each feature's weights were divided by, and those of y!.
    """
    size = whole_rates.size
    buffer = np.empty((most_entries(indptr), size), weights.dtype)
    activity, pull = np.empty(size, weights.dtype), np.empty(size, weights.dtype)
    rates, logs = np.empty(size), np.empty(size)
    bound = 0.0
    for n in range(indptr.size - 1):
        own, here = counts[indptr[n] : indptr[n + 1]], columns[indptr[n] : indptr[n + 1]]
        absent = missing_columns[missing_indptr[n] : missing_indptr[n + 1]]
        rows = gather(here, weights, buffer)
        frame_rates(absent, means, whole_rates, rates)
        shape = np.full(size, b + own.sum() / size)
        for _ in range(max_rounds):
            _expected_logs(shape, rates, logs, activity)
            pull_towards(rows, own, activity, pull)
            change = 0.0
            for k in range(size):
                updated = b + activity[k] * pull[k]
                change += abs(updated - shape[k])
                shape[k] = updated
            if change < tolerance * shape.sum():
                break
        largest = _expected_logs(shape, rates, logs, activity)
        activations[n] = shape / rates
        add_missing(absent, activations[n], missed)
        if tables.size:
            count_frame_tables(b, shape, rates, tables)
        bound += add_shares(rows, here, own, activity, shares) + own.sum() * largest
        bound += _prior_bound(b, shape, rates, logs, activations[n]) - ((rates - b) * activations[n]).sum()
    return bound


@dataclass(frozen=True)
class MeanField(FactorisationStep):
    """q(H_n) q(z_n), optimised given exp(t) of weights and dictionary.

    Parameters
    ----------
    max_rounds : int
        At most this many updates of q(H_n) a frame.
    tolerance : float
        Stop when the shapes of q(H_n) change by less than this share of their sum.
    precision : {"float32", "float64"}
        The arithmetic of the inner loops.

    """

    max_rounds: int = 100
    tolerance: float = 1e-3
    precision: str = "float32"

    name = "mean_field"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_count("max_rounds", self.max_rounds)
        require_not_negative("tolerance", self.tolerance)

    def _handle(
        self, model: GammaProcessNMF, prepared: Prepared, frames: Frames, keys: Keys, activations: Array,
        shares: npt.NDArray[Any], missed: Array, tables: Array,
    ) -> float:  # fmt: skip
        values, absent = frames.values, frames.missing
        bound = mean_field_frames(
            values.indptr, values.words, values.counts, absent.indptr, absent.words, prepared.weights, prepared.means,
            prepared.rates, model.activation_shape, self.max_rounds, self.tolerance, activations, shares, missed,
            tables,
        )  # fmt: skip
        own = slice(values.indptr[0], values.indptr[-1])
        counts = values.counts[own].astype(np.float64)
        return float(bound + counts @ prepared.log_scale[values.words[own]] - special.gammaln(counts + 1.0).sum())

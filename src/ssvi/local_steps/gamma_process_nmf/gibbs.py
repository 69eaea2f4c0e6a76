"""Gibbs local step of GaP-KL-NMF: each frame's activations are drawn; its counts split in expectation, or drawn too."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.data.frames import Frames
from ssvi.local_steps.gamma_process_nmf.common import (
    FactorisationStep,
    Prepared,
    add_missing,
    frame_rates,
    gather,
    most_entries,
    scaled_activity,
)
from ssvi.local_steps.splits import pull_towards
from ssvi.models.gamma_process_nmf import GammaProcessNMF
from ssvi.numerics.compile import kernel
from ssvi.numerics.gamma_variates import log_gamma_variate
from ssvi.numerics.random import Keys, uniform
from ssvi.numerics.vectors import dot
from ssvi.typing import Array


@kernel
def _split(
    count: float, row: npt.NDArray[Any], activity: npt.NDArray[Any], tallies: Array, state: np.uint64
) -> np.uint64:
    """Add to `tallies` a multinomial draw: `count` units among components in proportion to row * activity.

    Uniform numbers are made in increasing order, so that one walk over the components places them all.
    """
    norm, reached, k = 0.0, 0.0, -1
    for j in range(row.size):
        norm += row[j] * activity[j]
    level, left = 0.0, count
    while left > 0.0:
        chance, state = uniform(state)
        level = 1.0 - (1.0 - level) * chance ** (1.0 / left)
        while k < 0 or (reached <= level * norm and k < row.size - 1):
            k += 1
            reached += row[k] * activity[k]
        tallies[k] += 1.0
        left -= 1.0
    return state


@kernel
def _draw_pull(
    rows: npt.NDArray[Any], counts: npt.NDArray[Any], activity: npt.NDArray[Any], tallies: Array, state: np.uint64
) -> np.uint64:
    """Fill in each component's drawn count over a frame."""
    tallies[:] = 0.0
    for i in range(counts.size):
        state = _split(counts[i], rows[i], activity, tallies, state)
    return state


@kernel
def gibbs_frames(
    indptr: npt.NDArray[np.int64],
    columns: npt.NDArray[Any],
    counts: npt.NDArray[Any],
    missing_indptr: npt.NDArray[np.int64],
    missing_columns: npt.NDArray[Any],
    weights: npt.NDArray[Any],
    means: Array,
    whole_rates: Array,
    b: float,
    rounds: int,
    sweeps: int,
    drawn: bool,
    keys: Keys,
    activations: Array,
    shares: npt.NDArray[Any],
    missed: Array,
) -> None:
    """Handle each frame of a shard: fill in a draw of H, add to shares and missed."""
    size = whole_rates.size
    buffer = np.empty((most_entries(indptr), size), weights.dtype)
    activity, pull = np.empty(size, weights.dtype), np.empty(size, weights.dtype)
    rates, tallies = np.empty(size), np.empty(size)
    for n in range(indptr.size - 1):
        own, here = counts[indptr[n] : indptr[n + 1]], columns[indptr[n] : indptr[n + 1]]
        absent = missing_columns[missing_indptr[n] : missing_indptr[n + 1]]
        rows, state, current = gather(here, weights, buffer), keys[n], activations[n]
        frame_rates(absent, means, whole_rates, rates)
        current[:] = (b + own.sum() / size) / rates
        for sweep in range(rounds + sweeps):
            scaled_activity(current, activity)
            if drawn:
                state = _draw_pull(rows, own, activity, tallies, state)
            else:
                pull_towards(rows, own, activity, pull)
                for k in range(size):
                    tallies[k] = activity[k] * pull[k]
            for k in range(size):
                if sweep < rounds:
                    current[k] = (b + tallies[k]) / rates[k]
                else:
                    log_value, state = log_gamma_variate(b + tallies[k], state)
                    current[k] = math.exp(log_value) / rates[k]
        scaled_activity(current, activity)
        add_missing(absent, current, missed)
        for i in range(own.size):
            target = shares[here[i]]
            if drawn:
                state = _split(own[i], rows[i], activity, target, state)
            else:
                share = own[i] / dot(rows[i], activity)
                for k in range(size):
                    target[k] += share * activity[k]


@dataclass(frozen=True)
class Gibbs(FactorisationStep):
    """A draw of H_n by Gibbs sampling of (H_n, z_n), or of H_n given the expected split of its counts.

    Parameters
    ----------
    sweeps : int
        Draws of H_n in turn, the last of which is used.
    rounds : int
        Before them, so many updates in expectation, from equal activations.
    drawn : bool
        Draw how each count splits, which takes whole counts and time in proportion to them; then the sweeps are a
        Gibbs sampler, exact in the limit. Otherwise the split is in expectation.
    precision : {"float32", "float64"}
        The arithmetic of the inner loops.

    """

    sweeps: int = 5
    rounds: int = 5
    drawn: bool = False
    precision: str = "float32"

    name = "gibbs"

    def check(self, batch: Frames) -> None:
        """Raise if counts are to be drawn and are not whole."""
        if self.drawn and not batch.values.is_whole():
            raise ValueError(
                "Gibbs(drawn=True) draws how each count splits, and there are values that are not whole: use "
                "drawn=False, or round them."
            )

    def _counts(self, prepared: Prepared, shares: Array) -> Array:
        return shares if self.drawn else super()._counts(prepared, shares)

    def _handle(
        self, model: GammaProcessNMF, prepared: Prepared, frames: Frames, keys: Keys, activations: Array,
        shares: npt.NDArray[Any], missed: Array,
    ) -> None:  # fmt: skip
        values, absent = frames.values, frames.missing
        gibbs_frames(
            values.indptr, values.words, values.counts, absent.indptr, absent.words, prepared.weights, prepared.means,
            prepared.rates, model.activation_shape, self.rounds, self.sweeps, self.drawn, keys,
            activations, shares, missed,
        )  # fmt: skip

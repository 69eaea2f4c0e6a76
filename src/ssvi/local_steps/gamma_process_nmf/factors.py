"""What the local steps of the gamma process factorisation share.

Given weights and dictionary, a count Y_nf is a sum of Poisson counts z_nfk of mean theta_k W_kf H_nk. Given H it splits
in proportion to these means; given z, H_nk ~ Gamma(b + sum_f z_nfk, b + theta_k sum_f W_kf), the sum over the features
that are not missing in frame n. A frame costs its entries times K; nothing is ever as large as all entries times K.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.batches.documents import Documents
from ssvi.batches.frames import Frames
from ssvi.checks import require_one_of
from ssvi.local_steps.base import PRECISIONS, LocalResult, LocalStep
from ssvi.models.gamma_process_nmf import GammaProcessNMF
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import Keys
from ssvi.numerics.special import digamma
from ssvi.tasks import Each
from ssvi.typing import Array

# Relative to the largest of a feature's weights, and of a frame's activations: far below what matters, and far enough
# above the smallest normal single-precision number (1e-38) that no product is subnormal, which would be slow.
_SMALLEST_WEIGHT = 1e-18
SMALLEST_ACTIVITY = 1e-15


@dataclass(frozen=True)
class Prepared:
    """A minibatch, and the view in the form that the kernels want.

    Attributes
    ----------
    frames : Frames
        The minibatch, its values in the kernels' precision.
    weights : (F, K)
        exp(t) of theta_k W_kf, divided by each feature's largest: how a count splits does not mind the factor.
    log_scale : (F,)
        The logarithm of what each row was divided by.
    theta : (K,)
        theta_k as it enters the rates.
    spectra : (F, K)
        W_kf as it enters the rates.
    means : (F, K)
        Their product.
    rates : (K,)
        b + the sum of `means` over all features: the rate of H_nk where nothing is missing.

    """

    frames: Frames
    weights: npt.NDArray[np.floating[Any]]
    log_scale: Array
    theta: Array
    spectra: Array
    means: Array
    rates: Array


@kernel
def frame_rates(missing: npt.NDArray[Any], means: Array, whole: Array, rates: Array) -> None:
    """Fill in the rates of one frame's activations: those of a whole frame less what is missing."""
    rates[:] = whole
    for f in missing:
        for k in range(rates.size):
            rates[k] -= means[f, k]


@kernel
def scaled_activity(activations: Array, activity: npt.NDArray[Any]) -> None:
    """Fill in activations relative to the largest, and not smaller than what is fast."""
    largest = activations.max()
    for k in range(activations.size):
        activity[k] = max(activations[k] / largest, SMALLEST_ACTIVITY)


@kernel
def add_missing(missing: npt.NDArray[Any], activations: Array, missed: Array) -> None:
    """Add a frame's activations to those that the features missing in it did not see."""
    for f in missing:
        for k in range(activations.size):
            missed[f, k] += activations[k]


@kernel
def count_frame_tables(b: float, shapes: Array, rates: Array, tables: Array) -> None:
    """Add what a frame's activations, given how its counts split, say of b to `tables`.

    Each is Gamma(shape, rate), with shape b + counts and rate b + exposure. The log probability of the counts has in b
    the slope psi(shape) - psi(b) less log(rate / b) + shape / rate - 1. The two sums are those of b times the first
    (expected numbers of tables, as of a Polya urn) and of the second, none of them negative.
    """
    own = digamma(b)
    for k in range(shapes.size):
        tables[0] += b * (digamma(shapes[k]) - own)
        tables[1] += math.log(rates[k] / b) + shapes[k] / rates[k] - 1.0


def _typed(entries: Documents, dtype: np.dtype[Any]) -> Documents:
    """Return entries in the types that the kernels are compiled for, whatever the data came in."""
    words = entries.words.astype(np.uint32)
    return Documents(entries.indptr, words, entries.counts.astype(dtype), entries.n_words)


class FactorisationStep(LocalStep):
    """A local step of GaP-KL-NMF: `prepare` and `finish` are the same for all."""

    model = "gamma_process_nmf"
    precision: str

    def __post_init__(self) -> None:
        require_one_of("precision", self.precision, PRECISIONS)

    def prepare(self, model: GammaProcessNMF, views: Mapping[str, Array], batch: Frames, each: Each = map) -> Prepared:
        """Lay out theta_k W_kf feature by feature."""
        theta, dictionary = views["weights"], views["dictionary"]
        dtype = np.dtype(self.precision)
        logs = dictionary[..., 0].T + theta[:, 0]
        log_scale = logs.max(axis=1)
        weights = np.empty(logs.shape, dtype)
        np.exp(logs - log_scale[:, None], out=weights, casting="same_kind")
        np.maximum(weights, dtype.type(_SMALLEST_WEIGHT), out=weights)
        shares, spectra = -theta[:, 1], np.ascontiguousarray(-dictionary[..., 1].T)
        means = spectra * shares
        frames = batch.tight()
        typed = Frames(_typed(frames.values, dtype), _typed(frames.missing, dtype))
        rates = model.activation_shape + means.sum(axis=0)
        return Prepared(typed, weights, log_scale, shares, spectra, means, rates)

    def run(self, model: GammaProcessNMF, prepared: Prepared, start: int, stop: int, keys: Keys) -> LocalResult:
        """Handle frames start, ..., stop - 1; `local` is their activations H."""
        frames = prepared.frames.slice(start, stop)
        shares = np.zeros(prepared.weights.shape, self._share_type)
        some_missing = len(prepared.frames.missing.words) > 0  # in any shard: all must report alike
        missed = np.zeros(prepared.means.shape if some_missing else (0, model.n_components))
        activations = np.empty((stop - start, model.n_components))
        tables = np.zeros(2 if "activation_shape" in model.learned else 0)
        bound = self._handle(model, prepared, frames, keys, activations, shares, missed, tables)
        sums = {"shares": shares, "activity": activations.sum(axis=0)}
        if tables.size:
            sums["tables"] = tables
        if some_missing:
            sums["missed"] = missed
        return LocalResult(sums, {"activations": activations}, bound)

    @property
    def _share_type(self) -> str:
        """The type in which shares are added up."""
        return self.precision

    @abstractmethod
    def _handle(
        self, model: GammaProcessNMF, prepared: Prepared, frames: Frames, keys: Keys, activations: Array,
        shares: npt.NDArray[Any], missed: Array, tables: Array,
    ) -> float | None:  # fmt: skip
        """Fill in activations and missed, add up shares (see `_counts`) and tables; return a bound if there is one."""

    def _counts(self, prepared: Prepared, shares: Array) -> Array:
        """Return the counts by feature and component."""
        counts: Array = shares * prepared.weights
        return counts

    def finish(self, model: GammaProcessNMF, prepared: Prepared, result: LocalResult) -> LocalResult:
        """Form each block's statistics, counts and exposure, given the other block's view."""
        counts = self._counts(prepared, result.eta_hat["shares"])
        activity = result.eta_hat["activity"] - result.eta_hat.get("missed", 0.0)  # (K,), or (F, K)
        seen = np.broadcast_to(np.maximum(activity, 0.0), counts.shape)
        eta_hat = {
            "weights": np.stack([counts.sum(axis=0), (prepared.spectra * seen).sum(axis=0)], axis=-1),
            "dictionary": np.stack([counts.T, (prepared.theta * seen).T], axis=-1),
        }
        if "tables" in result.eta_hat:
            eta_hat["tables"] = result.eta_hat["tables"]
        return LocalResult(eta_hat, result.local, result.bound)

"""What the local steps of the Bernoulli mixture share: the log probabilities of a row under each component.

log p(y, z = k) = log pi_k + sum_d log(1 - phi_kd) + sum_{d: y_d = 1} log(phi_kd / (1 - phi_kd)): a row costs its ones
times K.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.data.documents import Documents
from ssvi.local_steps.base import LocalResult, LocalStep
from ssvi.models.bernoulli_mixture import BernoulliMixture
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import Keys, uniform
from ssvi.typing import Array

_LARGEST = 1e6  # log odds beyond this (a phi of 0 or 1) say no more than this, and infinities would meet as NaN


@dataclass(frozen=True)
class Prepared:
    """A minibatch, and the view in the form that the kernel wants.

    Attributes
    ----------
    rows : Documents
        The minibatch.
    base : (K,)
        The log probability of a row of zeros together with each component.
    log_odds : (D, K)
        What a one in feature d adds to it.

    """

    rows: Documents
    base: Array
    log_odds: Array


@kernel
def add_ones(ones: npt.NDArray[Any], log_odds: Array, scores: Array) -> None:
    """Add to each component's score what a row's ones say."""
    for d in ones:
        for k in range(scores.size):
            scores[k] += log_odds[d, k]


@kernel
def _log_joint(ones: npt.NDArray[Any], base: Array, log_odds: Array, scores: Array) -> float:
    """Fill in log p(y, z = k) for each k; return log p(y)."""
    scores[:] = base
    add_ones(ones, log_odds, scores)
    largest = scores.max()
    total = 0.0
    for k in range(scores.size):
        total += math.exp(scores[k] - largest)
    return float(largest + math.log(total))


@kernel
def responsibilities(
    indptr: npt.NDArray[np.int64],
    words: npt.NDArray[Any],
    base: Array,
    log_odds: Array,
    sampled: bool,
    keys: Keys,
    tallies: Array,
    ones: Array,
    local: Array,
    log_probability: Array,
) -> None:
    """Find p(z | y) of each row, or one draw from it.

    Adds to `tallies` (K) and `ones` (features x K) the expected or drawn number of rows of each component, and of its
    ones; fills in p(z | y) or the draw as `local`, and log p(y).
    """
    scores = np.empty(base.size)
    for n in range(indptr.size - 1):
        row = words[indptr[n] : indptr[n + 1]]
        log_probability[n] = _log_joint(row, base, log_odds, scores)
        if sampled:
            level, _ = uniform(keys[n])
            chosen = 0
            for k in range(base.size):
                level -= math.exp(scores[k] - log_probability[n])
                chosen = k
                if level < 0.0:
                    break
            local[n, chosen] = 1.0
            tallies[chosen] += 1.0
            for d in row:
                ones[d, chosen] += 1.0
        else:
            for k in range(base.size):
                local[n, k] = math.exp(scores[k] - log_probability[n])
                tallies[k] += local[n, k]
            for d in row:
                for k in range(base.size):
                    ones[d, k] += local[n, k]


class MixtureStep(LocalStep):
    """Responsibilities, expected or drawn."""

    model = "bernoulli_mixture"
    sampled: bool

    def check(self, batch: Documents) -> None:
        """Raise unless the data are zeros and ones."""
        counts = batch.tight().counts
        if not np.all(counts == 1):
            worst = counts[int(np.argmax(counts != 1))]
            raise ValueError(
                f"a Bernoulli mixture needs zeros and ones, and there is {worst} in the data: binarise it."
            )

    def prepare(self, model: BernoulliMixture, views: Mapping[str, Array], batch: Documents) -> Prepared:
        """Turn the view into log odds."""
        stats = np.maximum(views["components"], -_LARGEST)
        base = views["weights"][0] + stats[..., 1].sum(axis=1)
        return Prepared(batch, base, np.ascontiguousarray((stats[..., 0] - stats[..., 1]).T))

    def run(self, model: BernoulliMixture, prepared: Prepared, start: int, stop: int, keys: Keys) -> LocalResult:
        """Handle rows start, ..., stop - 1."""
        rows = prepared.rows.slice(start, stop)
        tallies, ones = np.zeros(model.n_components), np.zeros((model.n_features, model.n_components))
        local, log_probability = np.zeros((stop - start, model.n_components)), np.empty(stop - start)
        responsibilities(
            rows.indptr, rows.words, prepared.base, prepared.log_odds, self.sampled, keys,
            tallies, ones, local, log_probability,
        )  # fmt: skip
        return LocalResult({"weights": tallies, "components": ones}, local, self._bound(log_probability))

    @abstractmethod
    def _bound(self, log_probability: Array) -> float | None:
        """Return the sum of the rows' local ELBOs, if the step optimises one."""

    def finish(self, model: BernoulliMixture, prepared: Prepared, result: LocalResult) -> LocalResult:
        """Return the numbers of ones and zeros, by component and feature."""
        tallies, ones = result.eta_hat["weights"], result.eta_hat["components"].T
        counts = np.stack([ones, tallies[:, None] - ones], axis=-1)
        # Rounding may leave a little less than nothing.
        eta_hat = {"weights": tallies[None], "components": np.maximum(counts, 0.0)}
        return LocalResult(eta_hat, result.local, result.bound)

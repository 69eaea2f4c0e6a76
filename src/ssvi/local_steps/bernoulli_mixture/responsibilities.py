"""What the local steps of the Bernoulli mixture share: the log probabilities of a row under each component.

log p(y, z = k) = log pi_k + sum_d log(1 - phi_kd) + sum_{d: y_d = 1} log(phi_kd / (1 - phi_kd)): a row costs its ones
times K.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.batches.documents import Documents
from ssvi.local_steps.base import LocalResult, LocalStep
from ssvi.local_steps.mixtures import draw_components, normalise
from ssvi.models.bernoulli_mixture import BernoulliMixture
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import Keys
from ssvi.tasks import Each
from ssvi.typing import Array

_FEW = 8  # an eighth of the components is few: then scattered additions are quicker than whole rows
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
def add_rows(chosen: npt.NDArray[Any], table: Array, sums: Array) -> None:
    """Add the chosen rows of a table to `sums`, four at a time: most of the time goes into loads and stores."""
    whole = chosen.size - chosen.size % 4
    for i in range(0, whole, 4):
        first, second = table[chosen[i]], table[chosen[i + 1]]
        third, fourth = table[chosen[i + 2]], table[chosen[i + 3]]
        for k in range(sums.size):
            sums[k] += (first[k] + second[k]) + (third[k] + fourth[k])
    for i in range(whole, chosen.size):
        row = table[chosen[i]]
        for k in range(sums.size):
            sums[k] += row[k]


@kernel
def responsibilities(
    indptr: npt.NDArray[np.int64],
    words: npt.NDArray[Any],
    base: Array,
    log_odds: Array,
    local: Array,
    log_probability: Array,
) -> None:
    """Fill in p(z | y) of each row as `local`, and log p(y)."""
    for n in range(indptr.size - 1):
        local[n] = base
        add_rows(words[indptr[n] : indptr[n + 1]], log_odds, local[n])
        log_probability[n] = normalise(local[n])


@kernel
def count_drawn(
    indptr: npt.NDArray[np.int64], words: npt.NDArray[Any], drawn: npt.NDArray[np.int64], ones: Array
) -> None:
    """Add to `ones` (features x K) the ones of each row, in its component."""
    for n in range(drawn.size):
        for i in range(indptr[n], indptr[n + 1]):
            ones[words[i], drawn[n]] += 1.0


@kernel
def _count_sure(
    indptr: npt.NDArray[np.int64], words: npt.NDArray[Any], local: Array, ones: Array
) -> npt.NDArray[np.int64]:
    """Add to `ones` the expected ones of rows that few components explain; return the other rows."""
    unsure = np.empty(local.shape[0], np.int64)
    found, count = np.empty(local.shape[1], np.int64), 0
    for n in range(local.shape[0]):
        active = 0
        for k in range(local.shape[1]):
            found[active] = k
            active += local[n, k] > 0.0
        if active * _FEW > local.shape[1]:
            unsure[count] = n
            count += 1
            continue
        for i in range(indptr[n], indptr[n + 1]):
            for j in range(active):
                ones[words[i], found[j]] += local[n, found[j]]
    return unsure[:count]


@kernel
def count_expected(indptr: npt.NDArray[np.int64], words: npt.NDArray[Any], local: Array, ones: Array) -> None:
    """Add to `ones` (features x K) the expected ones: for each feature, the sum of its rows' responsibilities."""
    unsure = _count_sure(indptr, words, local, ones)
    starts = np.zeros(ones.shape[0] + 1, np.int64)
    for n in unsure:
        for i in range(indptr[n], indptr[n + 1]):
            starts[words[i] + 1] += 1
    starts = np.cumsum(starts)
    rows, places = np.empty(starts[-1], np.int64), starts.copy()
    for n in unsure:
        for i in range(indptr[n], indptr[n + 1]):
            rows[places[words[i]]] = n
            places[words[i]] += 1
    for d in range(ones.shape[0]):
        add_rows(rows[starts[d] : starts[d + 1]], local, ones[d])


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

    def prepare(
        self, model: BernoulliMixture, views: Mapping[str, Array], batch: Documents, each: Each = map
    ) -> Prepared:
        """Turn the view into log odds."""
        stats = np.maximum(views["components"], -_LARGEST)
        base = views["weights"][0] + stats[..., 1].sum(axis=1)
        return Prepared(batch, base, np.ascontiguousarray((stats[..., 0] - stats[..., 1]).T))

    def run(self, model: BernoulliMixture, prepared: Prepared, start: int, stop: int, keys: Keys) -> LocalResult:
        """Handle rows start, ..., stop - 1."""
        rows = prepared.rows.slice(start, stop)
        local, log_probability = np.empty((stop - start, model.n_components)), np.empty(stop - start)
        responsibilities(rows.indptr, rows.words, prepared.base, prepared.log_odds, local, log_probability)
        ones = np.zeros((model.n_features, model.n_components))
        if self.sampled:
            count_drawn(rows.indptr, rows.words, draw_components(local, keys), ones)
        else:
            count_expected(rows.indptr, rows.words, local, ones)
        eta_hat = {"weights": local.sum(axis=0), "components": ones}
        return LocalResult(eta_hat, {"responsibilities": local}, self._bound(log_probability))

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

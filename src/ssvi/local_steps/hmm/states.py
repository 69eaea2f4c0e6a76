"""What the local steps of the hidden Markov model share: from rows to scores, and from states to eta-hat.

log p(x, z) = log start_z1 + sum_t log transitions_(z_t-1, z_t) + sum_t log p(x_t | z_t), each term linear in the view
of its block. A subchain's core counts the transition into its first time point, and the first state only where a
sequence begins; its bound is the log probability of the core given what its window has before it. So bounds and
statistics of all cores add up to those of the whole sequence, but for what windows do not reach.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ssvi.batches import Sequences, Subchains
from ssvi.local_steps.base import LocalResult, LocalStep
from ssvi.local_steps.hmm.views import ChainView
from ssvi.local_steps.hmm.windows import FIRST_REACH, LONGEST_REACH, Windows, keys_of_rows, windows_at
from ssvi.models.emissions.base import Tables
from ssvi.models.hmm import HMM
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import Keys
from ssvi.tasks import Each
from ssvi.typing import Array


@dataclass(frozen=True)
class Prepared:
    """A minibatch, and the view in the form that kernels want."""

    batch: Sequences | Subchains
    chain: ChainView
    emissions: Tables


@dataclass
class Totals:
    """What adds up over windows."""

    model: HMM
    start: Array = field(init=False)
    counts: Array = field(init=False)
    emissions: dict[str, Array] = field(default_factory=dict)
    shares: Array = field(init=False)
    bound: float = 0.0

    def __post_init__(self) -> None:
        size = self.model.n_components
        self.start, self.counts = np.zeros(size), np.zeros((size, size))
        for name, block in self.model.emission.blocks().items():
            self.emissions[name] = np.zeros(block.shape)

    def add(self, statistics: Mapping[str, Array]) -> None:
        """Add the statistics of emissions."""
        for name, value in statistics.items():
            self.emissions[name] += value


def shifted(scores: Array) -> tuple[Array, Array]:
    """Return exp(scores - the largest of each time point), in place, and the largest."""
    largest = np.empty(len(scores))
    below_largest(scores, largest)
    return np.exp(scores, out=scores), largest


@kernel
def below_largest(scores: Array, largest: Array) -> None:
    """Fill in the largest score of each time point, and take it off all of them."""
    for t in range(scores.shape[0]):
        top = scores[t, 0]
        for k in range(1, scores.shape[1]):
            top = max(top, scores[t, k])
        largest[t] = top
        for k in range(scores.shape[1]):
            scores[t, k] -= top


def core_rows(windows: Windows) -> npt.NDArray[np.bool_]:
    """Tell which rows are of cores."""
    marks = np.zeros(len(windows.values) + 1, np.int64)
    np.add.at(marks, windows.places[:, 1], 1)
    np.add.at(marks, windows.places[:, 2], -1)
    return np.cumsum(marks[:-1]) > 0


def core_sums(rows: Array, windows: Windows) -> Array:
    """Return the sums of rows over each window, rows outside of cores being 0."""
    cuts = windows.places[:, [0, 3]].reshape(-1)
    padded = np.concatenate([rows, np.zeros((1, rows.shape[1]))])
    sums: Array = np.add.reduceat(padded, np.minimum(cuts, len(rows)), axis=0)[::2]
    sums[windows.places[:, 0] == windows.places[:, 3]] = 0.0
    return sums


class ChainStep(LocalStep):
    """States of sequences, expected or drawn."""

    model = "hmm"
    unit_cost = 4
    sampled: bool = False

    def check(self, batch: Sequences | Subchains) -> None:
        """Raise if a number is infinite."""
        if np.isinf(batch.values).any():
            row, column = np.argwhere(np.isinf(batch.values))[0]
            raise ValueError(
                f"there is an infinite number in row {row}, column {column}: take NaN for what is missing."
            )

    def prepare(
        self, model: HMM, views: Mapping[str, Array], batch: Sequences | Subchains, each: Each = map
    ) -> Prepared:
        """Bring the view into the form of kernels."""
        return Prepared(batch, ChainView.of(views), model.emission.tables(views))

    def run(self, model: HMM, prepared: Prepared, start: int, stop: int, keys: Keys) -> LocalResult:
        """Handle sequences start, ..., stop - 1; those whose windows do not reach far enough once more."""
        totals = Totals(model)
        totals.shares = np.zeros((stop - start, model.n_components))
        left, reach = np.arange(stop - start), FIRST_REACH
        while len(left):
            windows = windows_at(prepared.batch, start + left, reach).informed()
            settled = self._run_windows(prepared, windows, keys[left], totals, left, last=reach >= LONGEST_REACH)
            left, reach = left[~settled], 4 * reach
        eta_hat = {
            "start": totals.start[None],
            "transitions": totals.counts if self.sampled else totals.counts * prepared.chain.transitions,
            **totals.emissions,
        }
        return LocalResult(eta_hat, {"states": _normalised(totals.shares)}, self._bound(totals.bound))

    @abstractmethod
    def _run_windows(
        self,
        prepared: Prepared,
        windows: Windows,
        keys: Keys,
        totals: Totals,
        places: npt.NDArray[np.int64],
        *,
        last: bool,
    ) -> npt.NDArray[np.bool_]:
        """Add up what windows say; tell which of them reach far enough (all of them, if this is the last chance)."""

    @abstractmethod
    def _bound(self, bound: float) -> float | None:
        """Return the sum of the local ELBOs, if the step optimises one."""


def add_up(
    prepared: Prepared, windows: Windows, shares: Array, keys: Keys, totals: Totals, places: npt.NDArray[np.int64],
    sampled: bool,
) -> None:  # fmt: skip
    """Add the statistics of emissions given the shares of states, and each window's own shares."""
    row_keys = keys_of_rows(windows, keys) if sampled else np.zeros(len(windows.values), np.uint64)
    totals.add(prepared.emissions.statistics(windows.values, shares, row_keys, sampled))
    totals.shares[places] = core_sums(shares, windows)


def _normalised(shares: Array) -> Array:
    """Return shares that add up to 1; a sequence of which nothing is known has all states alike."""
    sums = shares.sum(axis=1, keepdims=True)
    result: Array = np.where(sums > 0, shares / np.where(sums > 0, sums, 1.0), 1.0 / shares.shape[1])
    return result

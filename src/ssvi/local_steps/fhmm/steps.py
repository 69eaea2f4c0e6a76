"""What the local steps of the factorial hidden Markov model share: runs of one chain, and a minibatch prepared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ssvi.batches import Sequences
from ssvi.local_steps.base import LocalStep
from ssvi.local_steps.fhmm.sums import Sums, sums_of
from ssvi.local_steps.hmm.chains import smooth_windows
from ssvi.local_steps.hmm.states import shifted
from ssvi.local_steps.hmm.views import ChainView
from ssvi.models.fhmm import FHMM
from ssvi.numerics.random import Keys
from ssvi.tasks import Each
from ssvi.typing import Array


class ChainRun(NamedTuple):
    """What was found of one chain.

    Attributes
    ----------
    shares : (rows, K)
        Of its states, expected or drawn.
    firsts, counts : (K,), (K, K)
        First states and transitions.
    logs : (sequences,)
        Log integrals.

    """

    shares: Array
    firsts: Array
    counts: Array
    logs: Array


def run_chain(chain: ChainView, scores: Array, cuts: npt.NDArray[np.int64], keys: Keys | None = None) -> ChainRun:
    """Find the states of one chain of each sequence given the scores of its time points; drawn if there are keys.

    Scores are overwritten. `cuts` are where sequences begin and end, from 0.
    """
    begins, ends = cuts[:-1], cuts[1:]
    places = np.stack([begins, begins, ends, ends], axis=1)
    size, count = len(chain.start), len(begins)
    emitted, shifts = shifted(scores)
    shares, expected = np.empty(emitted.shape), np.ones(len(emitted))
    firsts, counts, settled = np.zeros(size), np.zeros((size, size)), np.empty(count, np.bool_)
    smooth_windows(
        emitted, shares, expected, chain.start, chain.transitions, chain.transposed, places,
        np.ones((count, 2), np.bool_), np.zeros(count, np.uint64) if keys is None else keys, keys is not None, np.inf,
        firsts, counts, settled,
    )  # fmt: skip
    logs = np.log(expected) + shifts + chain.shift
    some = ends > begins
    logs[begins[some]] += chain.start_shift - chain.shift
    totals = np.zeros(count)
    if some.any():
        totals[some] = np.add.reduceat(logs, begins[some])
    return ChainRun(shares, firsts, counts if keys is not None else counts * chain.transitions, totals)


@dataclass(frozen=True)
class Prepared:
    """A minibatch, and the views in the form that runs want.

    Attributes
    ----------
    indptr : (sequences + 1,) integers
        The cuts between sequences, from 0.
    sums : Sums
        What is seen.
    chains : list of ChainView
        A view of each chain, or one of all together.

    """

    indptr: npt.NDArray[np.int64]
    sums: Sums
    chains: list[ChainView]

    def cuts(self, start: int, stop: int) -> tuple[npt.NDArray[np.int64], int, int]:
        """Return the cuts of some sequences from 0, their first row and the one after their last."""
        first, last = int(self.indptr[start]), int(self.indptr[stop])
        return self.indptr[start : stop + 1] - first, first, last


class FactorialStep(LocalStep):
    """States of several chains."""

    model = "fhmm"
    unit_cost = 4
    prepares_whole = True  # it has matrix products over all rows

    def check(self, batch: Sequences) -> None:
        """Raise if a number is infinite."""
        if np.isinf(batch.values).any():
            row, column = np.argwhere(np.isinf(batch.values))[0]
            raise ValueError(
                f"there is an infinite number in row {row}, column {column}: take NaN for what is missing."
            )

    def prepare(self, model: FHMM, views: Mapping[str, Array], batch: Sequences, each: Each = map) -> Prepared:
        """Bring the views into the form of runs."""
        rows = batch.values[batch.indptr[0] : batch.indptr[-1]]
        return Prepared(batch.indptr - batch.indptr[0], sums_of(model, views, rows), self._chains(model, views))

    def _chains(self, model: FHMM, views: Mapping[str, Array]) -> list[ChainView]:
        """Return a view of each chain."""
        return [
            ChainView.of({"start": views["start"][m][None], "transitions": views["transitions"][m]})
            for m in range(model.n_chains)
        ]


def joint_chain(model: FHMM, views: Mapping[str, Array]) -> ChainView:
    """Return the view of all chains as one, whose states are the combinations of theirs."""
    joint, chains = model.joint_states(), np.arange(model.n_chains)
    start = views["start"][chains, joint].sum(axis=1)
    moves = views["transitions"][chains, joint[:, None], joint[None]].sum(axis=2)
    return ChainView.of({"start": start[None], "transitions": moves})

"""Structured mean-field: forward-backward on a chain at a time, given what is expected of the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ssvi.checks import require_count, require_not_negative
from ssvi.local_steps.base import LocalResult
from ssvi.local_steps.fhmm.steps import FactorialStep, Prepared, run_chain
from ssvi.models.fhmm import FHMM
from ssvi.numerics.random import Keys
from ssvi.typing import Array


class Settled(NamedTuple):
    """What iterations ended with: shares (rows x M x K), first states, transitions, and bounds of sequences."""

    shares: Array
    firsts: Array
    moves: Array
    bounds: Array


@dataclass(frozen=True)
class MeanField(FactorialStep):
    """q(z) is a product over chains, each of them a chain (Ghahramani and Jordan 1997).

    Attributes
    ----------
    iterations : int
        How often every chain is visited at most.
    tolerance : float
        Visits end when no share changes by more than this.

    """

    iterations: int = 30
    tolerance: float = 1e-5

    name = "mean_field"

    def __post_init__(self) -> None:
        require_count("iterations", self.iterations)
        require_not_negative("tolerance", self.tolerance)

    def run(self, model: FHMM, prepared: Prepared, start: int, stop: int, keys: Keys) -> LocalResult:
        """Handle sequences start, ..., stop - 1."""
        _, first, last = prepared.cuts(start, stop)
        found = self.settle(model, prepared, start, stop)
        eta_hat: dict[str, Array] = {
            "start": found.firsts,
            "transitions": found.moves,
            "emissions": prepared.sums.statistics(first, last, found.shares),
        }
        return LocalResult(eta_hat, {"log_probability": found.bounds}, float(found.bounds.sum()))

    def settle(self, model: FHMM, prepared: Prepared, start: int, stop: int) -> Settled:
        """Visit the chains of sequences start, ..., stop - 1 in turn until nothing changes."""
        cuts, first, last = prepared.cuts(start, stop)
        chains, size, sums = model.n_chains, model.n_states, prepared.sums
        shares = np.full((last - first, chains, size), 1.0 / size)
        firsts, moves = np.zeros((chains, size)), np.zeros((chains, size, size))
        loose = np.zeros((chains, stop - start))  # E[log p(z)] and the entropy of each chain
        for _ in range(self.iterations):
            change = 0.0
            for chain in range(chains):
                scores = sums.given_others(first, last, shares, chain, drawn=False)
                found = run_chain(prepared.chains[chain], scores.copy(), cuts)
                change = max(change, float(np.abs(found.shares - shares[:, chain]).max(initial=0.0)))
                shares[:, chain], firsts[chain], moves[chain] = found.shares, found.firsts, found.counts
                loose[chain] = found.logs - _sums_of((scores * found.shares).sum(axis=1), cuts)
            if change <= self.tolerance:
                break
        bounds = loose.sum(axis=0) + _sums_of(sums.expected(first, last, shares), cuts)
        return Settled(shares, firsts, moves, bounds)


def _sums_of(rows: Array, cuts: Any) -> Array:
    """Return the sums over each sequence's rows."""
    totals = np.zeros(len(cuts) - 1)
    some = cuts[1:] > cuts[:-1]
    if some.any():
        totals[some] = np.add.reduceat(rows, cuts[:-1][some])
    return totals

"""Draws of a chain at a time, given the others: filtered forward, sampled back."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ssvi.checks import is_integer, require, require_count
from ssvi.local_steps.base import LocalResult, LocalStep
from ssvi.local_steps.fhmm.steps import FactorialStep, Prepared, run_chain
from ssvi.models.fhmm import FHMM
from ssvi.numerics.random import Keys, scramble_array
from ssvi.typing import Array

_FORGOTTEN = 24  # sweeps after which chains may have any states


@dataclass(frozen=True)
class Gibbs(FactorialStep):
    """A chain is drawn whole, given draws of the others; the first sweep takes those not yet drawn at their means.

    With Poisson emissions the chains' parts of a count are expected given the draws of states.

    Attributes
    ----------
    sweeps, kept : int
        How often every chain is drawn, and of how many sweeps, the last ones, statistics are averaged.

    """

    sweeps: int = 10
    kept: int = 5

    name = "gibbs"

    def __post_init__(self) -> None:
        require_count("sweeps", self.sweeps)
        among = f"an integer from 1 to sweeps = {self.sweeps}"
        require("kept", self.kept, lambda v: is_integer(v) and 1 <= v <= self.sweeps, among)

    def sampler(self, model: FHMM) -> LocalStep | None:
        """Return one draw of each chain, its start forgotten; with Poisson emissions parts of counts are not drawn."""
        return None if model.is_poisson else replace(self, sweeps=_FORGOTTEN, kept=1)

    def run(self, model: FHMM, prepared: Prepared, start: int, stop: int, keys: Keys) -> LocalResult:
        """Handle sequences start, ..., stop - 1."""
        cuts, first, last = prepared.cuts(start, stop)
        chains, size, sums = model.n_chains, model.n_states, prepared.sums
        shares = np.full((last - first, chains, size), 1.0 / size)
        totals: dict[str, Array] = {
            "start": np.zeros((chains, size)),
            "transitions": np.zeros((chains, size, size)),
            "emissions": np.zeros(model.blocks()["emissions"].shape),
        }
        for sweep in range(self.sweeps):
            counts = sweep >= self.sweeps - self.kept
            for chain in range(chains):
                own = scramble_array(keys + np.uint64(sweep * chains + chain + 1))
                scores = sums.given_others(first, last, shares, chain, drawn=True)
                found = run_chain(prepared.chains[chain], scores, cuts, own)
                shares[:, chain] = found.shares
                if counts:
                    totals["start"][chain] += found.firsts
                    totals["transitions"][chain] += found.counts
            if counts:
                totals["emissions"] += sums.statistics(first, last, shares, drawn=True)
        return LocalResult({name: total / self.kept for name, total in totals.items()})

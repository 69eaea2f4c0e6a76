"""All chains at once: forward-backward over the combinations of their states, where these are few."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ssvi.batches import Sequences
from ssvi.checks import require_count
from ssvi.local_steps.base import LocalResult
from ssvi.local_steps.fhmm.steps import FactorialStep, Prepared, joint_chain, run_chain
from ssvi.local_steps.hmm.views import ChainView
from ssvi.models.fhmm import FHMM
from ssvi.numerics.random import Keys
from ssvi.tasks import Each
from ssvi.typing import Array


@dataclass(frozen=True)
class Exact(FactorialStep):
    """Shares of all combinations of states; the bound is the log probability of a sequence.

    Attributes
    ----------
    most : int
        How many combinations there may be: a time point costs their number squared.

    """

    most: int = 512

    name = "exact"

    def __post_init__(self) -> None:
        require_count("most", self.most)

    def prepare(self, model: FHMM, views: Mapping[str, Array], batch: Sequences, each: Each = map) -> Prepared:
        """Raise if there are too many combinations; bring the views into the form of runs."""
        count = model.n_states**model.n_chains
        if count > self.most:
            raise ValueError(
                f"{model.n_chains} chains of {model.n_states} states have {count:,} combinations, and the exact local "
                f"step takes {self.most:,} at most: use 'mean_field' or 'gibbs'."
            )
        return super().prepare(model, views, batch, each)

    def _chains(self, model: FHMM, views: Mapping[str, Array]) -> list[ChainView]:
        return [joint_chain(model, views)]

    def run(self, model: FHMM, prepared: Prepared, start: int, stop: int, keys: Keys) -> LocalResult:
        """Handle sequences start, ..., stop - 1."""
        cuts, first, last = prepared.cuts(start, stop)
        joint, chains, size = model.joint_states(), model.n_chains, model.n_states
        found = run_chain(prepared.chains[0], prepared.sums.of_joint(first, last, joint), cuts)
        firsts, moves = np.zeros((chains, size)), np.zeros((chains, size, size))
        for chain in range(chains):
            own = joint[:, chain]
            np.add.at(firsts[chain], own, found.firsts)
            np.add.at(moves[chain], (own[:, None], own[None]), found.counts)
        eta_hat: dict[str, Array] = {
            "start": firsts,
            "transitions": moves,
            "emissions": prepared.sums.joint_statistics(first, last, found.shares, joint),
        }
        return LocalResult(eta_hat, {"log_probability": found.logs}, float(found.logs.sum()))

"""Online EM with Gibbs sampling for LDA, G-OEM (Dupuy and Bach 2017).

The topics' maximum likelihood estimate follows from expected counts s, words x topics for an average document. A
minibatch moves them by a share rho, with its documents' topics sampled, theta integrated out, at the present estimate:

    s' = (1 - rho) s + rho / S sum_d E[n_d | topics],   topics proportional to s + smoothing.

With eta / N for the smoothing, lambda = eta + N s moves as MAP's does: G-OEM is variational MAP with the Gibbs local
step, its authors' step sizes t^-1/2, and no growing population. So it runs as that. What is its own is the boosted form
(G-OEM++), where documents do not wait for the end of their sampling: after every sweep over the minibatch the topics
are what s' would be with the counts of that sweep.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ssvi import engine
from ssvi.backends.base import Backend
from ssvi.backends.threads import Threads
from ssvi.batches.documents import Documents
from ssvi.checks import require_flag, require_not_negative
from ssvi.engine import Info, Path, Problem, State, Steps
from ssvi.global_steps.base import average_weight
from ssvi.global_steps.map import Map
from ssvi.local_steps.base import Part
from ssvi.local_steps.lda.gibbs import Gibbs, PreparedForGibbs
from ssvi.models.lda import LDA
from ssvi.numerics.random import derive_key, derive_keys
from ssvi.schedules import PowerSchedule, Schedule
from ssvi.typing import Array


@dataclass(frozen=True)
class ChainedGibbs(Gibbs):
    """Gibbs sampling of one minibatch, a sweep at a time: documents go on from where the sweep before left them.

    `chains` has the topics of all tokens, those of document d from `begins[d]` on.
    """

    sweeps: int = 1
    kept: int = 1
    kernel: str = "dense"
    begins: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))
    chains: npt.NDArray[np.uint32] = field(default_factory=lambda: np.zeros(0, np.uint32))
    goes_on: bool = False

    shares_memory = True

    @classmethod
    def over(cls, batch: Documents, sampler: Gibbs) -> ChainedGibbs:
        """Return the sampler of a minibatch before its first sweep."""
        begins = np.append(0, np.cumsum(batch.lengths().astype(np.int64)))
        chains = np.zeros(begins[-1], np.uint32)
        return cls(statistics=sampler.statistics, precision=sampler.precision, begins=begins, chains=chains)

    def _chains(self, prepared: PreparedForGibbs, start: int, stop: int) -> tuple[npt.NDArray[np.uint32], bool]:
        return self.chains[self.begins[start] : self.begins[stop]], self.goes_on


@dataclass(frozen=True)
class Goem(Steps):
    """G-OEM as something that `ssvi.engine.run` can run, on the same documents and with the same Gibbs kernel.

    The state's block `topics` is lambda = eta + N s.

    Parameters
    ----------
    model : LDA
        Its alpha; eta is the smoothing of the topics.
    population : int
        N, the number of documents of the corpus.
    schedule : Schedule
        rho_t; by default t^-1/2.
    local_step : Gibbs
        The sweeps over each document; by default 20, of which the last half count, by the topics drawn.
    averaging : float
        p of the average of lambda over the path (Polyak's), in which step t counts in proportion to t^p; 0 for none.
    boosted : bool
        Let the topics move after each sweep over a minibatch.
    backend : Backend
        Where it runs.

    """

    model: LDA
    population: int
    schedule: Schedule = field(default_factory=lambda: PowerSchedule(decay=0.5, offset=0.0))
    local_step: Gibbs = field(default_factory=lambda: Gibbs(sweeps=20, kept=10, statistics="drawn"))
    averaging: float = 1.0
    boosted: bool = False
    backend: Backend = field(default_factory=Threads)

    name: ClassVar[str] = "goem"

    def __post_init__(self) -> None:
        require_not_negative("averaging", self.averaging)
        require_flag("boosted", self.boosted)

    def init(self, seed: int) -> State:
        """Return the state before the first step: nearly uniform topics."""
        return engine.init(self.model, seed)

    def begin(self, state: State) -> Path:
        """Return a fit that goes on from a state."""
        return super().begin(state) if self.boosted else self._problem().begin(state)

    def step(self, state: State, batch: Documents) -> tuple[State, Info]:
        """Take one step on a minibatch."""
        return self._boosted_step(state, batch) if self.boosted else self._problem().step(state, batch)

    def mean_topics(self, state: State) -> Array:
        """Return the topics of the average over the path, or the last ones; topics x words, rows sum to 1."""
        return self.model.mean_topics(state.estimate)

    def _problem(self) -> Problem:
        """Return what G-OEM is without boosting."""
        rule = Map(self.averaging)
        return Problem(self.model, self.local_step, rule, self.schedule, self.population, False, self.backend)

    def _boosted_step(self, state: State, batch: Documents) -> tuple[State, Info]:
        started = time.perf_counter()
        number, seen = state.step + 1, state.documents_seen + len(batch)
        step_size = self.schedule(number)
        chosen = self.local_step.touched(batch)["topics"]
        kept = (1.0 - step_size) * state.parameters["topics"] + step_size * self.model.eta
        counts = self._sample(state, batch, chosen, kept, step_size)
        moved = kept
        moved[:, chosen] += step_size * self.population / len(batch) * counts.T
        engine.stop_unless_finite("topics", number, moved)
        averages = {}
        if self.averaging:
            mean, weight = state.averages.get("topics", moved), average_weight(self.averaging, number)
            averages = {"topics": mean + weight * (moved - mean)}
        info = Info(number, seen, step_size, float(self.population), None, 0, time.perf_counter() - started)
        return replace(state, step=number, documents_seen=seen, parameters={"topics": moved}, averages=averages), info

    def _sample(
        self, state: State, batch: Documents, chosen: npt.NDArray[np.int64], kept: Array, step_size: float
    ) -> Array:
        """Return the mean counts of the sweeps that count, words x topics; `kept` is lambda' but for the counts."""
        sampler, scale = self.local_step, step_size * self.population / len(batch)
        chain = ChainedGibbs.over(batch, sampler)
        lam, own, rest = state.parameters["topics"], kept[:, chosen].T, kept.sum(axis=1)
        topics, total = np.ascontiguousarray(lam[:, chosen].T), lam.sum(axis=1)
        counted = np.zeros_like(topics)
        for sweep in range(sampler.sweeps):
            view = Part(chosen, np.log(topics) - np.log(total))
            keys = derive_keys(derive_key(state.seed, "documents", state.step + 1, sweep), len(batch))
            result = self.backend.map_reduce(chain, self.model, {"topics": view}, batch, keys, want_local=False)
            counts = result.eta_hat["topics"]
            chain = replace(chain, goes_on=True)
            topics, total = own + scale * counts, rest + scale * counts.sum(axis=0)
            if sweep >= sampler.sweeps - sampler.kept:
                counted += counts
        return counted / sampler.kept

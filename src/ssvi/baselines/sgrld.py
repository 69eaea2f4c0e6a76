"""Stochastic gradient Riemannian Langevin dynamics for LDA (Patterson and Teh 2013), expanded-mean form.

Topics are phi_kw = theta_kw / sum_v theta_kv with theta_kw ~ Gamma(eta, 1), which makes phi_k ~ Dirichlet(eta). A step
moves theta along the gradient of a minibatch's log posterior, preconditioned by theta itself, and adds noise:

    theta' = |theta + epsilon / 2 (eta - theta + N / S sum_d (n_dkw - phi_kw n_dk)) + sqrt(theta) xi|,
    xi ~ N(0, epsilon),

with the counts n averaged over Gibbs sweeps of each document given phi. With small steps theta wanders through the
posterior: this is a sampler, so its point estimate of the topics is an average over its path.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from ssvi.backends.base import Backend
from ssvi.backends.threads import Threads
from ssvi.batches.documents import Documents
from ssvi.checks import is_number, require, require_not_negative, require_positive
from ssvi.engine import Info, State, Steps, stop_unless_finite
from ssvi.global_steps.base import average_weight
from ssvi.local_steps.base import LocalStep
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.models.lda import LDA
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import Keys, derive_key, derive_keys, normal
from ssvi.schedules import PowerSchedule, Schedule
from ssvi.tasks import row_tasks, run_all
from ssvi.typing import Array

_SMALLEST = 1e-300  # theta of 0 would stay 0: its noise and its share of the counts vanish with it


@kernel
def langevin(theta: Array, counts: Array, eta: float, step_size: float, keys: Keys, moved: Array) -> None:
    """Fill in theta' for some topics; `counts` are N / S sum_d n_dkw, and each topic has a random stream."""
    half, spread = 0.5 * step_size, math.sqrt(step_size)
    for k in range(theta.shape[0]):
        state = keys[k]
        share = counts[k].sum() / theta[k].sum()
        for w in range(theta.shape[1]):
            noise, state = normal(state)
            drift = half * (eta - theta[k, w] + counts[k, w] - share * theta[k, w])
            moved[k, w] = max(abs(theta[k, w] + drift + math.sqrt(theta[k, w]) * spread * noise), _SMALLEST)


def langevin_schedule(first: float = 0.01, delay: float = 1000.0, decay: float = 0.6) -> PowerSchedule:
    """Return epsilon_t = first (1 + t / delay)^-decay, the form of Patterson and Teh's step sizes."""
    require("first", first, lambda v: is_number(v) and 0 < v <= 1, "a step size, in (0, 1]")
    require_positive("delay", delay)
    require_not_negative("decay", decay)
    return PowerSchedule(decay=decay, offset=delay, scale=first * delay**decay)


@dataclass(frozen=True)
class Sgrld(Steps):
    """SGRLD as something that `ssvi.engine.run` can run, on the same documents and with the same Gibbs kernel.

    The state's block `topics` is the current theta, and its average that of the topics phi over the path so far.

    Parameters
    ----------
    model : LDA
        Its alpha and eta.
    population : int
        N, the number of documents of the corpus.
    schedule : Schedule
        epsilon_t; see `langevin_schedule`.
    local_step : LocalStep
        How the expected counts are found: Gibbs sampling, by default with tokens counted by their probabilities (its
        authors count draws; this is better).
    averaging : float
        p of the average of phi, in which step t counts in proportion to t^p; 0 for none, and the last phi instead.
    backend : Backend
        Where it runs.

    """

    model: LDA
    population: int
    schedule: Schedule = field(default_factory=langevin_schedule)
    local_step: LocalStep = field(default_factory=Gibbs)
    averaging: float = 1.0
    backend: Backend = field(default_factory=Threads)

    name: ClassVar[str] = "sgrld"

    def __post_init__(self) -> None:
        if np.ndim(self.model.eta):
            raise ValueError("SGRLD takes one eta for all words and topics: give the model a number.")
        require_not_negative("averaging", self.averaging)

    def init(self, seed: int) -> State:
        """Return the state before the first step: nearly uniform topics, theta at its prior mean, eta."""
        start = self.model.init(np.random.default_rng(derive_key(seed, "init")))["topics"]
        averages = {"topics": _normalised(start)} if self.averaging else {}
        return State(seed, 0, 0, {"topics": self.model.eta * start}, averages=averages)

    def step(self, state: State, batch: Documents) -> tuple[State, Info]:
        """Take one Langevin step on a minibatch."""
        started = time.perf_counter()
        number, seen = state.step + 1, state.documents_seen + len(batch)
        theta, step_size = state.parameters["topics"], self.schedule(number)
        keys = derive_keys(derive_key(state.seed, "documents", number), len(batch))
        views = {"topics": np.log(_normalised(theta))}
        result = self.backend.map_reduce(self.local_step, self.model, views, batch, keys, want_local=False)
        counts = result.eta_hat["topics"] * (self.population / len(batch))
        moved = self._move(theta, counts, step_size, derive_keys(derive_key(state.seed, "noise", number), len(theta)))
        stop_unless_finite("topics", number, moved)
        weight = average_weight(self.averaging, number)
        averages = {name: mean + weight * (_normalised(moved) - mean) for name, mean in state.averages.items()}
        info = Info(number, seen, step_size, float(self.population), None, 0, time.perf_counter() - started)
        return replace(state, step=number, documents_seen=seen, parameters={"topics": moved}, averages=averages), info

    def mean_topics(self, state: State) -> Array:
        """Return the average of the topics over the path, or the last ones; topics x words, rows sum to 1."""
        return _normalised(state.estimate["topics"])

    def _move(self, theta: Array, counts: Array, step_size: float, keys: Keys) -> Array:
        moved = np.empty_like(theta)

        def move(rows: slice) -> None:
            langevin(theta[rows], counts[rows], float(self.model.eta), step_size, keys[rows], moved[rows])

        run_all(self.backend.workers.each, move, row_tasks(theta.shape))
        return moved


def _normalised(theta: Array) -> Array:
    topics: Array = theta / theta.sum(axis=1, keepdims=True)
    return topics

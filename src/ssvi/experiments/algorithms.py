"""Algorithms by name: `global:local`, or `sgrld`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ssvi import engine
from ssvi.backends.base import Backend
from ssvi.baselines.sgrld import Sgrld, langevin_schedule
from ssvi.engine import State
from ssvi.global_steps.base import GlobalStep
from ssvi.local_steps.base import LocalStep
from ssvi.models.lda import LDA
from ssvi.registry import lookup
from ssvi.schedules import PowerSchedule, Schedule
from ssvi.typing import Array

LABELS = {
    "mean_field:mean_field": "SVI (mean-field)",
    "mean_field:gibbs": "Gibbs-within-SVI",
    "ssvi:gibbs": "SSVI",
    "ssvi_a:gibbs": "SSVI-A",
    "sgrld": "SGRLD",
}
"""What the paper calls them."""


@dataclass(frozen=True)
class Algorithm:
    """Something to run on a corpus, where it begins, and its point estimate of the topics."""

    steps: engine.Steps
    start: Callable[[int], State]
    topics: Callable[[State], Array]


def lda_algorithm(
    name: str,
    model: LDA,
    population: int,
    schedule: Schedule,
    backend: Backend,
    *,
    ramp: bool = True,
    langevin: Schedule | None = None,
) -> Algorithm:
    """Return an algorithm for LDA; SGRLD has step sizes of its own, `langevin`, and no ramp."""
    if name == "sgrld":
        sampler = Sgrld(model, population, langevin or langevin_schedule(), backend=backend)
        return Algorithm(sampler, sampler.init, sampler.mean_topics)
    global_step, local_step = pair(name)
    problem = engine.Problem(model, local_step, global_step, schedule, population, ramp, backend)
    return Algorithm(problem, lambda seed: engine.init(model, seed), lambda state: model.mean_topics(state.parameters))


def pair(name: str) -> tuple[GlobalStep, LocalStep]:
    """Return the two steps that `global:local` names."""
    global_name, colon, local_name = name.partition(":")
    if not colon:
        raise ValueError(f"algorithm {name!r} is not known; it is GLOBAL:LOCAL, such as 'ssvi_a:gibbs', or 'sgrld'.")
    global_step: GlobalStep = lookup("ssvi.global_steps", GlobalStep, global_name, "global step")()
    local_step: LocalStep = lookup("ssvi.local_steps.lda", LocalStep, local_name, "local step")()
    return global_step, local_step


def warm_up(name: str, model: LDA, backend: Backend) -> None:
    """Run two small steps, so that compiling is over before anything is timed."""
    _, documents = LDA(model.n_words, model.alpha, 1.0).simulate(np.random.default_rng(0), 300, length=20.0)
    algorithm = lda_algorithm(name, model, len(documents), PowerSchedule(), backend)
    engine.run(algorithm.steps, algorithm.start(0), documents, sweeps=2, batch_size=len(documents))


def label(name: str) -> str:
    """Return the paper's name of an algorithm, or its own."""
    return LABELS.get(name, name)

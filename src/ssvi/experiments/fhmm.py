"""Factorial hidden Markov models: held-out log probability of SSVI and others, on simulated chains and on sunspots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from ssvi.backends.base import Backend
from ssvi.backends.threads import Threads
from ssvi.batches import Sequences
from ssvi.data.series import sunspots
from ssvi.engine import State
from ssvi.estimators.fhmm_starts import best_start
from ssvi.evaluation.fhmm import log_probabilities
from ssvi.experiments.state_spaces import GIBBS, StateBench, StateData, StateSetting, StateSpaces, Views
from ssvi.local_steps.base import LocalStep
from ssvi.local_steps.fhmm.gibbs import Gibbs
from ssvi.models.fhmm import FHMM
from ssvi.numerics.random import derive_key
from ssvi.typing import Array

_ALGORITHMS = ("ssvi:exact", "ssvi_a:exact", "ssvi_a:gibbs", "mean_field:mean_field", "map:exact", GIBBS)
_SPLIT = 200  # years of sunspots that are fitted


class FactorialChains(StateSpaces):
    """Chains that add up: three of three states in four columns, simulated from the prior of the model."""

    name = "fhmm"
    title = "Factorial hidden Markov models: held-out log probability of a time point"
    settings: ClassVar[Mapping[str, StateSetting]] = {
        "quick": StateSetting(algorithm=_ALGORITHMS, seeds=2, iterations=100),
        "paper": StateSetting(algorithm=_ALGORITHMS),
    }

    def simulated(self, setting: StateSetting, seed: int) -> StateData:
        """Simulate chains that tend to stay, with levels two deviations of the noise apart, about."""
        rng = np.random.default_rng(derive_key(seed, "fhmm"))
        truth = FHMM(4, 3, 3, stickiness=4.0, strength=0.5, noise_variance=0.3, degrees=30.0)
        values, train = truth.simulate(rng, setting.sequences, lengths=np.full(setting.sequences, setting.length))
        lengths = np.full(setting.test_sequences, setting.length)
        _, test = truth.simulate(rng, setting.test_sequences, values=values, lengths=lengths)
        known = self.log_probabilities(truth, truth.statistics_of(values), test, Threads())
        return StateData(FHMM(4, 3, 3), train, test, float(known.sum()))

    def real(self, setting: StateSetting) -> StateData:
        """Return roots of sunspots, the first two hundred years to fit, as two chains of three states."""
        roots = np.sqrt(sunspots())
        roots = (roots - roots[:_SPLIT].mean()) / roots[:_SPLIT].std()
        train, test = Sequences.from_lengths(roots[:_SPLIT]), Sequences.from_lengths(roots[_SPLIT:])
        return StateData(FHMM(1, 2, 3), train, test)

    def best_start(self, data: StateData, begin: State, bench: StateBench) -> dict[str, Array]:
        """Begin at the best of several starts."""
        return best_start(data.model, data.train, begin.seed, bench.setting.starts, bench.backend)

    def log_probabilities(self, model: FHMM, views: Views, data: Sequences, backend: Backend) -> Array:
        """Sum over all combinations of states."""
        return log_probabilities(model, views, data, backend=backend)

    def sampler(self) -> LocalStep:
        """Draw a chain at a time, from scratch in every step."""
        return Gibbs(sweeps=10, kept=1)

"""Linear dynamical systems: held-out log probability of SSVI and others, on simulated sequences and on sunspots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np

from ssvi.backends.base import Backend
from ssvi.backends.threads import Threads
from ssvi.batches import Sequences
from ssvi.data.series import sunspots
from ssvi.engine import State
from ssvi.estimators.lds_starts import SETTLED_AVERAGING, SETTLED_STEPS, settled_dynamics
from ssvi.evaluation.lds import log_probabilities
from ssvi.experiments.state_spaces import (
    GIBBS,
    StateBench,
    StateData,
    StateSetting,
    StateSpaces,
    StateTrial,
    Views,
    averaged,
    timed,
)
from ssvi.experiments.table import Row
from ssvi.local_steps.base import LocalStep
from ssvi.local_steps.lds.gibbs import Gibbs
from ssvi.models.lds import LDS, Dynamics
from ssvi.numerics.random import derive_key
from ssvi.schedules import Schedule
from ssvi.typing import Array

_PEERS = ("dynamax-em", "dynamax-gibbs")
_OURS = ("ssvi:exact", "ssvi_a:exact", "ssvi_a:gibbs", "mean_field:exact", "map:exact")
_ALGORITHMS = (*_OURS, *(_PEERS if find_spec("dynamax") else ()), GIBBS)
_SPLIT = 200  # years of sunspots that are fitted


class LinearDynamics(StateSpaces):
    """Slow rotations seen in six columns."""

    name = "lds"
    averaging = SETTLED_AVERAGING
    title = "Linear dynamical systems: held-out log probability of a time point"
    settings: ClassVar[Mapping[str, StateSetting]] = {
        "quick": StateSetting(algorithm=_ALGORITHMS, seeds=2, iterations=100),
        "paper": StateSetting(algorithm=_ALGORITHMS),
    }
    peers: ClassVar[Mapping[str, str]] = {
        "dynamax-em": "dynamax, EM",
        "dynamax-gibbs": "dynamax, blocked Gibbs",
    }

    def check(self, setting: StateSetting) -> None:
        """Raise if dynamax is asked for and not installed."""
        super().check(setting)
        if set(setting.algorithm) & set(self.peers) and not find_spec("dynamax"):
            raise ValueError("dynamax is not installed: pip install dynamax, or name other algorithms.")

    def simulated(self, setting: StateSetting, seed: int) -> StateData:
        """Simulate three states that turn slowly and fade, seen in six columns with as much noise as signal."""
        rng = np.random.default_rng(derive_key(seed, "lds"))
        turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        step = np.linalg.qr(np.eye(3) + 0.3 * rng.normal(size=(3, 3)))[0]
        known = Dynamics(
            np.zeros(3), np.eye(3), 0.95 * turn @ step @ turn.T, np.zeros((3, 0)), 0.1 * np.eye(3),
            0.6 * rng.normal(size=(6, 3)), np.zeros((6, 0)), np.zeros(6), 0.5 * np.ones(6),
        )  # fmt: skip
        model = LDS(6, 3, noise="diag")
        train = _sampled(model, known, rng, setting.sequences, setting.length)
        test = _sampled(model, known, rng, setting.test_sequences, setting.length)
        logs = self.log_probabilities(model, model.statistics(known), test, Threads())
        return StateData(model, train, test, float(logs.sum()))

    def real(self, setting: StateSetting) -> StateData:
        """Return roots of sunspots, the first two hundred years to fit, with three states."""
        roots = np.sqrt(sunspots())
        roots = (roots - roots[:_SPLIT].mean()) / roots[:_SPLIT].std()
        train, test = Sequences.from_lengths(roots[:_SPLIT]), Sequences.from_lengths(roots[_SPLIT:])
        return StateData(LDS(1, 3), train, test)

    def best_start(self, data: StateData, begin: State, bench: StateBench) -> dict[str, Array]:
        """Begin where coordinate ascent has settled, or nearly so."""
        return settled_dynamics(data.model, data.train, begin.seed, begin.parameters, bench.backend)

    def step_sizes(self, steps: int) -> Schedule:
        """Take small steps from there."""
        return SETTLED_STEPS

    def log_probabilities(self, model: LDS, views: Views, data: Sequences, backend: Backend) -> Array:
        """Integrate states out."""
        return log_probabilities(model, views, data, backend)

    def sampler(self) -> LocalStep:
        """Draw all states at once: blocked Gibbs."""
        return Gibbs()

    def peer(self, name: str, data: StateData, trial: StateTrial, bench: StateBench) -> Iterator[Row]:
        """Run dynamax on the same sequences, from its own random start, as many iterations as the others have steps."""
        steps = bench.setting.iterations
        found, seconds = timed(lambda: _dynamax(name, data, trial.seed, steps))
        # Its noise is a matrix: the same evaluator, with a full covariance.
        model = LDS(data.model.n_features, data.model.n_states, noise="full")
        logs = [self.log_probabilities(model, model.statistics(own), data.test, bench.backend) for own in found]
        yield self.row(data, steps, averaged(logs), seconds)


def _sampled(model: LDS, known: Dynamics, rng: np.random.Generator, count: int, length: int) -> Sequences:
    lengths = np.full(count, length)
    return Sequences.from_lengths(model.sample(known, rng, lengths, np.zeros((count * length, 0)))[1], lengths)


def _dynamax(name: str, data: StateData, seed: int, steps: int) -> list[Dynamics]:
    """Return what dynamax finds: a point for EM, the second half of its draws for blocked Gibbs."""
    import jax
    import jax.numpy as jnp
    from dynamax.linear_gaussian_ssm import LinearGaussianConjugateSSM

    train = jnp.asarray(np.stack(list(data.train)), dtype=jnp.float32)
    system = LinearGaussianConjugateSSM(data.model.n_states, data.model.n_features)
    parameters, properties = system.initialize(jax.random.PRNGKey(seed))
    if name == "dynamax-em":
        fitted, _ = system.fit_em(parameters, properties, train, num_iters=steps, verbose=False)
        return [_as_dynamics(fitted)]
    draws = system.fit_blocked_gibbs(jax.random.PRNGKey(seed + 1), parameters, steps, train)
    rows = range(steps // 2, steps)
    return [_as_dynamics(jax.tree_util.tree_map(lambda leaf, row=row: leaf[row], draws)) for row in rows]


def _as_dynamics(found: Any) -> Dynamics:
    """Return dynamax's parameters as ours."""

    def array(value: Any) -> Array:
        return np.asarray(value, dtype=float)

    first, moves, seen = found.initial, found.dynamics, found.emissions
    size, outputs = array(moves.weights).shape[0], array(seen.weights).shape[0]
    offset = np.zeros(outputs) if seen.bias is None else array(seen.bias)
    return Dynamics(
        array(first.mean), array(first.cov), array(moves.weights), np.zeros((size, 0)), array(moves.cov),
        array(seen.weights), np.zeros((outputs, 0)), offset, array(seen.cov),
    )  # fmt: skip

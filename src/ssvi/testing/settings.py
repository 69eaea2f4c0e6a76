"""What a local step is checked on: a model, data of its own simulation, and views of its blocks."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ssvi.backends.threads import Threads
from ssvi.local_steps.base import LocalResult, LocalStep
from ssvi.models.base import Model
from ssvi.numerics.random import Keys, derive_key, derive_keys
from ssvi.testing.require import require
from ssvi.typing import Array

N_GROUPS = 300
_SIMULATIONS = 8  # whose mean is a point well inside of all that the prior allows

Blocks = Mapping[str, Array]


@dataclass(frozen=True)
class Setting:
    """A local step with a model, and all that is random about a check of it."""

    step: LocalStep
    model: Model
    seed: int

    def rng(self, *path: str) -> np.random.Generator:
        """Return a stream of random numbers for a purpose."""
        return np.random.default_rng(derive_key(self.seed, "check_local_step", *path))

    @cached_property
    def data(self) -> Any:
        """Data of the model's simulation."""
        return self.model.simulate(self.rng("data"), N_GROUPS)[1]

    @cached_property
    def keys(self) -> Keys:
        """A random stream for each group."""
        return self.other_keys("keys")

    def other_keys(self, *path: str) -> Keys:
        """Return as many other streams."""
        return derive_keys(derive_key(self.seed, *path), N_GROUPS)

    def start(self, *path: str) -> Blocks:
        """Return a lambda as the model starts with it."""
        return self.model.init(self.rng("start", *path))

    def views_at(self, lam: Blocks) -> dict[str, Array]:
        """Return E_q[t] of each block at some lambda."""
        return {name: block.family.mean_stats(lam[name]) for name, block in self.model.blocks().items()}

    @cached_property
    def views(self) -> dict[str, Array]:
        """The views at the model's start."""
        return self.views_at(self.start())

    def run(self, views: Blocks | None = None, data: Any = None, keys: Keys | None = None) -> LocalResult:
        """Run the step on all groups, or on others, and complain if it tries to write where it must not."""
        batch = self.data if data is None else data
        own = self.keys[: len(batch)] if keys is None else keys
        try:
            result = Threads().map_reduce(self.step, self.model, views or self.views, batch, own)
        except ValueError as error:
            require("read-only" not in str(error), f"{self.step}: it writes into the views ({error})")
            raise
        return scaled(result)

    @cached_property
    def result(self) -> LocalResult:
        """What the step finds on all groups."""
        return self.run()

    @cached_property
    def simulated(self) -> list[dict[str, Array]]:
        """Global parameters of some simulations."""
        rng = self.rng("parameters")
        return [self.model.simulate(rng, 1)[0] for _ in range(_SIMULATIONS)]

    @cached_property
    def center(self) -> dict[str, Array]:
        """Global parameters well inside of what the prior allows: the mean of some simulations."""
        return {name: np.mean([own[name] for own in self.simulated], axis=0) for name in self.simulated[0]}

    def direction(self, rng: np.random.Generator) -> dict[str, Array]:
        """Return a way to move from the centre, between the simulations: a positive number changes by itself at most.

        It stays among the parameters that there are, as far as the mean of two of them is one of them.
        """
        signs = rng.permutation(np.repeat([-1.0, 1.0], _SIMULATIONS // 2))
        pairs = list(zip(signs, self.simulated, strict=True))
        return {name: np.mean([sign * own[name] for sign, own in pairs], axis=0) for name in self.center}


def scaled(result: LocalResult) -> LocalResult:
    """Return a result whose statistics need no factor."""
    eta_hat = {name: value * result.scale for name, value in result.eta_hat.items()}
    return LocalResult(eta_hat, result.local, result.bound)


def arrays_of(value: Any) -> list[Any]:
    """Return all arrays that a batch or a mapping of views is made of."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, Mapping):
        return [array for item in value.values() for array in arrays_of(item)]
    if isinstance(value, list | tuple):
        return [array for item in value for array in arrays_of(item)]
    if dataclasses.is_dataclass(value):
        return [array for field in dataclasses.fields(value) for array in arrays_of(getattr(value, field.name))]
    return []

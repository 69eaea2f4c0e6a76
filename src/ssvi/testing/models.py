"""What every model must do: blocks that fit their families, starts inside the domain, and a simulation from its prior.

The check of the simulation allows six standard errors, which a mean exceeds by chance twice in 10^9; a mean of
logarithms of small gamma variables is skewed, and so that is rather one in 10^6.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from ssvi.models.base import Model
from ssvi.models.learning import numbers_of
from ssvi.numerics.random import derive_key
from ssvi.testing.families import check_family
from ssvi.testing.require import require, require_mean
from ssvi.testing.settings import arrays_of

_SIMULATIONS = 3_000
_N = 20


@dataclass(frozen=True)
class _Case:
    """A model, and the random numbers of its checks."""

    model: Model
    seed: int

    def rng(self, *path: str) -> np.random.Generator:
        return np.random.default_rng(derive_key(self.seed, "check_model", *path))

    def __str__(self) -> str:
        return type(self.model).__name__


def check_model(model: Model, *, seed: int = 0) -> None:
    """Raise an `AssertionError` that names the fault if a model is not what fits, files and the other suites need.

    Families of the package are taken to be sound; others are checked too. Local steps have `check_local_step`.

    >>> from ssvi.models.lda import LDA
    >>> check_model(LDA.example())
    """
    for check in CHECKS:
        check(model, seed)


def _check_blocks(model: Model, seed: int) -> None:
    """Each block has a family, a prior in its domain, and a shape that fits both."""
    case = _Case(model, seed)
    require(isinstance(getattr(model, "name", None), str), f"{case}: it has no `name`")
    blocks = model.blocks()
    require(len(blocks) > 0, f"{case}: blocks() is empty")
    for name, block in blocks.items():
        size = block.family.dimension
        require(
            size is None or block.shape[-1] == size,
            f"{case}: block {name!r} has the shape {block.shape}, and one {block.family} has {size} numbers on the "
            "last axis",
        )
        try:
            prior = np.broadcast_to(block.prior, block.shape)
        except ValueError:
            raise AssertionError(
                f"{case}: the prior of {name!r}, of shape {np.shape(block.prior)}, does not spread to {block.shape}"
            ) from None
        require(block.family.in_domain(prior).all(), f"{case}: the prior of {name!r} is not in {block.family}'s domain")


def _check_families(model: Model, seed: int) -> None:
    """Families that are not of this package are sound."""
    for family in {block.family for block in model.blocks().values()}:
        if not type(family).__module__.startswith("ssvi.families."):
            check_family(family, seed=seed)


def _check_starts(model: Model, seed: int) -> None:
    """`init` and `start` give a lambda inside the domain for each block, and use no randomness but what they get."""
    case = _Case(model, seed)
    _, data = model.simulate(case.rng("start"), _N)
    starts: dict[str, Callable[[np.random.Generator], dict[str, Any]]] = {
        "init": model.init,
        "start": lambda rng: model.start(data, rng),
    }
    blocks = model.blocks()
    for word, function in starts.items():
        lam, again = function(case.rng(word)), function(case.rng(word))
        require(set(lam) == set(blocks), f"{case}: {word} gives {sorted(lam)}, and the blocks are {sorted(blocks)}")
        for name, block in blocks.items():
            shape = lam[name].shape
            require(shape == block.shape, f"{case}: {word} gives {name!r} the shape {shape}, not {block.shape}")
            require(block.family.in_domain(lam[name]).all(), f"{case}: {word} starts {name!r} outside of its domain")
            require(
                np.array_equal(lam[name], again[name]), f"{case}: {word} takes randomness from elsewhere than its rng"
            )


def _check_example(model: Model, seed: int) -> None:
    """Want an example of the same kind."""
    case, example = _Case(model, seed), type(model).example()
    require(type(example) is type(model), f"{case}: example() gives a {type(example).__name__}")


def _check_data(model: Model, seed: int) -> None:
    """Want simulated data to be counted, cut and sampled, and to follow from the rng and `values` alone."""
    case = _Case(model, seed)
    values, data = model.simulate(case.rng("data"), _N)
    require(len(data) == _N, f"{case}: simulate(rng, {_N}) gives {len(data)} groups")
    for name in ("slice", "take", "costs"):
        require(hasattr(data, name), f"{case}: simulated data have no `{name}`: use one of ssvi.batches")
    require(len(data.costs()) == _N, f"{case}: data.costs() has {len(data.costs())} numbers for {_N} groups")
    chosen = data.take(np.array([3, 5]))
    require(
        len(chosen) == 2 == len(data.slice(3, 5)), f"{case}: data.take or data.slice gives another number of groups"
    )
    again = model.simulate(case.rng("data"), _N)
    same = all(
        np.array_equal(one, other, equal_nan=one.dtype.kind == "f")  # missing entries are so every time
        for one, other in zip(arrays_of((values, data)), arrays_of(again), strict=True)
    )
    require(same, f"{case}: simulate takes randomness from elsewhere than its rng")
    given, _ = model.simulate(case.rng("other"), _N, values=values)
    same = set(given) == set(values) and all(np.array_equal(given[name], values[name]) for name in values)
    require(same, f"{case}: simulate(..., values=values) does not simulate with these values")


def _check_simulation(model: Model, seed: int) -> None:
    """Want simulated global parameters to come from the prior: t has the prior's mean."""
    case = _Case(model, seed)
    rng = case.rng("simulation")
    missing = model.blocks().keys() - model.simulate(rng, 1)[0].keys()
    require(not missing, f"{case}: simulate gives no parameters of the blocks {', '.join(sorted(missing))}")
    drawn = [model.statistics_of(model.simulate(rng, 1)[0]) for _ in range(_SIMULATIONS)]
    conditional = model.priors(drawn[0])
    for name, block in model.blocks().items():
        shape = drawn[0][name].shape
        require(
            shape == block.shape,
            f"{case}: simulate gives {name!r} in another form than the family's statistics() takes: t has the shape "
            f"{shape}, not {block.shape}",
        )
        if name not in conditional:
            expected = block.family.mean_stats(np.array(np.broadcast_to(block.prior, block.shape)))
            require_mean(
                np.array([stats[name] for stats in drawn]),
                expected,
                f"{case}: simulate draws {name!r} from another prior than blocks() has, or gives it in another form "
                "than the family's statistics() takes: the mean of t over simulations is not the prior's",
            )


def _check_hyperparameters(model: Model, seed: int) -> None:
    """Want a model at its own hyperparameters to be itself."""
    case, blocks, own = _Case(model, seed), model.blocks(), model.at(model.hyperparameters()).blocks()
    same = set(own) == set(blocks) and all(np.array_equal(own[name].prior, blocks[name].prior) for name in blocks)
    require(same, f"{case}: at(hyperparameters()) has other blocks or priors than the model itself")


def _check_usual_numbers(model: Model, seed: int) -> None:
    """Want the prior of a block to follow from each number that a fit can learn from lambda."""
    case, kind, given = _Case(model, seed), type(model).__name__, cast(Any, model)
    for name in model.usual_numbers():
        try:
            own: Model = replace(given, learned=(name,))
            blocks, changed = own.blocks(), own.at({name: 0.01 + 1.01 * numbers_of(own, (name,))[name]}).blocks()
        except AttributeError:
            raise AssertionError(f"{case}: usual_numbers() has {name!r}, which is no attribute of the model") from None
        except TypeError:
            raise AssertionError(f"{case}: {kind} needs a field `learned`, of names: it has usual_numbers()") from None
        except ValueError as error:
            require("start" in str(error), f"{case}: {error}")  # the example may start where a fit cannot
            continue
        moved = any(not np.array_equal(changed[other].prior, block.prior) for other, block in blocks.items())
        require(moved, f"{case}: usual_numbers() has {name!r}, and no block's prior follows from it")


CHECKS: tuple[Callable[[Model, int], None], ...] = (
    _check_blocks,
    _check_families,
    _check_starts,
    _check_example,
    _check_data,
    _check_simulation,
    _check_hyperparameters,
    _check_usual_numbers,
)

"""What every local step must do, whatever its mathematics: sum over groups, and depend on its arguments alone.

That its statistics are the right ones is checked in `ssvi.testing.statistics`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ssvi import engine
from ssvi.backends.blocks import groups_of
from ssvi.backends.shards import cut_views, join_local
from ssvi.backends.threads import Threads
from ssvi.global_steps.base import GlobalStep
from ssvi.local_steps.base import LocalResult, LocalStep
from ssvi.models.base import Model
from ssvi.registry import discover
from ssvi.schedules import PowerSchedule
from ssvi.testing import statistics
from ssvi.testing.require import require
from ssvi.testing.settings import N_GROUPS, Blocks, Setting, arrays_of, scaled
from ssvi.typing import Array

_CUTS = ((0, 1), (1, 140), (140, N_GROUPS))
_POINTS, _HALVINGS = 12, 20  # between two views


def check_local_step(step: LocalStep, model: Model | None = None, *, seed: int = 0) -> None:
    """Raise an `AssertionError` that names the fault if a local step is not what fits need.

    `model` is what it is run on, with data of the model's own simulation: a small one, whose data are not extreme. By
    default it is the example of the model of this package whose local step it is.

    >>> from ssvi.local_steps.bernoulli_mixture.exact import Exact
    >>> check_local_step(Exact())
    """
    if model is None:
        known = discover("ssvi.models", Model)
        require(
            step.model in known, f"{step}: its model {step.model!r} is none of this package: give check_local_step one"
        )
        model = known[step.model].example()
    setting = Setting(step, model, seed)
    for check in CHECKS:
        check(setting)


def _check_names(setting: Setting) -> None:
    """Want the step to know its model, and parameters that can be written to files."""
    step, model = setting.step, setting.model
    require(step.model == model.name, f"{step}: its model is {step.model!r}, and this one is {model.name!r}")
    require(
        dataclasses.is_dataclass(type(step)),
        f"{step}: it must be a frozen dataclass, whose fields are its parameters",
    )


def _check_result(setting: Setting) -> None:
    """Statistics, of all blocks in their shapes, and what is found for each group, are there and finite."""
    result, step = setting.result, setting.step
    for name, block in setting.model.blocks().items():
        require(name in result.eta_hat, f"{step}: it returns no statistics of the block {name!r}")
        shape = result.eta_hat[name].shape
        require(shape == block.shape, f"{step}: statistics of {name!r} have the shape {shape}, not {block.shape}")
        require(np.isfinite(result.eta_hat[name]).all(), f"{step}: statistics of {name!r} are not finite")
    for name, found in result.local.items():
        require(len(found) == N_GROUPS, f"{step}: `local` has {len(found)} rows of {name!r} for {N_GROUPS} groups")
    require(
        result.bound is None or np.isfinite(result.bound), f"{step}: its bound is {result.bound}, which is no number"
    )


def _check_arguments_stay(setting: Setting) -> None:
    """Want views and data to be left as they were."""
    given = {"views": setting.views, "data": setting.data, "keys": setting.keys}
    before = {name: [array.copy() for array in arrays_of(value)] for name, value in given.items()}
    setting.run()
    for name, value in given.items():
        same = all(
            np.array_equal(new, old, equal_nan=new.dtype.kind == "f")
            for new, old in zip(arrays_of(value), before[name], strict=True)
        )
        require(same, f"{setting.step}: it writes into the {name} that it is given")


def _check_repeats(setting: Setting) -> None:
    """Want the same numbers from the same keys, on any number of threads."""
    step = setting.step
    fault = _difference(setting.result, setting.run(), 0.0)
    require(fault is None, f"{step}: a second run with the same keys finds other {fault}: randomness from elsewhere")
    for n_jobs in (2, 4):
        with Threads(n_jobs) as backend:
            found = scaled(backend.map_reduce(step, setting.model, setting.views, setting.data, setting.keys))
        fault = _difference(setting.result, found, 0.0)
        require(fault is None, f"{step}: on {n_jobs} threads it finds other {fault} than on one")


def _check_keys(setting: Setting) -> None:
    """Statistics that do not change with the keys are no draws: they move smoothly as the view does."""
    other = setting.run(keys=setting.other_keys("other keys"))
    if _difference(setting.result, other, 0.0) is not None:
        return
    for n in range(0, N_GROUPS, N_GROUPS // 3):
        for start, end in pairwise(setting.simulated):
            require(
                not _jumps(setting, n, start, end),
                f"{setting.step}: its draws ignore their keys (or it chooses where it should draw or average): "
                "statistics are the same for all keys, and jump as views move a little",
            )


def _jumps(setting: Setting, n: int, start: Blocks, end: Blocks) -> bool:
    """Tell whether a group's statistics jump somewhere between two global parameters, and stay beside that.

    The largest move between some points is looked at ever more closely: a jump stays, and anything else gets small.
    (Iterations that find another optimum jump too, but move on both sides.)
    """

    def statistics(share: float) -> Array:
        between = {name: value + share * (end[name] - value) for name, value in start.items()}
        views, group = setting.model.statistics_of(between), setting.data.slice(n, n + 1)
        eta_hat = setting.run(views, group, setting.keys[n : n + 1]).eta_hat
        return np.concatenate([np.ravel(value) for value in eta_hat.values()])

    path = [(share, statistics(share)) for share in np.linspace(0.05, 0.95, _POINTS)]
    left, right = _largest_move(path)
    largest = _distance(left, right)
    for _ in range(_HALVINGS):
        middle = 0.5 * (left[0] + right[0])
        left, right = _largest_move([left, (middle, statistics(middle)), right])
    stays = all(
        np.array_equal(statistics(point[0] + aside), point[1]) for point, aside in ((left, -1e-3), (right, 1e-3))
    )
    return stays and _distance(left, right) > 0.3 * largest > 0


Point = tuple[float, Array]


def _largest_move(path: Sequence[Point]) -> tuple[Point, Point]:
    """Return the neighbours on a path that are farthest apart."""
    return max(pairwise(path), key=lambda pair: _distance(*pair))


def _distance(left: Point, right: Point) -> float:
    return float(np.abs(right[1] - left[1]).sum())


def _check_shards(setting: Setting) -> None:
    """Want nothing that is found on a group to depend on the shard that it is in."""
    step, model = setting.step, setting.model
    prepared = step.prepare(model, cut_views(step, setting.views, setting.data), setting.data)
    whole = step.run(model, prepared, 0, N_GROUPS, setting.keys)
    parts = [step.run(model, prepared, start, stop, setting.keys[start:stop]) for start, stop in _CUTS]
    fault = _difference(whole, _together(parts), 1e-4)
    require(
        fault is None,
        f"{step}: what it finds depends on the shard that a group is in: groups {_CUTS} one after another have other "
        f"{fault} than all {N_GROUPS} together",
    )
    if step.counts:
        totals = step.zeros(model, prepared)
        for start, stop in _CUTS:
            step.count(model, prepared, start, stop, setting.keys[start:stop], totals)
        same = all(np.array_equal(totals[name], value) for name, value in whole.eta_hat.items())
        require(same, f"{step}: `count` adds up to other statistics than `run`")


def _check_parts(setting: Setting) -> None:
    """Want the same bits from a machine that has some groups of the minibatch, and the views of all of it."""
    step, model, views = setting.step, setting.model, cut_views(setting.step, setting.views, setting.data)
    if step.shares_memory or step.prepares_whole:
        return
    whole = step.prepare(model, views, setting.data)
    for start, stop in _CUTS:
        keys = setting.keys[start:stop]
        part = step.prepare(model, views, groups_of(setting.data, start, stop))
        fault = _difference(
            step.run(model, whole, start, stop, keys), step.run(model, part, 0, stop - start, keys), 0.0
        )
        require(
            fault is None,
            f"{step}: prepared for groups {start} to {stop - 1} alone it finds other {fault} of them than prepared for "
            "the whole minibatch, so that fits on several machines would be others: handle each group by itself, or "
            "set prepares_whole",
        )


def _check_sum_over_groups(setting: Setting) -> None:
    """Statistics of a minibatch are the sum of those of its parts."""
    parts = [setting.run(data=setting.data.slice(a, b), keys=setting.keys[a:b]) for a, b in _CUTS]
    fault = _difference(setting.result, _together(parts), 1e-4)
    require(
        fault is None,
        f"{setting.step}: statistics do not add up over groups: minibatches {_CUTS} have other {fault} in sum than all "
        f"{N_GROUPS} groups in one",
    )


def _check_what_is_wanted(setting: Setting) -> None:
    """Statistics without `local`, and `local` without statistics, are what both together are."""
    given = (setting.step, setting.model, setting.views, setting.data, setting.keys)
    alone = Threads().map_local(*given)
    same = alone.keys() == setting.result.local.keys() and all(
        np.array_equal(alone[name], value) for name, value in setting.result.local.items()
    )
    require(same, f"{setting.step}: `local` finds something else than `run`")
    bare = scaled(Threads().map_reduce(*given, want_local=False))
    for name in setting.model.blocks():
        require(
            np.array_equal(bare.eta_hat[name], setting.result.eta_hat[name]),
            f"{setting.step}: statistics of {name!r} are others where nobody wants `local`",
        )


def _check_global_steps(setting: Setting) -> None:
    """Every global step drives it: parameters move, and stay in their domain."""
    model, start = setting.model, engine.init(setting.model, setting.seed)
    for name, kind in discover("ssvi.global_steps", GlobalStep).items():
        problem = engine.Problem(model, setting.step, kind(), PowerSchedule(0.6, 1.0), population=N_GROUPS)
        end = engine.run(problem, start, setting.data, sweeps=3, batch_size=50)
        for block_name, block in model.blocks().items():
            lam = end.parameters[block_name]
            require(block.family.in_domain(lam).all(), f"{setting.step}: {name} leads {block_name!r} out of its domain")
            require(
                not np.allclose(lam, start.parameters[block_name]),
                f"{setting.step}: {name} does not move {block_name!r} at all",
            )


CHECKS: tuple[Callable[[Setting], None], ...] = (
    _check_names,
    _check_result,
    _check_arguments_stay,
    _check_repeats,
    statistics.check_conjugacy,
    _check_keys,
    _check_shards,
    _check_parts,
    _check_sum_over_groups,
    _check_what_is_wanted,
    *statistics.CHECKS,
    _check_global_steps,
)


def _together(parts: list[LocalResult]) -> LocalResult:
    """Return the sum of some results, `scale` being the same."""
    eta_hat = {name: np.sum([part.eta_hat[name] for part in parts], axis=0, dtype=float) for name in parts[0].eta_hat}
    bounds = [part.bound for part in parts]
    bound = None if None in bounds else sum(bound for bound in bounds if bound is not None)
    return LocalResult(eta_hat, join_local([part.local for part in parts]), bound, parts[0].scale)


def _difference(first: LocalResult, second: LocalResult, relative: float) -> str | None:
    """Return what differs between two results, or None; numbers may by a share of the largest of their kind."""
    pairs: list[tuple[str, Any, Any]] = [
        *_pairs("statistics of", first.eta_hat, second.eta_hat),
        *_pairs("`local`", first.local, second.local),
    ]
    if first.bound is not None and second.bound is not None:
        pairs.append(("bound", np.asarray(first.bound), np.asarray(second.bound)))
    for name, one, other in pairs:
        slack = relative * float(np.abs(one).max(initial=0.0))
        if one.shape != other.shape or not (np.abs(one - other) <= slack).all():
            return name
    return None


def _pairs(word: str, first: Mapping[str, Array], second: Mapping[str, Array]) -> list[tuple[str, Any, Any]]:
    return [
        (f"{word} {name!r}", np.asarray(value, float), np.asarray(second[name], float)) for name, value in first.items()
    ]

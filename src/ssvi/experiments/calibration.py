"""Calibration: how often the truth lies within q's intervals, for every model and every pair of steps."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ssvi import engine
from ssvi.backends.base import Backend
from ssvi.engine import Problem, State
from ssvi.evaluation import calibration
from ssvi.evaluation.posterior import draws_of_q
from ssvi.evaluation.reweighing import draws_for, reweigh
from ssvi.experiments import figures
from ssvi.experiments.base import Checkpoint, Experiment, Reporter, option, require
from ssvi.experiments.calibration_functions import looked_at
from ssvi.experiments.fits import Phase, Start, stops
from ssvi.experiments.table import Row, distinct, select
from ssvi.global_steps.base import GlobalStep
from ssvi.local_steps.base import LocalStep
from ssvi.local_steps.hierarchical.marginal import likelihood_of
from ssvi.models.base import Model
from ssvi.models.hierarchical.base import HierarchicalRegression
from ssvi.numerics.random import derive_key
from ssvi.registry import discover, lookup
from ssvi.sampling.chains import Chain
from ssvi.sampling.posterior import can_sample, sample_from_q, sample_posterior, state_at
from ssvi.schedules import ConstantSchedule, Schedule, whole_step_schedule
from ssvi.typing import Array

_SAMPLER, _WEIGHED, _SAMPLED = "sampler", ":weighed", ":sampled"
_MOST_WEIGHED = 6_000  # draws, as the estimators have it
_STARTS = ("data", "truth")
_KINDS = ("matched", "free")


def _models() -> dict[str, Any]:
    """Return all models there are."""
    return discover("ssvi.models", Model)


def _pairs(model: str) -> list[str]:
    """Return every pair of steps that a model has, SSVI's draws weighed or gone on from, and its sampler."""
    local_steps = discover(f"ssvi.local_steps.{model}", LocalStep)
    pairs = [f"{first}:{second}" for first, second in product(discover("ssvi.global_steps", GlobalStep), local_steps)]
    if issubclass(_models()[model], HierarchicalRegression):
        pairs += [f"ssvi:{local}{_WEIGHED}" for local in local_steps]
    if can_sample(_models()[model].identifiable()):
        pairs += [*(f"ssvi:{local}{_SAMPLED}" for local in local_steps), _SAMPLER]
    return pairs


def _algorithms() -> tuple[str, ...]:
    """Return what any model has, the samplers last."""
    names = dict.fromkeys(name for model in _models() for name in _pairs(model) if name != _SAMPLER)
    return (*names, _SAMPLER)


@dataclass(frozen=True)
class CalibrationSetting:
    """The models, the sizes of the data and of the fits."""

    rows: int = option(100, "documents, rows or frames of a data set")
    iterations: int = option(300, "steps of a fit, each over all data")
    sweeps: int = option(50, "sweeps of local steps that sample; four fifths of them count")
    draws: int = option(99, "draws from each posterior: 19, 39, 59, ...")
    burn: int = option(200, "sweeps of a sampler before its first draw")
    thin: int = option(10, "sweeps of a sampler from one draw to the next")
    chains: int = option(3, "chains of a sampler that begins where a fit has ended")
    model: tuple[str, ...] = option(tuple(_models()), "a model; repeat for several", grid=True)
    algorithm: tuple[str, ...] = option(
        _algorithms(), f"GLOBAL:LOCAL, such as ssvi_a:gibbs, or {_SAMPLER}; repeat for several", grid=True
    )
    start: tuple[str, ...] = option(_STARTS, "where fits start: as estimators do (data) or at the truth", grid=True)
    seeds: int = option(50, "data sets of each model, with seeds 0, 1, ...", grid=True)

    def __post_init__(self) -> None:
        for name in ("rows", "iterations", "sweeps", "thin", "chains", "seeds"):
            require(name, getattr(self, name), lambda value: value >= 1, "1 or more")
        require("burn", self.burn, lambda value: value >= 0, "0 or more")
        require("draws", self.draws, calibration.suits, f"one less than a multiple of {calibration.BINS}")
        known = {"model": tuple(_models()), "algorithm": _algorithms(), "start": _STARTS}
        for field, names in known.items():
            for given in getattr(self, field):
                require(field, given, names.__contains__, f"one of {', '.join(names)}")


@dataclass(frozen=True)
class CalibrationTrial:
    """One posterior of one data set."""

    model: str
    start: str
    algorithm: str
    seed: int


@dataclass(frozen=True)
class CalibrationBench:
    """What trials need."""

    setting: CalibrationSetting
    backend: Backend

    def data(self, model: Model, seed: int) -> tuple[dict[str, Array], Any]:
        """Draw parameters from the prior, and data given them."""
        rng = np.random.default_rng(derive_key(seed, "calibration", model.name))
        return model.simulate(rng, self.setting.rows)

    def problem(self, model: Model, name: str) -> Problem:
        """Return how a pair of steps fits: as the estimators do where every step sees all data."""
        global_name, local_name = name.removesuffix(_WEIGHED).removesuffix(_SAMPLED).split(":")
        plain: GlobalStep = lookup("ssvi.global_steps", GlobalStep, global_name, "global step")()
        step = plain.for_whole_data(self.setting.iterations)
        local_step: Any = lookup(f"ssvi.local_steps.{model.name}", LocalStep, local_name, "local step")()
        thorough = {"sweeps": self.setting.sweeps, "kept": max(1, self.setting.sweeps * 4 // 5)}
        known = {field.name for field in fields(local_step)}
        local_step = replace(local_step, **{name: value for name, value in thorough.items() if name in known})
        schedule: Schedule = whole_step_schedule(self.setting.iterations) if step.stochastic else ConstantSchedule()
        return Problem(model, local_step, step, schedule, self.setting.rows, ramp=False, backend=self.backend)


class Calibration(Experiment):
    """Coverage of intervals and ranks of the truth, over data sets simulated from each model."""

    name = "calibration"
    title = "Calibration: how often q's intervals have the truth"
    settings: ClassVar[Mapping[str, CalibrationSetting]] = {
        "quick": CalibrationSetting(seeds=4, burn=100, thin=5, start=("data",)),
        "paper": CalibrationSetting(),
    }

    def trials(self, setting: CalibrationSetting) -> Sequence[CalibrationTrial]:
        """Return every algorithm of every model on every data set; the sampler starts at the truth, and only there.

        Data set by data set: what is there after an interruption is a smaller experiment.
        """
        return [
            CalibrationTrial(model, start, name, seed)
            for seed in range(setting.seeds)
            for model in setting.model
            for start, name in dict.fromkeys(
                ("truth" if name == _SAMPLER else start, name)
                for start in setting.start
                for name in _pairs(model)
                if name in setting.algorithm
            )
        ]

    def check(self, setting: CalibrationSetting) -> None:
        """Raise if no model has any of the algorithms."""
        if not self.trials(setting):
            raise ValueError(
                f"{', '.join(setting.model)} cannot be fitted by {', '.join(setting.algorithm)}: "
                f"there are {', '.join(name for model in setting.model for name in _pairs(model))}."
            )

    def bench(self, setting: CalibrationSetting, backend: Backend) -> CalibrationBench:
        """Return what trials need; data sets are simulated as they are wanted."""
        return CalibrationBench(setting, backend)

    def data(self, bench: CalibrationBench) -> Mapping[str, Any]:
        """Return how the data are made."""
        return {"data": "simulated from each model's identifiable instance"}

    def is_done(self, bench: CalibrationBench, rows: Sequence[Row]) -> bool:
        """Tell whether there is a row."""
        return bool(rows)

    def measure(
        self, bench: CalibrationBench, trial: CalibrationTrial, progress: Checkpoint, reporter: Reporter
    ) -> Iterator[Row]:
        """Fit or sample, draw from the posterior, and compare with the truth."""
        model: Model = _models()[trial.model].identifiable()
        truth, data = bench.data(model, trial.seed)
        setting = bench.setting
        if trial.algorithm == _SAMPLER:
            started, chain = time.perf_counter(), Chain(setting.burn, setting.draws, setting.thin)
            draws = sample_posterior(model, data, truth, chain, trial.seed, bench.backend)
            yield _row(model, truth, draws, trial.seed, chain.sweeps, time.perf_counter() - started)
            return
        problem = bench.problem(model, trial.algorithm)
        start = Start(self._start(bench, trial, problem, truth, data), data, len(data))
        for state, seconds in stops([Phase(problem, [setting.iterations])], start, trial, progress, reporter):
            started = time.perf_counter()
            draws = _draws(model, state, data, trial, bench)
            yield _row(model, truth, draws, trial.seed, state.step, seconds + time.perf_counter() - started)

    def _start(
        self, bench: CalibrationBench, trial: CalibrationTrial, problem: Problem, truth: dict[str, Array], data: Any
    ) -> State:
        """Return where a fit begins."""
        if trial.start == "data":
            return engine.init(problem.model, trial.seed, data)
        return state_at(problem.model, truth, problem.local_step, data, trial.seed, bench.backend)

    def summary(self, rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
        """Return coverages with standard errors over data sets, the ranks' deviation and the width of intervals."""
        lines = []
        for model, start, algorithm, own in _groups(rows):
            sampler = select(rows, model=model, algorithm=_SAMPLER)
            line = [model, start, algorithm]
            for kind in _KINDS:
                covered = [_with_error(own, f"{kind}_{round(100 * level)}") for level in calibration.LEVELS]
                ranks = calibration.uniformity(_histograms(own, kind))
                p_value = "< 0.001" if ranks.p_value < 0.001 else f"{ranks.p_value:.3f}"
                line += [*covered, f"{ranks.deviation:.3f}", p_value, _ratio(own, sampler, f"{kind}_width")]
            lines.append([*line, f"{np.mean([row['seconds'] for row in own]):.2f}"])
        measures = [*(f"{round(100 * level)}%" for level in calibration.LEVELS), "ranks", "p", "width"]
        headings = [f"{kind} {measure}" for kind in _KINDS for measure in measures]
        return ["model", "start", "steps", *headings, "seconds"], lines

    def draw(self, rows: Sequence[Row], path: Path, setting: CalibrationSetting) -> None:
        """Draw the coverage of 90% intervals, a panel a model, a line a pair of steps."""
        models = distinct(rows, "model")
        names = [distinct(select(rows, model=model), "algorithm") for model in models]
        with figures.named_panels(path, models, names, "90% intervals with the truth") as panels:
            for model, start, algorithm, own in _groups(rows):
                panel, place = panels[models.index(model)], names[models.index(model)].index(algorithm)
                for kind in _KINDS:
                    text = f"{kind}, start at {'the truth' if start == 'truth' else 'random'}"
                    figures.estimate(panel, place, *_mean_and_error(own, f"{kind}_90"), text)
            for panel in panels:
                panel.axvline(0.9, color="0.6", linewidth=0.8)


def _draws(model: Model, state: State, data: Any, trial: CalibrationTrial, bench: CalibrationBench) -> dict[str, Array]:
    """Draw from q; or weigh draws from q by the posterior, or let samplers go on from them, as estimators do."""
    setting, count = bench.setting, bench.setting.draws
    if trial.algorithm.endswith(_SAMPLED):
        chain = Chain(setting.burn, -(-count // setting.chains), setting.thin)
        found = sample_from_q(model, state.parameters, data, chain, setting.chains, trial.seed, bench.backend)
        return {name: value[:count] for name, value in found.items()}
    if not trial.algorithm.endswith(_WEIGHED):
        return draws_of_q(model, state.parameters, count, trial.seed)
    assert isinstance(model, HierarchicalRegression)
    more = draws_for(model, data, _MOST_WEIGHED)
    weighed = reweigh(model, state.parameters, likelihood_of(model, data), more, trial.seed).values
    return {name: value[:count] for name, value in weighed.items()}


def _row(model: Model, truth: dict[str, Array], draws: dict[str, Array], seed: int, step: int, seconds: float) -> Row:
    """Return the shares of functions whose intervals have the truth, the intervals' mean widths, and the ranks."""
    row: dict[str, Any] = {"step": step, "seconds": round(seconds, 3)}
    rng = np.random.default_rng(derive_key(seed, "ties"))
    for kind, (true, drawn) in looked_at(model, truth, draws).items():
        ranks, count = calibration.ranks_of(true, drawn, rng), len(drawn)
        for level in calibration.LEVELS:
            share = calibration.covered(ranks, count, level).mean()
            row[f"{kind}_{round(100 * level)}"] = round(float(share), 6)
        row[f"{kind}_width"] = float(f"{calibration.interval_widths(drawn, 0.9).mean():.6g}")
        row[f"{kind}_ranks"] = " ".join(map(str, calibration.rank_histogram(ranks, count)))
    return row


def _groups(rows: Sequence[Row]) -> Iterator[tuple[str, str, str, list[Row]]]:
    """Yield the rows of each model, start and algorithm."""
    for model, start, algorithm in dict.fromkeys((row["model"], row["start"], row["algorithm"]) for row in rows):
        yield model, start, algorithm, select(rows, model=model, start=start, algorithm=algorithm)


def _histograms(rows: Sequence[Row], kind: str) -> list[list[int]]:
    return [[int(count) for count in row[f"{kind}_ranks"].split()] for row in rows]


def _mean_and_error(rows: Sequence[Row], name: str) -> tuple[float, float]:
    """Return the mean over data sets and its standard error, 0 for a single one."""
    values = np.array([row[name] for row in rows])
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def _with_error(rows: Sequence[Row], name: str) -> str:
    mean, error = _mean_and_error(rows, name)
    return f"{mean:.2f} ({error:.2f})" if len(rows) > 1 else f"{mean:.2f}"


def _ratio(rows: Sequence[Row], sampler: Sequence[Row], name: str) -> str:
    """Return the geometric mean over data sets of a width, divided by the sampler's where there is one."""
    reference = {row["seed"]: row[name] for row in sampler}
    ratios = [row[name] / reference[row["seed"]] for row in rows if row["seed"] in reference]
    return f"{np.exp(np.mean(np.log(ratios))):.2f}" if ratios else ""

"""What the experiments with sequences of hidden states share: held-out log probability against time, over seeds."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy import special

from ssvi import engine
from ssvi.backends.base import Backend
from ssvi.batches import Sequences
from ssvi.engine import Info, Problem, State
from ssvi.estimators.sequences import AVERAGING, step_for_sequences
from ssvi.experiments import figures
from ssvi.experiments.base import Checkpoint, Experiment, Reporter, option, require
from ssvi.experiments.fits import Phase, Start, stops
from ssvi.experiments.table import Row, distinct, mean_and_spread, select
from ssvi.global_steps.base import GlobalStep
from ssvi.global_steps.ssvi_a import SsviA
from ssvi.local_steps.base import LocalStep
from ssvi.models.base import Model
from ssvi.numerics.random import derive_key, derive_keys
from ssvi.registry import lookup
from ssvi.schedules import ConstantSchedule, Schedule, whole_step_schedule
from ssvi.typing import Array

GLOBAL = ("ssvi", "ssvi_a", "mean_field", "map")
GIBBS = "gibbs"
SIMULATED = "simulated"
_NAMES = {"ssvi": "SSVI", "ssvi_a": "SSVI-A", "mean_field": "mean-field", "map": "MAP"}

Views = Mapping[str, Array]


@dataclass(frozen=True)
class StateSetting:
    """The sizes of the data and of the fits."""

    sequences: int = option(20, "simulated sequences to fit")
    length: int = option(50, "time points of each")
    test_sequences: int = option(100, "held-out sequences")
    iterations: int = option(200, "steps of every fit; each sees all data")
    starts: int = option(5, "starts of a model that has many optima; all algorithms go on from the best")
    evaluations: int = option(4, "how often a fit is scored on the way")
    draws: int = option(100, "parameters, from q or the sampler, over which a score is averaged")
    data: tuple[str, ...] = option((SIMULATED, "sunspots"), "simulated or sunspots; repeat for both", grid=True)
    algorithm: tuple[str, ...] = option((), "GLOBAL:LOCAL, such as ssvi:exact, or gibbs; repeat for several", grid=True)
    seeds: int = option(5, "data sets, or starts, with seeds 0, 1, ...", grid=True)

    def __post_init__(self) -> None:
        for name in ("sequences", "length", "test_sequences", "iterations", "starts", "evaluations", "draws", "seeds"):
            require(name, getattr(self, name), lambda value: value >= 1, "1 or more")
        for name in self.data:
            require("data", name, lambda value: value in (SIMULATED, "sunspots"), f"{SIMULATED} or sunspots")

    def wanted(self) -> list[int]:
        """Return the steps after which a fit is scored."""
        steps = np.geomspace(self.iterations, min(5, self.iterations), self.evaluations)  # the last one always
        return sorted({int(step) for step in steps.round()})


@dataclass(frozen=True)
class StateTrial:
    """One fit."""

    data: str
    seed: int
    algorithm: str


@dataclass(frozen=True)
class StateData:
    """A model, sequences to fit and to score, and log p of the latter under the truth, if there is one."""

    model: Any
    train: Sequences
    test: Sequences
    truth: float | None = None


@dataclass(frozen=True)
class StateBench:
    """What trials need."""

    setting: StateSetting
    backend: Backend


class StateSpaces(Experiment):
    """Held-out log probability of sequences, by algorithm, against the seconds of the fit."""

    settings: ClassVar[Mapping[str, StateSetting]]
    averaging: ClassVar[float] = AVERAGING
    """p of the average over the path, as the estimator has it."""
    peers: ClassVar[Mapping[str, str]] = {}
    """Other packages' algorithms, and what they are called."""

    @abstractmethod
    def simulated(self, setting: StateSetting, seed: int) -> StateData:
        """Simulate a data set."""

    @abstractmethod
    def real(self, setting: StateSetting) -> StateData:
        """Return the real one."""

    @abstractmethod
    def log_probabilities(self, model: Any, views: Views, data: Sequences, backend: Backend) -> Array:
        """Return log p of each sequence at some parameters."""

    def peer(self, name: str, data: StateData, trial: StateTrial, bench: StateBench) -> Iterator[Row]:
        """Run another package's algorithm."""
        raise NotImplementedError

    def check(self, setting: StateSetting) -> None:
        """Raise if there is an algorithm that nobody knows."""
        known = [*_pairs(self.name), GIBBS, *self.peers]
        for name in setting.algorithm:
            require("algorithm", name, lambda value: value in known, f"one of {', '.join(known)}")

    def trials(self, setting: StateSetting) -> Sequence[StateTrial]:
        """Return every algorithm on every data set."""
        return [
            StateTrial(data, seed, name)
            for data in setting.data
            for seed in range(setting.seeds)
            for name in setting.algorithm
        ]

    def bench(self, setting: StateSetting, backend: Backend) -> StateBench:
        """Compile what will be timed."""
        tiny = StateSetting(sequences=2, length=6, test_sequences=2, iterations=2, starts=1, evaluations=1, draws=2)
        for name in setting.algorithm:
            if name not in self.peers:
                trial = StateTrial(SIMULATED, 0, name)
                data, bench = self.simulated(tiny, 0), StateBench(tiny, backend)
                state = engine.init(data.model, 0, data.train)
                engine.run(self._problem(data, trial, bench), state, data.train, sweeps=1, batch_size=len(data.train))
                self.score(data, state, trial, bench)
        return StateBench(setting, backend)

    def data(self, bench: StateBench) -> Mapping[str, Any]:
        """Return how the data are made."""
        return {"sequences": f"{', '.join(bench.setting.data)}, scored a time point"}

    def is_done(self, bench: StateBench, rows: Sequence[Row]) -> bool:
        """Tell whether it was measured to its end."""
        return any(row["step"] == bench.setting.iterations for row in rows)

    def measure(self, bench: StateBench, trial: StateTrial, progress: Checkpoint, reporter: Reporter) -> Iterator[Row]:
        """Fit, and yield held-out scores on the way."""
        setting = bench.setting
        data = self.simulated(setting, trial.seed) if trial.data == SIMULATED else self.real(setting)
        if trial.algorithm in self.peers:
            yield from self.peer(trial.algorithm, data, trial, bench)
            return
        start = self.start(data, trial.seed, bench)
        problem = self._problem(data, trial, bench)
        if trial.algorithm == GIBBS:
            yield from self._sampled(data, problem, start, bench)
            return
        phase = Phase(problem, setting.wanted())
        begin = Start(start, data.train, len(data.train))
        for state, seconds in stops([phase], begin, trial, progress, reporter):
            yield self.row(data, state.step, self.score(data, state, trial, bench), seconds)

    def start(self, data: StateData, seed: int, bench: StateBench) -> State:
        """Return where all fits of a data set begin."""
        begin = engine.init(data.model, derive_key(seed, "fit") % 2**31, data.train)
        return replace(begin, parameters=self.best_start(data, begin, bench))

    @abstractmethod
    def best_start(self, data: StateData, begin: State, bench: StateBench) -> dict[str, Array]:
        """Return lambda where the model's estimator would begin."""

    def step_sizes(self, steps: int) -> Schedule:
        """Return the step sizes of algorithms that draw, as the estimator has them."""
        return whole_step_schedule(steps)

    def row(self, data: StateData, step: int, score: float, seconds: float) -> Row:
        """Return what is put down: the mean log probability of a held-out time point, less the truth's if known."""
        truth = 0.0 if data.truth is None else data.truth
        return {"step": step, "score": (score - truth) / len(data.test.values), "seconds": seconds}

    def score(self, data: StateData, state: State, trial: StateTrial, bench: StateBench) -> float:
        """Return log p of the held-out sequences: averaged over draws from q, or at the mode for MAP."""
        blocks, lam = data.model.blocks(), state.estimate
        if trial.algorithm.startswith("map"):
            views = {name: block.family.mode_stats(lam[name]) for name, block in blocks.items()}
            return float(self.log_probabilities(data.model, views, data.test, bench.backend).sum())
        logs = []
        for number in range(bench.setting.draws):
            views = drawn_views(data.model, lam, derive_key(trial.seed, "score", number))
            logs.append(self.log_probabilities(data.model, views, data.test, bench.backend))
        return averaged(logs)

    def _problem(self, data: StateData, trial: StateTrial, bench: StateBench) -> Problem:
        """Return how an algorithm goes; the sampler is SSVI-A with whole steps and drawn states."""
        steps = bench.setting.iterations
        global_name, _, local_name = ("ssvi_a:gibbs" if trial.algorithm == GIBBS else trial.algorithm).partition(":")
        local_step: LocalStep = lookup(f"ssvi.local_steps.{self.name}", LocalStep, local_name, "local step")()
        rule: GlobalStep = (
            SsviA() if trial.algorithm == GIBBS else step_for_sequences(global_name, steps, self.averaging)
        )
        schedule: Schedule = ConstantSchedule()
        if trial.algorithm == GIBBS:
            local_step = self.sampler()
        elif rule.stochastic:
            schedule = self.step_sizes(steps)
        return Problem(data.model, local_step, rule, schedule, len(data.train), ramp=False, backend=bench.backend)

    @abstractmethod
    def sampler(self) -> LocalStep:
        """Return the local step of the sampler: one draw of all that is hidden."""

    def _sampled(self, data: StateData, problem: Problem, state: State, bench: StateBench) -> Iterator[Row]:
        """Run the sampler; scores are averaged over draws of its second half so far."""
        wanted, logs, seconds = bench.setting.wanted(), [], 0.0

        def count(_: State, info: Info) -> bool:
            nonlocal seconds
            seconds += info.seconds
            return True

        for step in range(1, wanted[-1] + 1):
            state = engine.run(problem, state, data.train, sweeps=step, batch_size=len(data.train), callbacks=[count])
            views = drawn_views(data.model, state.parameters, derive_key(state.seed, "gibbs", step))
            logs.append(self.log_probabilities(data.model, views, data.test, bench.backend))
            if step in wanted:
                yield self.row(data, step, averaged(logs[step // 2 :]), seconds)

    def summary(self, rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
        """Return the last scores by data and algorithm, and the seconds."""
        kinds, lines = distinct(rows, "data"), []
        for algorithm in distinct(rows, "algorithm"):
            cells = []
            for kind in kinds:
                ends = [_last(rows, kind, algorithm, seed) for seed in distinct(rows, "seed")]
                own = [row for row in ends if row is not None]
                cells += (
                    [figures.with_spread(*mean_and_spread(row["score"] for row in own)),
                     f"{np.mean([row['seconds'] for row in own]):.2f} s"] if own else ["", ""]
                )  # fmt: skip
            lines.append([self.label(algorithm), *cells])
        return ["", *[text for kind in kinds for text in (kind, "time")]], lines

    def draw(self, rows: Sequence[Row], path: Path, setting: StateSetting) -> None:
        """Draw scores against seconds, a panel a data set."""
        kinds = distinct(rows, "data")
        with figures.panels(path, 1, len(kinds), "seconds", "held-out log probability") as grid:
            for panel, kind in zip(grid[0], kinds, strict=True):
                panel.set_title(kind, fontsize=9)
                for algorithm in distinct(rows, "algorithm"):
                    own = select(rows, data=kind, algorithm=algorithm)
                    if own:
                        figures.curve(panel, own, algorithm, self.label(algorithm))

    def label(self, algorithm: str) -> str:
        """Return what an algorithm is called."""
        if algorithm == GIBBS:
            return "Gibbs"
        global_name, _, local_name = algorithm.partition(":")
        return self.peers.get(algorithm, f"{_NAMES.get(global_name, global_name)}, {local_name.replace('_', '-')}")


def drawn_views(model: Model, parameters: Views, seed: int) -> dict[str, Array]:
    """Return t of a draw from q."""
    views = {}
    for name, block in model.blocks().items():
        keys = derive_keys(derive_key(seed, name), parameters[name][..., 0].size)
        views[name] = block.family.draw(parameters[name], keys).stats
    return views


def averaged(logs: Sequence[Array]) -> float:
    """Return the log probability of all sequences, each averaged over parameters."""
    each = special.logsumexp(np.stack(logs), axis=0) - np.log(len(logs))
    return float(np.sum(each))


def timed(action: Callable[[], Any]) -> tuple[Any, float]:
    """Return what an action gives, and its seconds."""
    started = time.perf_counter()
    result = action()
    return result, time.perf_counter() - started


def _pairs(model: str) -> list[str]:
    """Return all pairs of steps."""
    from ssvi.registry import discover

    return [f"{one}:{other}" for one in GLOBAL for other in discover(f"ssvi.local_steps.{model}", LocalStep)]


def _last(rows: Sequence[Row], kind: str, algorithm: str, seed: int) -> Row | None:
    own = select(rows, data=kind, algorithm=algorithm, seed=seed)
    return max(own, key=lambda row: row["step"]) if own else None

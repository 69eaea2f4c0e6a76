"""Mixtures of binary images: how probable held-out digits are under what each algorithm found."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ssvi import engine
from ssvi.backends.base import Backend
from ssvi.baselines.collapsed_gibbs import CollapsedGibbsBernoulliMixture
from ssvi.batches.documents import Documents
from ssvi.data.images import Digits as Images
from ssvi.data.images import load_digits
from ssvi.engine import Info, Problem, State
from ssvi.evaluation.mixtures import averaged_log_predictive, log_predictive
from ssvi.experiments import figures
from ssvi.experiments.base import Checkpoint, Experiment, Reporter, option, require
from ssvi.experiments.fits import Phase, Start, stops
from ssvi.experiments.table import Row, distinct, mean_and_spread, select
from ssvi.global_steps.base import GlobalStep
from ssvi.global_steps.mean_field import MeanField
from ssvi.global_steps.ssvi import Ssvi
from ssvi.global_steps.ssvi_a import SsviA
from ssvi.local_steps.bernoulli_mixture.exact import Exact
from ssvi.local_steps.bernoulli_mixture.gibbs import Gibbs
from ssvi.models.base import is_active
from ssvi.models.bernoulli_mixture import BernoulliMixture
from ssvi.numerics.random import derive_keys
from ssvi.schedules import ConstantSchedule, PowerSchedule, Schedule, snapshot_steps, whole_step_schedule
from ssvi.typing import Array

_GLOBAL_STEPS: dict[str, Callable[[DigitsSetting], GlobalStep]] = {
    "ssvi_a": lambda setting: SsviA(),
    "ssvi": lambda setting: Ssvi(correction_sweeps=setting.iterations, control_variate=True),
    "mean_field": lambda setting: MeanField(),
}
_LABELS = {
    "ssvi_a": "SSVI-A",
    "ssvi_a-path": "SSVI-A, averaged predictions",
    "ssvi": "SSVI",
    "mean_field": "mean-field",
    "ssvi_a-online": "SSVI-A, minibatches",
    "mean_field-online": "mean-field, minibatches",
    "cgs": "collapsed Gibbs, random start",
    "cgs-informed": "collapsed Gibbs, start at images",
}
_ACTIVE = 1e-3  # of the rows, that an active component holds


@dataclass(frozen=True)
class DigitsSetting:
    """The data and the sizes of the fits."""

    images: Path | None = option(None, "folder with MNIST's files (found, or scikit-learn's digits)")
    threshold: float = option(0.5, "brightness, from 0 to 1, above which a pixel is 1")
    components: int = option(200, "components K")
    concentration: float = option(10.0, "concentration alpha of the Dirichlet process")
    batch_size: int = option(1_000, "rows in a minibatch")
    iterations: int = option(60, "steps over all images")
    passes: int = option(20, "passes over the images by minibatches")
    decay: float = option(0.6, "kappa of the steps (t + offset)^-kappa")
    offset: float = option(10.0, "tau of the steps")
    sweeps: int = option(300, "sweeps of the collapsed Gibbs sampler")
    kept: int = option(50, "sweeps, the last, whose predictions are averaged")
    snapshots: int = option(20, "states of SSVI-A whose predictions are averaged (ssvi_a-path)")
    algorithm: tuple[str, ...] = option(tuple(_LABELS), f"one of {', '.join(_LABELS)}; repeat for several", grid=True)
    seeds: int = option(5, "starts of each algorithm (the sampler has one), with seeds 0, 1, ...", grid=True)

    def __post_init__(self) -> None:
        for name in ("components", "batch_size", "iterations", "passes", "sweeps", "kept", "snapshots", "seeds"):
            require(name, getattr(self, name), lambda value: value >= 1, "1 or more")
        for name in ("decay", "offset"):
            require(name, getattr(self, name), lambda value: value >= 0, "0 or more")
        require("concentration", self.concentration, lambda value: value > 0, "positive")
        require("threshold", self.threshold, lambda value: 0 <= value < 1, "from 0 to 1")
        require("kept", self.kept, lambda value: value <= self.sweeps, f"at most sweeps = {self.sweeps}")
        for name in self.algorithm:
            require("algorithm", name, lambda value: value in _LABELS, f"one of {', '.join(_LABELS)}")


@dataclass(frozen=True)
class DigitsTrial:
    """One fit."""

    algorithm: str
    seed: int


@dataclass(frozen=True)
class DigitsBench:
    """The images, and where fits run."""

    setting: DigitsSetting
    images: Images
    train: Documents
    test: Documents
    backend: Backend

    @property
    def model(self) -> BernoulliMixture:
        """The mixture."""
        return BernoulliMixture(self.train.n_words, self.setting.components, self.setting.concentration)

    def problem(self, name: str) -> Problem:
        """Return how an algorithm fits: with every step over all images, or by minibatches."""
        setting, local_step = self.setting, Exact() if name.startswith("mean_field") else Gibbs()
        if name.endswith("-online"):
            schedule: Schedule = PowerSchedule(setting.decay, setting.offset)
        else:
            schedule = ConstantSchedule() if name == "mean_field" else whole_step_schedule(setting.iterations)
        step = _GLOBAL_STEPS[name.removesuffix("-online")](setting)
        return Problem(self.model, local_step, step, schedule, len(self.train), ramp=False, backend=self.backend)

    def used(self, state: State) -> int:
        """Return how many components are in use."""
        return int(np.count_nonzero(is_active(self.model.rows_held(state.parameters), _ACTIVE)))

    def batch_size(self, name: str) -> int:
        """Return how many images a step sees."""
        return self.setting.batch_size if name.endswith("-online") else len(self.train)

    def steps(self, name: str) -> int:
        """Return how many steps an algorithm takes."""
        a_pass = -(-len(self.train) // self.setting.batch_size)
        return self.setting.passes * a_pass if name.endswith("-online") else self.setting.iterations

    def nearest(self, seed: int) -> Any:
        """Return for each training image the component of a fit's start that explains it best."""
        start = engine.init(self.model, seed, self.train).parameters
        views = self.model.statistics(self.model.mean_weights(start), self.model.mean_components(start))
        keys = derive_keys(0, len(self.train))
        local = self.backend.map_local(Exact(), self.model, views, self.train, keys)
        return local["responsibilities"].argmax(axis=1)


class DigitsMixture(Experiment):
    """Held-out log probability of images, and how many components are in use."""

    name = "digits"
    title = "Mixture of binary images: held-out log probability"
    settings: ClassVar[Mapping[str, DigitsSetting]] = {
        "quick": DigitsSetting(seeds=2, components=50, iterations=30, passes=5, sweeps=20, kept=10),
        "paper": DigitsSetting(),
    }

    def trials(self, setting: DigitsSetting) -> Sequence[DigitsTrial]:
        """Return every algorithm from every start; the sampler from one."""
        return [
            DigitsTrial(name, seed)
            for seed in range(setting.seeds)
            for name in setting.algorithm
            if seed == 0 or not name.startswith("cgs")
        ]

    def bench(self, setting: DigitsSetting, backend: Backend) -> DigitsBench:
        """Read the images and compile what will be timed."""
        images = load_digits(setting.images, setting.threshold)
        train, test = Documents.from_matrix(images.train), Documents.from_matrix(images.test)
        bench = DigitsBench(setting, images, train, test, backend)
        few = train.slice(0, 10)
        CollapsedGibbsBernoulliMixture(setting.components, sweeps=1, kept=1).fit(few)
        for name in _GLOBAL_STEPS:
            bench.problem(name).step(engine.init(bench.model, 0), few)
        return bench

    def data(self, bench: DigitsBench) -> Mapping[str, Any]:
        """Return the name and sizes of the data."""
        return {"images of": bench.images.name, "to train on": len(bench.train), "to test on": len(bench.test)}

    def is_done(self, bench: DigitsBench, rows: Sequence[Row]) -> bool:
        """Tell whether there is a final row."""
        return any(row["final"] for row in rows)

    def measure(
        self, bench: DigitsBench, trial: DigitsTrial, progress: Checkpoint, reporter: Reporter
    ) -> Iterator[Row]:
        """Fit, and yield the held-out score and the components in use a few times along the way."""
        if trial.algorithm.startswith("cgs") or trial.algorithm == "ssvi_a-path":
            yield self._sample(bench, trial) if trial.algorithm.startswith("cgs") else self._average(bench, trial)
            return
        model, steps = bench.model, bench.steps(trial.algorithm)
        wanted = sorted({max(1, round(steps * share)) for share in (0.05, 0.1, 0.25, 0.5, 1.0)})
        start = Start(engine.init(model, trial.seed, bench.train), bench.train, bench.batch_size(trial.algorithm))
        for state, seconds in stops([Phase(bench.problem(trial.algorithm), wanted)], start, trial, progress, reporter):
            estimates = model.mean_weights(state.parameters), model.mean_components(state.parameters)
            scores = log_predictive(*estimates, bench.test, backend=bench.backend)
            yield _row(scores, bench.used(state), state.step, seconds, final=state.step == wanted[-1])

    def _average(self, bench: DigitsBench, trial: DigitsTrial) -> Row:
        """Run SSVI-A and average the predictions of states along its path."""
        setting, started, model = bench.setting, time.perf_counter(), bench.model
        wanted = snapshot_steps(setting.iterations, setting.snapshots)
        estimates: list[tuple[Array, Array]] = []

        def keep(state: State, info: Info) -> None:
            if info.step in wanted:
                estimates.append((model.mean_weights(state.parameters), model.mean_components(state.parameters)))

        state = engine.run(
            bench.problem("ssvi_a"), engine.init(model, trial.seed, bench.train), bench.train,
            sweeps=setting.iterations, batch_size=len(bench.train), callbacks=[keep],
        )  # fmt: skip
        seconds = time.perf_counter() - started
        scores = averaged_log_predictive(estimates, bench.test, backend=bench.backend)
        return _row(scores, bench.used(state), state.step, seconds, final=True)

    def _sample(self, bench: DigitsBench, trial: DigitsTrial) -> Row:
        setting, started = bench.setting, time.perf_counter()
        sampler = CollapsedGibbsBernoulliMixture(
            setting.components, setting.concentration, sweeps=setting.sweeps, kept=setting.kept,
            random_state=trial.seed,
        )  # fmt: skip
        sampler.fit(bench.train, labels=bench.nearest(trial.seed) if trial.algorithm == "cgs-informed" else None)
        seconds = time.perf_counter() - started
        sizes = np.bincount(sampler.labels_)
        used = int(np.count_nonzero(sizes >= max(1.0, _ACTIVE * len(bench.train))))
        return _row(sampler.score_samples(bench.test), used, setting.sweeps, seconds, final=True)

    def summary(self, rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
        """Return the mean and the best over starts, components in use and time."""
        lines = []
        for algorithm in distinct(rows, "algorithm"):
            own = select(rows, algorithm=algorithm, final=True)
            scores = [row["score"] for row in own]
            lines.append(
                [
                    _LABELS[algorithm],
                    figures.with_spread(*mean_and_spread(scores)),
                    f"{max(scores):.3f}",
                    f"{own[0]['standard_error']:.3f}",
                    figures.span([row["used"] for row in own]),
                    f"{np.mean([row['seconds'] for row in own]):.0f}",
                ]
            )
        return ["", "log probability of an image", "best", "standard error", "components used", "seconds"], lines

    def draw(self, rows: Sequence[Row], path: Path, setting: DigitsSetting) -> None:
        """Draw the score against time, and against the components in use."""
        with figures.side_by_side(path, "seconds", "components used", "log probability of a held-out image") as axes:
            for algorithm in distinct(rows, "algorithm"):
                own = select(rows, algorithm=algorithm)
                figures.curve(axes[0], own, algorithm, _LABELS[algorithm])
                done = select(own, final=True)
                figures.scatter(axes[1], [row["used"] for row in done], [row["score"] for row in done], algorithm)


def _row(scores: Array, used: int, step: int, seconds: float, *, final: bool) -> Row:
    return {
        "step": step,
        "final": final,
        "seconds": round(seconds, 3),
        "score": round(float(scores.mean()), 6),
        "standard_error": round(float(scores.std(ddof=1) / np.sqrt(len(scores))), 6),
        "used": used,
    }

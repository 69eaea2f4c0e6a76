"""The paper's mixture experiment: a Dirichlet process mixture of Bernoullis, fitted to data that it generated."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ssvi import engine
from ssvi.backends.base import Backend
from ssvi.baselines.collapsed_gibbs import CollapsedGibbsBernoulliMixture
from ssvi.batches.documents import Documents
from ssvi.engine import Problem, State
from ssvi.evaluation.mixtures import log_predictive
from ssvi.experiments import figures
from ssvi.experiments.base import Checkpoint, Experiment, Reporter, option, require
from ssvi.experiments.fits import Phase, Start, stops
from ssvi.experiments.table import Row, distinct, mean_and_spread, select
from ssvi.global_steps.mean_field import MeanField
from ssvi.global_steps.ssvi import Ssvi
from ssvi.global_steps.ssvi_a import SsviA
from ssvi.local_steps.bernoulli_mixture.exact import Exact
from ssvi.local_steps.bernoulli_mixture.gibbs import Gibbs
from ssvi.models.base import is_active
from ssvi.models.bernoulli_mixture import BernoulliMixture
from ssvi.numerics.random import derive_key
from ssvi.schedules import ConstantSchedule, PowerSchedule
from ssvi.typing import Array

_LABELS = {
    "cgs": "collapsed Gibbs, posterior means",
    "cgs-predictive": "collapsed Gibbs, averaged predictions",
    "mf-uniform": "mean-field, near-uniform start",
    "mf-rough": "mean-field, rough start",
    "mf-informed": "mean-field, from SSVI-A's result",
    "ssvi_a": "SSVI-A",
    "ssvi_a-exact": "SSVI-A, expected z",
    "ssvi": "SSVI",
    "ssvi-exact": "SSVI, expected z",
}
_NEARLY_UNIFORM = 1e4


@dataclass(frozen=True)
class MixtureSetting:
    """The sizes of the data and of the fits."""

    components: int = option(100, "components K")
    concentration: float = option(20.0, "concentration alpha of the Dirichlet process")
    features: int = option(100, "features D")
    rows: int = option(1_000, "rows N")
    iterations: int = option(1_500, "steps of SSVI-A and SSVI, each over all rows")
    ascent: int = option(400, "steps of mean-field, each over all rows")
    whole: int = option(500, "iterations with rho = 1, before rho falls as t^-decay")
    decay: float = option(0.75, "kappa of the steps min(1, (t / whole)^-kappa)")
    ramp: float = option(1_500.0, "iterations after which SSVI takes its whole correction")
    sweeps: int = option(800, "sweeps of the collapsed Gibbs sampler")
    kept: int = option(200, "sweeps, the last, that make up its estimates")
    test_rows: int = option(20_000, "rows of the Monte Carlo estimate of the divergence")
    algorithm: tuple[str, ...] = option(tuple(_LABELS), f"one of {', '.join(_LABELS)}; repeat for several", grid=True)
    seeds: int = option(5, "data sets, with seeds 0, 1, ...", grid=True)

    def __post_init__(self) -> None:
        whole = (
            "components",
            "features",
            "rows",
            "iterations",
            "whole",
            "ascent",
            "sweeps",
            "kept",
            "test_rows",
            "seeds",
        )
        for name in whole:
            require(name, getattr(self, name), lambda value: value >= 1, "1 or more")
        require("concentration", self.concentration, lambda value: value > 0, "positive")
        for name in ("decay", "ramp"):
            require(name, getattr(self, name), lambda value: value >= 0, "0 or more")
        require("kept", self.kept, lambda value: value <= self.sweeps, f"at most sweeps = {self.sweeps}")
        for name in self.algorithm:
            require("algorithm", name, lambda value: value in _LABELS, f"one of {', '.join(_LABELS)}")


@dataclass(frozen=True)
class MixtureTrial:
    """One fit of one data set."""

    algorithm: str
    seed: int


@dataclass(frozen=True)
class MixtureData:
    """Rows to fit, rows to measure on, and the log probability of the latter under the truth."""

    rows: Documents
    test: Documents
    log_truth: Array
    used: int
    """How many components generated the rows."""


@dataclass(frozen=True)
class MixtureBench:
    """What trials need."""

    setting: MixtureSetting
    backend: Backend

    def model(self, start_shape: float = 1.0) -> BernoulliMixture:
        """Return the model, with the hyperparameters that generated the data."""
        setting = self.setting
        return BernoulliMixture(setting.features, setting.components, setting.concentration, start_shape=start_shape)

    def data(self, seed: int) -> MixtureData:
        """Simulate a data set."""
        model, rng = self.model(), np.random.default_rng(derive_key(seed, "dpmb"))
        truth = model.simulate(rng, 1)[0]
        weights, components = truth["weights"][0], truth["components"]
        rows, drawn = model.sample(weights, components, rng, self.setting.rows)
        test = Documents.from_matrix(model.sample(weights, components, rng, self.setting.test_rows)[0])
        log_truth = log_predictive(weights, components, test, backend=self.backend)
        return MixtureData(Documents.from_matrix(rows), test, log_truth, len(np.unique(drawn)))

    def start(self, trial: MixtureTrial) -> State:
        """Return where a fit begins."""
        rough = self.model(_NEARLY_UNIFORM if trial.algorithm == "mf-uniform" else 1.0)
        return engine.init(rough, trial.seed)

    def problem(self, name: str) -> Problem:
        """Return how an algorithm fits."""
        setting = self.setting
        if name.startswith("mf"):
            local_step, global_step, schedule = Exact(), MeanField(), ConstantSchedule()
            return Problem(self.model(), local_step, global_step, schedule, setting.rows, backend=self.backend)
        # SSVI's correction multiplies statistics of all rows by noise, every step: without the control variate the full
        # steps taken here at first would scatter lambda.
        ssvi = Ssvi(correction_sweeps=setting.ramp, control_variate=True)
        return Problem(
            self.model(),
            Exact() if name.endswith("-exact") else Gibbs(),
            SsviA() if name.startswith("ssvi_a") else ssvi,
            PowerSchedule(setting.decay, 0.0, float(setting.whole) ** setting.decay),
            setting.rows,
            backend=self.backend,
        )

    def phases(self, name: str) -> list[Phase]:
        """Return the stretches of an algorithm's fit."""
        first = self.setting.ascent if name in ("mf-uniform", "mf-rough") else self.setting.iterations
        if name != "mf-informed":
            return [Phase(self.problem(name), [first])]
        # Mean-field's optimum nearest to what SSVI-A found: how good a start can make it.
        return [Phase(self.problem("ssvi_a"), [first]), Phase(self.problem(name), [first + self.setting.ascent])]


class Dpmb(Experiment):
    """Components used and divergence from the truth, for mean-field, SSVI-A, SSVI and collapsed Gibbs sampling."""

    name = "dpmb"
    title = "Dirichlet process mixture of Bernoullis: divergence from the truth"
    settings: ClassVar[Mapping[str, MixtureSetting]] = {
        "quick": MixtureSetting(seeds=2),
        "paper": MixtureSetting(),
    }

    def trials(self, setting: MixtureSetting) -> Sequence[MixtureTrial]:
        """Return every algorithm on every data set."""
        return [MixtureTrial(name, seed) for seed in range(setting.seeds) for name in setting.algorithm]

    def bench(self, setting: MixtureSetting, backend: Backend) -> MixtureBench:
        """Compile what will be timed; data sets are simulated as they are wanted."""
        bench = MixtureBench(setting, backend)
        tiny = bench.model().simulate(np.random.default_rng(0), 10)[1]
        CollapsedGibbsBernoulliMixture(setting.components, sweeps=1, kept=1).fit(tiny)
        for name in ("mf-rough", "ssvi_a", "ssvi"):
            bench.problem(name).step(engine.init(bench.model(), 0), tiny)
        return bench

    def data(self, bench: MixtureBench) -> Mapping[str, Any]:
        """Return how the data are made."""
        return {"data": "simulated from the model"}

    def is_done(self, bench: MixtureBench, rows: Sequence[Row]) -> bool:
        """Tell whether there is a final row."""
        return any(row["final"] for row in rows)

    def measure(
        self, bench: MixtureBench, trial: MixtureTrial, progress: Checkpoint, reporter: Reporter
    ) -> Iterator[Row]:
        """Fit, and yield the divergence and the number of components used."""
        data = bench.data(trial.seed)
        if trial.algorithm.startswith("cgs"):
            yield self._sample(bench, trial, data)
            return
        model, phases = bench.model(), bench.phases(trial.algorithm)
        start = Start(bench.start(trial), data.rows, len(data.rows))
        for state, seconds in stops(phases, start, trial, progress, reporter):
            estimates = model.mean_weights(state.parameters), model.mean_components(state.parameters)
            log_estimate = log_predictive(*estimates, data.test, backend=bench.backend)
            used = int(np.count_nonzero(is_active(model.rows_held(state.parameters), 0.0)))
            yield _row(data, log_estimate, used, state.step, seconds, final=state.step == phases[-1].wanted[-1])

    def _sample(self, bench: MixtureBench, trial: MixtureTrial, data: MixtureData) -> Row:
        setting, started = bench.setting, time.perf_counter()
        sampler = CollapsedGibbsBernoulliMixture(
            setting.components, setting.concentration, sweeps=setting.sweeps, kept=setting.kept,
            random_state=trial.seed,
        ).fit(data.rows)  # fmt: skip
        seconds = time.perf_counter() - started
        if trial.algorithm == "cgs":
            log_estimate = log_predictive(*sampler.posterior_means(), data.test, backend=bench.backend)
        else:
            log_estimate = sampler.score_samples(data.test)
        return _row(data, log_estimate, sampler.n_active_, setting.sweeps, seconds, final=True)

    def summary(self, rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
        """Return divergence, its ratio to the sampler's, and components used, over data sets."""
        done = select(rows, final=True)
        reference = {row["seed"]: row["kl"] for row in select(done, algorithm="cgs")}
        lines = []
        for algorithm in distinct(done, "algorithm"):
            own = select(done, algorithm=algorithm)
            shared = [row for row in own if row["seed"] in reference]
            ratio = sum(row["kl"] for row in shared) / (sum(reference[row["seed"]] for row in shared) or np.nan)
            error = np.sqrt(sum(row["kl_error"] ** 2 for row in own)) / len(own)
            lines.append(
                [
                    _LABELS[algorithm],
                    figures.with_spread(*mean_and_spread(row["kl"] for row in own)),
                    f"{error:.3f}",
                    f"{ratio:.3f}" if shared else "",
                    figures.span([row["used"] for row in own]),
                    figures.span([row["truly_used"] for row in own]),
                    f"{np.mean([row['seconds'] for row in own]):.1f}",
                ]
            )
        headings = ["", "KL", "standard error", "KL / collapsed Gibbs", "components used", "in truth", "seconds"]
        return headings, lines

    def draw(self, rows: Sequence[Row], path: Path, setting: MixtureSetting) -> None:
        """Draw each data set's divergence and components used, an algorithm a line."""
        done = select(rows, final=True)
        algorithms = distinct(done, "algorithm")
        with figures.dot_panels(path, [_LABELS[name] for name in algorithms]) as (left, right):
            for number, algorithm in enumerate(algorithms):
                own = select(done, algorithm=algorithm)
                figures.dots(left, number, [row["kl"] for row in own])
                figures.dots(right, number, [row["used"] - row["truly_used"] for row in own])
            left.set_xlabel("KL divergence of the estimate from the truth")
            right.set_xlabel("components used, less those in truth")
            right.axvline(0.0, color="0.6", linewidth=0.8)


def _row(data: MixtureData, log_estimate: Array, used: int, step: int, seconds: float, *, final: bool) -> Row:
    """Return what was measured; KL(p || p-hat) is the mean of log p - log p-hat over rows drawn from p."""
    difference = data.log_truth - log_estimate
    return {
        "step": step,
        "final": final,
        "seconds": round(seconds, 3),
        "kl": round(float(difference.mean()), 6),
        "kl_error": round(float(difference.std(ddof=1) / np.sqrt(len(difference))), 6),
        "used": used,
        "truly_used": data.used,
    }

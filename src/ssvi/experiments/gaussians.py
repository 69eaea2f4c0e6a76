"""Gaussian mixtures of many sizes: held-out density of `GaussianMixture` and of scikit-learn's two mixtures."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ssvi.backends.base import Backend
from ssvi.backends.threads import Threads
from ssvi.batches import DenseRows
from ssvi.experiments import figures
from ssvi.experiments.base import Checkpoint, Experiment, Reporter, option, require
from ssvi.experiments.table import Row, distinct, mean_and_spread, select
from ssvi.local_steps.gaussian_mixture.exact import Exact
from ssvi.models.gaussian_mixture import GaussianMixture as Model
from ssvi.numerics.random import derive_key
from ssvi.typing import Array

_OURS: dict[str, dict[str, Any]] = {
    "ssvi_a": {"global_step": "ssvi_a", "local_step": "gibbs"},
    "ssvi_a-exact": {"global_step": "ssvi_a", "local_step": "exact"},
    "ssvi": {"global_step": "ssvi", "local_step": "gibbs"},
    "ssvi-exact": {"global_step": "ssvi", "local_step": "exact"},
    "mean_field": {"global_step": "mean_field", "local_step": "exact"},
}
_LABELS = {
    "sklearn": "scikit-learn GaussianMixture",
    "sklearn-bayes": "scikit-learn BayesianGaussianMixture",
    "mean_field": "mean-field",
    "ssvi_a": "SSVI-A",
    "ssvi_a-exact": "SSVI-A, expected z",
    "ssvi": "SSVI",
    "ssvi-exact": "SSVI, expected z",
    "missing": "SSVI-A, entries missing",
}
_SIZES = ("2x2", "20x2", "5x5", "10x10", "20x20", "3x50")
_USUAL = ("sklearn", "sklearn-bayes", "mean_field", "ssvi_a", "ssvi-exact", "missing")
_MOST_TURNS = 300  # of scikit-learn's, which stop before if they have settled


def _parse(size: str) -> tuple[int, ...]:
    """Return the numbers of components and columns; nothing if the text does not tell them.

    >>> _parse("5x10")
    (5, 10)
    """
    parts = size.split("x")
    return tuple(int(part) for part in parts) if all(part.isdigit() and int(part) for part in parts) else ()


@dataclass(frozen=True)
class GaussianSetting:
    """The sizes of the data and of the fits."""

    rows: int = option(2_000, "rows N")
    separation: float = option(4.0, "distance between two centres, in deviations of a component's columns, about")
    missing: float = option(0.3, "share of entries that the algorithm `missing` does not see")
    starts: int = option(1, "starts of every fit, of which the one that scores its own rows best is kept")
    passes: int = option(500, "passes of SSVI-A and SSVI; mean-field stops when it has settled, or after so many")
    test_rows: int = option(10_000, "held-out rows")
    size: tuple[str, ...] = option(_SIZES, "components x columns, such as 5x10; repeat for several", grid=True)
    algorithm: tuple[str, ...] = option(_USUAL, f"one of {', '.join(_LABELS)}; repeat for several", grid=True)
    seeds: int = option(5, "data sets of each size, with seeds 0, 1, ...", grid=True)

    def __post_init__(self) -> None:
        for name in ("rows", "starts", "passes", "test_rows", "seeds"):
            require(name, getattr(self, name), lambda value: value >= 1, "1 or more")
        require("separation", self.separation, lambda value: value >= 0, "0 or more")
        require("missing", self.missing, lambda value: 0 <= value < 1, "from 0 to less than 1")
        for name in self.algorithm:
            require("algorithm", name, lambda value: value in _LABELS, f"one of {', '.join(_LABELS)}")
        for size in self.size:
            require("size", size, lambda value: len(_parse(value)) == 2, "components x columns, such as 5x10")


@dataclass(frozen=True)
class GaussianTrial:
    """One fit of one data set."""

    size: str
    seed: int
    algorithm: str


@dataclass(frozen=True)
class GaussianData:
    """Rows to fit, rows to measure on, and the log probability of the latter under the truth."""

    rows: Array
    test: Array
    log_truth: Array


@dataclass(frozen=True)
class GaussianBench:
    """What trials need."""

    setting: GaussianSetting
    backend: Backend

    def data(self, size: str, seed: int) -> GaussianData:
        """Simulate a data set: centres at random, covariances of every shape, no component very rare."""
        components, columns = _parse(size)
        rng = np.random.default_rng(derive_key(seed, "gaussians", size))
        weights = rng.dirichlet(np.full(components, 5.0))
        means = self.setting.separation / np.sqrt(2.0 * columns) * rng.normal(size=(components, columns))
        roots = rng.normal(size=(components, columns, columns + 3)) / np.sqrt(columns + 3)
        covariances = roots @ np.swapaxes(roots, 1, 2)
        model = Model(columns, components, 1.0)
        rows, _ = model.sample(weights, means, covariances, rng, self.setting.rows)
        test, _ = model.sample(weights, means, covariances, rng, self.setting.test_rows)
        views = model.statistics(weights, means, np.linalg.inv(covariances))
        step = Exact()
        prepared = step.prepare(model, views, DenseRows(test))
        logs = [prepared.log_probability(start, min(start + 1_000, len(test))) for start in range(0, len(test), 1_000)]
        return GaussianData(rows, test, np.concatenate(logs))

    def fit(self, trial: GaussianTrial, rows: Array) -> Any:
        """Return the best of some fits, as a scikit-learn mixture."""
        setting, components = self.setting, _parse(trial.size)[0]
        if trial.algorithm.startswith("sklearn"):
            return _fit_scikit_learn(trial, rows, components, setting.starts)
        from ssvi.estimators.gaussian_mixture import GaussianMixture  # which brings scikit-learn with it

        options = _OURS.get(trial.algorithm, _OURS["ssvi_a"])
        if trial.algorithm == "missing":
            rng = np.random.default_rng(derive_key(trial.seed, "holes", trial.size))
            rows = np.where(rng.random(rows.shape) < setting.missing, np.nan, rows)
        fits = [
            GaussianMixture(
                components, **options, max_iter=setting.passes, learning_method="batch", backend=self.backend,
                random_state=derive_key(trial.seed, start) % 2**31, verbose=0,
            ).fit(rows)
            for start in range(setting.starts)
        ]  # fmt: skip
        return max(fits, key=lambda model: model.score(rows))


class Gaussians(Experiment):
    """What held-out rows lose in density against the truth, by algorithm, over many sizes of mixtures."""

    name = "gaussians"
    title = "Gaussian mixtures: held-out log probability"
    settings: ClassVar[Mapping[str, GaussianSetting]] = {
        "quick": GaussianSetting(size=("2x2", "20x2", "5x5", "10x10"), seeds=2),
        "paper": GaussianSetting(),
    }

    def trials(self, setting: GaussianSetting) -> Sequence[GaussianTrial]:
        """Return every algorithm on every data set."""
        seeds = range(setting.seeds)
        return [
            GaussianTrial(size, seed, name) for size in setting.size for seed in seeds for name in setting.algorithm
        ]

    def bench(self, setting: GaussianSetting, backend: Backend) -> GaussianBench:
        """Compile what will be timed; data sets are simulated as they are wanted."""
        tiny = GaussianBench(GaussianSetting(rows=20, passes=2, test_rows=20), Threads())
        for name in setting.algorithm:
            tiny.fit(GaussianTrial("2x2", 0, name), tiny.data("2x2", 0).rows)
        return GaussianBench(setting, backend)

    def data(self, bench: GaussianBench) -> Mapping[str, Any]:
        """Return how the data are made."""
        return {"data": "simulated mixtures of Gaussians"}

    def is_done(self, bench: GaussianBench, rows: Sequence[Row]) -> bool:
        """Tell whether it was measured."""
        return len(rows) > 0

    def measure(
        self, bench: GaussianBench, trial: GaussianTrial, progress: Checkpoint, reporter: Reporter
    ) -> Iterator[Row]:
        """Fit, and yield what held-out rows lose against the truth."""
        data = bench.data(trial.size, trial.seed)
        started = time.perf_counter()
        model = bench.fit(trial, data.rows)
        seconds = time.perf_counter() - started
        lost = data.log_truth - model.score_samples(data.test)
        yield {
            "step": 1, "lost": float(lost.mean()), "error": float(lost.std() / np.sqrt(len(lost))),
            "used": int((model.weights_ > 0.5 / len(data.rows)).sum()), "seconds": seconds,
        }  # fmt: skip

    def summary(self, rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
        """Return the mean loss by size and algorithm, the best of each size in bold type."""
        sizes, lines = distinct(rows, "size"), []
        means = {(row["size"], row["algorithm"]): np.mean([own["lost"] for own in _same(rows, row)]) for row in rows}
        for algorithm in distinct(rows, "algorithm"):
            cells = []
            for size in sizes:
                own = [row["lost"] for row in select(rows, size=size, algorithm=algorithm)]
                best = min(mean for (other, _), mean in means.items() if other == size)
                text = figures.with_spread(*mean_and_spread(own)) if own else ""
                cells.append(f"**{text}**" if own and np.mean(own) == best else text)
            lines.append([_LABELS[algorithm], *cells])
        return ["", *sizes], lines

    def draw(self, rows: Sequence[Row], path: Path, setting: GaussianSetting) -> None:
        """Draw what each fit loses against the best of its data set, and its seconds, an algorithm a line."""
        best = {
            (row["size"], row["seed"]): min(own["lost"] for own in select(rows, size=row["size"], seed=row["seed"]))
            for row in rows
        }
        algorithms = distinct(rows, "algorithm")
        with figures.dot_panels(path, [_LABELS[name] for name in algorithms]) as (left, right):
            for number, algorithm in enumerate(algorithms):
                own = select(rows, algorithm=algorithm)
                figures.dots(left, number, [row["lost"] - best[row["size"], row["seed"]] for row in own])
                figures.dots(right, number, [row["seconds"] for row in own])
            left.set_xlabel("nats a row, against the best of each data set")
            left.set_xscale("symlog", linthresh=0.01)
            right.set_xlabel("seconds")
            right.set_xscale("log")


def _fit_scikit_learn(trial: GaussianTrial, rows: Array, components: int, starts: int) -> Any:
    """Return scikit-learn's mixture, of maximum likelihood or a Bayesian one, with its own defaults."""
    from sklearn import mixture

    kind = mixture.GaussianMixture if trial.algorithm == "sklearn" else mixture.BayesianGaussianMixture
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it has not settled
        return kind(n_components=components, n_init=starts, max_iter=_MOST_TURNS, random_state=trial.seed).fit(rows)


def _same(rows: Sequence[Row], row: Row) -> Sequence[Row]:
    return select(rows, size=row["size"], algorithm=row["algorithm"])

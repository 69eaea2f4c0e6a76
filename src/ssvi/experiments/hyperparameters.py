"""Priors of LDA learned in the fit: against those that simulated corpora were made with, and against a grid of them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ssvi.backends.base import Backend
from ssvi.backends.threads import Threads
from ssvi.batches.documents import Documents
from ssvi.experiments import figures
from ssvi.experiments.algorithms import label, pair
from ssvi.experiments.base import Checkpoint, Experiment, Reporter, option, require
from ssvi.experiments.table import Row, distinct, mean_and_spread, select
from ssvi.models.lda import LDA
from ssvi.numerics.random import derive_key
from ssvi.typing import Array

LEARNED = "learned"
_UNEVEN = "uneven"
_CORPORA = ("0.05:0.01", "0.05:0.1", "0.2:0.05", "uneven 0.2:0.05")
_GRID = (0.02, 0.1, 0.4, 1.0), (0.01, 0.05, 0.2, 0.5)
_ALGORITHMS = ("ssvi:gibbs", "ssvi_a:gibbs", "map:gibbs", "mean_field:mean_field")


def _parse(corpus: str) -> tuple[bool, float, float] | None:
    """Return whether topics are uneven, alpha and eta; nothing if the text does not tell them.

    >>> _parse("uneven 0.2:0.05")
    (True, 0.2, 0.05)
    """
    kind, _, numbers = corpus.rpartition(" ")
    try:
        alpha, eta = map(float, numbers.split(":"))
    except ValueError:
        return None
    return (kind == _UNEVEN, alpha, eta) if kind in ("", _UNEVEN) and alpha > 0 and eta > 0 else None


@dataclass(frozen=True)
class HyperparameterSetting:
    """The corpora, and what is fitted to them."""

    topics: int = option(10, "topics K")
    words: int = option(1_000, "words V")
    documents: int = option(4_000, "documents of each corpus")
    length: float = option(150.0, "words of a document, on average")
    test_documents: int = option(500, "held-out documents")
    passes: int = option(10, "passes of each fit")
    grid_alpha: tuple[float, ...] = option(_GRID[0], "alpha of the fits that learn nothing", grid=True)
    grid_eta: tuple[float, ...] = option(_GRID[1], "eta of the fits that learn nothing", grid=True)
    corpus: tuple[str, ...] = option(
        _CORPORA, "alpha:eta of a corpus, or 'uneven alpha:eta' with alpha on average; repeat for several", grid=True
    )
    algorithm: tuple[str, ...] = option(
        _ALGORITHMS, "GLOBAL:LOCAL that learns; repeat for several. The first does the grid too", grid=True
    )
    seeds: int = option(1, "corpora of each kind, with seeds 0, 1, ...", grid=True)

    def __post_init__(self) -> None:
        for name in ("topics", "words", "documents", "test_documents", "passes", "seeds"):
            require(name, getattr(self, name), lambda value: value >= 1, "1 or more")
        require("length", self.length, lambda value: value >= 1, "1 or more")
        for name in ("grid_alpha", "grid_eta"):
            require(name, getattr(self, name), lambda values: all(value > 0 for value in values), "positive")
        for corpus in self.corpus:
            require("corpus", corpus, lambda value: _parse(value) is not None, "alpha:eta or 'uneven alpha:eta'")
        for name in self.algorithm:
            pair(name)


@dataclass(frozen=True)
class HyperparameterTrial:
    """One fit of one corpus: with priors learned, or given as alpha:eta."""

    corpus: str
    seed: int
    algorithm: str
    prior: str


@dataclass(frozen=True)
class Corpus:
    """Simulated documents, and the alpha that they were made with."""

    train: Documents
    test: Documents
    alpha: Array


@dataclass(frozen=True)
class HyperparameterBench:
    """What trials need."""

    setting: HyperparameterSetting
    backend: Backend

    def corpus(self, name: str, seed: int) -> Corpus:
        """Simulate a corpus. Uneven topics have alpha from half the average to one and a half times it."""
        parsed = _parse(name)
        assert parsed is not None, "which the setting has checked"
        uneven, mean, eta = parsed
        setting = self.setting
        alpha = mean * np.linspace(0.5, 1.5, setting.topics) if uneven else np.full(setting.topics, mean)
        rng = np.random.default_rng(derive_key(seed, "hyperparameters", name))
        model = LDA(setting.words, alpha, eta)
        count = setting.documents
        _, documents = model.simulate(rng, count + setting.test_documents, setting.length)
        return Corpus(documents.slice(0, count), documents.slice(count, len(documents)), alpha)

    def fit(self, trial: HyperparameterTrial, corpus: Corpus) -> Any:
        """Return a fitted estimator."""
        from ssvi.estimators.lda import LatentDirichletAllocation  # which brings scikit-learn with it

        alpha: float | str = "asymmetric" if trial.corpus.startswith(_UNEVEN) else "symmetric"
        eta: float | str = "auto"
        if trial.prior != LEARNED:
            alpha, eta = map(float, trial.prior.split(":"))
        global_step, local_step = trial.algorithm.split(":")
        return LatentDirichletAllocation(
            self.setting.topics, doc_topic_prior=alpha, topic_word_prior=eta, global_step=global_step,
            local_step=local_step, max_iter=self.setting.passes, backend=self.backend, random_state=trial.seed,
            verbose=0,
        ).fit(corpus.train.to_matrix())  # fmt: skip


class Hyperparameters(Experiment):
    """Learned alpha and eta over the true ones, and what held-out documents score against the best of a grid."""

    name = "hyperparameters"
    title = "LDA: alpha and eta learned in the fit"
    settings: ClassVar[Mapping[str, HyperparameterSetting]] = {
        "quick": HyperparameterSetting(),
        "paper": HyperparameterSetting(topics=20, documents=20_000, seeds=3),
    }

    def trials(self, setting: HyperparameterSetting) -> Sequence[HyperparameterTrial]:
        """Return every algorithm that learns, and the first at every point of the grid, on every corpus."""
        grid = [f"{alpha:g}:{eta:g}" for alpha, eta in product(setting.grid_alpha, setting.grid_eta)]
        fits = [(name, LEARNED) for name in setting.algorithm] + [(setting.algorithm[0], point) for point in grid]
        corpora = product(setting.corpus, range(setting.seeds))
        return [HyperparameterTrial(*corpus, *fit) for corpus in corpora for fit in fits]

    def bench(self, setting: HyperparameterSetting, backend: Backend) -> HyperparameterBench:
        """Compile what will be timed; corpora are simulated as they are wanted."""
        small = replace(setting, documents=30, test_documents=5, words=20, passes=1)
        tiny = HyperparameterBench(small, Threads())
        for name, prior in product(setting.algorithm, (LEARNED, "0.1:0.1")):
            tiny.fit(HyperparameterTrial("0.1:0.1", 0, name, prior), tiny.corpus("0.1:0.1", 0))
        return HyperparameterBench(setting, backend)

    def data(self, bench: HyperparameterBench) -> Mapping[str, Any]:
        """Return how the data are made."""
        return {"data": "simulated documents of LDA"}

    def is_done(self, bench: HyperparameterBench, rows: Sequence[Row]) -> bool:
        """Tell whether it was measured."""
        return len(rows) > 0

    def measure(
        self, bench: HyperparameterBench, trial: HyperparameterTrial, progress: Checkpoint, reporter: Reporter
    ) -> Iterator[Row]:
        """Fit, and yield the priors that it ended with over the true ones, and its held-out score."""
        corpus, parsed = bench.corpus(trial.corpus, trial.seed), _parse(trial.corpus)
        assert parsed is not None
        started = time.perf_counter()
        model = bench.fit(trial, corpus)
        seconds = time.perf_counter() - started
        found, true = np.sort(model.doc_topic_prior_), np.sort(corpus.alpha)
        yield {
            "step": 1,
            "alpha": float(found.mean() / true.mean()),
            "away": float(np.abs(found - true).mean() / true.mean()),
            "eta": float(model.topic_word_prior_ / parsed[2]),
            "score": float(model.score(corpus.test.to_matrix())),
            "seconds": seconds,
        }

    def summary(self, rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
        """Return what was learned, the score less the best of the grid, and the share of the grid's seconds."""
        headings = ["corpus", "", "alpha / true", "alpha, away", "eta / true", "score", "less best of grid", "time"]
        lines = []
        for corpus, algorithm in product(distinct(rows, "corpus"), distinct(rows, "algorithm")):
            own = select(rows, corpus=corpus, algorithm=algorithm, prior=LEARNED)
            if not own:
                continue
            cells = [
                figures.with_spread(*mean_and_spread(row[name] for row in own))
                for name in ("alpha", "away", "eta", "score")
            ]
            against = [(row, grid) for row in own if (grid := _grid(rows, row))]
            behind = [row["score"] - max(point["score"] for point in grid) for row, grid in against]
            times = [row["seconds"] / sum(point["seconds"] for point in grid) for row, grid in against]
            last = [figures.with_spread(*mean_and_spread(behind)), f"{np.mean(times):.2f}"] if against else ["", ""]
            lines.append([corpus, label(algorithm), *cells, *last])
        return headings, lines

    def draw(self, rows: Sequence[Row], path: Path, setting: HyperparameterSetting) -> None:
        """Draw learned alpha and eta over the true ones, a corpus and algorithm a line."""
        learned = select(rows, prior=LEARNED)
        names = [(row["corpus"], row["algorithm"]) for row in learned]
        kinds = list(dict.fromkeys(names))
        with figures.dot_panels(path, [f"{corpus}, {label(algorithm)}" for corpus, algorithm in kinds]) as panels:
            for panel, name in zip(panels, ("alpha", "eta"), strict=True):
                for number, (corpus, algorithm) in enumerate(kinds):
                    own = select(learned, corpus=corpus, algorithm=algorithm)
                    figures.dots(panel, number, [row[name] for row in own])
                panel.axvspan(0.85, 1.15, color="#1b6ca8", alpha=0.1)
                panel.set_xscale("log")
                panel.set_xlabel(f"learned $\\{name}$ / true")
                panel.xaxis.set_major_formatter("{x:g}")
                panel.xaxis.set_minor_formatter("{x:g}")
                panel.tick_params(axis="x", which="both", rotation=60)


def _grid(rows: Sequence[Row], row: Row) -> list[Row]:
    """Return the fits of the same corpus whose priors were given."""
    same = select(rows, corpus=row["corpus"], seed=row["seed"])
    return [other for other in same if other["prior"] != LEARNED]

"""Hierarchical Dirichlet topics: how many topics are found where the number is known, and how they predict text."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ssvi.backends.base import Backend
from ssvi.batches.documents import Documents
from ssvi.experiments import corpora, figures
from ssvi.experiments.base import Checkpoint, Experiment, Reporter, option, require
from ssvi.experiments.table import Row, distinct, mean_and_spread, select
from ssvi.models.lda import LDA
from ssvi.numerics.random import derive_key
from ssvi.typing import Array

_SIZES = {"equal": 1.0, "unequal": 10.0}  # how many times as large as the smallest topic the largest is
_STEPS = ("ssvi", "ssvi_a", "map", "mean_field")
_CORPUS = "corpus"
_FOUND = 0.9  # a cosine with a true topic


@dataclass(frozen=True)
class HdpSetting:
    """The sizes of simulated data and of the corpus, and the grid of trials."""

    simulated_documents: int = option(3_000, "simulated documents of a data set")
    words: int = option(2_000, "words that simulated documents may have")
    length: float = option(80.0, "words in a simulated document, on average")
    prior: float = option(0.05, "eta of simulated topics, which fits are not told")
    corpus: Path | None = option(
        None, "a .npz file of documents x words, a folder with bow.npz, or docstrings (Wikipedia if found)"
    )
    documents: int | None = option(15_000, "training documents of the corpus, from the first")
    test_documents: int = option(1_000, "documents of the corpus held out, the last (at most a tenth)")
    passes: int | None = option(None, "passes over the corpus (by default those that each model has by itself)")
    topics: tuple[int, ...] = option((20, 50), "true numbers of topics; repeat for several", grid=True)
    sizes: tuple[str, ...] = option(tuple(_SIZES), "equal or unequal (one to ten); repeat for several", grid=True)
    room: tuple[float, ...] = option((1.5, 4.0), "n_components over the true number; repeat for several", grid=True)
    algorithm: tuple[str, ...] = option(_STEPS[:3], f"one of {', '.join(_STEPS)}; repeat for several", grid=True)
    truncation: tuple[int, ...] = option((400, 800), "n_components on the corpus; repeat for several", grid=True)
    lda_topics: tuple[int, ...] = option((50, 100, 200, 400), "topics of LDA on the corpus; repeat", grid=True)
    seeds: int = option(3, "runs of each, with seeds 0, 1, ...", grid=True)

    def __post_init__(self) -> None:
        for name in ("simulated_documents", "words", "test_documents", "seeds"):
            require(name, getattr(self, name), lambda value: value >= 1, "1 or more")
        require("passes", self.passes, lambda value: value is None or value >= 1, "1 or more")
        for name in ("length", "prior"):
            require(name, getattr(self, name), lambda value: value > 0, "positive")
        for name in ("topics", "truncation", "lda_topics"):
            for value in getattr(self, name):
                require(name, value, lambda value: value >= 2, "2 or more")
        for value in self.room:
            require("room", value, lambda value: value >= 1, "1 or more")
        for field, known in (("sizes", tuple(_SIZES)), ("algorithm", _STEPS)):
            for value in getattr(self, field):
                require(field, value, known.__contains__, f"one of {', '.join(known)}")


@dataclass(frozen=True)
class HdpTrial:
    """One fit: of simulated data ("equal-20"), or of the corpus."""

    data: str
    algorithm: str
    components: int
    seed: int


@dataclass(frozen=True)
class HdpBench:
    """The corpus, and where fits run."""

    setting: HdpSetting
    corpus: corpora.Corpus
    backend: Backend

    def simulate(self, data: str, seed: int) -> tuple[Array, Documents]:
        """Draw topics and documents of these; topics are as large as their share of alpha, whose sum is 2."""
        sizes, _, count = data.partition("-")
        setting, rng = self.setting, np.random.default_rng(derive_key(seed, "hdp", data))
        shares = np.geomspace(1.0, 1.0 / _SIZES[sizes], int(count))
        model = LDA(setting.words, 2.0 * shares / shares.sum(), setting.prior)
        values, documents = model.simulate(rng, setting.simulated_documents, setting.length)
        return values["topics"], documents

    def fit(self, trial: HdpTrial, documents: Documents) -> Any:
        """Return a fitted estimator, each with the steps that it has by default."""
        from ssvi.estimators.hdp import HierarchicalDirichletTopics  # which brings scikit-learn with it
        from ssvi.estimators.lda import LatentDirichletAllocation

        options: dict[str, Any] = {"random_state": trial.seed, "backend": self.backend, "verbose": 0}
        if trial.data == _CORPUS and self.setting.passes is not None:
            options["max_iter"] = self.setting.passes
        counts = documents.to_matrix()
        if trial.algorithm == "lda":
            return LatentDirichletAllocation(trial.components, **options).fit(counts)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that there may be room for too few topics
            model = HierarchicalDirichletTopics(trial.components, global_step=trial.algorithm, **options)
            return model.fit(counts)


class HdpTopics(Experiment):
    """Active topics of simulated documents, and held-out scores of text beside LDA's with various numbers of topics."""

    name = "hdp"
    title = "Hierarchical Dirichlet topics: how many topics, and how they predict"
    settings: ClassVar[Mapping[str, HdpSetting]] = {
        "quick": HdpSetting(
            simulated_documents=1_000, topics=(20,), documents=3_000, truncation=(200,), lda_topics=(50, 100), seeds=1,
        ),
        "paper": HdpSetting(),
    }  # fmt: skip

    def trials(self, setting: HdpSetting) -> Sequence[HdpTrial]:
        """Return fits of simulated data, every algorithm with little and much room, then fits of the corpus."""
        trials = []
        for seed in range(setting.seeds):
            for sizes in setting.sizes:
                for count in setting.topics:
                    trials += [
                        HdpTrial(f"{sizes}-{count}", name, round(room * count), seed)
                        for name in setting.algorithm
                        for room in setting.room
                    ]
            trials += [HdpTrial(_CORPUS, name, most, seed) for name in setting.algorithm for most in setting.truncation]
            trials += [HdpTrial(_CORPUS, "lda", count, seed) for count in setting.lda_topics]
        return trials

    def bench(self, setting: HdpSetting, backend: Backend) -> HdpBench:
        """Read the corpus."""
        path = setting.corpus or corpora.default_corpus()
        corpus = corpora.load(path, held_out=setting.test_documents, documents=setting.documents)
        return HdpBench(setting, corpus, backend)

    def data(self, bench: HdpBench) -> Mapping[str, Any]:
        """Return the corpus, and its sizes."""
        corpus = bench.corpus
        return {"corpus": corpus.name, "train": len(corpus.train), "test": len(corpus.test)}

    def is_done(self, bench: HdpBench, rows: Sequence[Row]) -> bool:
        """Tell whether it was measured."""
        return len(rows) > 0

    def measure(self, bench: HdpBench, trial: HdpTrial, progress: Checkpoint, reporter: Reporter) -> Iterator[Row]:
        """Fit, and yield how many topics are active, how many true ones are among them, and the held-out score."""
        started = time.perf_counter()
        if trial.data == _CORPUS:
            model = bench.fit(trial, bench.corpus.train)
            found, score = 0, model.score(bench.corpus.test.to_matrix())
        else:
            topics, documents = bench.simulate(trial.data, trial.seed)
            model = bench.fit(trial, documents)
            found, score = _found(topics, model.topic_word_[model.active_]), 0.0
        seconds = time.perf_counter() - started
        yield {"step": 1, "active": model.components_in_use(), "found": found, "score": score, "seconds": seconds}

    def summary(self, rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
        """Return active topics and true ones found, or scores, over seeds, by data, algorithm and room."""
        lines = []
        for data in distinct(rows, "data"):
            for algorithm in distinct(select(rows, data=data), "algorithm"):
                for components in distinct(select(rows, data=data, algorithm=algorithm), "components"):
                    own = select(rows, data=data, algorithm=algorithm, components=components)
                    active, found = (_mean(row[name] for row in own) for name in ("active", "found"))
                    score = figures.with_spread(*mean_and_spread(row["score"] for row in own))
                    of_corpus = data == _CORPUS
                    lines.append([data, algorithm, str(components), active, "" if of_corpus else found,
                                  score if of_corpus else ""])  # fmt: skip
        return ["data", "algorithm", "n_components", "active", "true ones found", "held-out score"], lines

    def draw(self, rows: Sequence[Row], path: Path, setting: HdpSetting) -> None:
        """Draw active topics over the true number, and scores of the corpus, an algorithm a line."""
        algorithms = distinct(rows, "algorithm")
        with figures.dot_panels(path, algorithms) as (left, right):
            for number, algorithm in enumerate(algorithms):
                own = [row for row in rows if row["algorithm"] == algorithm]
                scores = [row["score"] for row in own if row["data"] == _CORPUS]
                shares = [row["active"] / int(row["data"].split("-")[1]) for row in own if row["data"] != _CORPUS]
                for panel, values in ((left, shares), (right, scores)):
                    if values:
                        figures.dots(panel, number, values)
            left.set_xlabel("active topics over true ones, simulated documents")
            right.set_xlabel("held-out score of the corpus")


def _found(topics: Array, fitted: Array) -> int:
    """Return how many true topics have a fitted one that is the same but for noise."""
    if not len(fitted):
        return 0
    units = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (topics, fitted)]
    return int(((units[0] @ units[1].T).max(axis=1) > _FOUND).sum())


def _mean(values: Any) -> str:
    return f"{np.mean(list(values)):.1f}"

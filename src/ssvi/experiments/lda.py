"""What the LDA experiments share: settings, trials, and held-out scores along a fit."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ssvi.backends.base import Backend
from ssvi.baselines.sgrld import langevin_schedule
from ssvi.batches.sources import Source
from ssvi.evaluation import HeldOut, chib_style, document_completion, left_to_right
from ssvi.experiments import corpora
from ssvi.experiments.algorithms import Algorithm, lda_algorithm, pair, warm_up
from ssvi.experiments.base import Checkpoint, Experiment, Reporter, option, require
from ssvi.experiments.fits import Phase, Start, stops
from ssvi.experiments.table import Row
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.models.lda import LDA
from ssvi.schedules import PowerSchedule
from ssvi.typing import Array

EVALUATORS: dict[str, Callable[..., HeldOut]] = {
    "completion": document_completion,
    "chib": chib_style,
    "left-to-right": left_to_right,
}


@dataclass(frozen=True)
class LdaSetting:
    """The size of an LDA experiment and the grid of its trials."""

    corpus: Path | None = option(
        None, "a .npz file of documents x words, a folder with bow.npz, a corpus on disk, docstrings (or Wikipedia)"
    )
    documents: int | None = option(None, "training documents, from the first")
    test_documents: int = option(5_000, "documents held out, the last (at most a tenth)")
    topics: int = option(100, "number of topics K")
    batch_size: int = option(1_000, "documents in a minibatch")
    sweeps: int = option(2, "sweeps over the training documents")
    evaluator: str = option("completion", f"held-out estimator: {', '.join(EVALUATORS)}")
    langevin_step: float = option(0.01, "a of SGRLD's step sizes a (1 + t / b)^-0.6")
    langevin_delay: float = option(1_000.0, "b of SGRLD's step sizes")
    evaluations: int = option(6, "how often each fit is scored")
    algorithm: tuple[str, ...] = option(
        (), "GLOBAL:LOCAL, such as ssvi_a:gibbs (lda-heldout: or sgrld); repeat for several", grid=True
    )
    alpha: tuple[float, ...] = option((0.1,), "prior of topic weights; repeat for several", grid=True)
    eta: tuple[float, ...] = option((0.01, 0.1, 0.5), "prior of topics; repeat for several", grid=True)
    decay: tuple[float, ...] = option((0.75,), "kappa of the steps (t + offset)^-kappa; repeat for several", grid=True)
    offset: tuple[float, ...] = option((0.0,), "tau of the steps; repeat for several", grid=True)
    ramp: tuple[str, ...] = option(("on",), "population ramp, on or off; repeat for several", grid=True)
    seeds: int = option(5, "runs of each, with seeds 0, 1, ...", grid=True)

    def __post_init__(self) -> None:
        whole = ("test_documents", "topics", "batch_size", "sweeps", "evaluations", "seeds")
        for name in whole if self.documents is None else (*whole, "documents"):
            require(name, getattr(self, name), lambda value: value >= 1, "1 or more")
        if self.evaluator not in EVALUATORS:
            raise ValueError(f"evaluator {self.evaluator!r} is not known; the known ones are {', '.join(EVALUATORS)}.")
        for value in self.ramp:
            require("ramp", value, lambda value: value in ("on", "off"), "on or off")
        for name in ("alpha", "eta"):
            for value in getattr(self, name):
                require(name, value, lambda value: value > 0, "positive")
        for name in ("decay", "offset"):
            for value in getattr(self, name):
                require(name, value, lambda value: value >= 0, "0 or more")
        require("langevin_step", self.langevin_step, lambda value: 0 < value <= 1, "above 0 and at most 1")
        require("langevin_delay", self.langevin_delay, lambda value: value > 0, "positive")


@dataclass(frozen=True)
class LdaTrial:
    """One fit."""

    algorithm: str
    alpha: float
    eta: float
    decay: float
    offset: float
    ramp: str
    seed: int


def grid(setting: LdaSetting) -> list[LdaTrial]:
    """Return every combination, seeds outermost: an experiment that is stopped early has seen all of the grid."""
    names = [field.name for field in fields(LdaTrial) if field.name != "seed"]
    values = itertools.product(range(setting.seeds), *(getattr(setting, name) for name in names))
    return [LdaTrial(**dict(zip(names, rest, strict=True)), seed=seed) for seed, *rest in values]


@dataclass
class LdaBench:
    """The corpus of an experiment, and where its fits run."""

    setting: LdaSetting
    corpus: corpora.Corpus
    backend: Backend
    warm: set[str]

    @property
    def steps_a_sweep(self) -> int:
        """Minibatches of one sweep."""
        return -(-len(self.corpus.train) // self.setting.batch_size)

    @property
    def total_steps(self) -> int:
        """Steps of a whole fit."""
        return self.setting.sweeps * self.steps_a_sweep

    def model(self, trial: LdaTrial) -> LDA:
        """Return the model of a trial."""
        return LDA(self.corpus.train.n_words, np.full(self.setting.topics, trial.alpha), trial.eta)

    def algorithm(self, trial: LdaTrial, name: str | None = None) -> Algorithm:
        """Return the algorithm of a trial, or another under its conditions, compiled."""
        name, model = name or trial.algorithm, self.model(trial)
        if name not in self.warm:
            warm_up(name, model, self.backend)
            self.warm.add(name)
        schedule = PowerSchedule(trial.decay, trial.offset)
        return lda_algorithm(
            name,
            model,
            len(self.corpus.train),
            schedule,
            self.backend,
            ramp=trial.ramp == "on",
            langevin=langevin_schedule(self.setting.langevin_step, self.setting.langevin_delay),
        )

    def held_out(self, topics: Array, trial: LdaTrial) -> HeldOut:
        """Score a point estimate of the topics on the test documents."""
        evaluate = EVALUATORS[self.setting.evaluator]
        return evaluate(topics, np.full(self.setting.topics, trial.alpha), self.corpus.test, backend=self.backend)


class LdaExperiment(Experiment):
    """Held-out scores along each fit; experiments differ in their grid and in how they show it."""

    shown: ClassVar[frozenset[str]]
    """Fields of the grid that may have several values, because the table and the figure keep them apart."""
    takes_sgrld: ClassVar[bool] = False

    def check(self, setting: LdaSetting) -> None:
        """Raise if an algorithm is not known, or if values would be averaged that do not belong together."""
        for name in setting.algorithm:
            if name != "sgrld":
                pair(name)
            elif not self.takes_sgrld:
                raise ValueError(f"{self.name} compares pairs GLOBAL:LOCAL, and 'sgrld' is none: leave it out.")
        for name in {"alpha", "eta", "decay", "offset", "ramp"} - self.shown:
            if len(getattr(setting, name)) > 1:
                raise ValueError(
                    f"{self.name} takes one {name} at a time: run it for each, with an --output of its own."
                )

    def trials(self, setting: LdaSetting) -> Sequence[LdaTrial]:
        """Return the grid."""
        return grid(setting)

    def bench(self, setting: LdaSetting, backend: Backend) -> LdaBench:
        """Read the corpus, and see that every algorithm can handle it."""
        path = setting.corpus or corpora.default_corpus()
        corpus = corpora.load_streamed(path, held_out=setting.test_documents, documents=setting.documents)
        for name in setting.algorithm:
            step = Gibbs() if name == "sgrld" else pair(name)[1]
            # Minibatches from disk are checked when they are read; the documents for testing are like them.
            step.check(corpus.test if isinstance(corpus.train, Source) else corpus.train)
        return LdaBench(setting, corpus, backend, set())

    def data(self, bench: LdaBench) -> Mapping[str, Any]:
        """Return the corpus's name and sizes."""
        train, test = bench.corpus.train, bench.corpus.test
        return {
            "corpus name": bench.corpus.name,
            "training documents": len(train),
            "test documents": len(test),
            "vocabulary": train.n_words,
            "words": int(train.total_length() + test.total_length()),
        }

    def is_done(self, bench: LdaBench, rows: Sequence[Row]) -> bool:
        """Tell whether the last step was measured."""
        return any(row["step"] == bench.total_steps for row in rows)

    def measure(self, bench: LdaBench, trial: LdaTrial, progress: Checkpoint, reporter: Reporter) -> Iterator[Row]:
        """Fit, and yield the held-out score at each step in question."""
        algorithm = bench.algorithm(trial)
        wanted = evaluation_steps(bench.total_steps, bench.setting.evaluations)
        start = Start(algorithm.start(trial.seed), bench.corpus.train, bench.setting.batch_size)
        for state, seconds in stops([Phase(algorithm.steps, wanted)], start, trial, progress, reporter):
            score = bench.held_out(algorithm.topics(state), trial)
            yield {
                "step": state.step,
                "documents": state.documents_seen,
                "seconds": round(seconds, 3),
                "score": round(score.mean, 6),
                "standard_error": round(score.standard_error, 6),
            }


def evaluation_steps(total: int, count: int) -> list[int]:
    """Return steps from early to the last, each about as many times the one before as the next is times it."""
    first = max(1, total // 32)
    return sorted({round(step) for step in np.geomspace(first, total, count)} | {total}) if count > 1 else [total]

"""Step sizes and stopping: where the held-out score stops growing, where `max_iter="auto"` stops, and who sets rho."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ssvi.backends.base import Backend
from ssvi.engine import Callback, Info, State
from ssvi.estimators.gains import Gains
from ssvi.estimators.lda import LatentDirichletAllocation
from ssvi.estimators.plan import Plan
from ssvi.experiments import corpora, figures
from ssvi.experiments.base import Checkpoint, Experiment, Reporter, option, require
from ssvi.experiments.table import Row, distinct, select
from ssvi.typing import Array

FIRST = 3  # pass from which a score says where a fit is going
_GAIN = 1e-3  # nats a word and pass: a score that grows by less has stopped growing
_WIDTH = 1.3  # the gain at pass p is the slope of the score from p / 1.3 to 1.3 p: single passes are noisy


@dataclass(frozen=True)
class ConvergenceSetting:
    """The corpora, the size of fits, and the step sizes that are compared."""

    documents: int = option(12_000, "training documents of a corpus, at most")
    test_documents: int = option(1_000, "documents held out (at most a tenth)")
    topics: int = option(50, "number of topics K")
    passes: int = option(50, "passes of every fit")
    corpus: tuple[str, ...] = option(
        (), "a folder with bow.npz, a .npz or LDA-C file, or docstrings; repeat for several", grid=True
    )
    algorithm: tuple[str, ...] = option(
        ("0.25/1", "adaptive", "0.6/10", "0.5/1", "0.4/1", "0.3/1", "0.2/1"),
        "step sizes: adaptive, or KAPPA/TAU for (t + TAU)^-KAPPA, such as 0.6/10; repeat for several",
        grid=True,
    )
    seeds: int = option(1, "runs of each, with seeds 0, 1, ...", grid=True)

    def __post_init__(self) -> None:
        for name in ("documents", "test_documents", "topics", "seeds"):
            require(name, getattr(self, name), lambda value: value >= 1, "1 or more")
        require("passes", self.passes, lambda value: FIRST < value <= 100, f"from {FIRST + 1} to 100")
        for name in self.algorithm:
            step_sizes(name)


@dataclass(frozen=True)
class ConvergenceTrial:
    """One fit."""

    corpus: str
    algorithm: str
    seed: int


def step_sizes(name: str) -> dict[str, Any]:
    """Return the estimator's parameters for step sizes by their name.

    >>> step_sizes("0.6/10")
    {'learning_decay': 0.6, 'learning_offset': 10.0}
    """
    if name == "adaptive":
        return {"learning_rate": "adaptive"}
    try:
        decay, offset = map(float, name.split("/"))
    except ValueError:
        raise ValueError(f"step sizes are adaptive, or two numbers such as 0.6/10, not {name!r}.") from None
    return {"learning_decay": decay, "learning_offset": offset}


@dataclass
class ConvergenceBench:
    """The corpora, and where fits run."""

    setting: ConvergenceSetting
    corpora: Mapping[str, corpora.Corpus]
    backend: Backend

    def estimator(self, trial: ConvergenceTrial, **parameters: Any) -> LatentDirichletAllocation:
        """Return what is fitted: the estimator's defaults, but for its step sizes."""
        return EndlessTopics(
            self.setting.topics, backend=self.backend, random_state=trial.seed, verbose=0,
            **step_sizes(trial.algorithm), **parameters,
        )  # fmt: skip


class _Endless(Gains):
    """Puts scores down, and whether the fit would end there, and lets it go on."""

    def __call__(self, state: State, info: Info) -> bool:
        ends = super().__call__(state, info)
        if not info.step % self._plan.look:
            self._estimator.would_end_.append(ends)
        return False


class EndlessTopics(LatentDirichletAllocation):
    """A fit with `max_iter="auto"` that goes on where it would end."""

    def _monitors(self, data: Any, plan: Plan) -> list[Callback]:
        self.would_end_: list[bool] = []  # after each score
        return [_Endless(self, data, plan)]

    @property
    def end_(self) -> int:
        """The pass at which the fit would have ended, the last one if it would have gone on."""
        return self.would_end_.index(True) + 1 if any(self.would_end_) else len(self.would_end_)


class ConvergenceExperiment(Experiment):
    """Held-out and left-out scores after every pass, for step sizes of several kinds on several corpora."""

    name = "convergence"
    title = "Step sizes, and when a fit has converged"
    settings: ClassVar[Mapping[str, ConvergenceSetting]] = {
        "quick": ConvergenceSetting(
            documents=2_000, test_documents=500, topics=20, passes=20, algorithm=("0.25/1", "adaptive")
        ),
        "paper": ConvergenceSetting(),
    }

    def trials(self, setting: ConvergenceSetting) -> Sequence[ConvergenceTrial]:
        """Return every combination, seeds outermost and corpora innermost."""
        names = setting.corpus or default_corpora()
        seeds = range(setting.seeds)
        return [ConvergenceTrial(corpus, rate, s) for s in seeds for rate in setting.algorithm for corpus in names]

    def bench(self, setting: ConvergenceSetting, backend: Backend) -> ConvergenceBench:
        """Read the corpora."""
        sizes = {"held_out": setting.test_documents, "documents": setting.documents}
        names = setting.corpus or default_corpora()
        read = {name: corpora.load(Path(name), **sizes, shuffled=True) for name in names}
        return ConvergenceBench(setting, read, backend)

    def data(self, bench: ConvergenceBench) -> Mapping[str, Any]:
        """Return the sizes of the corpora."""
        return {
            name: f"{len(corpus.train)} documents of {corpus.train.lengths().mean():.0f} words, {corpus.train.n_words} "
            "in the vocabulary"
            for name, corpus in bench.corpora.items()
        }

    def is_done(self, bench: ConvergenceBench, rows: Sequence[Row]) -> bool:
        """Tell whether the last pass was measured."""
        return any(row["step"] == bench.setting.passes for row in rows)

    def measure(
        self, bench: ConvergenceBench, trial: ConvergenceTrial, progress: Checkpoint, reporter: Reporter
    ) -> Iterator[Row]:
        """Fit without an end of its own, and yield both scores after every pass.

        A fit is over in a minute or two, and begins anew if it was interrupted.
        """
        corpus, passes = bench.corpora[trial.corpus], bench.setting.passes
        last = passes * len(corpus.train)
        estimator = bench.estimator(trial, max_iter="auto", callbacks=[lambda _, info: info.documents_seen >= last])
        estimator.fit(corpus.train.to_matrix(), X_val=corpus.test.to_matrix())
        measured = zip(estimator.scores_, estimator.left_out_scores_, estimator.would_end_, strict=True)
        for number, ((seconds, score), left_out, ends) in enumerate(measured, 1):
            yield {
                "step": number, "score": round(score, 6), "left_out": round(left_out, 6), "ends": ends,
                "seconds": round(seconds, 3),
            }  # fmt: skip

    def summary(self, rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
        """Return, for each corpus and kind of step sizes, both ends and the scores there."""
        headings = [
            "corpus", "step sizes", "gain below 0.001 from pass", '"auto" ends at', "ratio", "score there",
            f"score after {rows[-1]['step']}",
        ]  # fmt: skip
        lines = []
        for corpus in distinct(rows, "corpus"):
            for rate in distinct(rows, "algorithm"):
                own = select(rows, corpus=corpus, algorithm=rate)
                if own:
                    lines.append([Path(corpus).stem, rate, *_cells(own)])
        return headings, lines

    def draw(self, rows: Sequence[Row], path: Path, setting: ConvergenceSetting) -> None:
        """Draw scores of held-out documents above and of left-out ones below, a column for each corpus."""
        names = distinct(rows, "corpus")
        with figures.two_lines(
            path, [Path(name).stem for name in names], "passes", ("held-out score", "left-out score")
        ) as columns:
            for name, (above, below) in zip(names, columns, strict=True):
                for rate in distinct(rows, "algorithm"):
                    own = select(rows, corpus=name, algorithm=rate)
                    for seed in distinct(own, "seed"):
                        run = select(own, seed=seed)
                        run = [row for row in run if row["step"] >= FIRST]
                        passes = [row["step"] for row in run]
                        figures.line(above, passes, [row["score"] for row in run], rate)
                        figures.line(below, passes, [row["left_out"] for row in run], rate)


def default_corpora() -> tuple[str, ...]:
    """Return those of four corpora that are found, or the docstrings of this machine."""
    folder = corpora.WIKIPEDIA.parent
    known = [folder / "wikipedia", folder / "arxiv", folder / "nips", folder / "ap" / "ap.dat"]
    found = [path for path in known if (path.is_file() or (path / "bow.npz").exists())]
    return tuple(map(str, found)) or (str(corpora.DOCSTRINGS),)


def stops_growing(passes: Sequence[int], scores: Array) -> int | None:
    """Return the first pass at which the score grows by less than 0.001 a pass; None if that is never."""
    numbers = np.asarray(passes)
    for number in numbers:
        near = (numbers >= number / _WIDTH) & (numbers <= np.ceil(number * _WIDTH))
        if numbers[-1] < number * _WIDTH:  # too near the end to tell
            return None
        if near.sum() > 1 and np.polyfit(numbers[near], scores[near], 1)[0] < _GAIN:
            return int(number)
    return None


def _cells(own: Sequence[Row]) -> list[str]:
    """Return a line of the table from the fits of one corpus with one kind of step sizes, by the mean over seeds."""
    passes = [step for step in distinct(own, "step") if step >= FIRST]
    scores = np.array([np.mean([row["score"] for row in select(own, step=step)]) for step in passes])
    ends = [_end(select(own, seed=seed)) for seed in distinct(own, "seed")]
    grown, known = stops_growing(passes, scores), [end for end in ends if end is not None]
    last = f"{scores[-1]:.3f}"
    if len(known) < len(ends):
        return [str(grown or ""), f"> {passes[-1]}", "", "", last]
    end = float(np.mean([row["step"] for row in known]))
    there = f"{np.mean([row['score'] for row in known]):.3f}"
    return [
        str(grown or f"> {passes[-1] / _WIDTH:.0f}"),
        f"{end:g}",
        f"{end / grown:.2f}" if grown else "",
        there,
        last,
    ]


def _end(run: Sequence[Row]) -> Row | None:
    """Return the first row at which a fit with `max_iter="auto"` would have ended."""
    return next((row for row in run if row["ends"]), None)

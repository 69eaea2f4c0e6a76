"""Choosing the number of components: fits with several numbers and seeds, each kept so that it is made once."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ssvi.estimators.convergence import is_far
from ssvi.evaluation.choice import Choice, Option
from ssvi.evaluation.coherence import mean_npmi, top_words, topic_diversity
from ssvi.evaluation.held_out import HeldOut
from ssvi.evaluation.stability import stability
from ssvi.experiments.base import Reporter
from ssvi.files.checkpoints import NOT_COMPARED, digest
from ssvi.files.models import load
from ssvi.report.components import Components
from ssvi.typing import Array

_TOP = 10  # words of a topic that coherence and diversity go by
_FEWEST_ROWS = 5  # for a component: more components are not worth trying
_BLOCKS = 30  # of rows, for models that score no single row
_QUIET = Reporter()


@dataclass(frozen=True)
class Trial:
    """One fit, measured."""

    held_out: HeldOut
    coherence: float | None
    diversity: float | None
    in_use: int
    seconds: float
    is_far: bool
    rows: Array


def choose(
    estimator: Any,
    train: Any,
    test: Any,
    numbers: Sequence[int],
    *,
    seeds: Sequence[int] = (0, 1),
    folder: Path | None = None,
    prepare: Callable[[Any], None] | None = None,
    reporter: Reporter = _QUIET,
) -> Choice:
    """Fit an estimator with several numbers of components and several seeds, and say which number to take.

    Parameters
    ----------
    estimator
        One of this library, not fitted; its other parameters are those of every fit.
    train, test : matrices
        What to fit to, and what to score by.
    numbers : sequence of int
        Numbers of components to try.
    seeds : sequence of int
        Two or more, for `stability` and the error that comes of the seed.
    folder : path, optional
        Where each fit is kept as a model file; one that is there already, of the same data, parameters and seed, is not
        made again.
    prepare : function, optional
        Called with every fitted estimator before it is kept, to add words to it.
    reporter : Reporter, optional
        Told how it goes on.

    Returns
    -------
    Choice

    Examples
    --------
    >>> from ssvi import BernoulliMixture
    >>> rows = np.repeat(np.eye(2), 40, axis=0)
    >>> choice = choose(BernoulliMixture(max_iter=20, n_jobs=1), rows[::2], rows[1::2], [1, 2])
    >>> choice.advised.n_components
    2

    """
    if not hasattr(estimator, "n_components"):
        raise ValueError(f"{estimator.name} has no number of components to choose.")
    if not seeds or len(set(seeds)) < len(seeds):
        raise ValueError(f"seeds must be different ones, one or more, not {list(seeds)!r}.")
    ordered = sorted(set(numbers))
    fits = _Fits(estimator, train, test, folder, prepare, reporter, len(ordered) * len(seeds))
    reference = _stacked(train, test)
    options = []
    for number in ordered:
        trials = []
        for fitted, seconds in fits.of(number, seeds):
            trials.append(measure(fitted, test, reference, seconds))
            reporter.measured({"score": trials[-1].held_out.mean, "seconds": seconds})
        options.append(_option(number, trials))
    return Choice.of(options, estimator.nouns[1], max(1, train.shape[0] // _FEWEST_ROWS), int(test.shape[0]))


@dataclass
class _Fits:
    """Fits that are made, or read where they were kept."""

    estimator: Any
    train: Any
    test: Any
    folder: Path | None
    prepare: Callable[[Any], None] | None
    reporter: Reporter
    total: int
    done: int = 0

    def __post_init__(self) -> None:
        parameters = self.estimator.get_params(deep=False)
        changing = ("n_components", "random_state", *NOT_COMPARED)
        told = {name: digest(value) for name, value in parameters.items() if name not in changing}
        told |= {"class": type(self.estimator).__name__, "train": _digest_of(self.train)}
        self._key = hashlib.blake2b(json.dumps(told, sort_keys=True).encode(), digest_size=6).hexdigest()

    def of(self, number: int, seeds: Sequence[int]) -> Iterator[tuple[Any, float]]:
        """Return the fits with a number of components, and how long each took."""
        for seed in seeds:
            self.done += 1
            label = f"{number:,} {self.estimator.nouns[1]}{'' if number == 1 else 's'}, seed {seed}"
            self.reporter.trial(self.done, self.total, label)
            fitted = self._kept(number, seed) or self._make(number, seed)
            yield fitted, sum(step.seconds for step in fitted.history_)

    def path(self, number: int, seed: int) -> Path | None:
        """Return the file of a fit, whose name tells the data and the parameters too."""
        if self.folder is None:
            return None
        return self.folder / f"{self.estimator.name}-{number}-seed{seed}-{self._key}.ssvi"

    def _kept(self, number: int, seed: int) -> Any:
        """Return a fit that was made before, or None."""
        path = self.path(number, seed)
        if path is None or not path.is_file():
            return None
        try:
            fitted = load(path)
        except (ValueError, OSError) as error:
            warnings.warn(f"{path} cannot be read and is made anew: {error}", RuntimeWarning, stacklevel=2)
            return None
        self.reporter.advance(1.0)
        return fitted.set_params(n_jobs=self.estimator.n_jobs)

    def _make(self, number: int, seed: int) -> Any:
        from sklearn.base import clone

        fitted = clone(self.estimator).set_params(n_components=number, random_state=seed)
        steps = max(1, fitted.total_steps(self.train.shape[0]))
        fitted.set_params(callbacks=[lambda state, info: self.reporter.advance(min(1.0, info.step / steps))])
        fitted.fit(self.train)
        fitted.set_params(callbacks=None)
        path = self.path(number, seed)
        if path is not None:
            if self.prepare is not None:
                self.prepare(fitted)
            path.parent.mkdir(parents=True, exist_ok=True)
            fitted.save(path)
        return fitted


def measure(fitted: Any, test: Any, reference: Any, seconds: float) -> Trial:
    """Return how good a fit is: held-out score, coherence over a reference corpus, diversity; and its components."""
    parts = Components.used_by(fitted)
    rows = parts.rows if not parts.are_means else (parts.rows - parts.overall) / parts.widths
    coherence = diversity = None
    if fitted.columns_are_words and rows.shape[1] > 1:
        tops = top_words(parts.rows, min(_TOP, rows.shape[1]))
        coherence, diversity = mean_npmi(tops, reference), topic_diversity(tops)
    used, far = fitted.components_in_use(), is_far(fitted)
    return Trial(held_out_of(fitted, test), coherence, diversity, used, seconds, far, rows)


def held_out_of(fitted: Any, test: Any) -> HeldOut:
    """Return the score of each row, or of each of some blocks of rows where a model scores no single row."""
    if hasattr(fitted, "held_out"):
        held: HeldOut = fitted.held_out(test)
        return held
    if hasattr(fitted, "score_samples"):
        values = np.asarray(fitted.score_samples(test))
        return HeldOut(values, np.ones(len(values)))
    blocks = np.array_split(np.arange(test.shape[0]), min(_BLOCKS, test.shape[0]))
    sizes = np.array([len(block) for block in blocks], dtype=float)
    return HeldOut(np.array([fitted.score(test[block]) for block in blocks]) * sizes, sizes)


def _option(number: int, trials: Sequence[Trial]) -> Option:
    held = [trial.held_out for trial in trials]
    mean = HeldOut(np.mean([one.log_probability for one in held], axis=0), held[0].n_words)
    return Option(
        n_components=number,
        scores=tuple(one.mean for one in held),
        held_out=mean,
        coherence=_mean([trial.coherence for trial in trials]),
        diversity=_mean([trial.diversity for trial in trials]),
        # One component is the mean of the data for every seed, and that they agree on it says nothing.
        stability=stability([trial.rows for trial in trials]) if number > 1 else None,
        in_use=float(np.mean([trial.in_use for trial in trials])),
        seconds=float(np.mean([trial.seconds for trial in trials])),
        far=sum(trial.is_far for trial in trials),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None


def _stacked(train: Any, test: Any) -> Any:
    if _is_sparse(train):
        return sparse.csr_array(sparse.vstack([train, test]))
    return np.concatenate([np.asarray(train), np.asarray(test)])


def _digest_of(data: Any) -> Any:
    """Return a short text of a matrix's entries."""
    if _is_sparse(data):
        matrix = sparse.csr_array(data)
        return digest([matrix.data, matrix.indices, matrix.indptr, np.array(matrix.shape)])
    return digest(np.asarray(data))


def _is_sparse(data: Any) -> bool:
    return bool(sparse.issparse(data))

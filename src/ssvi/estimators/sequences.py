"""What estimators of sequences share: rows in order, cut into sequences by their lengths or by a key.

A row is a time point. Minibatches are counted in time points as well, so that the cost of a step does not depend on how
these are cut into sequences; a sequence that is longer than a minibatch should be is cut into subchains, for models
that can handle them.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from ssvi.batches import Sequences, Subchains
from ssvi.checks import require_not_negative
from ssvi.estimators.base import StochasticEstimator
from ssvi.estimators.choices import check_data, make_global_step, make_seed, unchanged_on_error
from ssvi.estimators.parameters import changed, optional_count, parameter, with_parameters
from ssvi.estimators.scikit_learn_callbacks import Given, with_callbacks
from ssvi.global_steps.base import GlobalStep
from ssvi.global_steps.ssvi import Ssvi
from ssvi.global_steps.ssvi_a import SsviA
from ssvi.typing import Array

_WHOLE_POINTS = 20_000  # "auto" takes no more time points than these at once
_FEWEST_POINTS, _MOST_POINTS = 2_000, 20_000  # of a minibatch, by default
_CHAINS = 16  # a minibatch has at least about so many subchains of a long sequence
_LONGEST_CHAIN = 1_000
_SHORTEST_CHAIN = 64  # unless minibatches are even smaller


AVERAGING = 3.0
"""p of the average over the path, of steps that draw: docs/experiments/sequences.md."""


def step_for_sequences(name: str, whole_steps: int | None = None, averaging: float = AVERAGING) -> GlobalStep:
    """Return a global step as fits of sequences have it by name, by minibatches or for steps that see all data.

    Steps that draw average over the path. A draw of the dynamics or of rare transitions is far from their mean, and
    what is left of single draws in the last lambda costs more than what there is to gain over mean-field.
    """
    step = make_global_step(name)
    if whole_steps is None:
        return step
    step = step.for_whole_data(whole_steps)
    return replace(step, averaging=averaging) if isinstance(step, Ssvi | SsviA) else step


class Ordered(NamedTuple):
    """Rows in sequences, and which row of the data each was, if they were put into another order."""

    sequences: Sequences
    rows: npt.NDArray[np.int64] | None

    def back(self, values: Any) -> Any:
        """Return something of each row in the order of the data."""
        if self.rows is None:
            return values
        result = np.empty_like(values)
        result[self.rows] = values
        return result


@with_parameters
class SequenceEstimator(DensityMixin, StochasticEstimator):
    """An estimator of sequences of any lengths; NaN stands for what is missing."""

    learning_method: str = changed(
        StochasticEstimator,
        "learning_method",
        default="auto",
        words=""""batch" sees all sequences in every step, "online" goes by minibatches; "auto" is "batch" for up to
        20,000 time points, or up to `batch_size` if that is set. In batch mode with a `global_step` that draws nothing
        the step size is 1 (coordinate ascent).""",
    )
    batch_size: int | None = changed(
        StochasticEstimator,
        "batch_size",
        default=None,
        words="""Time points in a minibatch, about: it has whole sequences or subchains. By default a twentieth of the
        data, at least 2,000 and at most 20,000; in `partial_fit` 20,000.""",
    )
    subchain_length: int | None = parameter(
        default=None,
        kind="int, optional",
        words="""Time points that a sequence may have before it is cut into subchains, each of which looks at as much
        of what stands before and after it as matters. By default a sixteenth of a minibatch, 1,000 at most; where every
        step sees all data nothing is cut.""",
        check=optional_count,
    )
    tol: float = parameter(
        default=1e-5,
        kind="float",
        words="""Coordinate ascent (all data in every step and a `global_step` that draws nothing) ends when every block
        of lambda changes by less than this share of its mean.""",
        check=require_not_negative,
    )
    convergence_tol: float = changed(StochasticEstimator, "convergence_tol", default=0.001)
    global_step: str | GlobalStep = changed(
        StochasticEstimator,
        "global_step",
        default="auto",
        kind='{"auto", "ssvi", "ssvi_a", "mean_field", "map"} or GlobalStep',
        words="""How q of the global parameters is updated. "auto" is "ssvi" where every step sees all data, and
        "ssvi_a" by minibatches. By name, steps that draw and see all data are averaged over the path.""",
    )
    population_ramp: bool = changed(StochasticEstimator, "population_ramp", default=False)
    total_samples: float | None = changed(
        StochasticEstimator,
        "total_samples",
        default=None,
        words="N for `partial_fit`: how many time points there will be. By default as many as there were so far.",
    )
    memory: float | None = changed(
        StochasticEstimator,
        "memory",
        default=None,
        words="""W for `partial_fit`: how many time points the model is of, the last ones. What was seen W time points
        ago counts for about a third, and what was seen longer ago for less. By default nothing is forgotten but by
        steps that are large.""",
    )

    _averaging: ClassVar[float] = AVERAGING
    cuts_sequences: ClassVar[bool] = True
    """Whether local steps take `Subchains`."""
    saved_attributes = (*StochasticEstimator.saved_attributes, "_group_length")
    _group_length: float = 1.0
    """The mean length of the sequences or subchains of the fit."""

    @abstractmethod
    def _values(self, values: Array, *, reset: bool) -> Array:
        """Return rows as the model takes them, once they are checked; `reset` where a fit begins with them."""

    @with_callbacks
    def fit(
        self, X: Any, lengths: Any = None, *, groups: Any = None, X_val: Any = None, lengths_val: Any = None
    ) -> Self:
        """Fit the model to sequences, from a fresh start.

        Rows of `X` are time points, in order. `lengths` are those of the sequences; without any, all rows are one
        sequence. Instead, `groups` tells each row's sequence: an array of keys, or the name of a column of a data
        frame, which is then taken out. Rows `X_val`, in sequences of `lengths_val` (or by the same column), are scored
        as the fit goes on (`scores_`); see also `early_stopping`.
        """
        with unchanged_on_error(self):
            data = self._ordered(X, lengths, groups, reset=True).sequences
            column = groups if isinstance(groups, str) else None
            held = None if X_val is None else self._ordered(X_val, lengths_val, column, reset=False).sequences
            self._run(self._cut(data), Given(make_seed(self.random_state), X, None, held))
        return self

    def partial_fit(self, X: Any, lengths: Any = None, *, groups: Any = None) -> Self:
        """Go on with further sequences: a step for each `batch_size` time points (20,000 by default), in order.

        `lengths` and `groups` are those of `fit`. Every sequence counts as a new one, unless `total_samples` tells how
        many time points there are.
        """
        first = not self.__sklearn_is_fitted__()
        with unchanged_on_error(self):
            data = self._ordered(X, lengths, groups, reset=first).sequences
            self._run_further(self._cut(data, streamed=True), first=first)
        return self

    def score(self, X: Any, lengths: Any = None, *, groups: Any = None) -> float:
        """Return the mean log probability of a time point given those before it in its sequence."""
        check_is_fitted(self)
        return self._score(self._ordered(X, lengths, groups, reset=False).sequences)

    def _posterior_data(self, X: Any, lengths: Any = None, groups: Any = None) -> Any:
        return self._ordered(X, lengths, groups, reset=False).sequences

    def _ordered(self, X: Any, lengths: Any, groups: Any, *, reset: bool) -> Ordered:
        """Check parameters and data; return the rows in sequences, as the model takes them."""
        self._check_parameters()
        if groups is not None and lengths is not None:
            raise ValueError("give lengths or groups, not both: each tells how rows are cut into sequences.")
        keys = groups
        if isinstance(groups, str):
            X, keys = take_column(X, groups)
        X = check_data(self, X, reset=reset, ensure_all_finite="allow-nan")
        values = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64, order="C")
        if keys is None:
            sequences, rows = Sequences.from_lengths(values, lengths), None
            check_lengths(sequences)
        else:
            sequences, rows = Sequences.from_keys_in_order(values, keys)
        return Ordered(Sequences(sequences.indptr, self._values(sequences.values, reset=reset)), rows)

    def _cut(self, data: Sequences, *, streamed: bool = False) -> Sequences | Subchains:
        """Return the sequences, those that are too long in subchains."""
        points = len(data.values)
        self._group_length = points / len(data)
        if not self.cuts_sequences:
            return data
        most = self.subchain_length or self._usual_chain(points, streamed)
        if most is None or data.costs().max(initial=0) <= most:
            return data
        cut = Subchains.cut(data, most)
        self._group_length = points / len(cut)
        return cut

    def _usual_chain(self, points: int, streamed: bool) -> int | None:
        """Return how long a sequence may be before it is cut; None for any length."""
        if not streamed and self._points_are_batch(points):
            return None
        size = self.batch_size or (_MOST_POINTS if streamed else _usual_points(points))
        return min(max(size // _CHAINS, min(size, _SHORTEST_CHAIN)), _LONGEST_CHAIN)

    def _points_are_batch(self, points: float) -> bool:
        """Tell whether every step of `fit` sees all of so many time points."""
        if self.learning_method == "auto":
            return points <= (self.batch_size or _WHOLE_POINTS)
        return self.learning_method == "batch"

    def _is_batch(self, n: int) -> bool:
        return self._points_are_batch(n * self._group_length)

    def _batch_size_for(self, n: int) -> int:
        if self._is_batch(n):
            return n
        return self._groups_of(self.batch_size or _usual_points(n * self._group_length))

    def _streamed_size(self) -> int:
        return self._groups_of(self.batch_size or _MOST_POINTS)

    def _groups_of(self, points: float) -> int:
        """Return how many sequences or subchains have about so many time points."""
        return max(1, round(points / self._group_length))

    def _in_groups(self, rows: float | None) -> float | None:
        return None if rows is None else float(self._groups_of(rows))

    def _units(self, data: Any) -> float:
        return float(data.costs().mean())

    @property
    def _settled(self) -> float | None:
        return self.tol

    def _global_step(self, whole_steps: int | None = None) -> GlobalStep:
        if isinstance(self.global_step, GlobalStep):
            return self.global_step
        usual = "ssvi_a" if whole_steps is None else "ssvi"
        name = usual if self.global_step == "auto" else self.global_step
        return step_for_sequences(name, whole_steps, self._averaging)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def take_column(X: Any, name: str) -> tuple[Any, Any]:
    """Return a data frame without a column, and the column."""
    if not hasattr(X, "columns"):
        raise ValueError(f"groups={name!r} names a column, and X is no data frame: give the keys themselves.")
    if name not in X.columns:
        raise ValueError(f"there is no column {name!r} in X, only {', '.join(map(repr, list(X.columns)[:10]))}.")
    rest = X.drop(columns=[name]) if hasattr(X, "iloc") else X.drop(name)
    return rest, np.asarray(X[name])


def _usual_points(points: float) -> int:
    """Return the time points of a minibatch of `fit`, by default."""
    return int(min(max(points / 20, _FEWEST_POINTS), _MOST_POINTS))


def check_lengths(sequences: Sequences) -> None:
    """Raise one clear sentence if a sequence has no time points."""
    empty = np.flatnonzero(sequences.costs() == 0)
    if len(empty):
        raise ValueError(f"sequence {empty[0]} has length 0: leave out sequences without time points.")

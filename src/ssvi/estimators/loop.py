"""The parameters of a fit's loop, and what they mean for so many rows: minibatches, passes and step sizes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from ssvi.estimators.common import is_integer, make_global_step, require, require_count
from ssvi.global_steps.base import GlobalStep
from ssvi.schedules import ConstantSchedule, PowerSchedule, Schedule, whole_step_schedule

_SMALLEST_BATCH = 128
_STREAMED_BATCH = 1_000  # of `partial_fit`
_WHOLE_BATCH = 2_000  # "auto" takes no more rows than these at once


@dataclass(frozen=True)
class Plan:
    """How a fit goes over its rows.

    Attributes
    ----------
    rows, batch_size, passes : int
        How many there are, how many a step sees, and how often each is seen.
    whole : bool
        Whether every step sees all rows.

    """

    rows: int
    batch_size: int
    passes: int
    whole: bool
    global_step: GlobalStep
    schedule: Schedule

    @property
    def steps_per_pass(self) -> int:
        """How many steps a pass has."""
        return -(-self.rows // self.batch_size)

    @property
    def total(self) -> int:
        """How many steps there are."""
        return self.passes * self.steps_per_pass

    @property
    def ascent(self) -> bool:
        """Whether this is coordinate ascent: whole steps over all rows, and nothing drawn."""
        return self.whole and not self.global_step.stochastic

    @property
    def first_average(self) -> int:
        """The first step that does not replace lambda: before it a fit that draws is one draw after another."""
        if self.ascent:
            return 1
        return next((step for step in range(1, self.total + 1) if self.schedule(step) < 1.0), self.total + 1)


class LoopParameters(BaseEstimator):
    """An estimator that is fitted by a loop over minibatches. Subclasses have these parameters."""

    global_step: str | GlobalStep
    learning_method: str
    learning_decay: float | None
    learning_offset: float | None
    learning_scale: float | None
    population_ramp: bool
    max_iter: int | None
    tol: float | None = None
    batch_size: int | None
    total_samples: float | None
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    validation_tol: float
    verbose: int | str

    _online_schedule: ClassVar[PowerSchedule] = PowerSchedule()
    """The steps by minibatches, for those of the learning parameters that are None."""
    _largest_batch: ClassVar[int] = 1_000
    """The most rows that a minibatch of `fit` has by default."""
    _default_passes: ClassVar[tuple[int, int]] = (10, 10)
    """What `max_iter=None` means by minibatches, and where every step sees all data."""

    def _check_loop_parameters(self) -> None:
        for name in ("max_iter", "batch_size"):
            if getattr(self, name) is not None:
                require_count(name, getattr(self, name))
        require_count("n_iter_no_change", self.n_iter_no_change)
        for name in ("learning_decay", "learning_offset"):
            if getattr(self, name) is not None:
                require(name, getattr(self, name), lambda v: 0 <= v < np.inf, "a number of 0 or more")
        if self.learning_scale is not None:
            require("learning_scale", self.learning_scale, lambda v: 0 < v < np.inf, "a positive number")
        if self.total_samples is not None:
            require("total_samples", self.total_samples, lambda v: 1 <= v < np.inf, "1 or more")
        if not isinstance(self.early_stopping, bool | np.bool_):
            raise ValueError(f"early_stopping must be True or False, not {self.early_stopping!r}.")
        require("validation_fraction", self.validation_fraction, lambda v: 0 < v < 1, "above 0 and below 1")
        require("validation_tol", self.validation_tol, lambda v: 0 <= v < np.inf, "a number of 0 or more")
        if self.learning_method not in ("auto", "online", "batch"):
            raise ValueError(f"learning_method must be 'auto', 'online' or 'batch', not {self.learning_method!r}.")
        if self.verbose != "auto" and not is_integer(self.verbose):
            raise ValueError(f"verbose must be 'auto' or an integer, not {self.verbose!r}.")

    def _batch_size_for(self, n: int) -> int:
        """Return the number of documents in a minibatch of `fit`."""
        if self._is_batch(n):
            return n
        return self.batch_size or min(max(n // 20, _SMALLEST_BATCH), self._largest_batch)

    def _streamed_size(self) -> int:
        """Return the number of rows in a minibatch of `partial_fit`."""
        return self.batch_size or _STREAMED_BATCH

    def total_steps(self, n: int) -> int:
        """Return how many steps `fit` makes on n rows, if nothing stops it."""
        return self._plan(n).total

    def _plan(self, n: int) -> Plan:
        """Return how `fit` goes over n rows."""
        whole, passes, batch_size = self._is_batch(n), self._passes_for(n), self._batch_size_for(n)
        global_step = self._global_step(passes if whole else None)
        ascent = whole and not global_step.stochastic
        schedule = ConstantSchedule() if ascent else self._schedule(batch_size, passes if whole else None)
        return Plan(n, batch_size, passes, whole, global_step, schedule)

    def _passes_for(self, n: int) -> int:
        """Return how often `fit` goes over n rows."""
        return self.max_iter or self._default_passes[self._is_batch(n)]

    def _is_batch(self, n: int) -> bool:
        """Tell whether every step of `fit` sees all of n rows."""
        if self.learning_method == "auto":
            return n <= (self.batch_size or _WHOLE_BATCH)
        return self.learning_method == "batch"

    def _decay_for(self, rows: int) -> float | None:
        """Return how fast steps shrink in a fit whose minibatches have so many rows; None for the usual."""
        return self.learning_decay

    def _schedule(self, rows: int, whole_steps: int | None = None) -> Schedule:
        """Return the step sizes of a fit by minibatches of so many rows, or of so many steps that see all data."""
        given = {"decay": self._decay_for(rows), "offset": self.learning_offset}
        shape = {name: value for name, value in given.items() if value is not None}
        if whole_steps is None:
            usual = replace(self._online_schedule, **shape)
        else:
            usual = whole_step_schedule(whole_steps, **shape)
        return usual if self.learning_scale is None else replace(usual, scale=self.learning_scale)

    def _global_step(self, whole_steps: int | None = None) -> GlobalStep:
        """Return the global step of a fit by minibatches, or of so many steps that see all data.

        A step by name is then in the form that suits such a fit; one that was given as it is stays as it is.
        """
        step = make_global_step(self.global_step)
        return (
            step
            if whole_steps is None or isinstance(self.global_step, GlobalStep)
            else step.for_whole_data(whole_steps)
        )

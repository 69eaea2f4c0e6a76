"""The parameters of a fit's loop, and what they mean for so many rows: minibatches, passes and step sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from ssvi.adaptive import AdaptiveSchedule, SignalShare
from ssvi.backends.base import Backend
from ssvi.checks import (
    is_integer,
    is_number,
    require,
    require_count,
    require_flag,
    require_not_negative,
    require_one_of,
    require_positive,
)
from ssvi.engine import Callback
from ssvi.estimators.choices import make_global_step
from ssvi.estimators.parameters import check_parameters, optional, optional_count, parameter, with_parameters
from ssvi.global_steps.base import GlobalStep
from ssvi.local_steps.base import LocalStep
from ssvi.schedules import ConstantSchedule, PowerSchedule, Schedule, whole_step_schedule

_SMALLEST_BATCH = 128
_STREAMED_BATCH = 1_000  # of `partial_fit`
_WHOLE_BATCH = 2_000  # "auto" takes no more rows than these at once
_LONGEST = 10  # a fit that ends by itself has at most so many times the usual passes
_MOST_LOOKS = 50  # in a fit of more passes than that, which are then short ones


@dataclass(frozen=True)
class Plan:
    """How a fit goes over its rows.

    Attributes
    ----------
    rows, batch_size, passes : int
        How many there are, how many a step sees, and how often each is seen at most.
    planned : int
        The passes that step sizes are made for: `passes`, unless the fit ends by itself.
    whole : bool
        Whether every step sees all rows.

    """

    rows: int
    batch_size: int
    passes: int
    planned: int
    whole: bool
    global_step: GlobalStep
    schedule: Schedule | AdaptiveSchedule

    @property
    def steps_per_pass(self) -> int:
        """How many steps a pass has."""
        return -(-self.rows // self.batch_size)

    @property
    def total(self) -> int:
        """How many steps there are."""
        return self.passes * self.steps_per_pass

    @property
    def ends_itself(self) -> bool:
        """Whether the fit goes on until it has converged."""
        return self.passes > self.planned

    @property
    def look(self) -> int:
        """How many steps there are between two looks at a fit: a pass, or several where there are many."""
        return self.steps_per_pass * max(1, self.planned // _MOST_LOOKS)

    @property
    def ascent(self) -> bool:
        """Whether this is coordinate ascent: whole steps over all rows, and nothing drawn."""
        return self.whole and not self.global_step.stochastic

    @property
    def first_average(self) -> int:
        """The first step that does not replace lambda: before it a fit that draws is one draw after another."""
        schedule = self.schedule
        if self.ascent or isinstance(schedule, AdaptiveSchedule):
            return 1
        return next((step for step in range(1, self.total + 1) if schedule(step) < 1.0), self.total + 1)


@with_parameters
class LoopParameters(BaseEstimator):
    """An estimator that is fitted by a loop over minibatches: the parameters that all estimators have."""

    global_step: str | GlobalStep = parameter(
        default="ssvi_a",
        kind='{"ssvi_a", "ssvi", "mean_field", "map"} or GlobalStep',
        words="How q of the global parameters is updated.",
    )
    local_step: str | LocalStep = parameter(
        default="auto",
        kind="str or LocalStep",
        words="How each row's hidden variables are found.",
    )
    learning_method: str = parameter(
        default="auto",
        kind='{"auto", "online", "batch"}',
        words=""""batch" sees all rows in every step, "online" goes by minibatches; "auto" is "batch" for up to 2,000
        rows, or up to `batch_size` if that is set. In batch mode with a `global_step` that draws nothing the step
        size is 1 (coordinate ascent).""",
        check=lambda name, value: require_one_of(name, value, ("auto", "online", "batch")),
    )
    learning_rate: str | Schedule | AdaptiveSchedule = parameter(
        default="power",
        kind='{"power", "adaptive"} or a schedule',
        words="""Where step sizes come from: from the three parameters below, or ("adaptive") from how much the steps
        of late agree, Ranganath and others' rule, which needs none of them and takes about twice the memory. In
        `ssvi.schedules` and `ssvi.adaptive` there are more.""",
        check=lambda name, value: _check_rate(name, value),
    )
    learning_decay: float | None = parameter(
        default=None,
        kind="float, optional",
        words="""kappa of the step size rho_t = min(1, s (t + tau)^-kappa), t = 1, 2, ... By default 0.6; where every
        step sees all rows 0.75.""",
        check=optional(require_not_negative),
    )
    learning_offset: float | None = parameter(
        default=None,
        kind="float, optional",
        words="tau of the step size. By default 10; where every step sees all rows 0.",
        check=optional(require_not_negative),
    )
    learning_scale: float | None = parameter(
        default=None,
        kind="float, optional",
        words="""s of the step size. By default 1; where every step sees all rows what makes the first third of the
        steps whole.""",
        check=optional(require_positive),
    )
    population_ramp: bool | None = parameter(
        default=True,
        kind="bool",
        words="Let a minibatch stand for the rows seen so far, during the first pass, and not for all at once.",
    )
    max_iter: int | str | None = parameter(
        default=None,
        kind='int, "auto", optional',
        words="""Passes over the data in `fit`. "auto" goes on until the fit has converged, for ten times the usual
        passes at most; see `convergence_tol`.""",
        check=lambda name, value: _check_passes(name, value),
    )
    convergence_tol: float = parameter(
        default=0.01,
        kind="float",
        words="""A fit has converged when q moves by less than this in a pass, in nats for each observed unit: see
        `convergence_`.""",
        check=require_positive,
    )
    batch_size: int | None = parameter(
        default=None,
        kind="int, optional",
        words="""Rows in a minibatch. By default a twentieth of the data, at least 128 and at most 1,000; in
        `partial_fit` 1,000.""",
        check=optional_count,
    )
    total_samples: float | None = parameter(
        default=None,
        kind="int, optional",
        words="N for `partial_fit`: how many rows there will be. By default as many as there were so far.",
        check=optional(lambda name, value: require(name, value, lambda v: 1 <= v < np.inf, "1 or more")),
    )
    memory: float | None = parameter(
        default=None,
        kind="float, optional",
        words="""W for `partial_fit`: how many rows the model is of, the last ones. N is then W at most, and rho is
        S / W at least, S being the rows of a minibatch: what was seen W rows ago counts for about a third, and what
        was seen longer ago for less, so that a stream that changes is followed. By default nothing is forgotten
        but by steps that are large.""",
        check=optional(
            lambda name, value: require(name, value, lambda v: is_number(v) and 1 <= v < np.inf, "1 or more")
        ),
    )
    early_stopping: bool = parameter(
        default=False,
        kind="bool",
        words="""Score validation rows after every pass (or some fifty times in a fit of more passes), stop when
        `n_iter_no_change` scores in a row bring no gain, and keep the best state that was scored. The rows are
        `X_val` of `fit`, or a share `validation_fraction` of X that is then not fitted.""",
        check=require_flag,
    )
    validation_fraction: float = parameter(
        default=0.1,
        kind="float",
        words="See `early_stopping`.",
        check=lambda name, value: require(name, value, lambda v: 0 < v < 1, "above 0 and below 1"),
    )
    n_iter_no_change: int = parameter(
        default=5,
        kind="int",
        words="See `early_stopping`.",
        check=require_count,
    )
    validation_tol: float = parameter(
        default=1e-4,
        kind="float",
        words="A score is a gain if it is better by more than this share of the best one's size.",
        check=require_not_negative,
    )
    backend: str | Backend = parameter(
        default="threads",
        kind='"threads", "ray", "ray:ADDRESS" or Backend',
        words="""Where the local step of a minibatch runs: threads of this process, or a Ray cluster (docs/cluster.md):
        one at an address (host:port or auto), or a local one. The result does not depend on it.""",
    )
    n_jobs: int | None = parameter(
        default=None,
        kind="int, optional",
        words="Threads; None is 1, -1 is all processors. The result does not depend on it.",
    )
    verbose: int | str = parameter(
        default="auto",
        kind='"auto" or int',
        words="""Show progress on stderr if a fit takes over two seconds: always (1), never (0), or where it is a
        terminal.""",
        check=lambda name, value: _check_verbose(value),
    )
    random_state: Any = parameter(
        default=None,
        kind="int, RandomState, Generator or None",
        words="The seed. The same integer gives the same result, bit for bit.",
    )
    callbacks: Sequence[Callback] | None = parameter(
        default=None,
        kind="list of callables, optional",
        words="Each is called with the engine's State and Info after every step; a true answer ends the fit there.",
    )

    _online_schedule: ClassVar[PowerSchedule] = PowerSchedule()
    """The steps by minibatches, for those of the learning parameters that are None."""
    _stream_schedule: ClassVar[PowerSchedule] = PowerSchedule()
    """The same in `partial_fit`, which may see each row once."""
    _batches_of_data: ClassVar[int] = 20
    """How many minibatches of `fit` the data makes by default, unless they would be too small or too large."""
    _largest_batch: ClassVar[int] = 1_000
    """The most rows that a minibatch of `fit` has by default."""
    _default_passes: ClassVar[tuple[int, int]] = (10, 10)
    """What `max_iter=None` means by minibatches, and where every step sees all data."""

    def _check_parameters(self) -> None:
        """Raise one clear sentence if a parameter has a value that will not do."""
        check_parameters(self)

    @property
    def _settled(self) -> float | None:
        """The relative change of lambda below which coordinate ascent ends; None if it goes on."""
        return None

    def _batch_size_for(self, n: int) -> int:
        """Return the number of documents in a minibatch of `fit`."""
        if self._is_batch(n):
            return n
        return self.batch_size or min(max(n // self._batches_of_data, _SMALLEST_BATCH), self._largest_batch)

    def _streamed_size(self) -> int:
        """Return the number of rows in a minibatch of `partial_fit`."""
        return self.batch_size or _STREAMED_BATCH

    def total_steps(self, n: int) -> int:
        """Return how many steps `fit` makes on n rows, if nothing stops it."""
        return self._plan(n).total

    def _plan(self, n: int) -> Plan:
        """Return how `fit` goes over n rows."""
        whole, planned, batch_size = self._is_batch(n), self._planned_passes(n), self._batch_size_for(n)
        global_step = self._global_step(planned if whole else None)
        ascent = whole and not global_step.stochastic
        schedule = ConstantSchedule() if ascent else self._schedule(planned if whole else None)
        passes = planned * (_LONGEST if self.max_iter == "auto" else 1)
        return Plan(n, batch_size, passes, planned, whole, global_step, schedule)

    def _planned_passes(self, n: int) -> int:
        """Return how often `fit` goes over n rows, or usually would if it does not end by itself."""
        usual = self._default_passes[self._is_batch(n)]
        return usual if self.max_iter is None or isinstance(self.max_iter, str) else int(self.max_iter)

    def _is_batch(self, n: int) -> bool:
        """Tell whether every step of `fit` sees all of n rows."""
        if self.learning_method == "auto":
            return n <= (self.batch_size or _WHOLE_BATCH)
        return self.learning_method == "batch"

    def _schedule(self, whole_steps: int | None = None, *, streamed: bool = False) -> Schedule | AdaptiveSchedule:
        """Return the step sizes of a fit by minibatches, or of so many steps that see all data.

        `streamed` is for minibatches of `partial_fit`.
        """
        if not isinstance(self.learning_rate, str):
            return self.learning_rate
        if self.learning_rate == "adaptive":
            return SignalShare()
        return self._power_schedule(self._stream_schedule if streamed else self._usual_schedule(), whole_steps)

    def _usual_schedule(self) -> PowerSchedule:
        """Return the step sizes of `fit` by minibatches, unless parameters say otherwise."""
        return self._online_schedule

    def _power_schedule(self, online: PowerSchedule, whole_steps: int | None) -> PowerSchedule:
        """Return the step sizes that the three learning parameters stand for."""
        given = {"decay": self.learning_decay, "offset": self.learning_offset}
        shape = {name: value for name, value in given.items() if value is not None}
        usual = replace(online, **shape) if whole_steps is None else whole_step_schedule(whole_steps, **shape)
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


def _check_rate(name: str, value: Any) -> None:
    if isinstance(value, str) or not (isinstance(value, AdaptiveSchedule) or callable(value)):
        require(name, value, lambda v: v in ("power", "adaptive"), "'power', 'adaptive', or a schedule")


def _check_passes(name: str, value: Any) -> None:
    if isinstance(value, str):
        require(name, value, lambda v: v == "auto", "an integer of 1 or more, or 'auto'")
    else:
        optional_count(name, value)


def _check_verbose(value: Any) -> None:
    if value != "auto" and not is_integer(value):
        raise ValueError(f"verbose must be 'auto' or an integer, not {value!r}.")

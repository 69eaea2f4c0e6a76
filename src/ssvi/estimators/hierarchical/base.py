"""What the estimators of multilevel regressions share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from ssvi import engine
from ssvi.batches.groups import Groups
from ssvi.checks import require, require_flag, require_one_of, require_positive
from ssvi.engine import Problem
from ssvi.estimators.base import StochasticEstimator
from ssvi.estimators.choices import make_global_step, make_local_step, make_seed, unchanged_on_error
from ssvi.estimators.hierarchical.rows import HierarchicalRows, Table
from ssvi.estimators.hierarchical.tables import places_of_groups
from ssvi.estimators.parameters import changed, optional, parameter, with_parameters
from ssvi.estimators.plan import Plan
from ssvi.estimators.scikit_learn_callbacks import Given, with_callbacks
from ssvi.evaluation.multilevel import group_posterior
from ssvi.evaluation.posterior import draws_of_q
from ssvi.evaluation.reweighing import draws_for, reweigh
from ssvi.global_steps.base import GlobalStep
from ssvi.global_steps.map import Map
from ssvi.global_steps.mean_field import MeanField
from ssvi.global_steps.ssvi import Ssvi
from ssvi.local_steps.base import LocalStep
from ssvi.local_steps.hierarchical.marginal import likelihood_of
from ssvi.models.base import Model
from ssvi.models.hierarchical.base import HierarchicalRegression
from ssvi.models.hierarchical.deviations import DEVIATION_PRIORS
from ssvi.numerics.random import derive_key, derive_keys
from ssvi.schedules import ConstantSchedule, PowerSchedule
from ssvi.typing import Array

_MOST_PASSES, _FEWEST_PASSES, _PASSES = 600, 40, 4_000.0
_FIRST_PASSES = 15  # to the mode, where a fit by draws or by minibatches begins
_FIRST_GROUPS = 2_000  # that the mode goes by, where they come by minibatches
_MOST_DRAWS, _FEWEST_DRAWS, _LEAST_WORTH = 6_000, 500, 100.0  # of weighed draws, and of what they must be worth
_DRAWS_A_PASS = 10  # a fit that was short is not good enough to draw from, and its user in a hurry
_GROUP_WORK, _GROUP_DRAWS = 2_000_000, (8, 1_000)  # rows times draws for what is said of groups, and how many draws
_RAMP = 0.25  # of a fit's steps, over which SSVI's correction is brought in
_AVERAGING = 3.0
_NO_NAMES = np.array([], dtype=np.int64)


@with_parameters
class HierarchicalEstimator(HierarchicalRows):
    """A regression on the columns of X whose coefficients may vary between groups of rows."""

    formula: str | None = parameter(
        default=None,
        kind="str, optional",
        words="""An R-style formula such as "y ~ x + (1 + x | g)": `fit` then takes a table with these columns and
        nothing else. It needs the package formulaic (`pip install ssvi[formulas]`).""",
        check=optional(lambda name, value: require(name, value, lambda v: isinstance(v, str), "a formula")),
    )
    varying: Any = parameter(
        default="intercept",
        kind='"intercept", "all", or a list of columns',
        words="""The columns whose coefficients vary between groups, by name or number, "intercept" among them. Not
        for formulas.""",
    )
    fit_intercept: bool = parameter(
        default=True,
        kind="bool",
        words="Put a column of ones before X. Not for formulas, which say it themselves.",
        check=require_flag,
    )
    coefficient_scale: Any = parameter(
        default=None,
        kind='float or one for each coefficient, or "auto", optional',
        words="""Deviations of the normal priors of coefficients, around 0 and in the data's units. By default so wide
        that they say little (docs/multilevel.md). "auto" learns them in the fit: all but the intercept's, by one number
        for all columns in units of their deviations, which draws many small coefficients together.""",
    )
    deviation_prior: str = parameter(
        default="half_t",
        kind='{"half_t", "wishart"}',
        words="""The prior of how groups differ: half-t deviations and, with 2 degrees of freedom, uniform correlations
        (Huang and Wand 2013), or a Wishart precision matrix.""",
        check=lambda name, value: require_one_of(name, value, DEVIATION_PRIORS),
    )
    deviation_scale: Any = parameter(
        default=None,
        kind="float or one for each varying column, optional",
        words="Scales of that prior in the data's units; by default wide ones.",
    )
    deviation_degrees: float = parameter(
        default=2.0,
        kind="float",
        words="Degrees of freedom of that prior: with 1, a half-Cauchy deviation of one varying column.",
        check=require_positive,
    )
    reweigh: bool = parameter(
        default=True,
        kind="bool",
        words="""After a fit by "ssvi", weigh draws from q so that summaries are those of the posterior itself, for
        tables that are small enough and fits of 50 passes or more (`reweighed_`; docs/multilevel.md).""",
        check=require_flag,
    )
    global_step: str | GlobalStep = changed(
        StochasticEstimator,
        "global_step",
        default="ssvi",
        words="""How q of the global parameters is updated. "ssvi" has q as wide as its family can be; the others are
        too sure of how groups differ.""",
    )
    learning_method: str = changed(
        StochasticEstimator,
        "learning_method",
        default="auto",
        words=""""batch" sees all groups in every step, which makes fits exact and is the rule ("auto"); "online" goes
        by minibatches of `batch_size` groups, and so does "auto" if that is set and smaller than the data. In
        batch mode with a `global_step` that draws nothing the step size is 1 (coordinate ascent).""",
    )
    max_iter: int | str | None = changed(
        StochasticEstimator,
        "max_iter",
        default=None,
        words="""Passes over the data in `fit`. By default 4,000 divided by the root of the number of groups, between 40
        and 600; by minibatches 20. "auto" goes on until the fit has converged, for ten times as many at most.""",
    )

    model_class: ClassVar[type[HierarchicalRegression]]
    usual_step: ClassVar[str]
    """The local step of fits, by default."""
    group_step: ClassVar[str]
    """The local step by which groups are described: one that draws nothing."""
    first_step: ClassVar[str]
    """The local step by which fits find the mode, where they begin."""
    _online_schedule = PowerSchedule(0.6, 10.0)
    _stream_schedule = PowerSchedule(0.7, 10.0)
    _default_passes = (20, _MOST_PASSES)

    # ------------------------------------------------------------------ fitting

    def _fit(self, X: Any, y: Any, groups: Any, weights: Any, validation: tuple[Any, ...] | None) -> Self:
        """Fit to rows from a fresh start."""
        with unchanged_on_error(self):
            self._check_parameters()
            table = self._table(X, y, groups, weights, reset=True)
            held_out = None if validation is None else self._table(*validation, reset=False).data
            self._group_parts, self.groups_, self._draws = {}, _NO_NAMES, {}
            self._run(table.data, Given(make_seed(self.random_state), X, y, held_out))
            self._draws = self._reweighed(table.data)
            self._remember(table, len(table.data))
        return self

    def _fit_further(self, X: Any, y: Any, groups: Any, weights: Any) -> Self:
        """Go on with further groups of rows."""
        first = not self.__sklearn_is_fitted__()
        with unchanged_on_error(self):
            self._check_parameters()
            if first:
                self._group_parts, self.groups_ = {}, _NO_NAMES
            table = self._table(X, y, groups, weights, reset=first)
            self._run_further(table.data, first=first)
            self._draws = {}
            self._remember(table, self._state.documents_seen)
        return self

    def _reweighed(self, data: Groups) -> dict[str, Array]:
        """Return draws from the posterior of a table that is small enough, by weighing draws from q; else none."""
        if not (self.reweigh and isinstance(make_global_step(self.global_step), Ssvi)):
            return {}
        model = self._model()
        count = draws_for(model, data, min(_MOST_DRAWS, _DRAWS_A_PASS * self.n_iter_))
        if count < _FEWEST_DRAWS:
            return {}
        seed = derive_key(self.random_state_, "reweigh", self._state.step)
        found = reweigh(model, self._state.estimate, likelihood_of(model, data), count, seed)
        return found.values if found.worth >= _LEAST_WORTH else {}

    def _remember(self, table: Table, seen: int) -> None:
        """Keep what is known of each group of these rows; the more groups were seen, the less do draws of q differ."""
        if table.names is None:
            return
        model, data = self._model(), table.data
        count = int(np.clip(_GROUP_WORK / max(seen * self._units(data), 1.0), *_GROUP_DRAWS))
        seed = derive_key(self.random_state_, "groups", self._state.step)
        values = self._draws or draws_of_q(model, self._state.estimate, count, seed, "groups")
        step = make_local_step(self.group_step, self.model_class.name)
        with self._open_backend() as backend:
            some = {name: value[:count] for name, value in values.items()}
            found = group_posterior(step, model, some, data, backend, seed)
        own = {"means": found.means, "covariances": found.covariances, "cross": found.cross}
        if len(self.groups_):
            kept = places_of_groups(table.names, self.groups_, -1) < 0
            own = {name: np.concatenate([self._group_parts[name][kept], value]) for name, value in own.items()}
            self.groups_ = np.concatenate([self.groups_[kept], table.names])
        else:
            self.groups_ = np.array(table.names)
        self._group_parts = own

    # ------------------------------------------------------------------ the loop

    def _wanted(self) -> dict[str, Any]:
        names = ("formula", "varying", "fit_intercept", "coefficient_scale", "deviation_prior", "deviation_scale",
                 "deviation_degrees")  # fmt: skip
        return {name: getattr(self, name) for name in names}

    def _fix_model(self, data: Any) -> None:
        self._given_parts = self._wanted()

    @property
    def _fixed(self) -> Mapping[str, Any]:
        return self._given_parts

    def _model(self) -> HierarchicalRegression:
        return self._with_learned(self.model_class(**self._fields))

    def _bound(self, data: Any) -> float:
        """Priors that depend on other blocks have no bound of their own."""
        model: Model = self._model()
        return super()._bound(data) if not model.priors(self._views()) else float("nan")

    def _first_guess(self, data: Groups) -> Any:
        """Return the mode given all groups, or the first of many if they come by minibatches: draws take longer."""
        is_batch = self._is_batch(len(data))
        if is_batch and not make_global_step(self.global_step).stochastic:
            return None
        return self._mode(data) if is_batch else self._first_of_stream(data)

    def _first_of_stream(self, data: Groups) -> Any:
        return self._mode(data.slice(0, min(len(data), _FIRST_GROUPS)))

    def _mode(self, data: Groups) -> Any:
        if self.first_step == "exact":
            _ = data.moments  # which every step then has
        model: Any = self._model().settled()
        step = make_local_step(self.first_step, self.model_class.name)
        start = engine.init(model, self.random_state_, data)
        with self._open_backend() as backend:
            # Of coefficients that explain every row there are many, and noise of next to none would be the mode.
            rule = Map() if int(data.indptr[-1] - data.indptr[0]) > model.n_fixed else MeanField()
            problem = Problem(model, step, rule, ConstantSchedule(), len(data), ramp=False, backend=backend)
            return engine.run(problem, start, data, sweeps=_FIRST_PASSES, batch_size=len(data)).parameters

    def _begin_from(self, start: Any, data: Groups) -> None:
        self._state = replace(self._state, parameters=start)

    def _score(self, data: Groups) -> float:
        """Return the mean log probability of a row (or a bound of it) at the point estimate, its group being new."""
        step = make_local_step(self.group_step, self.model_class.name)
        with self._open_backend() as backend:
            found = backend.map_reduce(step, self._model(), self._views(), data, derive_keys(0, len(data)))
        rows = int(data.indptr[-1] - data.indptr[0])
        return float(found.bound or 0.0) / rows - float(np.log(self._measures.output))

    def _views(self) -> dict[str, Array]:
        estimate = self._state.estimate
        return {name: block.family.mode_stats(estimate[name]) for name, block in self._model().blocks().items()}

    def _step(self) -> LocalStep:
        choice = self.usual_step if self.local_step == "auto" else self.local_step
        return make_local_step(choice, self.model_class.name)

    def _fit_step(self, data: Any, plan: Plan) -> LocalStep:
        return self._step()

    def _stream_step(self, data: Any) -> LocalStep:
        return self._step()

    def _is_batch(self, n: int) -> bool:
        """Tell whether every step sees all groups: yes, unless minibatches are asked for."""
        if self.learning_method == "auto":
            return self.batch_size is None or n <= self.batch_size
        return self.learning_method == "batch"

    def _planned_passes(self, n: int) -> int:
        if self._is_batch(n) and (self.max_iter is None or isinstance(self.max_iter, str)):
            return int(np.clip(_PASSES / np.sqrt(max(n, 1)), _FEWEST_PASSES, _MOST_PASSES))
        return super()._planned_passes(n)

    def _power_schedule(self, online: PowerSchedule, whole_steps: int | None) -> PowerSchedule:
        return super()._power_schedule(online, None)  # no step replaces what was learned before

    def _global_step(self, whole_steps: int | None = None) -> GlobalStep:
        """Return SSVI with all of its correction, and averages over the path, where steps draw."""
        step = make_global_step(self.global_step)
        if isinstance(self.global_step, GlobalStep):
            return step
        if isinstance(step, Ssvi):
            sweeps = 1.0 if whole_steps is None else max(1.0, _RAMP * whole_steps)
            return Ssvi(softening=0.0, correction_sweeps=sweeps, control_variate=True, averaging=_AVERAGING)
        return replace(step, averaging=_AVERAGING) if step.stochastic else step  # type: ignore[type-var]

    def _units(self, data: Any) -> float:
        return float(data.indptr[-1] - data.indptr[0]) / max(len(data), 1)

    @with_callbacks
    @abstractmethod
    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Fit the model to rows from a fresh start."""

"""What the estimators of multilevel regressions share."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from ssvi.batches.groups import Groups
from ssvi.checks import require, require_flag, require_one_of, require_positive
from ssvi.estimators.base import StochasticEstimator
from ssvi.estimators.choices import make_global_step, make_local_step, make_seed, unchanged_on_error
from ssvi.estimators.hierarchical import formulas, summaries
from ssvi.estimators.hierarchical.tables import (
    Design,
    Names,
    check_groups,
    design_of,
    places_of_groups,
)
from ssvi.estimators.parameters import changed, optional, parameter, with_parameters
from ssvi.estimators.plan import Plan
from ssvi.estimators.scikit_learn_callbacks import Given, with_callbacks
from ssvi.evaluation.multilevel import AVERAGE, UNKNOWN, GroupPosterior, Places, Predictor, group_posterior
from ssvi.families.multivariate_gaussian import MultivariateGaussian
from ssvi.families.wishart import Wishart
from ssvi.global_steps.base import GlobalStep
from ssvi.global_steps.ssvi import Ssvi
from ssvi.local_steps.base import LocalStep
from ssvi.models.base import Model
from ssvi.models.hierarchical.base import DEVIATION_PRIORS, HierarchicalRegression
from ssvi.models.hierarchical.units import Units, usual_scales
from ssvi.numerics.random import derive_key, derive_keys
from ssvi.schedules import PowerSchedule
from ssvi.typing import Array

_MOST_PASSES, _FEWEST_PASSES, _PASSES = 600, 80, 6_000.0
_RAMP = 0.25  # of a fit's steps, over which SSVI's correction is brought in
_AVERAGING = 3.0
_NO_NAMES = np.array([], dtype=np.int64)


@dataclass(frozen=True)
class Table:
    """Rows in the form that fits take, and the labels of their groups, None where there are none."""

    data: Groups
    names: Names | None


class _Fitted:
    """What a fit leaves behind, in the form in which files hold it."""

    groups_: Names
    _given_parts: dict[str, Any]
    _fields: dict[str, Any]
    _design_parts: dict[str, Any]
    _unit_parts: dict[str, Any]
    _group_parts: dict[str, Array]
    _formula_parts: dict[str, Any] | None


@with_parameters
class HierarchicalEstimator(_Fitted, StochasticEstimator):
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
        kind="float or one for each coefficient, optional",
        words="""Deviations of the normal priors of coefficients, around 0 and in the data's units. By default so wide
        that they say little (docs/multilevel.md).""",
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
        words="""Passes over the data in `fit`. By default 6,000 divided by the root of the number of groups, between 80
        and 600; by minibatches 20. "auto" goes on until the fit has converged, for ten times as many at most.""",
    )

    model_class: ClassVar[type[HierarchicalRegression]]
    usual_step: ClassVar[str]
    """The local step of fits, by default."""
    group_step: ClassVar[str]
    """The local step by which groups are described: one that draws nothing."""
    _online_schedule = PowerSchedule(0.6, 10.0)
    _stream_schedule = PowerSchedule(0.7, 10.0)
    _default_passes = (20, _MOST_PASSES)

    saved_attributes = (
        *StochasticEstimator.saved_attributes,
        "groups_",
        "_given_parts",
        "_fields",
        "_design_parts",
        "_unit_parts",
        "_group_parts",
        "_formula_parts",
    )
    # ------------------------------------------------------------------ fitting

    def _fit(self, X: Any, y: Any, groups: Any, weights: Any, validation: tuple[Any, ...] | None) -> Self:
        """Fit to rows from a fresh start."""
        with unchanged_on_error(self):
            self._check_parameters()
            table = self._table(X, y, groups, weights, reset=True)
            held_out = None if validation is None else self._table(*validation, reset=False).data
            self._run(table.data, Given(make_seed(self.random_state), X, y, held_out))
            self._group_parts = {}
            self.groups_ = _NO_NAMES
            self._remember(table)
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
            self._remember(table)
        return self

    def _table(self, X: Any, y: Any, groups: Any, weights: Any, *, reset: bool) -> Table:
        """Check rows; a first table decides on columns, units and priors."""
        if self.formula is not None:
            if y is not None or groups is not None:
                raise ValueError(
                    "with a formula fit takes one table that has y and the groups: leave out y and groups."
                )
            parsed, (X, y, groups, weights) = self._parsed_formula(X, reset=reset)
        else:
            parsed = None
        self._require_target(y)
        grouped = groups is not None
        if parsed is None:
            X, y = self._checked(X, y, reset=reset)
            design = self._plain_design(X.shape[1], grouped=grouped)
        else:
            y, design = self._checked_formula(X, y, parsed, reset=reset)
        y, weights = self._target(y, weights, reset=reset)
        inputs = self._with_intercept(np.asarray(X, dtype=np.float64), parsed is None)
        labels = None if groups is None else check_groups(groups, len(inputs))
        if reset:
            self._formula_parts = parsed
            self._design_parts = dataclasses.asdict(design)
            self._settle(inputs, y, design)
        elif design.varying and not self._design.varying:
            raise ValueError("groups are given, and this model was fitted without any: leave out groups.")
        elif self._design.varying and not design.varying:
            raise ValueError("groups are missing: this model was fitted with groups.")
        units = self._measures
        scaled, outputs = inputs / units.columns, y / units.output
        weights = weights if weights is None else self._row_weights(weights)
        if labels is None:
            return Table(Groups.from_rows(scaled, outputs, weights), None)
        names, data = Groups.from_table(scaled, outputs, labels, weights)
        return Table(data, np.asarray(names))

    def _checked(self, X: Any, y: Any, *, reset: bool) -> tuple[Array, Any]:
        """Let scikit-learn check plain rows."""
        checked = validate_data(self, X, y, reset=reset, dtype=np.float64, **self._target_checks())
        return checked[0], checked[1]

    def _parsed_formula(self, X: Any, *, reset: bool) -> tuple[dict[str, Any], tuple[Any, Any, Any, Any]]:
        known = None if reset else self._formula_parts
        return formulas.read(str(self.formula), X, known)

    def _checked_formula(self, X: Array, y: Any, parsed: dict[str, Any], *, reset: bool) -> tuple[Any, Design]:
        design = Design(tuple(parsed["names"]), tuple(parsed["fixed"]), tuple(parsed["varying"]))
        if reset:
            self.n_features_in_ = len(design.names)
            self.__dict__.pop("feature_names_in_", None)
        return np.asarray(y), design

    def _plain_design(self, width: int, *, grouped: bool) -> Design:
        names = getattr(self, "feature_names_in_", None)
        columns = [f"x{i}" for i in range(width)] if names is None else [str(name) for name in names]
        return design_of(columns, self.varying, fit_intercept=self.fit_intercept, grouped=grouped)

    def _with_intercept(self, X: Array, is_plain: bool) -> Array:
        return np.column_stack([np.ones(len(X)), X]) if is_plain and self.fit_intercept else X

    def _settle(self, inputs: Array, y: Array, design: Design) -> None:
        """Decide on units and priors, which a fit cannot change later."""
        scaled_by = y if self._has_units else None
        units, scales = Units.of(inputs, scaled_by), usual_scales(inputs, scaled_by, design.intercept)
        self._unit_parts = dataclasses.asdict(units)
        fixed, varying = list(design.fixed), list(design.varying)
        coefficient = _numbers("coefficient_scale", self.coefficient_scale, scales[fixed])
        deviation = _numbers("deviation_scale", self.deviation_scale, scales[varying])
        self._fields = {
            "n_features": inputs.shape[1],
            "fixed": design.fixed,
            "varying": design.varying,
            "coefficient_scale": tuple((coefficient / units.factors(fixed)).tolist()),
            "deviation_prior": self.deviation_prior,
            "deviation_scale": tuple((deviation / units.factors(varying)).tolist()) or 1.0,
            "deviation_degrees": float(self.deviation_degrees),
            **self._more_fields(units),
        }

    def _remember(self, table: Table) -> None:
        """Keep what is known of each group of these rows."""
        if table.names is None:
            return
        with self._open_backend() as backend:
            step = make_local_step(self.group_step, self.model_class.name)
            seed = derive_key(self.random_state_, "groups", self._state.step)
            found = group_posterior(step, self._model(), self._state.estimate, table.data, backend, seed)
        own = {"means": found.means, "covariances": found.covariances, "cross": found.cross}
        if len(self.groups_):
            kept = places_of_groups(table.names, self.groups_, -1) < 0
            own = {name: np.concatenate([self._group_parts[name][kept], value]) for name, value in own.items()}
            self.groups_ = np.concatenate([self.groups_[kept], table.names])
        else:
            self.groups_ = np.array(table.names)
        self._group_parts = own

    # ------------------------------------------------------------------ what subclasses say

    _has_units: ClassVar[bool] = True
    """Whether y has units of its own."""

    @abstractmethod
    def _target(self, y: Any, weights: Any, *, reset: bool) -> tuple[Array, Any]:
        """Check y; return it as numbers, and weights, checked too."""

    def _row_weights(self, weights: Array) -> Array:
        """Return the weights of rows in the form that the model takes."""
        return weights

    def _target_checks(self) -> dict[str, Any]:
        """Return what scikit-learn is to check of y."""
        return {}

    def _more_fields(self, units: Units) -> dict[str, Any]:
        """Return further fields of the model."""
        return {}

    def _require_target(self, y: Any) -> None:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: give X, y and groups, or a "
                "formula and a table."
            )

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
        return self.model_class(**self._fields)

    def _bound(self, data: Any) -> float:
        """Priors that depend on other blocks have no bound of their own."""
        model: Model = self._model()
        return super()._bound(data) if not model.priors(self._views()) else float("nan")

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

    # ------------------------------------------------------------------ results

    @property
    def _design(self) -> Design:
        return Design(**{name: tuple(value) for name, value in self._design_parts.items()})

    @property
    def _measures(self) -> Units:
        return Units(np.asarray(self._unit_parts["columns"]), float(self._unit_parts["output"]))

    @property
    def coefficient_names_(self) -> list[str]:
        """The names of the coefficients that all groups share."""
        check_is_fitted(self)
        return [self._design.names[place] for place in self._design.fixed]

    @property
    def coefficients_(self) -> Array:
        """E_q[beta] in the data's units, the intercept among them."""
        check_is_fitted(self)
        model = self._model()
        mean = MultivariateGaussian(model.n_fixed).standard(self._state.estimate["coefficients"][0]).mean
        return mean * self._measures.factors(model.fixed_columns)

    @property
    def population_covariance_(self) -> Array:
        """The covariance of the varying coefficients between groups: the inverse of E_q[Q], in the data's units."""
        check_is_fitted(self)
        model = self._model()
        if not model.n_varying:
            return np.zeros((0, 0))
        factors = self._measures.factors(model.varying)
        scatter, degrees = Wishart(model.n_varying).standard(self._state.estimate["precision"][0])
        return np.asarray(scatter / degrees * np.outer(factors, factors))

    @property
    def deviations_(self) -> Array:
        """The deviations of the varying coefficients between groups: roots of `population_covariance_`'s diagonal."""
        return np.sqrt(np.diagonal(self.population_covariance_))

    def summary(self, level: float = 0.9) -> Any:
        """Return mean, deviation, median and an interval of each global parameter under q, as a pandas data frame."""
        check_is_fitted(self)
        return summaries.of_globals(self, level)

    def group_effects(self, level: float = 0.9) -> Any:
        """Return by how much each known group's coefficients differ from the average, as a pandas data frame."""
        check_is_fitted(self)
        return summaries.of_groups(self, level)

    def _posterior(self) -> GroupPosterior:
        d, p = self._model().n_varying, self._model().n_fixed
        parts: Mapping[str, Array] = self._group_parts or {
            "means": np.zeros((0, d)), "covariances": np.zeros((0, d, d)), "cross": np.zeros((0, d, p)),
        }  # fmt: skip
        return GroupPosterior(parts["means"], parts["covariances"], parts["cross"])

    def _eta(self, X: Any, groups: Any, unseen: str) -> tuple[Array, Array]:
        """Return mean and variance of the linear predictor of rows, in units of the model."""
        check_is_fitted(self)
        require_one_of("unseen", unseen, ("population", "average", "error"))
        if self.formula is not None:
            inputs, found = formulas.read_inputs(str(self.formula), X, self._formula_parts)
            groups = found if groups is None else groups
        else:
            X = validate_data(self, X, reset=False, dtype=np.float64)
            inputs = self._with_intercept(X, True)
        places = self._places(groups, len(inputs), unseen)
        predictor = Predictor(self._model(), self._state.estimate, self._posterior())
        return predictor.eta(inputs / self._measures.columns, places)

    def _places(self, groups: Any, rows: int, unseen: str) -> Places:
        if groups is None or not self._design.varying:
            return np.full(rows, AVERAGE, dtype=np.int64)
        labels = check_groups(groups, rows)
        places = places_of_groups(self.groups_, labels, UNKNOWN)
        if unseen == "average":
            return np.where(places == UNKNOWN, AVERAGE, places)
        if unseen == "error" and (places == UNKNOWN).any():
            label = labels[places == UNKNOWN][0]
            raise ValueError(f"the group {label!s} was not in the data of the fit: see `unseen`.")
        return places

    @with_callbacks
    @abstractmethod
    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Fit the model to rows from a fresh start."""


def _numbers(name: str, given: Any, usual: Array) -> Array:
    """Return the positive numbers that a parameter says, one for each column, or the usual ones."""
    if given is None:
        return usual
    numbers = np.asarray(given, dtype=object)
    try:
        values = np.broadcast_to(numbers.astype(float), usual.shape)
        met = bool((np.isfinite(values) & (values > 0)).all()) and numbers.ndim <= 1
    except (TypeError, ValueError):
        met = False
    if not met:
        raise ValueError(f"{name} must be a positive number, or one for each of {len(usual)} columns, not {given!r}.")
    return np.array(values)

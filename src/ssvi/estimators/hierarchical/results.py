"""What a fitted multilevel regression tells: estimates, summaries, and predictors of further rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from ssvi.checks import require_count, require_one_of
from ssvi.estimators.base import StochasticEstimator
from ssvi.estimators.choices import make_seed
from ssvi.estimators.draws import PosteriorDraws
from ssvi.estimators.hierarchical import formulas, summaries
from ssvi.estimators.hierarchical.tables import Design, Names, check_groups, places_of_groups
from ssvi.evaluation.multilevel import (
    AVERAGE,
    UNKNOWN,
    Globals,
    GroupPosterior,
    Known,
    Places,
    Predictor,
    likely_size,
)
from ssvi.families.multivariate_gaussian import MultivariateGaussian
from ssvi.families.wishart import Wishart
from ssvi.models.hierarchical.base import HierarchicalRegression
from ssvi.models.hierarchical.units import Units
from ssvi.models.quantities import Quantities
from ssvi.typing import Array


class HierarchicalResults(StochasticEstimator):
    """What a fit leaves behind, in the form in which files hold it, and what is made of it.

    `_draws` are draws from the posterior by block, of equal weight; there are none where all that is known is q.
    """

    formula: str | None
    fit_intercept: bool
    groups_: Names
    _fields: dict[str, Any]
    _design_parts: dict[str, Any]
    _unit_parts: dict[str, Any]
    _group_parts: dict[str, Array]
    _formula_parts: dict[str, Any] | None
    _draws: dict[str, Array]

    saved_attributes = (
        *StochasticEstimator.saved_attributes,
        "groups_",
        "_given_parts",
        "_fields",
        "_design_parts",
        "_unit_parts",
        "_group_parts",
        "_formula_parts",
        "_draws",
    )

    def _model(self) -> HierarchicalRegression:
        raise NotImplementedError

    @property
    def _design(self) -> Design:
        return Design(**{name: tuple(value) for name, value in self._design_parts.items()})

    @property
    def _measures(self) -> Units:
        return Units(np.asarray(self._unit_parts["columns"]), float(self._unit_parts["output"]))

    @property
    def _globals(self) -> Globals | None:
        """Draws from the posterior in the data's units, where there are any."""
        return Globals.of(self._model(), self._draws, self._measures) if self._draws else None

    @property
    def reweighed_(self) -> bool:
        """Whether summaries are of the posterior itself, by draws from q that are weighed, and not of q."""
        check_is_fitted(self)
        return bool(self._draws)

    @property
    def coefficient_names_(self) -> list[str]:
        """The names of the coefficients that all groups share."""
        check_is_fitted(self)
        return [self._design.names[place] for place in self._design.fixed]

    @property
    def coefficient_scale_(self) -> Array:
        """The deviation of the prior of each coefficient in the data's units, as it was given or learned."""
        check_is_fitted(self)
        result: Array = self._model().coefficient_scales * self._measures.factors(self._design.fixed)
        return result

    @property
    def coefficients_(self) -> Array:
        """The posterior medians of beta in the data's units, the intercept among them; under q those are means."""
        check_is_fitted(self)
        own = self._globals
        if own is not None:
            return np.asarray(np.median(own.coefficients, axis=0))
        model = self._model()
        mean = MultivariateGaussian(model.n_fixed).standard(self._state.estimate["coefficients"][0]).mean
        return mean * self._measures.factors(model.fixed_columns)

    @property
    def population_covariance_(self) -> Array:
        """The covariance of the varying coefficients between groups: `deviations_` and the mean correlations."""
        check_is_fitted(self)
        model, own = self._model(), self._globals
        if not model.n_varying:
            return np.zeros((0, 0))
        if own is not None:
            deviations = likely_size(own.deviations)
            return np.asarray(np.outer(deviations, deviations) * own.correlations.mean(axis=0))
        factors = self._measures.factors(model.varying)
        scatter, degrees = Wishart(model.n_varying).standard(self._state.estimate["precision"][0])
        return np.asarray(scatter / degrees * np.outer(factors, factors))

    @property
    def deviations_(self) -> Array:
        """The deviations of the varying coefficients between groups: likely values, near the posterior's mode."""
        return np.sqrt(np.diagonal(self.population_covariance_))

    def summary(self, level: float = 0.9) -> Any:
        """Return mean, deviation, median and an interval of each global parameter, as a pandas data frame.

        They are the posterior's if `reweighed_`, else those of q.
        """
        check_is_fitted(self)
        return summaries.of_globals(self, level)

    def posterior_intervals(self, level: float = 0.9, *, n: int = summaries.DRAWS, random_state: Any = None) -> Any:
        """Return what `summary` does, of `n` draws."""
        check_is_fitted(self)
        require_count("n", n)
        return summaries.of_globals(self, level, n, None if random_state is None else make_seed(random_state))

    def _drawn(self, n: int, random_state: Any) -> PosteriorDraws:
        check_is_fitted(self)
        require_count("n", n)
        own = summaries.global_draws(self, n, None if random_state is None else make_seed(random_state))
        return PosteriorDraws(summaries.quantities(own), self._names_of())

    def _quantities(self, values: Mapping[str, Array]) -> Quantities:
        return summaries.quantities(Globals.of(self._model(), values, self._measures))

    def _names_of(self) -> Mapping[str, Any]:
        design = self._design
        varying = [design.names[place] for place in design.varying]
        return {"coefficient": self.coefficient_names_, "varying": varying}

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

    def _with_intercept(self, X: Array, is_plain: bool) -> Array:
        return np.column_stack([np.ones(len(X)), X]) if is_plain and self.fit_intercept else X

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
        places, model = self._places(groups, len(inputs), unseen), self._model()
        known = Known.of_draws(model, self._draws) if self._draws else Known.of_q(model, self._state.estimate)
        return Predictor(model, known, self._posterior()).eta(inputs / self._measures.columns, places)

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

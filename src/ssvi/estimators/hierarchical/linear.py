"""Multilevel linear regression as a scikit-learn regressor."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from ssvi.checks import require_one_of, require_positive
from ssvi.estimators.hierarchical.base import HierarchicalEstimator
from ssvi.estimators.hierarchical.tables import check_deviations
from ssvi.estimators.parameters import optional, parameter, with_parameters
from ssvi.estimators.scikit_learn_callbacks import with_callbacks
from ssvi.evaluation.multilevel import likely_size
from ssvi.models.hierarchical.linear import HierarchicalLinear
from ssvi.models.hierarchical.units import Units
from ssvi.typing import Array

_WEAK = 10.0


@with_parameters
class HierarchicalLinearRegression(RegressorMixin, HierarchicalEstimator):
    """Linear regression whose coefficients vary between groups of rows: a multilevel or mixed-effects model.

    Group n has coefficients beta + b_n in the varying columns, b_n ~ N(0, Sigma). There is a posterior of all of it:
    see `summary` and `group_effects`. Without groups it is a Bayesian linear regression.

    Attributes
    ----------
    coefficients_, coefficient_names_ : (p,), list of str
        Posterior medians of beta in the data's units, and what each belongs to.
    coefficient_scale_ : (p,)
        Deviations of their priors, as they were given or learned.
    deviations_ : (d,)
        Of the varying coefficients between groups: likely values, near the posterior's mode.
    population_covariance_ : (d, d)
        Sigma, of these deviations and the mean correlations.
    noise_deviation_ : float
        The deviation of a row's noise.
    groups_ : array
        The labels of the groups that were seen.

    Examples
    --------
    >>> import numpy as np
    >>> from ssvi import HierarchicalLinearRegression
    >>> rng = np.random.default_rng(0)
    >>> groups = np.repeat(np.arange(30), 8)
    >>> X = rng.normal(size=(240, 1))
    >>> y = 2.0 + rng.normal(0.0, 1.0, 30)[groups] + 0.5 * X[:, 0] + rng.normal(0.0, 0.3, 240)
    >>> model = HierarchicalLinearRegression(random_state=0).fit(X, y, groups)
    >>> np.abs(model.coefficients_ - [2.0, 0.5]) < 0.3
    array([ True,  True])

    """

    noise_prior: str = parameter(
        default="half_t",
        kind='{"half_t", "half_normal"}',
        words="The prior of the noise's deviation.",
        check=lambda name, value: require_one_of(name, value, ("half_t", "half_normal")),
    )
    noise_scale: float | None = parameter(
        default=None,
        kind="float, optional",
        words="The scale of that prior in y's units; by default ten deviations of y.",
        check=optional(require_positive),
    )

    name = "hierarchical_linear"
    model_class = HierarchicalLinear
    usual_step = group_step = first_step = "exact"

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        groups: Any = None,
        *,
        noise_deviation: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        groups_val: Any = None,
    ) -> Self:
        """Fit the model to rows from a fresh start.

        `groups` has a label for each row; without it no coefficient varies. `noise_deviation` are the deviations of
        each row's noise where they are known, as in a meta-analysis. Rows `X_val` with `y_val` and `groups_val` are
        scored as the fit goes on (`scores_`), their groups taken for new ones; see also `early_stopping`. With a
        formula, X is a table that has all columns, and so is X_val.
        """
        validation = None if X_val is None else (X_val, y_val, groups_val, None)
        return self._fit(X, y, groups, noise_deviation, validation)

    def _posterior_data(self, X: Any, y: Any = None, groups: Any = None, noise_deviation: Any = None) -> Any:
        return self._table(X, y, groups, noise_deviation, reset=False).data

    def partial_fit(self, X: Any, y: Any = None, groups: Any = None, *, noise_deviation: Any = None) -> Self:
        """Go on with further groups, all rows of a group in one call: steps of `batch_size` groups at most."""
        return self._fit_further(X, y, groups, noise_deviation)

    def predict(self, X: Any, groups: Any = None, *, return_std: bool = False, unseen: str = "population") -> Any:
        """Return the mean of y for rows, and with `return_std` its deviation, noise and all.

        Without `groups` it is that of the average group. A group that the fit has not seen is a draw from the
        population (`unseen="population"`), is taken for the average group ("average"), or is an error ("error").
        """
        eta, variance = self._eta(X, groups, unseen)
        mean = eta * self._measures.output
        if not return_std:
            return mean
        return mean, np.sqrt(variance * self._measures.output**2 + self.noise_deviation_**2)

    @property
    def noise_deviation_(self) -> float:
        """The deviation of the noise, a likely value near the posterior's mode; 0 where rows have known ones."""
        check_is_fitted(self)
        if "noise" not in self._state.estimate:
            return 0.0
        own = self._globals
        if own is not None and own.noise is not None:
            return float(likely_size(own.noise))
        shape, rate = self._state.estimate["noise"][0]
        return float(np.sqrt(rate / shape) * self._measures.output)

    def _wanted(self) -> dict[str, Any]:
        return super()._wanted() | {"noise_prior": self.noise_prior, "noise_scale": self.noise_scale}

    def _target(self, y: Any, weights: Any, *, reset: bool) -> tuple[Array, Any]:
        values = np.asarray(y, dtype=np.float64)
        if weights is not None:
            weights = check_deviations(values, weights)
        if reset:
            self._known_noise = weights is not None
        elif self.__sklearn_is_fitted__() and (self._fields["noise_prior"] == "known") != (weights is not None):
            raise ValueError("noise_deviation must be given for all rows of a model or for none.")
        return values, weights

    def _row_weights(self, weights: Array) -> Array:
        return (self._measures.output / weights) ** 2

    def _target_checks(self) -> dict[str, Any]:
        return {"y_numeric": True}

    def _more_fields(self, units: Units) -> dict[str, Any]:
        if self.__dict__.pop("_known_noise"):
            return {"noise_prior": "known"}
        scale = _WEAK if self.noise_scale is None else float(self.noise_scale) / units.output
        return {"noise_prior": self.noise_prior, "noise_scale": scale}

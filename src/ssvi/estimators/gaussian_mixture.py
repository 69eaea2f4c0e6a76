"""A mixture of Gaussians in the form of a scikit-learn mixture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy import special
from sklearn.utils.validation import check_is_fitted

from ssvi.batches import DenseRows
from ssvi.checks import positive_or_auto, require_count, require_one_of
from ssvi.estimators import gaussian_priors
from ssvi.estimators.choices import check_data, make_seed
from ssvi.estimators.gaussian_priors import GaussianPriorMixin, check_numbers, check_numbers_or_auto
from ssvi.estimators.mixtures import MixtureEstimator
from ssvi.estimators.parameters import changed, optional, parameter, with_parameters
from ssvi.evaluation.gaussian_mixtures import draw_rows, log_predictive, log_predictive_joint
from ssvi.local_steps.base import LocalStep
from ssvi.models.covariances import COVARIANCES
from ssvi.models.gaussian_mixture import GaussianMixture as Model
from ssvi.models.gaussian_mixture import GaussianPrior
from ssvi.models.quantities import Quantities
from ssvi.models.scaling import Scaling, in_units
from ssvi.typing import Array

_PROCESS, _FINITE = "dirichlet_process", "dirichlet_distribution"


@with_parameters
class GaussianMixture(GaussianPriorMixin, MixtureEstimator):
    """Clusters of rows of real numbers, as many as the data need: a Bayesian mixture of Gaussians.

    It has the ways of scikit-learn's `BayesianGaussianMixture`, and more: rows may have missing entries (NaN), there is
    `partial_fit`, and the posterior of a component's mean and covariance is a joint one. Columns are centred and scaled
    inside, by the data of `fit` or of the first `partial_fit`; all that is given and reported is in the data's units.
    Sparse data is made dense.

    Attributes
    ----------
    weights_ : (K,)
        E_q[pi].
    means_ : (K, D)
        E_q[mu].
    covariances_ : (K, D, D); (D, D) if tied, (K, D) if diagonal, (K,) if spherical
        The inverses of `precisions_`.
    precisions_ : like covariances_
        E_q[Lambda].
    mean_prior_, mean_precision_prior_, degrees_of_freedom_prior_, covariance_prior_
        The prior of components, as it was given or learned.

    Examples
    --------
    >>> import numpy as np
    >>> from ssvi import GaussianMixture
    >>> rng = np.random.default_rng(0)
    >>> rows = np.concatenate([rng.normal(0.0, 1.0, (100, 2)), rng.normal(8.0, 2.0, (100, 2))])
    >>> rows[::7, 1] = np.nan
    >>> mixture = GaussianMixture(2, random_state=0).fit(rows)
    >>> np.abs(np.sort(mixture.means_[:, 0])).round()
    array([0., 8.])
    >>> mixture.score(rows) > mixture.score(rows + 3.0)
    True

    """

    n_components: int = parameter(
        default=10,
        kind="int",
        words="K, the most components there can be. Those that are not needed stay empty (`n_active_`).",
        check=require_count,
        kw_only=False,
    )
    covariance_type: str = parameter(
        default="full",
        kind='{"full", "tied", "diag", "spherical"}',
        words="""A covariance matrix for each component, one for all, a variance for each column of each component, or
        one for each component.""",
        check=lambda name, value: require_one_of(name, value, tuple(COVARIANCES)),
    )
    weight_concentration_prior_type: str = parameter(
        default=_PROCESS,
        kind='{"dirichlet_process", "dirichlet_distribution"}',
        words="""The weights are Dirichlet(alpha / K), a truncated Dirichlet process, or Dirichlet(alpha): then no
        component is in want of a reason.""",
        check=lambda name, value: require_one_of(name, value, (_PROCESS, _FINITE)),
    )
    weight_concentration_prior: float | str = changed(
        MixtureEstimator,
        "weight_concentration_prior",
        default=1.0,
        words="""alpha. About alpha log(1 + N / alpha) of N rows are expected to begin a component of their own if the
        prior is a Dirichlet process. "auto" learns it in the fit (docs/hyperparameters.md).""",
    )
    mean_prior: Any = parameter(
        default=None,
        kind="array of D numbers, optional",
        words="The prior mean of each component's mean. By default the columns' means.",
        check=check_numbers,
    )
    mean_precision_prior: float | str | None = parameter(
        default=None,
        kind='float or "auto", optional',
        words="""kappa, how many rows the prior mean counts for: a component's mean has its covariance divided by kappa
        for a covariance. By default K^(-2/D), with which means spread as widely as the rows do. "auto" learns it in the
        fit, from there on.""",
        check=optional(positive_or_auto),
    )
    degrees_of_freedom_prior: float | str | None = parameter(
        default=None,
        kind='float or "auto", optional',
        words="""nu, how many rows the prior covariance counts for; more than D - 1, or for "diag" and "spherical" more
        than 0. By default D + 2, or 3: the fewest whole ones for which the prior covariance has a mean. "auto" learns
        it in the fit, from there on.""",
        check=optional(positive_or_auto),
    )
    covariance_prior: Any = parameter(
        default=None,
        kind='array, float or "auto", optional',
        words="""S, the prior scatter: a D x D matrix for "full" and "tied", D numbers for "diag", one for "spherical".
        With the default of nu, S is the mean of the prior covariance. By default the columns' variances times K^(-2/D),
        what they would be if K components shared the space evenly. "auto" learns a multiple of that in the fit.""",
        check=check_numbers_or_auto,
    )
    local_step: str | LocalStep = changed(
        MixtureEstimator,
        "local_step",
        default="auto",
        words="""A draw of each row's component and missing entries, or their probabilities and moments. "auto" is
        "gibbs" with "ssvi_a", where draws help out of poor optima, and "exact" with all others.""",
    )
    max_iter: int | str | None = changed(
        MixtureEstimator,
        "max_iter",
        default=None,
        words="""Passes over the data; by default 500 where every step sees all rows, else 20. "auto" goes on until the
        fit has converged, for ten times as many at most.""",
    )

    _default_passes: ClassVar[tuple[int, int]] = (20, 500)
    _learnable: ClassVar[Mapping[str, tuple[str, Any]]] = {"weight_concentration_prior": ("weight_prior", 1.0)}

    name = Model.name
    rows_are_means = True
    saved_attributes = (*MixtureEstimator.saved_attributes, "_fitted", "_chosen", "_columns")

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Go on with further rows: a step for each `batch_size` of them (1,000 by default) at most, in the order given.

        Every row counts as a new one, unless `total_samples` tells how many there are. The first rows tell the centre
        and the scale of the columns, and with them the priors: there should be some dozens of them, mixed.
        """
        return super().partial_fit(X, y)

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each component given what is known of each row, rows x K."""
        result: Array = special.softmax(self._log_joint(X)[1], axis=1)
        return result

    def score_samples(self, X: Any) -> Array:
        """Return the log probability of what is known of each row: the posterior predictive density under q."""
        rows, joint = self._log_joint(X)
        result: Array = special.logsumexp(joint, axis=1) - self._scaling().log_volume(rows.values)
        return result

    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> tuple[Array, Any]:
        """Return so many new rows from the posterior predictive density, and the component of each.

        `random_state` is the estimator's own by default.
        """
        check_is_fitted(self)
        require_count("n_samples", n_samples)
        seed = self.random_state_ if random_state is None else make_seed(random_state)
        rows, labels = draw_rows(self._model(), self._state.estimate, np.random.default_rng(seed), n_samples)
        return self._scaling().undo(rows), labels

    def _quantities(self, values: Mapping[str, Array]) -> Quantities:
        return in_units(super()._quantities(values), self._scaling(), places=("means",), squares=("covariances",))

    @property
    def means_(self) -> Array:
        """E_q[mu]."""
        check_is_fitted(self)
        return self._scaling().undo(self._model().means(self._state.estimate))

    @property
    def covariances_(self) -> Array:
        """The inverses of `precisions_`."""
        check_is_fitted(self)
        return self._model().covariances(self._state.estimate) * self._square_units()

    @property
    def precisions_(self) -> Array:
        """E_q[Lambda]."""
        check_is_fitted(self)
        return self._model().precisions(self._state.estimate) / self._square_units()

    @property
    def weight_concentration_prior_(self) -> float:
        """alpha, as it was given or learned."""
        check_is_fitted(self)
        return self._model().weight_prior * self._shared_by()

    def summarize_components(self) -> tuple[Array, Array, Array]:
        """Return each component's share of the rows, its means, and their deviations under q."""
        shares, means, deviations = self._model().summarize(self._state.estimate)
        scaling = self._scaling()
        return shares, scaling.undo(means), scaling.unit * deviations

    def column_widths(self) -> Array:
        """Return the standard deviations of the columns, as the fit has them."""
        return self._scaling().unit

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _rows(self, X: Any, *, reset: bool) -> DenseRows:
        """Check parameters and data; return the rows in units of their own, which are found if the fit is a new one."""
        self._check_parameters()
        X = check_data(self, X, reset=reset, ensure_all_finite="allow-nan")
        values = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        if reset:
            found = Scaling.of(values, alike=self.covariance_type == "spherical")
            # In a file these are arrays, which is all that a file may hold.
            self._columns: dict[str, Array] = {"centre": found.centre, "unit": found.unit}
        return DenseRows(np.ascontiguousarray(self._scaling().apply(values)))

    def _log_joint(self, X: Any) -> tuple[DenseRows, Array]:
        """Return the rows, and log p(x, z = k) under q in their own units."""
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        with self._open_backend() as backend:
            return rows, log_predictive_joint(self._model(), self._state.estimate, rows, backend=backend)

    def _score(self, data: DenseRows) -> float:
        with self._open_backend() as backend:
            logs = log_predictive(self._model(), [self._state.estimate], data, backend=backend)
        return float((logs - self._scaling().log_volume(data.values)).mean())

    def _bound(self, data: DenseRows) -> float:
        return super()._bound(data) - float(self._scaling().log_volume(data.values).mean())

    def _wanted(self) -> dict[str, Any]:
        """Return the parameters that a fit cannot change later."""
        return {
            "n_components": int(self.n_components),
            "weight_concentration_prior": positive_or_auto(
                "weight_concentration_prior", self.weight_concentration_prior
            ),
            "covariance_type": self.covariance_type,
            "weight_concentration_prior_type": self.weight_concentration_prior_type,
            **gaussian_priors.given(self),
        }

    def _fix_model(self, data: DenseRows) -> None:
        wanted, numbers = self._wanted(), ("n_components", "weight_concentration_prior")
        self._fitted = {name: wanted[name] for name in numbers}
        # Those that are no positive numbers, or may be left out, as they were given.
        self._chosen: dict[str, Any] = {name: value for name, value in wanted.items() if name not in numbers}
        self._model()  # which checks the priors

    @property
    def _fixed(self) -> Mapping[str, Any]:
        return self._fitted | self._chosen

    def _scaling(self) -> Scaling:
        return Scaling(self._columns["centre"], self._columns["unit"])

    def _square_units(self) -> Array:
        return self._scaling().squares(len(self._model().covariance.scatter_shape))

    def _model(self) -> Model:
        fixed, (started, learned) = self._fixed, self._started()
        size, own = started["n_components"], started["weight_concentration_prior"] / self._shared_by()
        plain = Model(self.n_features_in_, size, own, fixed["covariance_type"])
        prior = gaussian_priors.prior_of(fixed, plain.covariance, self._scaling())
        names = (*learned, *gaussian_priors.learned_numbers(fixed, "prior"))
        return self._with_learned(replace(plain, prior=prior, learned=names))

    def _gaussian_prior(self) -> GaussianPrior:
        return self._model().component_prior

    def _shared_by(self) -> int:
        """Return how many weights share alpha."""
        process = self._fixed["weight_concentration_prior_type"] == _PROCESS
        return int(self._fitted["n_components"]) if process else 1

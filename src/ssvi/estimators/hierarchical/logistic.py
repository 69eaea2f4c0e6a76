"""Multilevel logistic regression as a scikit-learn classifier."""

from __future__ import annotations

from scipy import special

from ssvi.estimators.hierarchical.counts import HierarchicalClassifier
from ssvi.estimators.parameters import with_parameters
from ssvi.evaluation.multilevel import mean_share
from ssvi.models.hierarchical.logistic import HierarchicalLogistic
from ssvi.typing import Array


@with_parameters
class HierarchicalLogisticRegression(HierarchicalClassifier):
    """Logistic regression whose coefficients vary between groups of rows: a multilevel or mixed-effects model.

    A row of group n is a success with probability 1 / (1 + exp(-eta)), eta = x . beta + v . b_n, b_n ~ N(0, Sigma), v
    being the varying columns. There is a posterior of all of it: see `summary` and `group_effects`. Without groups it
    is a Bayesian logistic regression.

    Attributes
    ----------
    classes_ : (2,)
        The classes; the second is a success. 0 and 1 where there were trials.
    coefficients_, coefficient_names_ : (p,), list of str
        Posterior medians of beta in the data's units, and what each belongs to.
    coefficient_scale_ : (p,)
        Deviations of their priors, as they were given or learned.
    deviations_ : (d,)
        Of the varying coefficients between groups: likely values, near the posterior's mode.
    population_covariance_ : (d, d)
        Sigma, of these deviations and the mean correlations.
    groups_ : array
        The labels of the groups that were seen.

    Examples
    --------
    >>> import numpy as np
    >>> from ssvi import HierarchicalLogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> groups = np.repeat(np.arange(40), 10)
    >>> X = rng.normal(size=(400, 1))
    >>> y = rng.normal(0.0, 1.0, 40)[groups] + 2.0 * X[:, 0] + rng.normal(0.0, 1.0, 400) > 0
    >>> model = HierarchicalLogisticRegression(max_iter=50, random_state=0).fit(X, y, groups)
    >>> bool(model.predict_proba([[1.0]])[0, 1] > 0.8)
    True

    """

    name = "hierarchical_logistic"
    model_class = HierarchicalLogistic
    usual_step = "gibbs"

    def _share(self, eta: Array, variance: Array) -> Array:
        return mean_share(special.expit, eta, variance)

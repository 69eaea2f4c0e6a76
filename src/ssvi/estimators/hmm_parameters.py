"""The parameters of hidden Markov models."""

from __future__ import annotations

from typing import Any, ClassVar

from ssvi.checks import not_negative_or_auto, positive_or_auto, require, require_count, require_one_of
from ssvi.estimators.gaussian_mixture import GaussianMixture as Mixture
from ssvi.estimators.learned import Learnable, as_learned
from ssvi.estimators.parameters import changed, optional_count, parameter, with_parameters
from ssvi.estimators.sequences import SequenceEstimator
from ssvi.local_steps.base import LocalStep
from ssvi.models.covariances import COVARIANCES
from ssvi.models.emissions import EMISSIONS

PROCESS, _FINITE = "dirichlet_process", "dirichlet_distribution"


@with_parameters
class HmmParameters(SequenceEstimator):
    """An estimator of states that follow each other, with its parameters, and what a fit learns of them."""

    n_components: int = parameter(
        default=5,
        kind="int",
        words="K, the number of states, or the most there can be.",
        check=require_count,
        kw_only=False,
    )
    emission: str = parameter(
        default="gaussian",
        kind='{"gaussian", "categorical", "bernoulli", "poisson", "multinomial"}',
        words="""What states show: rows of real numbers, a symbol (a whole number from 0, in one column), rows of zeros
        and ones, rows of counts, or counts of which only the proportions count.""",
        check=lambda name, value: require_one_of(name, value, tuple(EMISSIONS)),
    )
    covariance_type: str = parameter(
        default="full",
        kind='{"full", "tied", "diag", "spherical"}',
        words="Which covariances Gaussian emissions have.",
        check=lambda name, value: require_one_of(name, value, tuple(COVARIANCES)),
    )
    startprob_prior: float | str = parameter(
        default=1.0,
        kind='float or "auto"',
        words="""The Dirichlet prior of each first state. "auto" learns it in the fit, as it does every prior here but
        `mean_prior` (docs/hyperparameters.md).""",
        check=positive_or_auto,
    )
    transmat_prior: float | str = parameter(
        default=1.0,
        kind='float or "auto"',
        words="""The Dirichlet prior of each transition; below 1 a state is followed by few others. With
        `transmat_prior_type="dirichlet_process"` it is that of all transitions from a state, shared by the states'
        weights.""",
        check=positive_or_auto,
    )
    transmat_prior_type: str = parameter(
        default=_FINITE,
        kind='{"dirichlet_distribution", "dirichlet_process"}',
        words="""All transitions are alike, or states have weights that all transitions share, a hierarchical Dirichlet
        process, truncated: as many states are used as the data need (`n_active_`).""",
        check=lambda name, value: require_one_of(name, value, (_FINITE, PROCESS)),
    )
    weight_concentration_prior: float | str = parameter(
        default=1.0,
        kind='float or "auto"',
        words="gamma of the Dirichlet process: the larger, the more states there are.",
        check=positive_or_auto,
    )
    stickiness: float | str = parameter(
        default=0.0,
        kind='float or "auto"',
        words="kappa: how many transitions of each state to itself the prior has seen besides.",
        check=not_negative_or_auto,
    )
    mean_prior: Any = changed(Mixture, "mean_prior", default=None)
    mean_precision_prior: float | str | None = changed(Mixture, "mean_precision_prior", default=None)
    degrees_of_freedom_prior: float | str | None = changed(Mixture, "degrees_of_freedom_prior", default=None)
    covariance_prior: Any = changed(Mixture, "covariance_prior", default=None)
    emission_prior: float | str = parameter(
        default=1.0,
        kind='float or "auto"',
        words="""The prior of emissions that are not Gaussian: the Dirichlet's parameter of each symbol or column, both
        numbers of a Beta distribution (each by itself if they are learned), or the shape of a Gamma distribution that
        expects the columns' means.""",
        check=positive_or_auto,
    )
    n_symbols: int | None = parameter(
        default=None,
        kind="int, optional",
        words="V of categorical emissions. By default one more than the largest symbol of the fit.",
        check=optional_count,
    )
    n_init: int = parameter(
        default=5,
        kind="int",
        words="Starts that are tried, for a few passes over some of the data; the fit goes on from the best.",
        check=require_count,
    )
    active_share: float = parameter(
        default=1e-3,
        kind="float",
        words="A state is active if it holds this share of the time points, and half of one at the least.",
        check=lambda name, value: require(name, value, lambda v: 0 <= v <= 1, "from 0 to 1"),
    )
    local_step: str | LocalStep = parameter(
        default="auto",
        kind='{"auto", "exact", "gibbs", "mean_field"} or LocalStep',
        words="""Probabilities of states by forward-backward, a draw of each sequence's states, or a time point at a
        time. "auto" is "exact".""",
    )
    max_iter: int | str | None = changed(
        SequenceEstimator,
        "max_iter",
        default=None,
        words="""Passes over the data; by default 100 where every step sees all data, else 10. "auto" goes on until the
        fit has converged, for ten times as many at most.""",
    )

    _default_passes: ClassVar[tuple[int, int]] = (10, 100)
    _learnable: ClassVar[Learnable] = {
        "startprob_prior": ("start_prior", 1.0),
        "transmat_prior": ("transition_prior", 1.0),
        "stickiness": ("stickiness", 1.0),
        "weight_concentration_prior": ("growth", 1.0),
    }

    startprob_prior_ = as_learned("start_prior", "The Dirichlet prior of each first state")
    transmat_prior_ = as_learned("transition_prior", "The Dirichlet prior of transitions")
    stickiness_ = as_learned("stickiness", "kappa")
    weight_concentration_prior_ = as_learned("growth", "gamma of the Dirichlet process")

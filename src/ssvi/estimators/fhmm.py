"""A factorial hidden Markov model in the form of a scikit-learn estimator, with the names of `HiddenMarkovModel`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ssvi.batches import Sequences
from ssvi.checks import not_negative_or_auto, positive_or_auto, require, require_count, require_one_of
from ssvi.estimators.choices import make_seed
from ssvi.estimators.fhmm_starts import best_start
from ssvi.estimators.learned import Learnable, as_learned, started
from ssvi.estimators.parameters import changed, parameter, with_parameters
from ssvi.estimators.state_space import StateSpaceEstimator
from ssvi.evaluation.fhmm import best_paths, is_small, log_probabilities, point_views, smoothed
from ssvi.global_steps.base import GlobalStep
from ssvi.local_steps.base import LocalStep
from ssvi.models.fhmm import EMISSIONS, FHMM
from ssvi.models.quantities import Quantities
from ssvi.models.scaling import Scaling, in_units
from ssvi.typing import Array


@with_parameters
class FactorialHMM(StateSpaceEstimator):
    """Several hidden chains at once, each with a few states; what is seen is the sum of what their states show.

    M chains of K states have K^M combinations, and only M K levels to learn: appliances of a house that are on or off,
    voices that sound together. Rows of X are time points; `lengths` are those of the sequences; entries may be missing
    (NaN). Gaussian columns are centred and scaled inside; all that is given and reported is in the data's units. Chains
    and their states have no order, and a constant may be in the levels of one chain or of another.

    Attributes
    ----------
    startprob_ : (M, K)
        E_q of the probabilities of each chain's first states.
    transmat_ : (M, K, K)
        E_q of the probabilities of transitions, from row to column.
    levels_ : (M, K, D)
        What each state of each chain adds to what is seen, at the mode of q. Gaussian: all are sums with `offset_`.
    offset_ : (D,)
        What is seen where all levels are 0.
    startprob_prior_, transmat_prior_, stickiness_ : float
        Priors of the chains, as they were given or learned.
    level_strength_prior_, noise_variance_prior_, rate_shape_prior_ : float
        Priors of what is seen, as they were given or learned.
    noise_covariance_ : (D, D), or (D,) for diagonal noise
        R, for Gaussian emissions.
    bound_ : float
        An estimate of the evidence lower bound per time point; NaN if the last local step optimised none.

    Examples
    --------
    >>> import numpy as np
    >>> from ssvi import FactorialHMM
    >>> rng = np.random.default_rng(0)
    >>> kettle, heater = np.repeat([0, 1, 0, 1], 50), np.repeat([0, 1, 0, 1, 0], 40)
    >>> X = (2.0 * kettle + 5.0 * heater + 0.2 * rng.normal(size=200))[:, None]
    >>> model = FactorialHMM(2, n_states=2, random_state=0).fit(X)
    >>> np.sort(np.abs(np.diff(model.levels_[:, :, 0])).ravel()).round()
    array([2., 5.])
    >>> model.predict(X).shape
    (200, 2)

    """

    n_components: int = parameter(
        default=3, kind="int", words="M, the number of chains.", check=require_count, kw_only=False
    )
    n_states: int = parameter(default=2, kind="int", words="K, the number of states of each.", check=require_count)
    emission: str = parameter(
        default="gaussian",
        kind='{"gaussian", "poisson"}',
        words="What is seen: numbers around the sum of the chains' levels, or counts around the sum of their rates.",
        check=lambda name, value: require_one_of(name, value, EMISSIONS),
    )
    startprob_prior: float | str = parameter(
        default=1.0,
        kind='float or "auto"',
        words="""The Dirichlet prior of each first state. "auto" learns it in the fit, as it does every other prior here
        but `degrees_of_freedom_prior` (docs/hyperparameters.md).""",
        check=positive_or_auto,
    )
    transmat_prior: float | str = parameter(
        default=1.0, kind='float or "auto"', words="The Dirichlet prior of each transition.", check=positive_or_auto
    )
    stickiness: float | str = parameter(
        default=0.0,
        kind='float or "auto"',
        words="How many transitions of each state to itself the prior has seen besides.",
        check=not_negative_or_auto,
    )
    level_strength_prior: float | str = parameter(
        default=0.2,
        kind='float or "auto"',
        words="For how many time points the prior mean of a Gaussian level, which is 0, counts.",
        check=positive_or_auto,
    )
    noise_variance_prior: float | str = parameter(
        default=0.2,
        kind='float or "auto"',
        words="The prior mean of the noise's variances, as a share of the columns' variances.",
        check=positive_or_auto,
    )
    degrees_of_freedom_prior: float = parameter(
        default=3.0,
        kind="float",
        words="""For how many time points the prior mean of the noise counts, beyond the fewest that a covariance needs
        (one for each row but one).""",
        check=lambda name, value: require(name, value, lambda v: 2 < v < np.inf, "more than 2"),
    )
    rate_shape_prior: float | str = parameter(
        default=1.0,
        kind='float or "auto"',
        words="""The shape of the gamma prior of a Poisson rate, whose mean is the mean count over M. "auto" learns that
        mean as well.""",
        check=positive_or_auto,
    )
    n_init: int = parameter(
        default=6,
        kind="int",
        words="Starts that are tried, for a few passes over some of the data; the fit goes on from the best.",
        check=require_count,
    )
    local_step: str | LocalStep = changed(
        StateSpaceEstimator,
        "local_step",
        default="auto",
        kind='{"auto", "exact", "gibbs", "mean_field"} or LocalStep',
        words="""All combinations of states at once, draws of a chain given the others, or probabilities of a chain
        given what is expected of the others. "auto" is "exact" for up to 64 combinations, and then "gibbs" with a
        `global_step` that draws ("ssvi", "ssvi_a"), else "mean_field".""",
    )
    max_iter: int | str | None = changed(
        StateSpaceEstimator,
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
        "level_strength_prior": ("strength", 0.2),
        "noise_variance_prior": ("noise_variance", 0.2),
        "rate_shape_prior": ("shape", 1.0),
    }

    startprob_prior_ = as_learned("start_prior", "The Dirichlet prior of each first state")
    transmat_prior_ = as_learned("transition_prior", "The Dirichlet prior of each transition")
    stickiness_ = as_learned("stickiness", "What the prior has seen of staying")
    level_strength_prior_ = as_learned("strength", "For how many time points the prior mean of a Gaussian level counts")
    noise_variance_prior_ = as_learned("noise_variance", "The prior mean of the noise's variances, as a share")
    rate_shape_prior_ = as_learned("shape", "The shape of the gamma prior of a Poisson rate")

    name = FHMM.name

    def predict(self, X: Any, lengths: Any = None, *, groups: Any = None) -> Any:
        """Return the most probable states of each time point, rows x M; see `decode`."""
        return self.decode(X, lengths, groups=groups)[1]

    def decode(self, X: Any, lengths: Any = None, *, groups: Any = None) -> tuple[float, Any]:
        """Return the log probability of all sequences with their most probable paths (Viterbi), and these, rows x M.

        With more than 512 combinations of states a path has the most probable state of each time point.
        """
        check_is_fitted(self)
        data = self._ordered(X, lengths, groups, reset=False)
        logs, path = best_paths(self._model(), self._point_views(), data.sequences)
        return float(logs.sum() - self._log_volume(data.sequences)), data.back(path)

    def predict_proba(self, X: Any, lengths: Any = None, *, groups: Any = None) -> Array:
        """Return the probability of each state of each chain given all of its sequence, rows x M x K."""
        check_is_fitted(self)
        data = self._ordered(X, lengths, groups, reset=False)
        result: Array = data.back(smoothed(self._model(), self._point_views(), data.sequences))
        return result

    def component_weights(self, X: Any, lengths: Any = None) -> Array:
        """Return what `predict_proba` does, with all chains' states in one row of M K numbers."""
        shares = self.predict_proba(X, lengths)
        result: Array = shares.reshape(len(shares), -1)
        return result

    def score(self, X: Any, lengths: Any = None, *, groups: Any = None) -> float:
        """Return the mean log probability of a time point given those before it.

        With more than 512 combinations of states it is the lower bound of mean-field.
        """
        return super().score(X, lengths, groups=groups)

    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> tuple[Array, Any]:
        """Return a new sequence of so many time points at the point estimate, and its states, rows x M.

        `random_state` is the estimator's own by default.
        """
        check_is_fitted(self)
        require_count("n_samples", n_samples)
        rng = np.random.default_rng(self.random_state_ if random_state is None else make_seed(random_state))
        model, lam = self._model(), self._state.estimate
        family = model.blocks()["emissions"].family
        states = model.walk(model.mean_start(lam), model.mean_transitions(lam), np.array([n_samples]), rng)
        seen = model.emit(family.values(family.mode_stats(lam["emissions"])), states, rng)
        return self._scaling().undo(seen), states

    def _quantities(self, values: Mapping[str, Array]) -> Quantities:
        found = super()._quantities(values)
        return in_units(found, self._scaling(), lengths=("levels",), squares=("noise_covariance",))

    @property
    def startprob_(self) -> Array:
        """E_q of the probabilities of first states."""
        check_is_fitted(self)
        return self._model().mean_start(self._state.estimate)

    @property
    def transmat_(self) -> Array:
        """E_q of the probabilities of transitions."""
        check_is_fitted(self)
        return self._model().mean_transitions(self._state.estimate)

    @property
    def levels_(self) -> Array:
        """What each state of each chain adds."""
        check_is_fitted(self)
        result: Array = self._model().levels(self._state.estimate) * self._scaling().unit
        return result

    @property
    def offset_(self) -> Array:
        """What is seen where all levels are 0."""
        check_is_fitted(self)
        return self._scaling().centre

    @property
    def noise_covariance_(self) -> Array:
        """R."""
        check_is_fitted(self)
        if self._model().is_poisson:
            raise AttributeError("Poisson emissions have no noise covariance.")
        noise = self._model().noise_covariance(self._state.estimate)
        return noise * self._scaling().squares(noise.ndim)

    def _point_views(self) -> dict[str, Array]:
        return point_views(self._model(), self._state.estimate)

    def _look_at(self, values: Array) -> dict[str, Array]:
        if self.emission == "gaussian":
            found = Scaling.of(values)
            return {"centre": found.centre, "unit": found.unit}
        known = values[~np.isnan(values)]
        if (known < 0).any() or (known != np.floor(known)).any():
            raise ValueError("Poisson emissions need counts, whole numbers of 0 or more, or NaN for those missing.")
        size = values.shape[1]
        return {"centre": np.zeros(size), "unit": np.ones(size), "mean": np.array([max(float(known.mean()), 1e-3)])}

    def _values(self, values: Array, *, reset: bool) -> Array:
        rows = super()._values(values, reset=reset)
        if not reset and self._fixed["emission"] == "poisson":
            self._look_at(values)  # which says what is wrong with them
        return rows

    def _log_probabilities(self, data: Sequences) -> Array:
        with self._open_backend() as backend:
            return log_probabilities(self._model(), self._point_views(), data, backend=backend)

    def _start(self, data: Any, start: Any = None) -> None:
        super()._start(data, start)
        if self.n_init > 1:
            with self._open_backend() as backend:
                found = best_start(self._model(), data, self.random_state_, self.n_init, backend)
            self._state = replace(self._state, parameters=found)

    def _wanted(self) -> dict[str, Any]:
        names = (
            "n_components", "n_states", "emission", "noise", "startprob_prior", "transmat_prior", "stickiness",
            "level_strength_prior", "noise_variance_prior", "degrees_of_freedom_prior", "rate_shape_prior",
        )  # fmt: skip
        return {name: getattr(self, name) for name in names}

    def _model(self) -> FHMM:
        own, learned = started(self._fixed, self._learnable)
        is_poisson = own["emission"] == "poisson"
        mean = float(self._columns["mean"][0]) if is_poisson else 1.0
        others = ("strength", "noise_variance") if is_poisson else ("shape",)  # of the other kind of emissions
        names = [name for name in learned if name not in others]
        if "shape" in names:
            names.append("rate")
        model = FHMM(
            self.n_features_in_, own["n_components"], own["n_states"], own["emission"], own["noise"],
            own["startprob_prior"], own["transmat_prior"], own["stickiness"], own["level_strength_prior"],
            own["noise_variance_prior"], own["degrees_of_freedom_prior"], own["rate_shape_prior"],
            own["rate_shape_prior"] * own["n_components"] / mean, tuple(names),
        )  # fmt: skip
        return self._with_learned(model)

    def _usual_local_step(self, global_step: GlobalStep) -> str:
        model = self._model()
        if is_small(model) and model.n_states**model.n_chains <= _FEW:
            return "exact"
        return "gibbs" if global_step.stochastic else "mean_field"


_FEW = 64  # combinations for which the exact local step is the default

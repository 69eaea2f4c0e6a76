"""A hidden Markov model in the form of a scikit-learn estimator, with hmmlearn's names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ssvi.batches import Sequences, Subchains
from ssvi.checks import require_count
from ssvi.estimators import gaussian_priors
from ssvi.estimators.choices import make_local_step, make_seed
from ssvi.estimators.components import ComponentsMixin
from ssvi.estimators.gaussian_priors import GaussianPriorMixin
from ssvi.estimators.hmm_emissions import emission_of, learned_of_emission, look_at
from ssvi.estimators.hmm_parameters import PROCESS, HmmParameters
from ssvi.estimators.hmm_starts import best_start
from ssvi.estimators.learned import started
from ssvi.estimators.parameters import with_parameters
from ssvi.estimators.plan import Plan
from ssvi.estimators.sequences import SequenceEstimator
from ssvi.evaluation.hmm import best_paths, log_predictive, smoothed
from ssvi.local_steps.base import LocalStep
from ssvi.models.base import is_active
from ssvi.models.emissions import EMISSIONS, Emission, GaussianEmission
from ssvi.models.gaussian_mixture import GaussianPrior
from ssvi.models.hmm import HMM
from ssvi.models.quantities import Quantities
from ssvi.models.scaling import Scaling, in_units
from ssvi.typing import Array


@with_parameters
class HiddenMarkovModel(GaussianPriorMixin, ComponentsMixin, HmmParameters):
    """Sequences whose time points are in one of some hidden states, each of which tells what is seen and what follows.

    It has hmmlearn's names, and more: values may be missing (NaN), there is `partial_fit`, long sequences are fitted in
    minibatches, and there is a posterior. Rows of X are time points; `lengths` are those of the sequences. Where its
    answers differ from hmmlearn's: `score` is the mean over time points, and `score_samples` has a number for each
    (their sum is hmmlearn's `score`; its posteriors are `predict_proba`).

    Attributes
    ----------
    startprob_ : (K,)
        E_q of the probabilities of first states.
    transmat_ : (K, K)
        E_q of the probabilities of transitions, from row to column.
    means_ : (K, D)
        E_q of what a state shows: means, rates, or probabilities of ones.
    covars_ : (K, D, D); (D, D) if tied, (K, D) if diagonal, (K,) if spherical
        Covariances of Gaussian emissions, the inverses of E_q of precisions.
    emissionprob_ : (K, V)
        E_q of the probabilities of symbols or of counts, for categorical and multinomial emissions.
    n_active_ : int
        How many states are active; see `active_share`.
    startprob_prior_, transmat_prior_, stickiness_, weight_concentration_prior_ : float
        Priors of the chain, as they were given or learned.
    emission_prior_, or mean_prior_, mean_precision_prior_, degrees_of_freedom_prior_, covariance_prior_
        The prior of emissions, as it was given or learned.
    bound_ : float
        An estimate of the evidence lower bound per time point; NaN if the last local step optimised none.

    Examples
    --------
    >>> import numpy as np
    >>> from ssvi import HiddenMarkovModel
    >>> rng = np.random.default_rng(0)
    >>> states = np.repeat([0, 1, 0, 1], 50)
    >>> X = rng.normal(5.0 * states, 1.0)[:, None]
    >>> X[10:15] = np.nan
    >>> model = HiddenMarkovModel(2, random_state=0).fit(X, lengths=[120, 80])
    >>> np.sort(model.means_[:, 0]).round()
    array([0., 5.])
    >>> path = model.predict(X, lengths=[120, 80])
    >>> int((path == path[0]).sum())
    100

    """

    name = HMM.name
    nouns = ("States", "state", "feature")
    saved_attributes = (*SequenceEstimator.saved_attributes, "_fitted", "_chosen", "_columns", "_symbols")
    _symbols: list[str] | None = None

    def predict(self, X: Any, lengths: Any = None, *, groups: Any = None) -> Any:
        """Return the most probable path of states of each sequence, row after row."""
        return self.decode(X, lengths, groups=groups)[1]

    def decode(self, X: Any, lengths: Any = None, *, groups: Any = None) -> tuple[float, Any]:
        """Return the log probability of all sequences with their most probable paths (Viterbi), and the paths."""
        check_is_fitted(self)
        data = self._ordered(X, lengths, groups, reset=False)
        with self._open_backend() as backend:
            logs, path = best_paths(self._model(), self._state.estimate, data.sequences, backend=backend)
        return float(logs.sum() - self._log_volume(data.sequences.values).sum()), data.back(path)

    def predict_proba(self, X: Any, lengths: Any = None, *, groups: Any = None) -> Array:
        """Return the probability of each state at each time point given all of its sequence, rows x K."""
        check_is_fitted(self)
        data = self._ordered(X, lengths, groups, reset=False)
        with self._open_backend() as backend:
            shares = smoothed(self._model(), self._state.estimate, data.sequences, backend=backend)
        result: Array = data.back(shares)
        return result

    def score_samples(self, X: Any, lengths: Any = None, *, groups: Any = None) -> Array:
        """Return the log probability of each time point given those before it in its sequence."""
        check_is_fitted(self)
        data = self._ordered(X, lengths, groups, reset=False)
        result: Array = data.back(self._log_probability(data.sequences))
        return result

    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> tuple[Array, Any]:
        """Return a new sequence of so many time points at the posterior means, and its states.

        `random_state` is the estimator's own by default.
        """
        check_is_fitted(self)
        require_count("n_samples", n_samples)
        rng = np.random.default_rng(self.random_state_ if random_state is None else make_seed(random_state))
        model, lam = self._model(), self._state.estimate
        blocks = model.emission.blocks()
        values = {name: block.family.values(block.family.mode_stats(lam[name])) for name, block in blocks.items()}
        states = model.walk(model.mean_start(lam), model.mean_transitions(lam), n_samples, rng)
        return self._scaling().undo(model.emission.emit(values, states, rng)), states

    def _quantities(self, values: Mapping[str, Array]) -> Quantities:
        return in_units(super()._quantities(values), self._scaling(), places=("means",), squares=("covars",))

    def _names_of(self) -> Mapping[str, Sequence[Any]]:
        return {**super()._names_of(), "symbol": self._symbols or []}

    @property
    def startprob_(self) -> Array:
        """E_q of the probabilities of first states."""
        check_is_fitted(self)
        return self._model().mean_start(self._state.estimate)

    @property
    def transmat_(self) -> Array:
        """E_q of the probabilities of transitions, from row to column."""
        check_is_fitted(self)
        return self._model().mean_transitions(self._state.estimate)

    @property
    def means_(self) -> Array:
        """E_q of what a state shows."""
        check_is_fitted(self)
        return self._scaling().undo(self._model().emission.means(self._state.estimate))

    @property
    def covars_(self) -> Array:
        """Covariances of Gaussian emissions."""
        check_is_fitted(self)
        emission = self._model().emission
        if not isinstance(emission, GaussianEmission):
            raise AttributeError(f"{emission.kind} emissions have no covariances.")
        axes = len(emission.covariance.scatter_shape)
        return emission.covariances(self._state.estimate) * self._scaling().squares(axes)

    @property
    def emissionprob_(self) -> Array:
        """E_q of the probabilities of symbols, of counts or of ones."""
        check_is_fitted(self)
        emission = self._model().emission
        if emission.means_have_units:
            raise AttributeError(f"{emission.kind} emissions have no probabilities: see means_.")
        return emission.means(self._state.estimate)

    @property
    def emission_prior_(self) -> float | tuple[float, float]:
        """The prior of emissions that are not Gaussian, as it was given or learned; both numbers of a Beta prior."""
        check_is_fitted(self)
        emission: Any = self._model().emission
        if isinstance(emission, GaussianEmission):
            raise AttributeError("Gaussian emissions have mean_precision_prior_, covariance_prior_ and so on.")
        result: float | tuple[float, float] = getattr(emission, "shape" if emission.kind == "poisson" else "prior")
        return result

    @property
    def symbols_(self) -> list[str]:
        """What symbols are called, for categorical emissions: their numbers, unless somebody has said more."""
        if not self.__sklearn_is_fitted__() or self._chosen["emission"] != "categorical":
            raise AttributeError("there are symbols where emissions are categorical.")
        return list(self._symbols or [])

    def keep_symbols(self, symbols: Sequence[str]) -> None:
        """Give symbols names, one for each number from 0, which model files keep."""
        if len(symbols) != len(self.symbols_):
            raise ValueError(f"there are {len(self.symbols_):,} symbols, and {len(symbols):,} names.")
        self._symbols = [str(symbol) for symbol in symbols]

    @property
    def n_active_(self) -> int:
        """How many states hold a share `active_share` of the time points, and half of one at the least."""
        check_is_fitted(self)
        return int(np.count_nonzero(is_active(self._held(), self.active_share)))

    @property
    def rows_are_means(self) -> bool:  # type: ignore[override]
        """Whether states show numbers in units of their columns, and no probabilities."""
        return EMISSIONS[self.emission].means_have_units

    def components_in_use(self) -> int:
        """Return `n_active_`."""
        return self.n_active_

    def summarize_components(self) -> tuple[Array, Array, Array]:
        """Return each state's share of the time points, what it shows, and deviations of that under q."""
        model, lam = self._model(), self._state.estimate
        held = self._held()
        shares = held / held.sum() if held.sum() > 0 else np.full(len(held), 1.0 / len(held))
        unit = self._scaling().unit
        deviations = model.emission.deviations(lam)
        return shares, self.means_, deviations * unit if self.rows_are_means else deviations

    def column_widths(self) -> Array | float:
        """Return the standard deviations of the columns, as the fit has them."""
        return self._scaling().unit if self.rows_are_means else 1.0

    def component_weights(self, X: Any, lengths: Any = None) -> Array:
        """Return what `predict_proba` does."""
        return self.predict_proba(X, lengths)

    def _held(self) -> Array:
        return self._model().points_held(self._state.estimate)

    def _values(self, values: Array, *, reset: bool) -> Array:
        if reset:
            self._note_choices()
            self._columns: dict[str, Array] = look_at(values, self.emission, self.covariance_type, self.n_symbols)
            count = int(self._columns.get("n_symbols", np.zeros(1))[0])
            self._symbols = [str(number) for number in range(count)] or None
        self._emission().check(values)
        result: Array = self._scaling().apply(values)
        return np.ascontiguousarray(result)

    def _emission(self) -> Emission:
        return emission_of(self._fixed, self.n_features_in_, self._columns)

    def _scaling(self) -> Scaling:
        return Scaling(self._columns["centre"], self._columns["unit"])

    def _log_volume(self, values: Array) -> Array:
        return self._scaling().log_volume(values)

    def _log_probability(self, data: Sequences | Subchains) -> Array:
        """Return the log probability of each time point, in the data's units."""
        with self._open_backend() as backend:
            logs = log_predictive(self._model(), self._state.estimate, data, backend=backend)
        if self.emission != "gaussian":
            return logs
        values = data.values if isinstance(data, Sequences) else np.concatenate(list(data))
        result: Array = logs - self._log_volume(values)
        return result

    def _score(self, data: Sequences | Subchains) -> float:
        return float(self._log_probability(data).mean())

    def _bound(self, data: Any) -> float:
        volume = float(self._log_volume(data.values).mean()) if self.emission == "gaussian" else 0.0
        return super()._bound(data) - volume

    def _start(self, data: Any, start: Any = None) -> None:
        super()._start(data, start)
        if self.n_init > 1:
            with self._open_backend() as backend:
                found = best_start(self._model(), data, self.random_state_, self.n_init, backend)
            self._state = replace(self._state, parameters=found)

    def _wanted(self) -> dict[str, Any]:
        names = (
            "n_components", "emission", "covariance_type", "startprob_prior", "transmat_prior", "transmat_prior_type",
            "weight_concentration_prior", "stickiness", "emission_prior", "n_symbols",
        )  # fmt: skip
        return {name: getattr(self, name) for name in names} | gaussian_priors.given(self)

    def _fix_model(self, data: Any) -> None:
        self._model()  # which checks the priors

    def _note_choices(self) -> None:
        """Write down the parameters that a fit cannot change later."""
        wanted = self._wanted()
        self._fitted = {"n_components": int(wanted.pop("n_components"))}
        self._chosen: dict[str, Any] = wanted

    @property
    def _fixed(self) -> Mapping[str, Any]:
        return self._fitted | self._chosen

    def _model(self) -> HMM:
        fixed, learned = started(self._fixed, self._learnable)
        size, process = fixed["n_components"], fixed["transmat_prior_type"] == PROCESS
        base = tuple([1.0 / size] * size) if process else None
        # Only a process has weights that are learned, and that grow.
        learned = ("base", *learned) if process else tuple(name for name in learned if name != "growth")
        model = HMM(
            size, self._emission(), fixed["startprob_prior"], fixed["transmat_prior"], fixed["stickiness"], base,
            fixed["weight_concentration_prior"], (*learned, *learned_of_emission(fixed)),
        )  # fmt: skip
        return self._with_learned(model)

    def _gaussian_prior(self) -> GaussianPrior:
        emission = self._model().emission
        if not isinstance(emission, GaussianEmission):
            raise AttributeError(f"{emission.kind} emissions have no means and covariances.")
        return emission.mixture.component_prior

    def _fit_step(self, data: Any, plan: Plan) -> LocalStep:
        return self._local_step()

    def _stream_step(self, data: Any) -> LocalStep:
        return self._local_step()

    def _local_step(self) -> LocalStep:
        return make_local_step("exact" if self.local_step == "auto" else self.local_step, self.name)

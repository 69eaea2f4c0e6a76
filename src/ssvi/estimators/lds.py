"""A linear dynamical system in the form of a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ssvi.batches import Sequences
from ssvi.checks import positive_or_auto, require, require_count, require_positive
from ssvi.estimators.choices import make_seed, unchanged_on_error
from ssvi.estimators.known_inputs import are_names, as_table, take_columns
from ssvi.estimators.lds_starts import MOST_PASSES, SETTLED_AVERAGING, SETTLED_STEPS, settled_dynamics
from ssvi.estimators.learned import Learnable, as_learned, started
from ssvi.estimators.parameters import changed, parameter, with_parameters
from ssvi.estimators.scikit_learn_callbacks import Given, with_callbacks
from ssvi.estimators.sequences import Ordered
from ssvi.estimators.state_space import StateSpaceEstimator
from ssvi.evaluation.lds import States, filtered, forecast, log_probabilities, smoothed
from ssvi.global_steps.base import GlobalStep
from ssvi.local_steps.base import LocalStep
from ssvi.models.lds import LDS, Dynamics, LDSPrior
from ssvi.models.quantities import Quantities
from ssvi.models.scaling import Scaling, in_units
from ssvi.schedules import PowerSchedule
from ssvi.typing import Array

_TAIL = 1_000  # time points of the last sequence that are kept, to go on from


class Forecast(NamedTuple):
    """What may come next, in the data's units.

    Attributes
    ----------
    mean : (steps, D); with several sequences (sequences, steps, D)
        What is expected, at the point estimate of the parameters.
    lower, upper : like mean
        Between these lies what is to be seen, with the probability asked for.
    draws : (draws, steps, D), or (draws, sequences, steps, D)
        Possible futures, with what q does not know of the parameters.

    """

    mean: Array
    lower: Array
    upper: Array
    draws: Array


@with_parameters
class LinearDynamicalSystem(StateSpaceEstimator):
    """Hidden states that move linearly from one time point to the next, seen through a linear map with noise.

    z_1 ~ N(m, S), z_t = A z_(t-1) + B u_t + w_t, y_t = C z_t + D u_t + d + v_t. Rows of X are y_t; entries, and whole
    time points, may be missing (NaN). Inputs u_t are optional. All coefficients and covariances are learned, with a
    posterior q. Columns are centred and scaled inside, by the data of `fit` or of the first `partial_fit`, and inputs
    divided by their root mean squares; all that is given and reported is in the data's units. States have no units, and
    any rotation of them says the same.

    Attributes
    ----------
    transition_, state_covariance_ : (K, K)
        A and Q, at the mode of q.
    input_transition_ : (K, U)
        B.
    loadings_, offset_ : (D, K), (D,)
        C and d.
    feedthrough_ : (D, U)
        D.
    noise_covariance_ : (D, D), or (D,) for diagonal noise
        R.
    transition_strength_prior_, loading_strength_prior_, noise_variance_prior_ : float
        Priors, as they were given or learned.
    bound_ : float
        An estimate of the evidence lower bound per time point; NaN if the last local step optimised none.

    Examples
    --------
    >>> import numpy as np
    >>> from ssvi import LinearDynamicalSystem
    >>> t = np.arange(200)
    >>> rng = np.random.default_rng(0)
    >>> X = np.stack([np.sin(t / 8), np.cos(t / 8)], axis=1) + 0.1 * rng.normal(size=(200, 2))
    >>> X[50:60] = np.nan
    >>> model = LinearDynamicalSystem(2, random_state=0).fit(X)
    >>> np.abs(model.smooth(X).means[50:60, 0] - np.sin(t[50:60] / 8)).max() < 0.2
    np.True_
    >>> ahead = model.forecast(5)
    >>> np.abs(ahead.mean[:, 0] - np.sin(np.arange(200, 205) / 8)).max() < 0.3
    np.True_

    """

    n_components: int = parameter(
        default=2, kind="int", words="K, the number of hidden states.", check=require_count, kw_only=False
    )
    persistence_prior: float = parameter(
        default=0.8,
        kind="float",
        words="What the prior expects of A's diagonal, off which it expects 0.",
        check=lambda name, value: require(name, value, lambda v: -1 <= v <= 1, "from -1 to 1"),
    )
    transition_strength_prior: float | str = parameter(
        default=1.0,
        kind='float or "auto"',
        words="""For how many time points the prior mean of (A, B) counts. "auto" learns it in the fit, as it does
        `loading_strength_prior` and `noise_variance_prior` (docs/hyperparameters.md).""",
        check=positive_or_auto,
    )
    loading_strength_prior: float | str = parameter(
        default=0.1,
        kind='float or "auto"',
        words="For how many time points the prior mean of (C, D, d), which is 0, counts.",
        check=positive_or_auto,
    )
    state_variance_prior: float = parameter(
        default=0.2,
        kind="float",
        words="""The prior mean of Q's diagonal. It sets the scale of the states, of which the data say nothing: with
        the default it is near 1.""",
        check=require_positive,
    )
    noise_variance_prior: float | str = parameter(
        default=0.2,
        kind='float or "auto"',
        words="The prior mean of R's diagonal, as a share of the columns' variances.",
        check=positive_or_auto,
    )
    degrees_of_freedom_prior: float = parameter(
        default=3.0,
        kind="float",
        words="""For how many time points the prior means of covariances count, beyond the fewest that a covariance
        needs (one for each row but one).""",
        check=lambda name, value: require(name, value, lambda v: 2 < v < np.inf, "more than 2"),
    )
    local_step: str | LocalStep = changed(
        StateSpaceEstimator,
        "local_step",
        default="auto",
        kind='{"auto", "exact", "gibbs"} or LocalStep',
        words="""Means and covariances of states (a smoother), or a draw of each sequence's states. "auto" is
        "exact".""",
    )
    max_iter: int | str | None = changed(
        StateSpaceEstimator,
        "max_iter",
        default=None,
        words="""Passes over the data; by default 200 where every step sees all data, else 20. "auto" goes on until the
        fit has converged, for ten times as many at most. Before that, coordinate ascent follows the start for as many
        passes over up to 10,000 time points, 300 at most and fewer where there are many.""",
    )

    _default_passes: ClassVar[tuple[int, int]] = (20, 200)
    _averaging: ClassVar[float] = SETTLED_AVERAGING
    _learnable: ClassVar[Learnable] = {
        "transition_strength_prior": ("prior.dynamics_strength", 1.0),
        "loading_strength_prior": ("prior.emission_strength", 0.1),
        "noise_variance_prior": ("prior.noise_variance", 0.2),
    }

    transition_strength_prior_ = as_learned("prior.dynamics_strength", "For how many time points the mean of A counts")
    loading_strength_prior_ = as_learned("prior.emission_strength", "For how many time points the mean of C counts")
    noise_variance_prior_ = as_learned("prior.noise_variance", "The prior mean of R's diagonal, as a share")

    name = LDS.name
    saved_attributes = (*StateSpaceEstimator.saved_attributes, "_tail")

    @with_callbacks
    def fit(
        self,
        X: Any,
        lengths: Any = None,
        *,
        inputs: Any = None,
        groups: Any = None,
        X_val: Any = None,
        lengths_val: Any = None,
        inputs_val: Any = None,
    ) -> Self:
        """Fit the model to sequences, from a fresh start.

        Rows of `X` are time points, in order. `lengths` are those of the sequences; without any, all rows are one
        sequence. Instead, `groups` tells each row's sequence: an array of keys, or the name of a column of a data
        frame, which is then taken out. `inputs` has u of each row, or is a list of names of such columns. Rows
        `X_val` are scored as the fit goes on (`scores_`); see also `early_stopping`.
        """
        with unchanged_on_error(self):
            data = self._with_inputs(X, lengths, groups, inputs, reset=True).sequences
            held = None
            if X_val is not None:
                column = groups if isinstance(groups, str) else None
                own = inputs if inputs_val is None and are_names(inputs) else inputs_val
                held = self._with_inputs(X_val, lengths_val, column, own, reset=False).sequences
            self._run(self._cut(data), Given(make_seed(self.random_state), X, None, held))
            self._keep_tail(data)
        return self

    def partial_fit(self, X: Any, lengths: Any = None, *, inputs: Any = None, groups: Any = None) -> Self:
        """Go on with further sequences: a step for each `batch_size` time points (20,000 by default), in order.

        `lengths`, `inputs` and `groups` are those of `fit`. Every sequence counts as a new one, unless `total_samples`
        tells how many time points there are.
        """
        first = not self.__sklearn_is_fitted__()
        with unchanged_on_error(self):
            data = self._with_inputs(X, lengths, groups, inputs, reset=first).sequences
            self._run_further(self._cut(data, streamed=True), first=first)
            self._keep_tail(data)
        return self

    def score(self, X: Any, lengths: Any = None, *, inputs: Any = None, groups: Any = None) -> float:
        """Return the mean log probability of a time point given those before it, at the mode of q."""
        check_is_fitted(self)
        return self._score(self._with_inputs(X, lengths, groups, inputs, reset=False).sequences)

    def smooth(self, X: Any, lengths: Any = None, *, inputs: Any = None, groups: Any = None) -> States:
        """Return states given all of their sequence, and what would be seen of them without noise, at the mode of q.

        Attributes of the result, a row a time point: `states`, `covariances`, `means`, `deviations`.
        """
        return self._states(smoothed, X, lengths, groups, inputs)

    def filter(self, X: Any, lengths: Any = None, *, inputs: Any = None, groups: Any = None) -> States:
        """Return the same given the sequence up to each time point."""
        return self._states(filtered, X, lengths, groups, inputs)

    def forecast(
        self,
        steps: int,
        X: Any = None,
        lengths: Any = None,
        *,
        inputs: Any = None,
        future_inputs: Any = None,
        level: float = 0.9,
        n_draws: int = 400,
        random_state: Any = None,
    ) -> Forecast:
        """Return what may follow in the next `steps` time points: means, intervals and draws.

        It follows each sequence of `X`; without X, the last one that the model was fitted to. `future_inputs` are steps
        x U, or sequences x steps x U. Between `lower` and `upper` lies what will be seen with probability `level`. The
        draws come from different parameters, as q has them: what is not known of these is in draws and intervals.
        `random_state` is the estimator's own by default.
        """
        check_is_fitted(self)
        require_count("steps", steps)
        require_count("n_draws", n_draws)
        require("level", level, lambda v: 0 < v < 1, "above 0 and below 1")
        data = self._to_continue(X, lengths, inputs)
        seed = self.random_state_ if random_state is None else make_seed(random_state)
        future = self._future(future_inputs, len(data), steps)
        paths = forecast(self._model(), self._state.estimate, data, future, n_draws, seed)
        means, draws = self._scaling().undo(paths.means), self._scaling().undo(paths.draws)
        if X is None or lengths is None:
            means, draws = means[0], draws[:, 0]
        lower, upper = np.quantile(draws, [0.5 - 0.5 * level, 0.5 + 0.5 * level], axis=0)
        return Forecast(means, lower, upper, draws)

    def sample(self, n_samples: int = 1, *, inputs: Any = None, random_state: Any = None) -> tuple[Array, Array]:
        """Return a new sequence of so many time points at the mode of q, and its states.

        `inputs` are n_samples x U. `random_state` is the estimator's own by default.
        """
        check_is_fitted(self)
        require_count("n_samples", n_samples)
        rng = np.random.default_rng(self.random_state_ if random_state is None else make_seed(random_state))
        known = self._checked_inputs(inputs, n_samples) / self._columns["input_unit"]
        states, seen = self._model().sample(self._dynamics(), rng, np.array([n_samples]), known)
        return self._scaling().undo(seen), states

    def _quantities(self, values: Mapping[str, Array]) -> Quantities:
        found, inputs = super()._quantities(values), self._columns["input_unit"]
        for name in ("input_transition", "feedthrough"):
            found[name] = found[name]._replace(draws=found[name].draws / inputs)
        for name in ("loadings", "feedthrough"):
            found[name] = found[name]._replace(draws=found[name].draws * self._scaling().unit[:, None])
        return in_units(found, self._scaling(), places=("offset",), squares=("noise_covariance",))

    @property
    def transition_(self) -> Array:
        """A."""
        return self._dynamics().transition

    @property
    def input_transition_(self) -> Array:
        """B."""
        result: Array = self._dynamics().drive / self._columns["input_unit"]
        return result

    @property
    def state_covariance_(self) -> Array:
        """Q."""
        return self._dynamics().state_covariance

    @property
    def loadings_(self) -> Array:
        """C."""
        return self._scaling().unit[:, None] * self._dynamics().loadings

    @property
    def feedthrough_(self) -> Array:
        """D."""
        result: Array = self._scaling().unit[:, None] * self._dynamics().feedthrough / self._columns["input_unit"]
        return result

    @property
    def offset_(self) -> Array:
        """What is added to all that is seen, d."""
        return self._scaling().undo(self._dynamics().offset)

    @property
    def noise_covariance_(self) -> Array:
        """R."""
        noise = self._dynamics().noise
        return noise * self._scaling().squares(noise.ndim)

    def _dynamics(self) -> Dynamics:
        """Return the parameters at the mode of q, in the units of the fit."""
        check_is_fitted(self)
        return self._model().usual(self._point_views())

    def _point_views(self) -> dict[str, Array]:
        blocks, lam = self._model().blocks(), self._state.estimate
        return {name: block.family.mode_stats(lam[name]) for name, block in blocks.items()}

    def _states(self, look: Any, X: Any, lengths: Any, groups: Any, inputs: Any) -> States:
        check_is_fitted(self)
        data = self._with_inputs(X, lengths, groups, inputs, reset=False)
        found: States = look(self._model(), self._point_views(), data.sequences)
        means, deviations = self._scaling().undo(found.means), self._scaling().unit * found.deviations
        return States(*(data.back(part) for part in (found.states, found.covariances, means, deviations)))

    def _posterior_data(self, X: Any, lengths: Any = None, groups: Any = None, inputs: Any = None) -> Any:
        return self._with_inputs(X, lengths, groups, inputs, reset=False).sequences

    def _with_inputs(self, X: Any, lengths: Any, groups: Any, inputs: Any, *, reset: bool) -> Ordered:
        """Check parameters, data and inputs; return sequences of both, side by side, in units of their own."""
        if are_names(inputs):
            X, inputs = take_columns(X, [inputs] if isinstance(inputs, str) else list(inputs))
        data = self._ordered(X, lengths, groups, reset=reset)
        rows = data.sequences.values
        if reset:
            given = np.zeros((len(rows), 0)) if inputs is None else as_table(inputs)
            size = np.sqrt((given**2).mean(axis=0))
            self._columns = {**self._columns, "input_unit": np.where(size > 0, size, 1.0)}
        known = self._checked_inputs(inputs, len(rows)) / self._columns["input_unit"]
        if data.rows is not None:
            known = known[data.rows]
        both = np.ascontiguousarray(np.concatenate([rows, known], axis=1))
        return Ordered(Sequences(data.sequences.indptr, both), data.rows)

    def _checked_inputs(self, inputs: Any, rows: int) -> Array:
        """Return inputs as rows x U; raise one clear sentence unless they are as many as the model has."""
        width = len(self._columns["input_unit"])
        table = np.zeros((rows, 0)) if inputs is None else as_table(inputs)
        if table.shape[1] != width:
            raise ValueError(
                f"the model has {width} inputs, and {table.shape[1]} are given: give `inputs` of each row."
            )
        if len(table) != rows:
            raise ValueError(f"there are {len(table):,} rows of inputs for {rows:,} time points: each needs one.")
        return table

    def _to_continue(self, X: Any, lengths: Any, inputs: Any) -> Sequences:
        """Return the sequences that a forecast follows."""
        if X is not None:
            return self._with_inputs(X, lengths, None, inputs, reset=False).sequences
        if lengths is not None or inputs is not None:
            raise ValueError("lengths and inputs are those of X: give X as well, or neither.")
        return Sequences.from_lengths(np.where(self._tail["missing"], np.nan, self._tail["values"]))

    def _future(self, inputs: Any, count: int, steps: int) -> Array:
        """Return inputs of the time points to come, sequences x steps x U."""
        width = len(self._columns["input_unit"])
        if inputs is None:
            if width:
                raise ValueError(f"the model has {width} inputs: give `future_inputs` of the {steps} steps to come.")
            return np.zeros((count, steps, 0))
        table = np.asarray(inputs, dtype=float)
        if table.ndim == 1:
            table = table[:, None]
        try:
            spread = np.broadcast_to(table, (count, steps, width))
        except ValueError:
            raise ValueError(
                f"future_inputs must be {steps} x {width} numbers, or {count} x {steps} x {width}, "
                f"not {' x '.join(map(str, table.shape))}."
            ) from None
        if not np.isfinite(spread).all():
            raise ValueError("future_inputs must be finite.")
        return spread / self._columns["input_unit"]

    def _keep_tail(self, data: Sequences) -> None:
        """Keep the end of the last sequence, for forecasts."""
        rows = data.group(len(data) - 1)[-_TAIL:]
        missing = np.isnan(rows)
        # A file holds finite numbers only.
        self._tail: dict[str, Any] = {"values": np.where(missing, 0.0, rows), "missing": missing}

    def _start(self, data: Any, start: Any = None) -> None:
        super()._start(data, start)
        most = MOST_PASSES if self.max_iter is None or isinstance(self.max_iter, str) else int(self.max_iter)
        with self._open_backend() as backend:
            found = settled_dynamics(self._model(), data, self.random_state_, self._state.parameters, backend, most)
        self._state = replace(self._state, parameters=found)

    def _power_schedule(self, online: PowerSchedule, whole_steps: int | None) -> PowerSchedule:
        return super()._power_schedule(online if whole_steps is None else SETTLED_STEPS, None)

    def _wanted(self) -> dict[str, Any]:
        names = (
            "n_components", "noise", "persistence_prior", "transition_strength_prior", "loading_strength_prior",
            "state_variance_prior", "noise_variance_prior", "degrees_of_freedom_prior",
        )  # fmt: skip
        return {name: getattr(self, name) for name in names}

    def _model(self) -> LDS:
        own, learned = started(self._fixed, self._learnable)
        prior = LDSPrior(
            own["persistence_prior"], own["transition_strength_prior"], own["loading_strength_prior"],
            own["state_variance_prior"], own["noise_variance_prior"], own["degrees_of_freedom_prior"],
        )  # fmt: skip
        width = len(self._columns["input_unit"])
        return self._with_learned(LDS(self.n_features_in_, own["n_components"], width, own["noise"], prior, learned))

    def _look_at(self, values: Array) -> dict[str, Array]:
        found = Scaling.of(values)
        return {"centre": found.centre, "unit": found.unit, "input_unit": np.ones(0)}

    def _log_probabilities(self, data: Sequences) -> Array:
        with self._open_backend() as backend:
            return log_probabilities(self._model(), self._point_views(), data, backend)

    def _usual_local_step(self, global_step: GlobalStep) -> str:
        return "exact"

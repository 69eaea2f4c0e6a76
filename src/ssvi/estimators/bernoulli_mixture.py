"""A Dirichlet process mixture of Bernoulli products in the form of a scikit-learn mixture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.preprocessing import binarize
from sklearn.utils.validation import check_is_fitted

from ssvi.batches.documents import Documents
from ssvi.batches.sources import Mapped, Source
from ssvi.checks import is_integer, positive_or_auto, positive_pair_or_auto, require, require_count
from ssvi.engine import Callback, Info, State
from ssvi.estimators.choices import (
    check_data,
    make_seed,
)
from ssvi.estimators.mixtures import MixtureEstimator
from ssvi.estimators.parameters import changed, optional, parameter, with_parameters
from ssvi.estimators.plan import Plan
from ssvi.estimators.scikit_learn_callbacks import Given
from ssvi.estimators.streamed import AboveThreshold, by_chunks, take_columns
from ssvi.evaluation.mixtures import averaged_log_predictive
from ssvi.global_steps.base import GlobalStep
from ssvi.local_steps.bernoulli_mixture.exact import Exact
from ssvi.models.bernoulli_mixture import BernoulliMixture as Model
from ssvi.numerics.random import derive_keys
from ssvi.schedules import snapshot_steps
from ssvi.typing import Array


@with_parameters
class BernoulliMixture(MixtureEstimator):
    """Clusters of binary rows: a truncated Dirichlet process mixture of Bernoulli products.

    It leaves components empty that the data do not need. How many it uses is a rough answer, which differs from seed
    to seed and grows a little with `n_components`: where clusters overlap, one may be two. Fit with several seeds
    before you rely on the number; `merge_copies` makes it smaller and more stable.

    It has the ways of `sklearn.mixture`, which has no mixture for binary data. Rows x features of zeros and ones come
    dense or sparse; the time of a step grows with the number of ones.

    Attributes
    ----------
    weights_ : (K,)
        E_q[pi].
    means_ : (K, D)
        E_q[phi], the prototypes.
    mean_prior_ : (float, float)
        a and b, as they were given or learned.

    Examples
    --------
    >>> import numpy as np
    >>> from ssvi import BernoulliMixture
    >>> rows = np.repeat([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]], 30, axis=0)
    >>> mixture = BernoulliMixture(10, max_iter=200, random_state=0).fit(rows)
    >>> mixture.n_active_
    2
    >>> len(set(mixture.predict(rows[:30]))), len(set(mixture.predict(rows)))
    (1, 2)

    """

    mean_prior: tuple[float, float] | str = parameter(
        default=(1.0, 1.0),
        kind='(float, float) or "auto"',
        words="""a and b of the Beta(a, b) prior of each feature's probability in each component. "auto" learns them in
        the fit.""",
        check=positive_pair_or_auto,
    )
    binarize: float | None = parameter(
        default=0.0,
        kind="float or None",
        words="""Values above it are ones, all others zeros (0 leaves binary data as it is). None: the data must be
        binary.""",
        check=optional(lambda name, value: require(name, value, lambda v: -np.inf < v < np.inf, "a number, or None")),
    )
    global_step: str | GlobalStep = changed(
        MixtureEstimator,
        "global_step",
        default="auto",
        words="""How q of weights and components is updated. "auto" is "ssvi" where every step sees all rows: its
        intervals have the truth more often than those of the others, and it takes about twice as long as "ssvi_a". By
        minibatches "auto" is "ssvi_a", which predicts better there.""",
    )
    max_iter: int | str | None = changed(
        MixtureEstimator,
        "max_iter",
        default=None,
        words="""Passes over the data; by default 1,500 where every step sees all rows, else 20.
        "auto" goes on until the fit has converged, for ten times as many at most.""",
    )
    snapshots: int = parameter(
        default=0,
        kind="int",
        words="""Keep so many estimates from the last two thirds of a fit by a `global_step` that draws, and average
        their predictions in `score_samples` and `score`: the posterior predictive rather than that of one estimate.
        It can be much the better density; it takes so many times the memory and the time. 0 for none. A fit that
        stops early keeps those up to its best state.""",
        check=lambda name, value: require(name, value, lambda v: is_integer(v) and v >= 0, "an integer of 0 or more"),
    )

    _default_passes: ClassVar[tuple[int, int]] = (20, 1_500)
    _learnable: ClassVar[Mapping[str, tuple[str, Any]]] = {
        "weight_concentration_prior": ("concentration", 1.0),
        "mean_prior": ("prior", (1.0, 1.0)),
    }

    name = Model.name
    saved_attributes = (*MixtureEstimator.saved_attributes, "_fitted", "_snapshots")

    def _fit_rows(self, rows: Documents, given: Given) -> None:
        self._snapshots: list[tuple[Array, Array]] = []
        self._run(rows, given)
        taken = sum(step <= self._state.step for step in self._snapshot_steps(self._plan(self._n_distinct)))
        self._snapshots = self._snapshots[:taken]  # a fit that stopped early may have gone back to an earlier state

    def _run_further(self, data: Documents, *, first: bool, start: Any = None) -> None:
        self._snapshots = []  # they are of another state
        super()._run_further(data, first=first, start=start)

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each component given each row, rows x K, at `weights_` and `means_`."""
        check_is_fitted(self)
        if isinstance(X, Source):
            return by_chunks(self.predict_proba, X)
        rows, model = self._rows(X, reset=False), self._model()
        views = model.statistics(self.weights_, self.means_)
        with self._open_backend() as backend:
            return backend.map_local(Exact(), model, views, rows, derive_keys(0, len(rows)))["responsibilities"]

    def score_samples(self, X: Any) -> Array:
        """Return the log probability of each row, at `weights_` and `means_`, or averaged over `snapshots`."""
        check_is_fitted(self)
        if isinstance(X, Source):
            return by_chunks(self.score_samples, X)
        rows, estimates = self._rows(X, reset=False), self._snapshots or [(self.weights_, self.means_)]
        with self._open_backend() as backend:
            return averaged_log_predictive(estimates, rows, backend=backend)

    def _score(self, data: Documents | Source) -> float:
        """Return the mean log probability of rows at the present estimate, whatever snapshots there are."""
        if isinstance(data, Source):
            return sum(len(own) * self._score(own) for _, own in data.chunks()) / len(data)
        with self._open_backend() as backend:
            return float(averaged_log_predictive([(self.weights_, self.means_)], data, backend=backend).mean())

    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> tuple[Any, Any]:
        """Return so many new rows from the fitted mixture, and the component of each.

        `random_state` is the estimator's own by default.
        """
        check_is_fitted(self)
        require_count("n_samples", n_samples)
        seed = self.random_state_ if random_state is None else make_seed(random_state)
        return self._model().sample(self.weights_, self.means_, np.random.default_rng(seed), n_samples)

    @property
    def means_(self) -> Array:
        """E_q[phi]."""
        check_is_fitted(self)
        return self._model().mean_components(self._state.estimate)

    @property
    def weight_concentration_prior_(self) -> float:
        """alpha, as it was given or learned."""
        check_is_fitted(self)
        return self._model().concentration

    @property
    def mean_prior_(self) -> tuple[float, float]:
        """The prior's a and b, as they were given or learned."""
        check_is_fitted(self)
        return self._model().prior

    def summarize_components(self) -> tuple[Array, Array, Array]:
        """Return each component's share of the rows, its probabilities of ones, and their deviations under q."""
        return self._model().summarize(self._state.estimate)

    def _rows(self, X: Any, *, reset: bool) -> Any:
        """Check parameters and data; return the rows by their ones, those of a corpus on disk when they are read."""
        self._check_parameters()
        if isinstance(X, Source):
            take_columns(self, X, type(self).__name__, reset=reset, allow_empty=True)
            return X if self.binarize is None else Mapped(X, AboveThreshold(self.binarize))
        X = check_data(self, X, reset=reset)
        if self.binarize is not None:
            X = binarize(X, threshold=self.binarize)
        rows = Documents.from_matrix(X)
        Exact().check(rows)
        return rows

    def _wanted(self) -> dict[str, Any]:
        """Return the parameters that a fit cannot change later."""
        return {
            "n_components": int(self.n_components),
            "weight_concentration_prior": positive_or_auto(
                "weight_concentration_prior", self.weight_concentration_prior
            ),
            "mean_prior": positive_pair_or_auto("mean_prior", self.mean_prior),
        }

    def _fix_model(self, data: Documents) -> None:
        self._fitted = self._wanted()

    def _model(self) -> Model:
        values, learned = self._started()
        return self._with_learned(replace(Model(self.n_features_in_, *values.values()), learned=learned))

    def _snapshot_steps(self, plan: Plan) -> set[int]:
        """Return the steps after which estimates are kept, apart from each other, if any are wanted."""
        if not self.snapshots or not plan.global_step.stochastic:
            return set()
        return snapshot_steps(plan.planned * plan.steps_per_pass, self.snapshots)

    def _monitors(self, data: Documents, plan: Plan) -> list[Callback]:
        wanted = self._snapshot_steps(plan)

        def keep(state: State, info: Info) -> None:
            if info.step in wanted:
                model, lam = self._model(), state.parameters  # an average is no draw
                self._snapshots.append((model.mean_weights(lam), model.mean_components(lam)))

        return [keep]

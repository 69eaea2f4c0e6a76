"""What estimators of mixtures share: the ways of scikit-learn's mixtures, and steps chosen by how a fit goes."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import replace
from typing import Any, Self

from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from ssvi.batches.sources import Source
from ssvi.checks import require_flag
from ssvi.engine import NEVER
from ssvi.estimators.choices import make_local_step, make_seed, unchanged_on_error
from ssvi.estimators.open_ended import OpenEndedEstimator
from ssvi.estimators.parameters import changed, parameter, with_parameters
from ssvi.estimators.plan import Plan
from ssvi.estimators.scikit_learn_callbacks import Given, with_callbacks
from ssvi.estimators.streamed import mean_by_chunks
from ssvi.global_steps.base import GlobalStep
from ssvi.global_steps.ssvi import Ssvi
from ssvi.global_steps.ssvi_a import SsviA
from ssvi.local_steps.base import LocalStep
from ssvi.typing import Array

_AVERAGING = 7.0  # of SSVI by name, where every step sees all rows: docs/experiments/mixtures.md
_MERGING = (0.5, 0.9)  # of a fit: components have formed by then, and what was merged has time to settle


@with_parameters
class MixtureEstimator(DensityMixin, OpenEndedEstimator):
    """A mixture: rows are independent, and each is of one component. Its local steps are "exact" and "gibbs"."""

    global_step: str | GlobalStep = parameter(
        default="auto",
        kind='{"auto", "ssvi", "ssvi_a", "mean_field", "map"} or GlobalStep',
        words="""How q of weights and components is updated. "auto" is "ssvi" where every step sees all rows, and
        "ssvi_a" by minibatches.""",
    )
    local_step: str | LocalStep = parameter(
        default="auto",
        kind='{"auto", "gibbs", "exact"} or LocalStep',
        words="""A draw of each row's component, or its probabilities. "auto" is "gibbs" with "ssvi_a", where draws help
        out of poor optima, and "exact" with all others.""",
    )
    population_ramp: bool = changed(
        OpenEndedEstimator,
        "population_ramp",
        default=False,
        words="""Let a minibatch stand for the rows seen so far, during the first pass, and not for all at once. With
        many features this starves components that begin with few rows.""",
    )

    merge_copies: bool = parameter(
        default=False,
        kind="bool",
        words="""Merge components that are better one: pairs whose merging makes the bound on the evidence grow. It is
        done from a half to nine tenths of a fit whose `global_step` draws. The number of components in use then
        depends less on the seed and on `n_components`; where the model is not quite true, as of images, held-out rows
        may score a little lower.""",
        check=require_flag,
    )

    nouns = ("Clusters", "cluster", "feature")

    @with_callbacks
    def fit(self, X: Any, y: Any = None, *, X_val: Any = None) -> Self:
        """Fit a mixture to rows x features, from a fresh start.

        Rows `X_val` are scored as the fit goes on (`scores_`); see also `early_stopping`.
        """
        with unchanged_on_error(self):
            rows = self._rows(X, reset=True)
            validation = None if X_val is None else self._rows(X_val, reset=False)
            self._fit_rows(rows, Given(make_seed(self.random_state), X, y, validation))
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Go on with further rows: a step for each `batch_size` of them (1,000 by default) at most, in the order given.

        Every row counts as a new one, unless `total_samples` tells how many there are.
        """
        first = not self.__sklearn_is_fitted__()
        with unchanged_on_error(self):
            self._run_further(self._rows(X, reset=first), first=first)
        return self

    def fit_predict(self, X: Any, y: Any = None, *, X_val: Any = None) -> Any:
        """Fit, then return the same rows' components."""
        return self.fit(X, y, X_val=X_val).predict(X)

    def predict(self, X: Any) -> Any:
        """Return each row's most probable component."""
        return self.predict_proba(X).argmax(axis=1)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log probability of a row."""
        if isinstance(X, Source):
            return mean_by_chunks(self.score, X)
        return float(self.score_samples(X).mean())

    @property
    def weights_(self) -> Array:
        """E_q[pi]."""
        check_is_fitted(self)
        weights: Array = self._mixture().mean_weights(self._state.estimate)
        return weights

    def component_weights(self, X: Any) -> Array:
        """Return what `predict_proba` does."""
        return self.predict_proba(X)

    @abstractmethod
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each component given each row, rows x K."""

    @abstractmethod
    def score_samples(self, X: Any) -> Array:
        """Return the log probability of each row."""

    @abstractmethod
    def _rows(self, X: Any, *, reset: bool) -> Any:
        """Check parameters and data; return the rows in the form that steps take."""

    def _posterior_data(self, X: Any) -> Any:
        return self._rows(X, reset=False)

    def _fit_rows(self, rows: Any, given: Given) -> None:
        """Fit to rows that were checked."""
        self._run(rows, given)

    def _mixture(self) -> Any:
        """Return the model, which knows `mean_weights` and `rows_held`."""
        return self._model()

    def _held(self) -> Array:
        held: Array = self._mixture().rows_held(self._state.estimate)
        return held

    def _fit_step(self, data: Any, plan: Plan) -> LocalStep:
        return self._local_step(plan.global_step)

    def _stream_step(self, data: Any) -> LocalStep:
        return self._local_step(self._global_step())

    def _global_step(self, whole_steps: int | None = None) -> GlobalStep:
        if self.global_step != "auto":
            step = super()._global_step(whole_steps)
        else:
            step = SsviA() if whole_steps is None else Ssvi().for_whole_data(whole_steps)
        averages = whole_steps is not None and not isinstance(self.global_step, GlobalStep)
        return replace(step, averaging=_AVERAGING) if averages and isinstance(step, Ssvi) else step

    def _rearranges(self, plan: Plan) -> tuple[float, float]:
        # Coordinate ascent ends when it has settled, which may be before there is anything to merge.
        merges = self.merge_copies and not plan.ascent
        return (_MERGING[0] * plan.planned, _MERGING[1] * plan.planned) if merges else NEVER

    def _first_end(self, plan: Plan) -> int:
        return math.ceil(self._rearranges(plan)[1] * plan.steps_per_pass)

    def _local_step(self, global_step: GlobalStep) -> LocalStep:
        auto = "gibbs" if isinstance(global_step, SsviA) else "exact"
        return make_local_step(auto if self.local_step == "auto" else self.local_step, self.name)

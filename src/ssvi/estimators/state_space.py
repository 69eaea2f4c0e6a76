"""What the estimators of states that add up share: linear dynamical systems and factorial hidden Markov models."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from ssvi.batches import Sequences, Subchains
from ssvi.checks import require_one_of
from ssvi.estimators.choices import make_local_step
from ssvi.estimators.parameters import changed, parameter, with_parameters
from ssvi.estimators.plan import Plan
from ssvi.estimators.sequences import SequenceEstimator
from ssvi.global_steps.base import GlobalStep
from ssvi.local_steps.base import LocalStep
from ssvi.models.regressions import NOISES
from ssvi.models.scaling import Scaling
from ssvi.typing import Array


@with_parameters
class StateSpaceEstimator(SequenceEstimator):
    """A model of sequences whose columns are centred and scaled inside, and that sees long sequences in pieces."""

    noise: str = parameter(
        default="diag",
        kind='{"diag", "full"}',
        words="""The noise of what is seen: a variance for each column, so that all that columns have in common is the
        states', or a covariance matrix.""",
        check=lambda name, value: require_one_of(name, value, NOISES),
    )
    subchain_length: int | None = changed(
        SequenceEstimator,
        "subchain_length",
        default=None,
        words="""Time points that a sequence may have before a fit cuts it into pieces, each of which is then a sequence
        of its own. By default a sixteenth of a minibatch, 1,000 at most; where every step sees all data nothing is
        cut.""",
    )

    saved_attributes = (*SequenceEstimator.saved_attributes, "_fitted", "_chosen", "_columns")

    @abstractmethod
    def _look_at(self, values: Array) -> dict[str, Array]:
        """Return what the first data tell of the columns; `centre` and `unit` are among it."""

    def _values(self, values: Array, *, reset: bool) -> Array:
        infinite = np.isinf(values)
        if infinite.any():
            row, column = np.argwhere(infinite)[0]
            raise ValueError(
                f"there is an infinite number in row {row}, column {column}: NaN stands for what is missing."
            )
        if reset:
            if np.isnan(values).all():
                raise ValueError("all values are missing: there is nothing to fit.")
            wanted = self._wanted()
            self._fitted = {"n_components": int(wanted.pop("n_components"))}
            self._chosen: dict[str, Any] = wanted
            self._columns: dict[str, Array] = self._look_at(values)
        result: Array = self._scaling().apply(values)
        return np.ascontiguousarray(result)

    def _cut(self, data: Sequences, *, streamed: bool = False) -> Sequences:
        cut = super()._cut(data, streamed=streamed)
        if isinstance(cut, Subchains):
            return Sequences(np.append(cut.bounds[:, 1], cut.bounds[-1, 2]), cut.values)
        return cut

    def _scaling(self) -> Scaling:
        return Scaling(self._columns["centre"], self._columns["unit"])

    def _log_volume(self, data: Sequences) -> float:
        """Return by how much log densities of all rows are less in the data's units."""
        rows = data.values[data.indptr[0] : data.indptr[-1], : self.n_features_in_]
        return float(self._scaling().log_volume(rows).sum())

    @abstractmethod
    def _log_probabilities(self, data: Sequences) -> Array:
        """Return log p of each sequence at the point estimate, in units of the fit."""

    def _score(self, data: Sequences) -> float:
        points = int(data.indptr[-1] - data.indptr[0])
        return float((self._log_probabilities(data).sum() - self._log_volume(data)) / points)

    def _bound(self, data: Sequences) -> float:
        return super()._bound(data) - self._log_volume(data) / int(data.indptr[-1] - data.indptr[0])

    def _fix_model(self, data: Sequences) -> None:
        self._model()

    @property
    def _fixed(self) -> Mapping[str, Any]:
        return self._fitted | self._chosen

    def _fit_step(self, data: Sequences, plan: Plan) -> LocalStep:
        return self._local_step(plan.global_step)

    def _stream_step(self, data: Sequences) -> LocalStep:
        return self._local_step(self._global_step())

    def _local_step(self, global_step: GlobalStep) -> LocalStep:
        """Return the local step that the parameter names or is."""
        choice = self._usual_local_step(global_step) if self.local_step == "auto" else self.local_step
        return make_local_step(choice, self.name)

    @abstractmethod
    def _usual_local_step(self, global_step: GlobalStep) -> str:
        """Return the name of the local step that "auto" is."""

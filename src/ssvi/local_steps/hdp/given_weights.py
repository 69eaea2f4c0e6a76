"""Local steps of LDA as steps of hierarchical Dirichlet topics: given the topics' weights, a document is one of LDA."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy.typing as npt
from scipy import special

from ssvi.batches.documents import Documents
from ssvi.local_steps.base import LocalResult
from ssvi.local_steps.lda.words import LdaStep
from ssvi.models.hdp import HDP
from ssvi.models.lda import LDA
from ssvi.numerics.random import Keys
from ssvi.tasks import Each
from ssvi.typing import Array


@dataclass(frozen=True)
class GivenWeights:
    """LDA at the view of the topics' weights, and what its local step has prepared."""

    lda: LDA
    prepared: Any


class HdpStep(LdaStep):
    """A local step with the parameters of one of LDA, which does the work.

    Documents say of the weights how many tables there are of each topic (see `HDP`): LDA's steps count these.
    """

    model = HDP.name

    @property
    @abstractmethod
    def lda_step(self) -> LdaStep:
        """LDA's step."""

    def prepare(self, model: Any, views: Mapping[str, Any], batch: Documents, each: Each = map) -> Any:
        """Prepare for LDA whose alpha follows from the weights' view."""
        lda = model.given(views["weights"])
        return GivenWeights(lda, self.lda_step.prepare(lda, views, batch, each))

    def run(self, model: Any, prepared: Any, start: int, stop: int, keys: Keys) -> LocalResult:
        """Run LDA's step; its bound becomes one of this model."""
        result = self.lda_step.run(prepared.lda, prepared.prepared, start, stop, keys)
        if result.bound is None:
            return result
        lengths = prepared.prepared.documents.slice(start, stop).lengths()
        return replace(result, bound=result.bound + _difference(model, prepared.lda, lengths))

    def local(self, model: Any, prepared: Any, start: int, stop: int, keys: Keys) -> Mapping[str, Array]:
        """Return what LDA's step finds on each document."""
        return self.lda_step.local(prepared.lda, prepared.prepared, start, stop, keys)

    def zeros(self, model: Any, prepared: Any) -> dict[str, npt.NDArray[Any]]:
        """Return LDA's."""
        return self.lda_step.zeros(prepared.lda, prepared.prepared)

    def count(
        self, model: Any, prepared: Any, start: int, stop: int, keys: Keys, into: Mapping[str, npt.NDArray[Any]]
    ) -> None:
        """Count as LDA's step does."""
        self.lda_step.count(prepared.lda, prepared.prepared, start, stop, keys, into)

    def finish(self, model: Any, prepared: Any, result: LocalResult) -> LocalResult:
        """Take the numbers of tables for what documents say of the weights, and the last number for what is learned."""
        result = self.lda_step.finish(prepared.lda, prepared.prepared, result)
        eta_hat = dict(result.eta_hat)
        tables = eta_hat.pop("tables")
        return replace(result, eta_hat={**eta_hat, "weights": tables[None, :-1], "lengths": tables[-1:]})


def _difference(model: HDP, lda: LDA, lengths: Array) -> float:
    """Return what is to be added to LDA's bound where the view of the weights does not sum to 1.

    p(z | pi) = Gamma(a) / Gamma(a + n) prod_k Gamma(a pi_k + n_k) / Gamma(a pi_k) has its first factor from the weights
    that there are, whose sum is 1, and the others from the view. Then the slope of the bound with respect to the view
    of log pi_k is the expected number of tables.
    """

    def of(total: float) -> float:
        return float((special.gammaln(total) - special.gammaln(lengths + total)).sum())

    return of(model.concentration) - of(float(lda.alpha.sum()))

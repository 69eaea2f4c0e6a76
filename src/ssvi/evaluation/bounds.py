"""Lower bounds on the log evidence of documents. A bound is not a likelihood: it ranks fits of one kind only.

The mean-field bound factorises q into q(beta) q(theta, z). The structured bound lets each document's q depend on beta,
as the paper's does; it is an expectation over q(beta), estimated from draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ssvi import engine
from ssvi.backends.base import Backend
from ssvi.backends.threads import Threads
from ssvi.batches.documents import Documents
from ssvi.local_steps.lda.mean_field import MeanField
from ssvi.models.lda import LDA
from ssvi.numerics.random import derive_key, derive_keys
from ssvi.typing import Array


@dataclass(frozen=True)
class Bound:
    """A lower bound on log p(documents), with the standard error of its estimate (0 if it is exact)."""

    value: float
    standard_error: float
    n_words: float

    @property
    def per_word(self) -> float:
        """The bound divided by the number of words."""
        return self.value / self.n_words if self.n_words > 0 else float("nan")


def mean_field_elbo(
    model: LDA,
    parameters: Mapping[str, Array],
    documents: Any,
    *,
    local_step: MeanField | None = None,
    backend: Backend | None = None,
) -> Bound:
    """Return E_q[log p(w, z, theta, beta) - log q], q(beta) given by lambda and q(theta, z) optimised for it."""
    documents = Documents.of(documents)
    views = {name: block.family.mean_stats(parameters[name]) for name, block in model.blocks().items()}
    local = _local_bound(model, views, documents, local_step, backend)
    return Bound(local + engine.prior_bound(model, parameters), 0.0, float(documents.lengths().sum()))


def structured_elbo(
    model: LDA,
    parameters: Mapping[str, Array],
    documents: Any,
    *,
    draws: int = 20,
    seed: int = 0,
    local_step: MeanField | None = None,
    backend: Backend | None = None,
) -> Bound:
    """Estimate the structured ELBO: each document's q(theta, z | beta) is optimised for each draw of beta.

    At the same lambda it is at least the mean-field bound, since q(theta, z) may ignore beta.
    """
    if draws < 2:
        raise ValueError(f"draws must be 2 or more, for a standard error, not {draws!r}.")
    documents = Documents.of(documents)
    values = []
    for number in range(draws):
        views = {}
        for name, block in model.blocks().items():
            keys = derive_keys(derive_key(seed, "structured bound", name, number), int(np.prod(block.shape[:-1])))
            views[name] = block.family.draw(parameters[name], keys).stats
        values.append(_local_bound(model, views, documents, local_step, backend))
    error = float(np.std(values, ddof=1) / np.sqrt(draws))
    value = float(np.mean(values)) + engine.prior_bound(model, parameters)
    return Bound(value, error, float(documents.lengths().sum()))


def _local_bound(
    model: LDA,
    views: Mapping[str, Array],
    documents: Documents,
    local_step: MeanField | None,
    backend: Backend | None,
) -> float:
    """Return the sum of the documents' local ELBOs given a view of beta."""
    step = local_step or MeanField(max_rounds=200, tolerance=1e-4)
    # The step draws nothing: its keys are never read.
    keys = np.zeros(len(documents), dtype=np.uint64)
    result = (backend or Threads()).map_reduce(step, model, views, documents, keys)
    assert result.bound is not None
    return result.bound

"""The log probability of rows under a mixture of Bernoulli products, at a point estimate of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ssvi.backends.base import Backend
from ssvi.backends.shards import shards
from ssvi.backends.threads import Threads
from ssvi.batches.documents import Documents
from ssvi.local_steps.bernoulli_mixture.exact import Exact
from ssvi.local_steps.bernoulli_mixture.responsibilities import responsibilities
from ssvi.models.bernoulli_mixture import BernoulliMixture
from ssvi.typing import Array


def log_predictive(weights: Array, means: Array, rows: Any, *, backend: Backend | None = None) -> Array:
    """Return log p(y | pi, phi) of each row, the component summed out.

    Parameters
    ----------
    weights : (K,)
        pi.
    means : (K, D)
        phi.
    rows : Documents, or rows x features of zeros and ones
        The data.
    backend : Backend, optional
        Where it is computed.

    """
    data = Documents.of(rows)
    step = Exact()
    step.check(data)
    model = BernoulliMixture(means.shape[1], len(weights), 1.0)
    prepared = step.prepare(model, model.statistics(weights, means), data)

    def run(shard: slice) -> Array:
        own = data.slice(shard.start, shard.stop)
        local, log_probability = np.empty((len(own), len(weights))), np.empty(len(own))
        responsibilities(own.indptr, own.words, prepared.base, prepared.log_odds, local, log_probability)
        return log_probability

    return np.concatenate(list((backend or Threads()).workers.map(run, shards(data.costs()))))


def averaged_log_predictive(
    estimates: Iterable[tuple[Array, Array]], rows: Any, *, backend: Backend | None = None
) -> Array:
    """Return the logarithm of the mean over several estimates (pi, phi) of p(y | pi, phi), for each row.

    Over draws from the posterior this is the posterior predictive, which no single estimate is.
    """
    data = Documents.of(rows)
    logs = [log_predictive(weights, means, data, backend=backend) for weights, means in estimates]
    result: Array = np.logaddexp.reduce(logs, axis=0) - np.log(len(logs))
    return result

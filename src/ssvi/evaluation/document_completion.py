"""Document completion: see half of each document's words, predict the other half.

The observed half gives the document's topic weights theta; each held-out word then has probability theta . beta_w. It
is the predictive probability of words given words, not the marginal probability of a document.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.backends.base import Backend
from ssvi.backends.threads import Threads
from ssvi.batches.documents import Documents
from ssvi.evaluation.held_out import HeldOut
from ssvi.evaluation.tokens import check_topics
from ssvi.local_steps.base import LocalStep
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.local_steps.lda.mean_field import MeanField
from ssvi.models.lda import LDA
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import Keys, derive_key, uniform
from ssvi.typing import Array


@kernel
def _split_tokens(
    indptr: npt.NDArray[np.int64], counts: npt.NDArray[np.int64], keys: Keys, observed: npt.NDArray[np.int64]
) -> None:
    """Choose half of each document's tokens (rounded down) at random; fill in how many of each entry are chosen."""
    for d in range(indptr.size - 1):
        state = keys[d]
        left = 0
        for i in range(indptr[d], indptr[d + 1]):
            left += counts[i]
        wanted = left // 2
        for i in range(indptr[d], indptr[d + 1]):
            for _ in range(counts[i]):
                chance, state = uniform(state)
                if chance * left < wanted:
                    observed[i] += 1
                    wanted -= 1
                left -= 1


@kernel
def _predict(
    indptr: npt.NDArray[np.int64],
    words: npt.NDArray[np.integer],
    counts: npt.NDArray[np.float64],
    theta: Array,
    by_word: Array,
    log_probability: Array,
) -> None:
    """Sum n_i log(theta_d . beta_i) over each document's entries."""
    for d in range(indptr.size - 1):
        total = 0.0
        for i in range(indptr[d], indptr[d + 1]):
            if counts[i] > 0:
                total += counts[i] * np.log(np.dot(theta[d], by_word[words[i]]))
        log_probability[d] = total


@kernel
def _toss_coins(indptr: npt.NDArray[np.int64], keys: Keys, heads: npt.NDArray[np.bool_]) -> None:
    """Toss a coin for each entry."""
    for d in range(indptr.size - 1):
        state = keys[d]
        for i in range(indptr[d], indptr[d + 1]):
            chance, state = uniform(state)
            heads[i] = chance < 0.5


def split_documents(documents: Documents, seed: int) -> tuple[Documents, Documents]:
    """Split each document into an observed and a held-out half.

    Whole counts are split token by token, half of them (rounded down) observed. With fractions there are no tokens:
    there each word of a document goes to one side or the other, with equal chances. The split depends on the seed and
    the document's content alone.
    """
    tight = documents.tight()
    keys = tight.content_keys(derive_key(seed, "split"))
    if Gibbs.suits(tight):
        counts = tight.counts.astype(np.int64)
        observed = np.zeros_like(counts)
        _split_tokens(tight.indptr, counts, keys, observed)
        held_out = counts - observed
    else:
        heads = np.empty(len(tight.words), dtype=np.bool_)
        _toss_coins(tight.indptr, keys, heads)
        observed, held_out = np.where(heads, tight.counts, 0.0), np.where(heads, 0.0, tight.counts)
    return (
        Documents(tight.indptr, tight.words, observed, tight.n_words),
        Documents(tight.indptr, tight.words, held_out.astype(np.float64), tight.n_words),
    )


def document_completion(
    topics: Array,
    alpha: Array,
    documents: Any,
    *,
    seed: int = 0,
    local_step: LocalStep | None = None,
    backend: Backend | None = None,
) -> HeldOut:
    """Return the log probability of half of each document's words given the other half.

    Parameters
    ----------
    topics : (K, V)
        A point estimate of beta, such as E_q[beta]; rows sum to 1.
    alpha : (K,)
        The prior of theta.
    documents : Documents, or a documents x words matrix of counts
        What is held out from training.
    seed : int
        Which half is observed.
    local_step : LocalStep, optional
        How theta is found from the observed half. By default its posterior mean by Gibbs sampling, the average of 100
        sweeps after 20 (noise in theta then lowers scores by about 0.003), or mean-field where counts are not whole.
    backend : Backend, optional
        Where it runs; the figures do not depend on it.

    """
    documents = Documents.of(documents)
    topics, alpha = np.asarray(topics, dtype=float), np.asarray(alpha, dtype=float)
    check_topics(topics, alpha, documents)
    if local_step is None:
        local_step = Gibbs(sweeps=120, kept=100) if Gibbs.suits(documents) else MeanField()
    local_step.check(documents)
    with np.errstate(divide="ignore"):  # a topic may lack a word
        views = {"topics": np.log(topics)}
    model = LDA(topics.shape[1], alpha, eta=1.0)
    return complete_documents(topics, documents, local_step, model, views, seed=seed, backend=backend)


def complete_documents(
    topics: Array,
    documents: Documents,
    local_step: LocalStep,
    model: Any,
    views: Mapping[str, Array],
    *,
    seed: int = 0,
    backend: Backend | None = None,
) -> HeldOut:
    """Do what `document_completion` does for any model of topics, by a local step that finds `weights`."""
    observed, held_out = split_documents(documents, seed)
    keys = observed.content_keys(derive_key(seed, "completion"))
    theta = (backend or Threads()).map_local(local_step, model, views, observed, keys)["weights"]
    log_probability = np.empty(len(documents))
    by_word = np.ascontiguousarray(topics.T)
    _predict(held_out.indptr, held_out.words, held_out.counts, theta, by_word, log_probability)
    return HeldOut(log_probability, held_out.lengths())

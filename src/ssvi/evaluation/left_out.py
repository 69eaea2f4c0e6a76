"""Scores of training documents by the topics that there would be had the fit not seen them.

A document that was fitted is in the topics: what it holds of lambda is about how often each of its words has each
topic, times what its statistics count in the fit's path. Taken away, its words are predicted nearly as those of a
document that was held out (leave one out, to first order), and no document has to be kept from the fit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.backends.workers import Workers
from ssvi.batches.documents import Documents
from ssvi.evaluation.document_completion import split_documents
from ssvi.evaluation.held_out import HeldOut
from ssvi.local_steps.lda.cvb0 import update_entry
from ssvi.numerics.compile import kernel
from ssvi.numerics.vectors import dot
from ssvi.typing import Array

_ROUNDS = 3  # of CVB0 on a document: with more, scores are a little higher, by as much after every pass
_SHARD = 64  # documents


@kernel
def _count_topics(
    topics: npt.NDArray[Any],
    counts: Array,
    alpha: npt.NDArray[Any],
    shares: npt.NDArray[Any],
    expected: npt.NDArray[Any],
    fresh: npt.NDArray[Any],
    rounds: int,
) -> None:
    """Find q(z) of each of a document's words by CVB0, given each one's row of topics; fill in expected counts."""
    expected[:] = 0.0
    shares[:] = 0.0
    for _ in range(rounds):
        for i in range(counts.size):
            if counts[i] > 0:
                update_entry(topics[i], counts[i], alpha, expected, shares[i], fresh)


@kernel
def _leave_out(
    words: npt.NDArray[np.int64],
    observed: Array,
    held_out: Array,
    by_word: Array,
    prior: Array,
    sizes: Array,
    alpha: npt.NDArray[Any],
    indptr: npt.NDArray[np.int64],
    influence: Array,
    rounds: int,
    log_probability: Array,
) -> None:
    """Fill in each document's log probability of its held-out half, given the other one and topics without it."""
    n_topics, longest, for_each = alpha.size, 0, int(prior.shape[1] > 1)  # eta may be one for all words, or topics
    for d in range(indptr.size - 1):
        longest = max(longest, indptr[d + 1] - indptr[d])
    topics, shares = np.empty((longest, n_topics), np.float32), np.empty((longest, n_topics), np.float32)
    left, sizes_left = np.empty((longest, n_topics)), np.empty(n_topics)
    expected, fresh = np.empty(n_topics, np.float32), np.empty(n_topics, np.float32)
    for d in range(indptr.size - 1):
        start, stop = indptr[d], indptr[d + 1]
        own, own_shares = topics[: stop - start], shares[: stop - start]
        for i in range(start, stop):
            for k in range(n_topics):
                own[i - start, k] = by_word[words[i], k] / sizes[k]
        counts = observed[start:stop] + held_out[start:stop]
        _count_topics(own, counts, alpha, own_shares, expected, fresh, rounds)
        sizes_left[:] = sizes
        for i in range(start, stop):
            taken = influence[d] * counts[i - start]
            row = words[i] if prior.shape[0] > 1 else 0
            for k in range(n_topics):
                before = by_word[words[i], k]
                left[i - start, k] = max(
                    before - taken * own_shares[i - start, k], min(before, prior[row, k * for_each])
                )
                sizes_left[k] -= before - left[i - start, k]
        for i in range(stop - start):
            for k in range(n_topics):
                own[i, k] = left[i, k] / sizes_left[k]
        _count_topics(own, observed[start:stop], alpha, own_shares, expected, fresh, rounds)
        expected += alpha
        expected /= expected.sum()
        total = 0.0
        for i in range(start, stop):
            if held_out[i] > 0:
                total += held_out[i] * np.log(dot(expected, own[i - start]))
        log_probability[d] = total


class LeftOut:
    """Training documents that are scored as if the fit had not seen them, each without itself.

    Parameters
    ----------
    documents : Documents
        Some that topics are fitted to.
    seed : int
        Which half of each document is observed.

    """

    def __init__(self, documents: Documents, seed: int = 0) -> None:
        observed, held_out = split_documents(documents, seed)
        self._words, self._places = np.unique(observed.words, return_inverse=True)
        self._observed, self._held_out = observed.counts.astype(float), held_out.counts
        self._indptr, self._lengths = observed.indptr, held_out.lengths()

    @property
    def n_words(self) -> float:
        """How many words are predicted."""
        return float(self._lengths.sum())

    def score(
        self,
        topics: Array,
        prior: float | Array,
        alpha: Array,
        influence: Array | None = None,
        *,
        workers: Workers | None = None,
    ) -> HeldOut:
        """Return the log probability of half of each document's words given the other half, by topics without it.

        Parameters
        ----------
        topics : (K, V)
            lambda, the Dirichlet parameters of the topics.
        prior : float, (V,) or (K, V)
            eta.
        alpha : (K,)
            The prior of a document's topic weights.
        influence : (documents,), optional
            How often each one's statistics count in lambda; once by default.
        workers : Workers, optional
            The threads that share the work; the figures do not depend on them.

        """
        of_words, prior = np.ascontiguousarray(topics[:, self._words].T), np.atleast_2d(np.asarray(prior, dtype=float))
        prior_of_words = np.ascontiguousarray((prior[:, self._words] if prior.size > 1 else prior).T)
        sizes, alpha = topics.sum(axis=1), np.asarray(alpha, dtype=np.float32)
        influence = np.ones(len(self._lengths)) if influence is None else np.asarray(influence, dtype=float)
        log_probability = np.empty(len(self._lengths))

        def fill(start: int) -> None:
            own = slice(start, start + _SHARD)
            _leave_out(
                self._places, self._observed, self._held_out, of_words, prior_of_words, sizes, alpha,
                self._indptr[start : start + _SHARD + 1], influence[own], _ROUNDS, log_probability[own],
            )  # fmt: skip

        (workers or Workers()).each(fill, range(0, len(self._lengths), _SHARD))
        return HeldOut(log_probability, self._lengths)

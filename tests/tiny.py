"""Models small enough to enumerate: the exact answers that fast code is held to."""

import functools
import itertools

import numpy as np
from scipy import special

from ssvi.batches.documents import Documents


@functools.cache
def _assignments(n_topics, n_tokens):
    """Return every assignment of topics to tokens, one-hot: assignments x tokens x topics."""
    every = np.array([*itertools.product(range(n_topics), repeat=n_tokens)], dtype=int)
    return np.eye(n_topics)[every.reshape(n_topics**n_tokens, n_tokens)]


def log_topic_sequence_prior(tally, alpha):
    """log p(z) with theta integrated out: a Dirichlet-multinomial over sequences z with these numbers of each topic."""
    return (
        special.gammaln(alpha.sum())
        - special.gammaln(alpha.sum() + tally.sum(axis=-1))
        + (special.gammaln(alpha + tally) - special.gammaln(alpha)).sum(axis=-1)
    )


def enumerate_document(tokens, beta, alpha):
    """Return log p(w | beta) and E[eta_n | w, beta] (topics x words), summing over all K^n assignments.

    Many beta at once may lie along leading axes, on which the answers then have theirs.
    """
    tokens = np.asarray(tokens, dtype=int)
    chosen = _assignments(beta.shape[-2], len(tokens))
    factors = np.einsum("ank,...kn->...an", chosen, beta[..., tokens])
    logs = log_topic_sequence_prior(chosen.sum(axis=1), alpha) + np.log(factors).sum(axis=-1)
    total = special.logsumexp(logs, axis=-1)
    of_tokens = np.einsum("...a,ank->...kn", np.exp(logs - total[..., None]), chosen)
    return total, of_tokens @ np.eye(beta.shape[-1])[tokens]


def pairs_of_topics(first, second):
    """Return both topics over two words (topics x words) for each pair of probabilities of the first word."""
    p = np.stack(np.meshgrid(first, second, indexing="ij"), axis=-1)
    return np.stack([p, 1 - p], axis=-1)


def bag(token_lists, n_words):
    """Return documents given as lists of word numbers."""
    counts = np.array([np.bincount(np.array(tokens, dtype=int), minlength=n_words) for tokens in token_lists])
    return Documents.from_matrix(counts)

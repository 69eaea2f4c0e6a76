"""Models small enough to enumerate: the exact answers that fast code is held to."""

import itertools

import numpy as np
from scipy import special

from ssvi.batches.documents import Documents


def log_topic_sequence_prior(assignment, alpha):
    """log p(z) with theta integrated out: a Dirichlet-multinomial over the sequence z."""
    tally = np.bincount(assignment, minlength=len(alpha))
    return (
        special.gammaln(alpha.sum())
        - special.gammaln(alpha.sum() + len(assignment))
        + (special.gammaln(alpha + tally) - special.gammaln(alpha)).sum()
    )


def enumerate_document(tokens, beta, alpha):
    """Return log p(w | beta) and E[eta_n | w, beta] (topics x words), summing over all K^n assignments."""
    n_topics, n_words = beta.shape
    logs, counts = [], []
    for assignment in itertools.product(range(n_topics), repeat=len(tokens)):
        z = np.array(assignment, dtype=int)
        logs.append(log_topic_sequence_prior(z, alpha) + np.log(beta[z, tokens]).sum())
        count = np.zeros((n_topics, n_words))
        np.add.at(count, (z, tokens), 1.0)
        counts.append(count)
    total = special.logsumexp(logs)
    return total, np.tensordot(np.exp(np.array(logs) - total), np.array(counts), axes=1)


def bag(token_lists, n_words):
    """Return documents given as lists of word numbers."""
    counts = np.array([np.bincount(np.array(tokens, dtype=int), minlength=n_words) for tokens in token_lists])
    return Documents.from_matrix(counts)

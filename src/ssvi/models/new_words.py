"""Topics over another vocabulary: words that are new to a fit, and topics that another fit has found."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ssvi.models.lda import LDA
from ssvi.typing import Array

BLOCK = "topics"
_COUNTS = 1.0  # of an unseen word in a topic of mean size, as at the start of a fit


def unseen(lam: Array, prior: Array) -> Array:
    """Return lambda of words that no document has had yet, of which eta is `prior` (K x new words).

    The expected probability of such a word is the same in all topics, about that of one count: where it belongs is then
    told by the documents that it is first seen in. At lambda = eta a draw would tell it instead: one with a shape of
    0.02 is hundreds of nats away from another, and the first topic to get the word would keep it. What is not borne out
    by documents shrinks to eta with the steps to come.

    Parameters
    ----------
    lam : (K, V)
        lambda of the words that are known.
    prior : (K, words)
        eta of the new ones, which lambda is nowhere below.

    """
    totals = lam.sum(axis=1, keepdims=True)
    result: Array = np.maximum(_COUNTS * totals / totals.mean(), prior)
    return result


def taken_over(lam: Array, places: npt.NDArray[np.int64], model: LDA, start: Array, n_tokens: float) -> Array:
    """Return lambda^(0) that begins with another model's topics.

    They come with the counts that they have, but with no more in all than the data has: a model of much data would
    otherwise outweigh a little for a long time. Of more topics than there is room for, the largest are taken.

    Parameters
    ----------
    lam : (K', V')
        The other model's lambda.
    places : (V,)
        The column there of each of our words; -1 for those that it has not.
    model : LDA
        Ours.
    start : (K, V)
        lambda^(0) at random, of the topics that the other model has not.
    n_tokens : float
        How many words the data has.

    """
    n_topics = min(len(lam), len(start))
    largest = np.sort(np.argsort(-lam.sum(axis=1), kind="stable")[:n_topics])
    prior = np.broadcast_to(model.blocks()[BLOCK].prior, start.shape)[:n_topics]
    known, result = places >= 0, start.copy()
    old = lam[largest][:, places[known]]
    result[:n_topics, known] = np.maximum(old * min(1.0, n_tokens / old.sum()), prior[:, known])
    result[:n_topics, ~known] = unseen(old, prior[:, ~known])
    return result

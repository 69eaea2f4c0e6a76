"""Topic quality: whether a topic's top words occur together in a reference corpus, and whether topics differ.

The measures are those of Mimno et al. 2011 (UMass), Bouma 2009 (NPMI) and Roeder et al. 2015 (C_v), as gensim computes
them. All of them need only how many contexts hold a word, and how many hold two: a context is a document, or a window
that slides over a sequence of tokens. (gensim's windows lose a word that is still inside when an earlier copy of it
drops out. Here it stays, so figures differ a little where words repeat within a window.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ssvi.batches.documents import Documents
from ssvi.batches.sources import Source
from ssvi.typing import Array

Words = npt.NDArray[np.int64]
_EPSILON = 1e-12
_AT_ONCE = 50  # topics whose words are looked for together


@dataclass(frozen=True)
class Occurrences:
    """How often some words occur, alone and in pairs.

    Attributes
    ----------
    words : (W,) integers, sorted
        The words counted.
    joint : (W, W)
        The number of contexts with both words; on the diagonal, with the word.
    n_contexts : int
        The number of contexts.

    """

    words: Words
    joint: Array
    n_contexts: int

    def of(self, topic: Words) -> Array:
        """Return the shares of contexts with each pair of a topic's words."""
        places = np.searchsorted(self.words, topic)
        if np.any(places >= len(self.words)) or np.any(self.words[np.minimum(places, len(self.words) - 1)] != topic):
            raise ValueError("a topic has words that were not counted: count occurrences of every topic's words.")
        shares: Array = self.joint[np.ix_(places, places)] / self.n_contexts
        return shares


def top_words(topics: Array, n: int = 10) -> Words:
    """Return the n most probable words of each topic, the most probable first: topics x n."""
    if not 1 <= n <= topics.shape[1]:
        raise ValueError(f"n must be from 1 to {topics.shape[1]}, the number of words, not {n!r}.")
    return np.argsort(-topics, axis=1, kind="stable")[:, :n].astype(np.int64)


def document_occurrences(documents: Any, tops: Words) -> Occurrences:
    """Count in which documents of a bag-of-words corpus (Documents, or a matrix of counts) the topics' words occur."""
    if isinstance(documents, Source):
        words = np.unique(tops)
        joint = np.zeros((len(words), len(words)))
        for _, own in documents.chunks():
            joint += document_occurrences(own, tops).joint
        return Occurrences(words, joint, len(documents))
    documents = Documents.of(documents)
    words, tight = np.unique(tops), documents.tight()
    if words[-1] >= documents.n_words:
        raise ValueError(f"word {words[-1]} is outside the reference corpus's vocabulary of {documents.n_words} words.")
    present = sparse.csr_array((np.ones(len(tight.words)), tight.words, tight.indptr), (len(tight), tight.n_words))
    chosen = present[:, words]
    return Occurrences(words, (chosen.T @ chosen).toarray(), len(tight))


def window_occurrences(texts: Iterable[Sequence[int]], tops: Words, window: int) -> Occurrences:
    """Count in which windows of `window` tokens the topics' words occur; a shorter text is one window."""
    if window < 1:
        raise ValueError(f"window must be 1 or more, not {window!r}.")
    words = np.unique(tops)
    joint, n_contexts = np.zeros((len(words), len(words))), 0
    for text in texts:
        tokens = np.asarray(text, dtype=np.int64)
        n_windows = max(1, len(tokens) - window + 1)
        n_contexts += n_windows
        positions = np.flatnonzero(np.isin(tokens, words))
        own, columns = np.unique(tokens[positions], return_inverse=True)
        # Token i lies in the windows that begin at i - window + 1, ..., i: +1 at the first, -1 after the last.
        edges = np.zeros((n_windows + 1, len(own)))
        np.add.at(edges, (np.maximum(positions - window + 1, 0), columns), 1)
        np.add.at(edges, (np.minimum(positions, n_windows - 1) + 1, columns), -1)
        inside = (np.cumsum(edges[:-1], axis=0) > 0).astype(float)
        places = np.searchsorted(words, own)
        joint[np.ix_(places, places)] += inside.T @ inside
    return Occurrences(words, joint, n_contexts)


def umass(tops: Words, occurrences: Occurrences) -> Array:
    """Return each topic's mean of log p(w_i | w_j) over pairs with w_j the more probable; 0 is the best."""
    scores = []
    for topic in tops:
        shares = occurrences.of(topic)
        later, earlier = np.tril_indices(len(topic), -1)
        base = np.diag(shares)[earlier]
        if np.any(base == 0):
            raise ValueError("a topic has a word that the reference corpus does not have: UMass is not defined there.")
        scores.append(np.log((shares[later, earlier] + _EPSILON) / base).mean())
    return np.array(scores)


def npmi(tops: Words, occurrences: Occurrences) -> Array:
    """Return each topic's mean normalised pointwise mutual information over pairs: from -1, never, to 1, always."""
    return np.array([_npmi_matrix(occurrences.of(topic))[np.tril_indices(len(topic), -1)].mean() for topic in tops])


def document_npmi(tops: Words, documents: Any) -> Array | None:
    """Return each topic's NPMI over a bag-of-words corpus; None where a word is in none of its documents."""
    try:
        parts = [
            npmi(own, document_occurrences(documents, own))
            for own in (tops[start : start + _AT_ONCE] for start in range(0, len(tops), _AT_ONCE))
        ]
    except ValueError:
        return None
    return np.concatenate(parts)


def mean_npmi(tops: Words, documents: Any) -> float | None:
    """Return the mean of `document_npmi`."""
    found = document_npmi(tops, documents)
    return None if found is None else float(found.mean())


def c_v(tops: Words, occurrences: Occurrences) -> Array:
    """Return each topic's C_v: the mean cosine between a word's NPMI vector and the sum of all its words' vectors.

    Its authors take windows of 110 tokens.
    """
    scores = []
    for topic in tops:
        vectors = _npmi_matrix(occurrences.of(topic))
        whole = vectors.sum(axis=0)
        norms = np.linalg.norm(vectors, axis=1) * np.linalg.norm(whole)
        scores.append((vectors @ whole / norms).mean())
    return np.array(scores)


def topic_diversity(tops: Words) -> float:
    """Return the share of distinct words among all topics' top words: 1 if no two topics share one."""
    return len(np.unique(tops)) / tops.size


def _npmi_matrix(shares: Array) -> Array:
    """Return log(p_ij / (p_i p_j)) / -log p_ij for all pairs of words."""
    single = np.diag(shares)
    if np.any(single == 0):
        raise ValueError("a topic has a word that the reference corpus does not have: NPMI is not defined there.")
    together = shares + _EPSILON
    result: Array = np.log(together / np.outer(single, single)) / -np.log(together)
    return result

"""Telling components apart: the words that set each apart, a short label, and marks of those that say little.

A component here is a row of weights over columns, such as the probabilities of words in a topic, and has a share of
the data. Nothing else is known of it, so that every model's components can be told apart in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.models.merging import ALIKE, cosines
from ssvi.typing import Array

RELEVANCE = 0.6
"""How much probability counts against lift: what Sievert and Shirley found that people like best."""
JUNK = 1.0 / 3.0
"""Below this part of the usual divergence from all others, the median, a component says nothing of its own."""
DUST = 0.05
"""Below this part of an even share a component has next to nothing."""
COMMON = (3.0, 0.2)
"""So many even shares, and such a part of all the data, have a topic of what documents have in common."""
MARKS = {"junk": "a mix of all the others", "dust": "hardly any of the data", "common": "what most documents have"}
"""What marks mean, in the words of the report."""

_WORDS = 3  # of a label
_CANDIDATES = 12  # among which a label finds words that do not repeat each other
_LONGEST = 24  # letters of a word in a label
_NUMBERED = re.compile(r" \(\d+(?:\.\d+)?\)$")  # how a label ends that would be another's as well


def relevance(row: Array, overall: Array, weight: float = RELEVANCE) -> Array:
    """Return Sievert and Shirley's relevance: weight log p + (1 - weight) log(p / overall)."""
    log_row = np.log(np.maximum(row, 1e-300))
    result: Array = log_row - (1.0 - weight) * np.log(np.maximum(overall, 1e-300))
    return result


def overall_weights(topics: Array, weights: Array) -> Array:
    """Return the weights of the columns in all the data: the components' mean, by their shares."""
    shares = np.asarray(weights, dtype=float)
    result: Array = shares @ np.asarray(topics) / max(float(shares.sum()), 1e-300)
    return result


def distinctive_columns(topics: Array, weights: Array, n: int, relevance_: float = RELEVANCE) -> npt.NDArray[np.int64]:
    """Return each component's n columns of most relevance, the first first: components x n."""
    _check(topics, weights)
    if not 0.0 <= relevance_ <= 1.0:
        raise ValueError(f"relevance must be from 0 to 1, not {relevance_!r}.")
    if n < 1:
        raise ValueError(f"n must be 1 or more, not {n!r}.")
    overall, n = overall_weights(topics, weights), min(n, topics.shape[1])
    return np.array([first(relevance(row, overall, relevance_), n) for row in topics], dtype=np.int64)


def distinctive_words(
    topics: Array, weights: Array, words: Sequence[str], n: int = 10, relevance: float = RELEVANCE
) -> list[list[str]]:
    """Return the n words that tell each component from the others best, the best first.

    Parameters
    ----------
    topics : (K, columns)
        The components' weights of the columns, such as probabilities of words.
    weights : (K,)
        The components' shares of the data.
    words : sequence of str
        The columns' names.
    n : int
        How many words of each.
    relevance : float
        1 takes the most probable words, 0 those whose probability is largest beside that in all the data.

    Returns
    -------
    list of lists of str

    Examples
    --------
    >>> topics = np.array([[0.6, 0.4, 0.0], [0.6, 0.0, 0.4]])
    >>> distinctive_words(topics, np.array([0.5, 0.5]), ["the", "oil", "film"], 1)
    [['oil'], ['film']]
    >>> distinctive_words(topics, np.array([0.5, 0.5]), ["the", "oil", "film"], 1, relevance=1.0)
    [['the'], ['the']]

    """
    _check(topics, weights, words)
    return [[words[v] for v in row] for row in distinctive_columns(topics, weights, n, relevance)]


def labels(
    topics: Array, weights: Array, words: Sequence[str], given: Sequence[str] | None = None, n: int = _WORDS
) -> list[str]:
    """Return a short label for each component, no two the same: its most distinctive words.

    A word that only repeats one before it (its plural, a part of a phrase) is passed over. Where two components would
    have the same label, the smaller takes further words.

    Parameters
    ----------
    topics, weights, words
        As for `distinctive_words`.
    given : sequence of str, optional
        Labels that a person chose, one for each component; an empty one stands for none.
    n : int
        How many words a label has.

    Examples
    --------
    >>> topics = np.array([[0.5, 0.3, 0.2, 0.0], [0.0, 0.0, 0.4, 0.6]])
    >>> labels(topics, np.array([0.7, 0.3]), ["film", "films", "actor", "oil"], n=2)
    ['film, actor', 'oil, actor']

    """
    _check(topics, weights, words)
    first = distinctive_columns(topics, weights, max(n, _CANDIDATES))
    kept = [_above_zero(topics[k], columns) for k, columns in enumerate(first)]
    return distinct([[words[v] for v in columns] for columns in kept], weights, given, n)


def distinct(
    ranked: Sequence[Sequence[str]], weights: Array, given: Sequence[str] | None = None, n: int = _WORDS
) -> list[str]:
    """Return labels of n words each out of the components' words in their order; the larger component chooses first."""
    if given is not None and len(given) != len(ranked):
        raise ValueError(f"there are {len(given):,} labels for {len(ranked):,} components.")
    result = [""] * len(ranked) if given is None else [str(text).strip() for text in given]
    taken = {text for text in result if text}
    for k in np.argsort(-np.asarray(weights), kind="stable"):
        if not result[k]:
            own = list(without_repeats(ranked[k])) or ["nothing"]
            result[k] = next(text for text in _attempts(own, n, int(k)) if text not in taken)
            taken.add(result[k])
    return result


def is_in(word: str, label: str) -> bool:
    """Tell whether a label that was made of words has one of them.

    >>> is_in("oil", "oil, price"), is_in("price", "oil, price (7)"), is_in("ice", "oil, price")
    (True, True, False)
    """
    return f", {_shortened(word)}, " in f", {_NUMBERED.sub('', label)}, "


def beside(label: str, words: Sequence[str], *, given: bool) -> list[str]:
    """Return the words to show beside a label, which are not to be read twice.

    Beside a label that was made of words these are the ones that it has not; beside one that a person gave, all.

    >>> beside("oil, price", ["oil", "price", "barrel"], given=False), beside("Energy", ["oil", "price"], given=True)
    (['barrel'], ['oil', 'price'])
    """
    return [word for word in words if given or not is_in(word, label)]


def worth_reading_first(
    topics: Array, weights: Array, marked: Sequence[Sequence[str]], coherence: Sequence[float | None] | None = None
) -> int:
    """Return the component to begin with: a large one that nothing is said against, coherent and unlike the others.

    The larger half is large. Where coherence is not known, only divergence from the others counts. If something is said
    against all of the larger half, it is the largest component.

    Parameters
    ----------
    topics, weights
        As for `distinctive_words`, the largest component first.
    marked : lists of str
        What is said against each (`marks`).
    coherence : sequence of float, optional
        How often the first words of each occur together, from -1 to 1; None where that is not known.

    Examples
    --------
    >>> topics = np.array([[0.4, 0.3, 0.3], [0.9, 0.1, 0.0], [0.0, 0.1, 0.9]])
    >>> worth_reading_first(topics, np.array([0.6, 0.2, 0.2]), [["common"], [], []])
    1

    """
    _check(topics, weights)
    apart = divergence_from_others(topics, weights)
    known = [0.0] * len(topics) if coherence is None else [0.0 if own is None else own for own in coherence]
    good = [k for k in range((len(topics) + 2) // 2) if k < len(topics) and not marked[k]]
    return max(good, key=lambda k: (apart[k] + known[k], -k), default=0)


def without_repeats(words: Iterable[str]) -> Iterator[str]:
    """Pass over words that only repeat one before them: another ending, or a part of a phrase or the whole of it.

    >>> list(without_repeats(["price", "oil", "prices", "oil price", "pricing", "film"]))
    ['price', 'oil', 'pricing', 'film']
    """
    seen: list[str] = []
    for word in words:
        if not any(_repeats(word, other) for other in seen):
            seen.append(word)
            yield word


def marks(topics: Array, weights: Array, numbers: Sequence[int] | None = None) -> list[list[str]]:
    """Return what is to be said against each component: `junk`, `dust`, `common`, `copy of #n`; nothing against most.

    `junk` is much closer to all others taken together than is usual, `dust` has next to no share of the data, `common`
    several times an even one and a large part of it all, and a copy has a cosine above 0.9 with a larger component.

    Parameters
    ----------
    topics, weights
        As for `distinctive_words`.
    numbers : sequence of int, optional
        What the components are called in `copy of #n`; by default their places.

    Examples
    --------
    >>> topics = np.array([[0.9, 0.1, 0.0], [0.0, 0.1, 0.9], [0.88, 0.12, 0.0]])
    >>> marks(topics, np.array([0.5, 0.4, 0.1]))
    [[], [], ['copy of #0']]

    """
    _check(topics, weights)
    called = range(len(topics)) if numbers is None else numbers
    originals, apart = copies(topics, weights), divergence_from_others(topics, weights)
    junk = apart < JUNK * np.median(apart)
    dust = np.asarray(weights) < DUST * np.sum(weights) / len(topics)
    common = np.asarray(weights) > max(COMMON[0] / len(topics), COMMON[1]) * np.sum(weights)
    result: list[list[str]] = []
    for k, original in enumerate(originals):
        held = {"dust": dust[k], "junk": junk[k] and not dust[k], "common": common[k]}
        own = [name for name, holds in held.items() if holds]
        result.append(own if original is None else [*own, f"copy of #{called[original]}"])
    return result


def copies(topics: Array, weights: Array, above: float = ALIKE) -> list[int | None]:
    """Return, for each component, the larger one that it is a copy of, the nearest of them; None for most.

    Of components of one size the first is the original.
    """
    alike, shares = cosines(topics), np.asarray(weights)
    result: list[int | None] = []
    for k in range(len(topics)):
        larger = np.flatnonzero((shares > shares[k]) | ((shares == shares[k]) & (np.arange(len(shares)) < k)))
        near = larger[alike[k, larger] > above]
        result.append(int(near[alike[k, near].argmax()]) if len(near) else None)
    return result


def with_arrow(name: str, sign: int) -> str:
    """Return a column's name with an arrow: whether a mean is above that of all the data or below it.

    >>> with_arrow("height", 1), with_arrow("weight", -1)
    ('height ↑', 'weight ↓')
    """
    return f"{name} {'↑' if sign > 0 else '↓'}"


def divergence_from_others(topics: Array, weights: Array) -> Array:
    """Return the Jensen-Shannon divergence, in bits, of each component from all others taken together."""
    rows = topics / np.maximum(topics.sum(axis=1, keepdims=True), 1e-300)
    shares = np.asarray(weights, dtype=float)
    if len(rows) < 2:
        return np.ones(len(rows))
    total = shares @ rows
    result = np.empty(len(rows))
    for k, row in enumerate(rows):
        others = np.maximum(total - shares[k] * row, 0.0)
        others = others / max(float(others.sum()), 1e-300)
        between = _bits(0.5 * (row + others)) - 0.5 * (_bits(row) + _bits(others))
        result[k] = max(between, 0.0)
    return result


def first(values: Array, n: int) -> npt.NDArray[np.int64]:
    """Return where the n largest are, the largest first, without sorting all of a large vocabulary."""
    if n < len(values):
        threshold = np.partition(values, len(values) - n)[len(values) - n]
        among = np.flatnonzero(values >= threshold)
    else:
        among = np.arange(len(values))
    return among[np.argsort(-values[among], kind="stable")][:n].astype(np.int64)


def _bits(row: Array) -> float:
    """Return the entropy in bits."""
    positive = row[row > 0]
    return float(-(positive * np.log2(positive)).sum())


def _above_zero(row: Array, columns: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    kept = columns[row[columns] > 0]
    return kept if len(kept) else columns[:1]


def _repeats(word: str, other: str) -> bool:
    """Tell whether a word says what another said: one is in the other as words, or they differ in a short ending."""
    short, long = sorted((word.lower(), other.lower()), key=len)
    if f" {short} " in f" {long.replace('_', ' ')} ":
        return True
    return len(short) >= 4 and long.startswith(short) and len(long) - len(short) <= 2


def _shortened(word: str) -> str:
    """Return a word that is no longer than fits into a label; an arrow at its end says which way a mean lies.

    >>> _shortened("od280/od315_of_diluted_wines ↓")
    'od280/od315_of_dilute… ↓'
    """
    if len(word) <= _LONGEST:
        return word
    arrow = word[-2:] if word.endswith((" ↑", " ↓")) else ""
    return word[: _LONGEST - 1 - len(arrow)] + "…" + arrow


def _attempts(words: list[str], n: int, k: int) -> Iterator[str]:
    """Return labels to try: n words, then more of them, then n and a number."""
    cut = [_shortened(word) for word in words]
    for count in range(min(n, len(cut)), len(cut) + 1):
        yield ", ".join(cut[:count])
    start = ", ".join(cut[:n])
    yield f"{start} ({k})"
    number = 2
    while True:
        yield f"{start} ({k}.{number})"
        number += 1


def _check(topics: Any, weights: Any, words: Sequence[str] | None = None) -> None:
    if np.ndim(topics) != 2 or len(topics) != len(weights):
        raise ValueError(f"topics of shape {np.shape(topics)} do not go with {len(weights):,} weights.")
    if words is not None and len(words) != topics.shape[1]:
        raise ValueError(f"there are {len(words):,} words for {topics.shape[1]:,} columns.")

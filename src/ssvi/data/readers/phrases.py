"""Phrases: words that stand next to each other more often than by chance, found by two statistics of their counts.

Of all pairs of neighbours in the text, k have a first and b second, r have a first, c have b second, and n there are.
The normalised pointwise mutual information log(k n / (r c)) / -log(k / n) (Bouma 2009) says how closely a and b belong
together, from -1 to 1; Dunning's log-likelihood ratio (1993), how sure that is. A phrase has enough of both. The first
alone would take every two words that were seen together once.

Stop words part neighbours: "bank of england" has no pair. Pairs that were found become one word, and the next round
finds pairs of those: "new york", then "new york times".
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.typing import Array

Numbers = npt.NDArray[np.uint32]
_Keys = npt.NDArray[np.uint64]
_AT_ONCE = 1 << 22  # tokens whose pairs are sorted at once
_SHIFT = np.uint64(32)
_LOW = np.uint64(2**32 - 1)


@dataclass(frozen=True)
class PhraseRule:
    """What makes two neighbours a phrase.

    Attributes
    ----------
    least_count : int
        How often they must stand together.
    least_npmi : float
        How closely they must belong together: 0 is chance, 1 never apart.
    least_likelihood : float
        How large Dunning's log-likelihood ratio must be; 10.8 comes by chance once in a thousand.
    rounds : int
        How often pairs are looked for: twice for phrases of up to four words.

    """

    least_count: int = 10
    least_npmi: float = 0.5
    least_likelihood: float = 10.83
    rounds: int = 2

    def __post_init__(self) -> None:
        if self.least_count < 1 or not 1 <= self.rounds <= 5:
            raise ValueError(
                f"phrases need a least_count of 1 or more, not {self.least_count!r}, and 1 to 5 rounds, "
                f"not {self.rounds!r}."
            )
        if not -1.0 <= self.least_npmi <= 1.0:
            raise ValueError(f"least_npmi must be from -1 to 1, not {self.least_npmi!r}.")


@dataclass(frozen=True)
class FoundPhrases:
    """Phrases that were found: the pairs of each round."""

    rounds: tuple[frozenset[tuple[str, str]], ...]

    def __len__(self) -> int:
        return sum(map(len, self.rounds))

    def merge(self, tokens: Iterable[str]) -> list[str]:
        """Return words with those of each phrase made one, a round after the other, from the left."""
        merged = list(tokens)
        for pairs in self.rounds:
            merged = _merge(merged, pairs)
        return merged

    def plain(self) -> list[list[list[str]]]:
        """Return the pairs as plain values for a file, in an order that is always the same."""
        return [[list(pair) for pair in sorted(pairs)] for pairs in self.rounds]

    @classmethod
    def from_plain(cls, plain: Any, most: int) -> FoundPhrases:
        """Return what `plain` gave, which may come from a file of anybody's making; at the most so many."""
        sound = isinstance(plain, list) and len(plain) <= 5 and all(isinstance(pairs, list) for pairs in plain)
        if not sound or sum(map(len, plain)) > most or not all(_is_pair(pair) for pairs in plain for pair in pairs):
            raise ValueError("its phrases make no sense")
        return cls(tuple(frozenset((first, second) for first, second in pairs) for pairs in plain))


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(word, str) for word in value)


def _merge(tokens: list[str], pairs: frozenset[tuple[str, str]]) -> list[str]:
    result, place, last = [], 0, len(tokens) - 1
    while place <= last:
        if place < last and (tokens[place], tokens[place + 1]) in pairs:
            result.append(f"{tokens[place]} {tokens[place + 1]}")
            place += 2
        else:
            result.append(tokens[place])
            place += 1
    return result


class TokenStore:
    """The words of documents as numbers, four bytes each, in which phrases are found and made one.

    Parameters
    ----------
    is_break : function
        Whether a word is left out, and parts its neighbours.

    """

    def __init__(self, is_break: Callable[[str], bool]) -> None:
        self._is_break = is_break
        self._numbers: dict[str, int] = {}
        self._words = [""]  # that of 0, which parts neighbours
        self._tokens, self._ends = array("I"), array("q", [0])

    def add(self, tokens: Iterable[str]) -> None:
        """Add a document."""
        numbers = self._numbers
        for token in tokens:
            number = numbers.get(token)
            if number is None:
                number = numbers[token] = 0 if self._is_break(token) else len(self._words)
                if number:
                    self._words.append(token)
            self._tokens.append(number)
        self._tokens.append(0)
        self._ends.append(len(self._tokens))

    def find(self, rule: PhraseRule) -> FoundPhrases:
        """Find phrases and make each one word."""
        rounds = []
        tokens, ends = np.frombuffer(self._tokens, np.uint32), np.frombuffer(self._ends, np.int64)
        for _ in range(rule.rounds):
            keys, counts = count_pairs(tokens)
            chosen = keys[_are_phrases(keys, counts, rule)]
            if not len(chosen):
                break
            pairs = [(self._words[key >> 32], self._words[key & 0xFFFFFFFF]) for key in chosen.tolist()]
            tokens, ends = merge_pairs(tokens, ends, chosen, len(self._words))
            self._words.extend(map(" ".join, pairs))
            rounds.append(frozenset(pairs))
        self._found = tokens, ends
        return FoundPhrases(tuple(rounds))

    def documents(self) -> Iterator[list[str]]:
        """Yield the words of each document, after `find`, without those that are left out."""
        (tokens, ends), words = self._found, self._words
        for start, stop in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            yield [words[number] for number in tokens[start:stop].tolist() if number]


def count_pairs(tokens: Numbers) -> tuple[_Keys, npt.NDArray[np.int64]]:
    """Return the pairs of neighbours, sorted, as first * 2^32 + second, and how often each comes; 0 has none."""
    keys, counts = np.zeros(0, np.uint64), np.zeros(0, np.int64)
    waiting: list[tuple[_Keys, npt.NDArray[np.int64]]] = []
    for start in range(0, len(tokens), _AT_ONCE):
        waiting.append(np.unique(_pairs(tokens[start : start + _AT_ONCE + 1]), return_counts=True))
        if sum(len(own) for own, _ in waiting) > len(keys):  # so that each is sorted a few times only
            keys, counts = _added([(keys, counts), *waiting])
            waiting = []
    return _added([(keys, counts), *waiting])


def _pairs(tokens: Numbers) -> _Keys:
    first, second = tokens[:-1], tokens[1:]
    both = (first != 0) & (second != 0)
    result: _Keys = (first[both].astype(np.uint64) << _SHIFT) | second[both]
    return result


def _added(tables: Sequence[tuple[_Keys, npt.NDArray[np.int64]]]) -> tuple[_Keys, npt.NDArray[np.int64]]:
    keys, places = np.unique(np.concatenate([own for own, _ in tables]), return_inverse=True)
    counts = np.zeros(len(keys), np.int64)
    np.add.at(counts, places, np.concatenate([own for _, own in tables]))
    return keys, counts


def _are_phrases(keys: _Keys, counts: npt.NDArray[np.int64], rule: PhraseRule) -> npt.NDArray[np.bool_]:
    first, second = (keys >> _SHIFT).astype(np.int64), (keys & _LOW).astype(np.int64)
    n = float(counts.sum())
    in_first, in_second = (np.bincount(side, counts).astype(np.float64) for side in (first, second))
    enough = counts >= rule.least_count
    together, left, right = counts[enough].astype(float), in_first[first[enough]], in_second[second[enough]]
    result: npt.NDArray[np.bool_] = enough.copy()
    result[enough] = (npmi(together, left, right, n) >= rule.least_npmi) & (
        likelihood_ratio(together, left, right, n) >= rule.least_likelihood
    )
    return result


def npmi(together: Array, left: Array, right: Array, n: float) -> Array:
    """Return the normalised pointwise mutual information of pairs, of which there are n."""
    shares = together / n
    with np.errstate(divide="ignore", invalid="ignore"):
        result: Array = np.log(together * n / (left * right)) / -np.log(shares)
    return np.where(shares >= 1.0, 1.0, result)  # a text of one pair only: never apart


def likelihood_ratio(together: Array, left: Array, right: Array, n: float) -> Array:
    """Return Dunning's log-likelihood ratio: 2 sum k log(k / expected k) over the four cells of a pair's table."""
    observed = np.stack([together, left - together, right - together, n - left - right + together])
    rows, columns = np.stack([left, left, n - left, n - left]), np.stack([right, n - right, right, n - right])
    expected = rows * columns / n
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(observed > 0, observed * np.log(observed / expected), 0.0)
    result: Array = 2.0 * terms.sum(axis=0)
    return result


def merge_pairs(
    tokens: Numbers, ends: npt.NDArray[np.int64], pairs: _Keys, first_number: int
) -> tuple[Numbers, npt.NDArray[np.int64]]:
    """Return tokens with pairs made one, numbered from `first_number` in the order of the sorted `pairs`.

    Of pairs that overlap, the left one goes first, so that in a run of them every second is taken.
    """
    found = np.zeros(len(tokens), bool)
    numbers = np.zeros(len(tokens), np.uint32)
    for start in range(0, len(tokens), _AT_ONCE):
        piece = tokens[start : start + _AT_ONCE + 1].astype(np.uint64)
        own = (piece[:-1] << _SHIFT) | piece[1:]
        places = np.minimum(np.searchsorted(pairs, own), len(pairs) - 1)
        found[start : start + len(own)] = pairs[places] == own
        numbers[start : start + len(own)] = first_number + places
    at = np.flatnonzero(found)
    is_start = np.ones(len(at), bool)
    is_start[1:] = at[1:] != at[:-1] + 1
    begins = at[is_start][np.cumsum(is_start) - 1]
    taken = at[(at - begins) % 2 == 0]
    merged = tokens.copy()
    merged[taken] = numbers[taken]
    stays = np.ones(len(tokens), bool)
    stays[taken + 1] = False
    return merged[stays], ends - np.searchsorted(taken + 1, ends)

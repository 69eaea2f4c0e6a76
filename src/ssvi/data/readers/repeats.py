"""What documents of text repeat: copies of whole documents, and lines or sentences that stand in many of them.

Copies are told by eight bytes of each document, lines by a sample of documents, so that memory stays small.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import numpy.typing as npt

from ssvi.data.readers.base import Repeats

_SAMPLED = 512  # documents at most that lines are looked for in: every one of few, every hundredth of many
_FEWEST_DOCUMENTS = 20  # of which lines can be said to stand in many
_OFTEN = 0.1  # of the documents have a line that is told of,
_FEWEST = 5  # and so many of those that were looked at
_FEWEST_WORDS = 3  # of such a line
_LONGEST = 300  # characters of it
_MOST_LINES = 200  # of a document, from its beginning and from its end, half of them each
_MOST_FOUND = 100  # lines
_CUT = re.compile(r"([\r\n]+|(?<=[.!?])\s+)")  # which looks at each character once, also in long runs of spaces


class Sample:
    """Some of the documents that come, evenly among them, and the lines and sentences of each."""

    def __init__(self, clean: Callable[[str], str] | None = None) -> None:
        self._clean = clean
        self._lines: list[tuple[int, frozenset[str]]] = []
        self._step, self.next = 1, 0

    def take(self, number: int, document: str) -> None:
        """Look at a document, whose number is `next`, and find out which is to be the next one."""
        self._lines.append((number, lines_of(document if self._clean is None else self._clean(document))))
        if len(self._lines) > _SAMPLED:
            self._step *= 2
            self._lines = [(own, lines) for own, lines in self._lines if own % self._step == 0]
        self.next = number + self._step - number % self._step

    def repeated(self) -> tuple[tuple[str, float], ...]:
        """Return the lines that stand in many documents, each with the share of these; copies count once."""
        documents = {lines for _, lines in self._lines if lines}
        n = len(documents)
        if n < _FEWEST_DOCUMENTS:
            return ()
        counts = Counter(line for lines in documents for line in lines)
        least = max(_FEWEST, _OFTEN * n)
        often = [(line, count / n) for line, count in counts.items() if count >= least]
        return tuple(sorted(often, key=lambda own: (-own[1], -len(own[0]), own[0]))[:_MOST_FOUND])


def lines_of(document: str) -> frozenset[str]:
    r"""Return the different lines and sentences of a document that are long enough to be worth a word.

    >>> sorted(lines_of("All rights reserved. It rained.\nIt rained all day."))
    ['All rights reserved.', 'It rained all day.']
    """
    lines = [line.strip() for line in _CUT.split(document)[::2]]
    if len(lines) > _MOST_LINES:
        lines = lines[: _MOST_LINES // 2] + lines[-_MOST_LINES // 2 :]
    return frozenset(line for line in lines if len(line) <= _LONGEST and len(line.split()) >= _FEWEST_WORDS)


def without_lines(lines: Iterable[str]) -> Callable[[str], str]:
    r"""Return what takes some lines and sentences out of a text, and leaves the rest as it is.

    >>> without_lines(["All rights reserved."])("It rained. All rights reserved.\nIt rained.")
    'It rained. \nIt rained.'
    """
    left_out = frozenset(lines)

    def clean(text: str) -> str:
        return "".join("" if piece.strip() in left_out else piece for piece in _CUT.split(text))

    return clean


class Watcher:
    """Sees the documents of a text go by; those that are copies of earlier ones can be held back."""

    def __init__(self, *, drops_copies: bool, clean: Callable[[str], str] | None = None) -> None:
        self._hashes = array("q")
        self._sample = Sample(clean)
        self._drops = drops_copies
        self._kept = array("q")

    def watch(self, documents: Iterable[str]) -> Iterator[str]:
        """Return the documents as they come."""
        if self._drops:
            return self._without_copies(documents)
        append, hashes, sample = self._hashes.append, self._hashes, self._sample

        def see(document: str) -> str:  # a function and no generator, which is felt where documents are short
            if len(hashes) == sample.next:
                sample.take(sample.next, document)
            append(hash(document.strip()))
            return document

        return map(see, documents)

    def _without_copies(self, documents: Iterable[str]) -> Iterator[str]:
        seen = set[int]()
        for number, document in enumerate(documents):
            self._hashes.append(hash(document.strip()))
            if not is_new(document, seen):
                continue
            if len(self._kept) == self._sample.next:
                self._sample.take(self._sample.next, document)
            self._kept.append(number)
            yield document

    def rows(self) -> npt.NDArray[np.int64] | None:
        """Return which documents were let through, by their numbers from 0; None for all."""
        if not self._drops or len(self._kept) == len(self._hashes):
            return None
        return np.frombuffer(self._kept, np.int64)

    def found(self) -> Repeats:
        """Return what is repeated, once all documents went by."""
        hashes = np.sort(np.frombuffer(self._hashes, np.int64)) if len(self._hashes) else np.zeros(0, np.int64)
        again = hashes[1:] == hashes[:-1]
        copies = int((again & (hashes[1:] != hash(""))).sum())
        return Repeats(copies, self._drops, self._sample.repeated())


def is_new(document: str, seen: set[int]) -> bool:
    """Tell whether a document is no copy of one that was seen, and see it; empty documents are all new."""
    own = hash(document.strip())
    if own in seen and document.strip():
        return False
    seen.add(own)
    return True


def find_repeated(documents: Iterable[str], clean: Callable[[str], str] | None = None) -> tuple[str, ...]:
    """Return the lines and sentences that stand in many documents."""
    sample = Sample(clean)
    for number, document in enumerate(documents):
        if number == sample.next:
            sample.take(number, document)
    return tuple(line for line, _ in sample.repeated())

"""What documents of text repeat: copies of whole documents, and lines or sentences that stand in many of them.

A line may be glued to what stands before or after it: then many lines end or begin with the same run of words. Copies
are told by eight bytes of each document, lines by a sample of documents, so that memory stays small.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ssvi.data.readers.base import Repeats

_SAMPLED = 1024  # documents at most that lines are looked for in: every one of few, about every hundredth of many
_GOLDEN = 0x9E3779B97F4A7C15  # of 2^64: multiples of it lie evenly, and fall in with no period that documents have
_FEWEST_DOCUMENTS = 20  # of which lines can be said to stand in many
_OFTEN = 0.1  # of the documents have a line that is told of,
_FEWEST = 5  # and so many of those that were looked at
_FEWEST_WORDS = 3  # of such a line
_FEWEST_OF_RUN = 5  # words that lines begin or end with,
_SAME = 0.9  # and so many of the lines that have these five must have the further words of a run
_LONGEST = 300  # characters of a line; of longer ones the beginning and the end are looked at
_MOST_LINES = 200  # of a document, from its beginning and from its end, half of them each
_MOST_FOUND = 100  # lines
_CUT = re.compile(r"([\r\n]+|(?<=[.!?])\s+)")  # which looks at each character once, also in long runs of spaces


class Lines(NamedTuple):
    """The different lines and sentences of a document: whole ones, and how those begin and end that are longer."""

    whole: frozenset[str]
    heads: frozenset[str] = frozenset()
    tails: frozenset[str] = frozenset()


class Sample:
    """Some of the documents that come, evenly among them, and the lines and sentences of each."""

    def __init__(self, clean: Callable[[str], str] | None = None) -> None:
        self._clean = clean
        self._lines: list[tuple[int, Lines]] = []
        self._step, self.next = 1, 0

    def take(self, number: int, document: str) -> None:
        """Look at a document, whose number is `next`, and find out which is to be the next one."""
        self._lines.append((number, lines_of(document if self._clean is None else self._clean(document))))
        while len(self._lines) > _SAMPLED:
            self._step *= 2
            self._lines = [(own, lines) for own, lines in self._lines if self._wants(own)]
        self.next = next(later for later in count(number + 1) if self._wants(later))

    def _wants(self, number: int) -> bool:
        return (number * _GOLDEN % 2**64) * self._step < 2**64

    def repeated(self) -> tuple[tuple[str, float], ...]:
        """Return the lines and runs that stand in many documents, each with the share of these; copies count once."""
        documents = list({lines for _, lines in self._lines if any(lines)})
        n = len(documents)
        if n < _FEWEST_DOCUMENTS:
            return ()
        counts = Counter(line for lines in documents for line in lines.whole)
        least = max(_FEWEST, _OFTEN * n)
        often = {line: number for line, number in counts.items() if number >= least}
        for run, number in _runs(documents, frozenset(often), least):
            often[run] = max(number, often.get(run, 0))
        in_order = sorted(often.items(), key=lambda own: (-own[1], -len(own[0]), own[0]))
        return tuple((line, number / n) for line, number in in_order[:_MOST_FOUND])


def lines_of(document: str) -> Lines:
    r"""Return the different lines and sentences of a document that are long enough to be worth a word.

    >>> sorted(lines_of("All rights reserved. It rained.\nIt rained all day.").whole)
    ['All rights reserved.', 'It rained all day.']
    """
    lines = [line.strip() for line in _CUT.split(document)[::2]]
    if len(lines) > _MOST_LINES:
        lines = lines[: _MOST_LINES // 2] + lines[-_MOST_LINES // 2 :]
    longer = [line for line in lines if len(line) > _LONGEST]
    return Lines(
        frozenset(line for line in lines if len(line) <= _LONGEST and len(line.split()) >= _FEWEST_WORDS),
        frozenset(line[:_LONGEST].rpartition(" ")[0].rstrip() for line in longer) - {""},
        frozenset(line[-_LONGEST:].partition(" ")[2].lstrip() for line in longer) - {""},
    )


def _runs(documents: Sequence[Lines], known: frozenset[str], least: float) -> Iterator[tuple[str, int]]:
    """Yield the runs of words that lines of many documents begin or end with, and of how many documents.

    Those that only lines have which are `known` to stand in many documents are none.
    """
    for part, others in ((_first_words, "heads"), (_last_words, "tails")):
        counts = Counter[str]()
        for lines in documents:
            counts.update({run for line in lines.whole | getattr(lines, others) if (run := part(line, _FEWEST_OF_RUN))})
        begun = [run for run, number in counts.most_common(_MOST_FOUND) if number >= least]
        having: dict[str, list[tuple[int, str]]] = {run: [] for run in begun}
        for number, lines in enumerate(documents if begun else ()):
            for line in lines.whole | getattr(lines, others):
                having.get(part(line, _FEWEST_OF_RUN), []).append((number, line))
        for run, own in having.items():
            if not all(line in known for _, line in own):
                longest, within = _extended(run, own, part)
                yield longest, len({number for number, _ in within})


def _extended(
    run: str, own: list[tuple[int, str]], part: Callable[[str, int], str]
) -> tuple[str, list[tuple[int, str]]]:
    """Return a run with the further words that nearly all lines have which have it, and these lines."""
    words, fewest = _FEWEST_OF_RUN, _SAME * len(own)
    while True:
        words += 1
        longer = [(number, line, part(line, words)) for number, line in own]
        ((best, times),) = Counter(text for _, _, text in longer).most_common(1)
        if not best or times < fewest:
            return run, own
        run, own = best, [(number, line) for number, line, text in longer if text == best]


def _first_words(line: str, n: int) -> str:
    """Return the first n words of a line, as they stand there; nothing of a shorter one."""
    parts = line.split(None, n)
    return line if len(parts) == n else line[: -len(parts[n])].rstrip() if len(parts) > n else ""


def _last_words(line: str, n: int) -> str:
    """Return the last n words of a line, as they stand there; nothing of a shorter one."""
    parts = line.rsplit(None, n)
    return line if len(parts) == n else line[len(parts[0]) :].lstrip() if len(parts) > n else ""


def without_lines(lines: Iterable[str]) -> Callable[[str], str]:
    r"""Return what takes some lines and sentences out of a text, and leaves the rest as it is.

    Those of five words or more also go where another line begins or ends with them.

    >>> without_lines(["All rights reserved."])("It rained. All rights reserved.\nIt rained.")
    'It rained. \nIt rained.'
    >>> without_lines(["Read more on our page."])("It rained Read more on our page. It rained.")
    'It rained  It rained.'
    """
    left_out = frozenset(lines)
    in_order = sorted(left_out, key=lambda line: (-len(line), line))
    runs = tuple(line for line in in_order if _first_words(line, _FEWEST_OF_RUN))

    def clean(text: str) -> str:
        return "".join("" if piece.strip() in left_out else _without_ends(piece, runs) for piece in _CUT.split(text))

    return clean


def _without_ends(line: str, runs: tuple[str, ...]) -> str:
    """Return a line without the longest of some runs of words that it begins with, and that it ends with."""
    body = line.strip()
    if body.startswith(runs):
        body = next((body[len(run) :] for run in runs if body.startswith((f"{run} ", f"{run}\t"))), body)
    if body.endswith(runs):
        body = next((body[: -len(run)] for run in runs if body.endswith((f" {run}", f"\t{run}"))), body)
    return line if body == line.strip() else body


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

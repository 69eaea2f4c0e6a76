"""Wikipedia dumps to bags of words over a given vocabulary."""

from __future__ import annotations

import os
import re
import tempfile
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

import numpy as np
from scipy import sparse

from ssvi.batches.documents import Documents
from ssvi.data.wikidump import Article, articles
from ssvi.data.wikitext import plain_text

__all__ = ["Article", "articles", "bags_of_words", "count_words", "plain_text", "save_dump", "write_dump"]

_WORD = re.compile(r"[^\W\d_]+")
_CURLY_APOSTROPHE = "\N{RIGHT SINGLE QUOTATION MARK}"


def count_words(text: str, vocabulary: Mapping[str, int]) -> Counter[int]:
    """Count the words of a plain text that are in the vocabulary; others are left out.

    A word is a run of letters, in lower case. Apostrophes are dropped first, as they were for the vocabulary of the
    online-LDA experiments ("dont", "theyre"); hyphens, digits and all else part words.

    Examples
    --------
    >>> count_words("Don't: it's a well-known dog.", {"dont": 0, "known": 1, "dog": 2, "cat": 3})
    Counter({0: 1, 1: 1, 2: 1})

    """
    words = _WORD.findall(text.lower().replace("'", "").replace(_CURLY_APOSTROPHE, ""))
    return Counter(vocabulary[word] for word in words if word in vocabulary)


def bags_of_words(
    path: str | Path,
    vocabulary: Sequence[str],
    *,
    batch_size: int = 1000,
    shortest: int = 0,
    most: int | None = None,
    report: Callable[[int], None] | None = None,
) -> Iterator[Documents]:
    """Yield the articles of a dump as bags of words, in the dump's order; memory does not grow with the dump.

    Parameters
    ----------
    path : str or Path
        The dump, as for `articles`.
    vocabulary : sequence of str
        Distinct words of lower-case letters; word i is column i.
    batch_size : int
        Documents a batch; the last one may have fewer.
    shortest : int
        Articles with fewer words of the vocabulary are left out.
    most : int, optional
        The number of articles after which to stop. The rest of the dump is then neither read nor checked.
    report : function, optional
        Called now and then with the number of bytes of the file read so far.

    """
    numbers = _word_numbers(vocabulary)
    if batch_size < 1:
        raise ValueError(f"batch_size must be 1 or more, not {batch_size!r}.")
    if most is not None and most < 1:
        raise ValueError(f"most must be 1 or more, or None for all articles, not {most!r}.")
    bags = (count_words(plain_text(article.text), numbers) for article in articles(path, report=report))
    chosen = islice((bag for bag in bags if bag.total() >= shortest), most)
    return _batches(chosen, batch_size, len(numbers))


def save_dump(
    path: str | Path,
    vocabulary: Sequence[str],
    output: str | Path,
    *,
    shortest: int = 0,
    most: int | None = None,
    report: Callable[[int], None] | None = None,
) -> int:
    """Write the articles of a dump to a folder as `bow.npz` and `vocab.txt`; return how many there are.

    `bow.npz` is a CSR matrix of int32 counts, documents x words, for `scipy.sparse.load_npz`; `vocab.txt` has a word a
    line. All counts are in memory until they are written, 8 bytes for each distinct word of each article, but no text.
    The files appear, or replace older ones, when they are complete; after an error in reading the folder is as it was.

    Parameters
    ----------
    path, vocabulary, shortest, most, report
        As for `bags_of_words`.
    output : str or Path
        The folder, made if it is not there; the folder that it is in must be.

    """
    output = Path(output)
    is_new = not output.exists()
    output.mkdir(exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix=".unfinished-", dir=output) as folder:
            batches = bags_of_words(path, vocabulary, shortest=shortest, most=most, report=report)
            matrix = _stack(batches, len(vocabulary))
            if matrix.shape[0] == 0:
                raise ValueError(f"{path} has no article of {shortest} or more words of the vocabulary: check both.")
            sparse.save_npz(Path(folder, "bow.npz"), matrix)
            Path(folder, "vocab.txt").write_text("".join(f"{word}\n" for word in vocabulary), encoding="utf-8")
            # The counts last: readers look for them first.
            for name in ("vocab.txt", "bow.npz"):
                os.replace(Path(folder, name), output / name)
    except BaseException:
        if is_new:
            with suppress(OSError):
                output.rmdir()
        raise
    return int(matrix.shape[0])


def write_dump(
    path: str | Path,
    vocabulary: Sequence[str],
    output: str | Path,
    *,
    shortest: int = 0,
    most: int | None = None,
    report: Callable[[int], None] | None = None,
) -> int:
    """Write the articles of a dump as a corpus on disk, with their titles; return how many there are.

    Memory does not grow with the dump. The parameters are those of `save_dump`.
    """
    from ssvi.corpora import CorpusWriter
    from ssvi.data.readers.base import DocumentInfo

    numbers, count = _word_numbers(vocabulary), 0
    bags = (
        (article.title, count_words(plain_text(article.text), numbers)) for article in articles(path, report=report)
    )
    chosen = islice(((title, bag) for title, bag in bags if bag.total() >= shortest), most)
    with CorpusWriter(output, len(numbers), vocabulary, known=("title",)) as writer:
        while batch := list(islice(chosen, 1_000)):
            (documents,) = _batches(iter([bag for _, bag in batch]), len(batch), len(numbers))
            writer.add(documents, DocumentInfo(titles=tuple(title for title, _ in batch)))
            count += len(batch)
        if not count:
            raise ValueError(f"{path} has no article of {shortest} or more words of the vocabulary: check both.")
    return count


def _word_numbers(vocabulary: Sequence[str]) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for number, word in enumerate(vocabulary):
        if not _WORD.fullmatch(word) or word != word.lower():
            raise ValueError(f"word {number} of the vocabulary, {word!r}, must be lower-case letters and nothing else.")
        if word in numbers:
            raise ValueError(f"{word!r} is in the vocabulary twice, as words {numbers[word]} and {number}: remove one.")
        numbers[word] = number
    if not numbers:
        raise ValueError("the vocabulary is empty: give one word or more.")
    return numbers


def _batches(bags: Iterator[Counter[int]], batch_size: int, n_words: int) -> Iterator[Documents]:
    while batch := list(islice(bags, batch_size)):
        indptr = np.cumsum([0, *map(len, batch)], dtype=np.int64)
        entries = [entry for bag in batch for entry in sorted(bag.items())]
        words, counts = np.array(entries, dtype=np.int32).reshape(-1, 2).T.copy()
        yield Documents(indptr, words, counts, n_words)


def _stack(batches: Iterable[Documents], n_words: int) -> sparse.csr_array:
    """Put batches on top of each other; arrays that grow in place, so that no second copy is needed."""
    lengths, words, counts = array("i"), array("i"), array("i")
    for batch in batches:
        lengths.extend(batch.costs().tolist())
        words.frombytes(batch.words.tobytes())
        counts.frombytes(batch.counts.tobytes())
    # The words would be copied to the width of indptr if that were wider.
    wide = len(words) > np.iinfo(np.int32).max
    indptr = np.cumsum([0, *lengths], dtype=np.int64 if wide else np.int32)
    return sparse.csr_array((np.asarray(counts), np.asarray(words), indptr), shape=(len(lengths), n_words))

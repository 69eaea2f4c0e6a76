"""From texts to a corpus on disk, in memory that does not grow with them.

Texts are read once. The words of each document are put down as numbers (`Dictionary`) until it is known which words are
kept; then the numbers become columns.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.batches.documents import Documents
from ssvi.corpora.dictionary import Chosen, Dictionary
from ssvi.corpora.folders import named_if_full, spill_folder
from ssvi.corpora.index import KNOWN
from ssvi.corpora.writer import CorpusWriter
from ssvi.data.readers.base import CorpusError, DocumentInfo, Progress, WordFacts
from ssvi.data.readers.columns import Columns, Gathered
from ssvi.data.readers.counting import find_phrases, lister, no_words, notes_after, notes_before
from ssvi.data.readers.dates import DayFirst
from ssvi.data.readers.options import TextOptions
from ssvi.data.readers.phrases import PhraseRule
from ssvi.data.readers.repeats import is_new
from ssvi.data.readers.sources import in_words, shared_progress, sizes
from ssvi.data.readers.text import TextSource, check_columns, with_repeated

_CHARACTERS = 1 << 22  # of texts that are handled together
_MOST_DOCUMENTS = 4_096  # of these
_PHRASE_TOKENS = 50_000_000  # that phrases are looked for in
_LOOKED_AT = 200  # documents, for signs of HTML

_Numbers = npt.NDArray[np.int64]


@dataclass
class Built:
    """What came of building a corpus: what became of words, and what a person should know."""

    words: WordFacts | None = None
    notes: list[str] = field(default_factory=list)


def build_from_texts(
    sources: Sequence[tuple[Path, str]],
    columns: Columns,
    text: TextOptions,
    encoding: str,
    output: str | os.PathLike[str],
    progress: Progress | None = None,
) -> Built:
    """Write the words of all documents of some sources, each with its format, as a corpus on disk."""
    where, built = in_words([path for path, _ in sources]), Built()
    check_columns([TextSource(path, format) for path, format in sources], columns)
    text = with_repeated(sources, columns, text, encoding)
    if isinstance(text.phrases, PhraseRule):
        texts = (document for batch in _batches(sources, columns, encoding, None) for document in batch.texts)
        text, looked_at = find_phrases(texts, text, _PHRASE_TOKENS)
        if looked_at is not None:
            built.notes.append(f"phrases were looked for in the first {looked_at:,} documents.")
    with named_if_full(output), spill_folder(output) as folder:
        spill, seen = _Spill(folder, text), set[int]()
        try:
            for batch in _batches(sources, columns, encoding, progress):
                batch = batch.without(seen) if text.drop_copies else batch
                if not spill.documents:
                    built.notes += notes_before(batch.texts[:_LOOKED_AT], text)
                spill.add(batch)
                built.notes += batch.notes
            chosen = spill.choose()
        except ValueError as error:
            if isinstance(error, CorpusError):
                raise
            raise CorpusError(f"{where} gives no counts of words: {no_words(error, text)}.") from error
        built.notes += spill.dates_lost()
        _write(spill, chosen, text, output, was_asked_for=columns.date is not None)
    built.words = chosen.facts if text.vocabulary is None else None
    built.notes += notes_after(chosen.totals, chosen.words, text)
    return built


@dataclass(frozen=True)
class _Batch:
    """Some documents of one source."""

    texts: list[str]
    info: DocumentInfo
    notes: list[str]

    def without(self, seen: set[int]) -> _Batch:
        """Return those that are no copies of others that were seen, and see them; eight bytes tell a document."""
        kept = [place for place, own in enumerate(self.texts) if is_new(own, seen)]
        return _Batch([self.texts[place] for place in kept], self.info.take(kept), self.notes)


def _batches(
    sources: Sequence[tuple[Path, str]], columns: Columns, encoding: str, progress: Progress | None
) -> Iterator[_Batch]:
    """Yield the documents of all sources, some at a time, with what is known of them."""
    all_sizes = sizes([path for path, _ in sources]) if progress is not None and len(sources) > 1 else [0]
    for number, (path, format) in enumerate(sources):
        source = TextSource(path, format)
        texts = source.documents(columns, encoding, shared_progress(progress, all_sizes, number))
        while own := _some(texts):
            notes, source.notes[:] = list(source.notes), []
            yield _Batch(own, _taken(source, len(own), is_one_of_many=len(sources) > 1), notes)


def _some(texts: Iterator[str]) -> list[str]:
    """Return the next documents: so many, or so many characters."""
    found, characters = list[str](), 0
    for document in texts:
        found.append(document)
        characters += len(document)
        if characters >= _CHARACTERS or len(found) == _MOST_DOCUMENTS:
            break
    return found


def _taken(source: TextSource, count: int, *, is_one_of_many: bool) -> DocumentInfo:
    """Return what is known of the documents that were read last, and let the source forget it."""
    own = Gathered()
    own.number = count
    for name, texts in source.gathered.lists.items():
        own.lists[name] = texts[:count]
        del texts[:count]
    return TextSource(source.path, source.format, own).info(is_one_of_many=is_one_of_many)


class _Spill:
    """Documents as numbers of words, on disk until it is known which words are kept."""

    def __init__(self, folder: Path, text: TextOptions) -> None:
        self._text, self._list = text, lister(text)
        self._dictionary = None if text.vocabulary else Dictionary(folder)
        self._places = {word: place for place, word in enumerate(text.vocabulary or ())}
        self._path = folder / "documents.arrow"
        self._stream: Any = None
        self._file: Any = None
        self._totals = np.zeros(len(self._places), np.int64)
        self.documents = 0
        self.known: set[str] = set()
        self._groups: set[str] = set()
        self.order = DayFirst()
        self._dates, self._lost, self._example = 0, 0, ""

    def add(self, batch: _Batch) -> None:
        """Put documents down."""
        volume = self._dictionary.volume if self._dictionary is not None else 0
        lists = [self._numbers(document) for document in batch.texts]
        rows, numbers, counts = _distinct(lists)
        known = batch.info.known()
        self.known |= set(known)
        self._groups |= set(itertools.islice(dict.fromkeys(known.get("group", ("",))), 2))
        self.order.see(known.get("date", ()))
        self._put(volume, np.bincount(rows, minlength=len(lists)), numbers, counts, known)
        if self._dictionary is not None:
            self._dictionary.count(numbers, counts)
        else:
            self._totals += np.bincount(numbers, weights=counts, minlength=len(self._totals)).astype(np.int64)
        self.documents += len(lists)

    def _numbers(self, document: str) -> list[int]:
        if self._dictionary is not None:
            numbers = self._dictionary.numbers
            return [numbers[word] for word in self._list(document)]
        get = self._places.get
        return [number for word in self._list(document) if (number := get(word)) is not None]

    def _put(self, volume: int, costs: _Numbers, numbers: _Numbers, counts: _Numbers, known: Any) -> None:
        import pyarrow as pa

        if self._stream is None:
            kinds = [("volume", pa.int32()), ("entries", pa.list_(pa.int32())), ("numbers", pa.list_(pa.int32())),
                     ("counts", pa.list_(pa.int32())), *((name, pa.list_(pa.string())) for name in KNOWN)]  # fmt: skip
            self._file = pa.OSFile(str(self._path), "wb")
            self._stream = pa.ipc.new_stream(
                self._file, pa.schema(kinds), options=pa.ipc.IpcWriteOptions(compression="lz4")
            )
        lists: list[Any] = [costs.astype(np.int32), numbers.astype(np.int32), counts.astype(np.int32)]
        lists += [list(known.get(name) or ()) for name in KNOWN]
        columns = [pa.array([volume], pa.int32())]
        for own, kind in zip(lists, self._stream_types(pa), strict=True):
            values = pa.array(own, kind)
            columns.append(pa.ListArray.from_arrays(pa.array([0, len(values)], pa.int32()), values))
        names = ["volume", "entries", "numbers", "counts", *KNOWN]
        self._stream.write_batch(pa.record_batch(columns, names=names))

    @staticmethod
    def _stream_types(pa: Any) -> list[Any]:
        return [pa.int32()] * 3 + [pa.string()] * len(KNOWN)

    def choose(self) -> Chosen:
        """Return the words to keep, when all documents were put down."""
        if self._stream is None:
            raise ValueError("empty vocabulary")
        self._stream.close()
        self._file.close()
        if self._dictionary is not None:
            return self._dictionary.choose(self._text, self.documents)
        words = tuple(self._text.vocabulary or ())
        if not self._totals.any():
            raise CorpusError("the texts have no word of the vocabulary: check both, and the text options.")
        facts = WordFacts(len(words), 0, 0, 0, len(words))
        return Chosen(words, self._totals, lambda volume: np.arange(len(words), dtype=np.int32), facts)

    def rows(self, chosen: Chosen) -> Iterator[tuple[Documents, dict[str, list[str]]]]:
        """Yield the documents again, over the columns that were chosen, with what is known of them."""
        import pyarrow as pa

        last, places = -1, np.zeros(0, np.int32)
        with pa.OSFile(str(self._path), "rb") as file, pa.ipc.open_stream(file) as stream:
            for batch in stream:
                if (volume := batch.column("volume")[0].as_py()) != last:
                    last, places = volume, chosen.places(volume)
                costs, numbers, counts = (
                    np.asarray(batch.column(name).flatten()) for name in ("entries", "numbers", "counts")
                )
                known = {name: batch.column(name).flatten().to_pylist() for name in KNOWN}
                yield _in_columns(costs, places[numbers], counts, len(chosen.words)), known

    def dates_lost(self) -> list[str]:
        """Return what to tell of dates that cannot be read, after all were seen."""
        if "date" not in self.known:
            return []
        import pyarrow as pa

        with pa.OSFile(str(self._path), "rb") as file, pa.ipc.open_stream(file) as stream:
            for batch in stream:
                for date in batch.column("date").flatten().to_pylist():
                    if date.strip():
                        self._dates += 1
                        if not self.order.plain(date):
                            self._lost, self._example = self._lost + 1, self._example or date
        if not self._lost or self._lost == self._dates:
            return []
        return [f"{self._lost:,} dates could not be read, such as {self._example[:40]!r}: write dates as 2024-05-31."]

    def columns_known(self, *, was_asked_for: bool) -> list[str]:
        """Return what is known of documents: a column that only sounded like one of dates is left out."""
        known = [name for name in KNOWN if name in self.known]
        if "date" in known and self._lost == self._dates:
            known.remove("date")
            if was_asked_for and self._dates:
                raise CorpusError(f"no date could be read, such as {self._example[:40]!r}: write dates as 2024-05-31.")
        if "group" in known and len(self._groups) == 1:
            known.remove("group")
        return known


def _write(
    spill: _Spill, chosen: Chosen, text: TextOptions, output: str | os.PathLike[str], *, was_asked_for: bool
) -> None:
    """Write the corpus of what was put down."""
    known = spill.columns_known(was_asked_for=was_asked_for)
    with CorpusWriter(output, len(chosen.words), chosen.words, known=known, text=text.kept()) as writer:
        for documents, own in spill.rows(chosen):
            told = {name: own[name] or [""] * len(documents) for name in known}
            if "date" in told:
                told["date"] = [spill.order.plain(date) for date in told["date"]]
            writer.add(documents, DocumentInfo(**{f"{name}s": tuple(texts) for name, texts in told.items()}))


def _distinct(lists: Sequence[Sequence[int]]) -> tuple[_Numbers, _Numbers, _Numbers]:
    """Return document, number and count of each different number of each document."""
    lengths = [len(own) for own in lists]
    every = np.fromiter(itertools.chain.from_iterable(lists), np.int64, sum(lengths))
    every += np.repeat(np.arange(len(lists), dtype=np.int64) << 32, lengths)
    every.sort()
    first = np.flatnonzero(np.diff(every, prepend=-1))
    return every[first] >> 32, every[first] & 0xFFFFFFFF, np.diff(np.append(first, len(every)))


def _in_columns(costs: Any, columns: Any, counts: Any, n_words: int) -> Documents:
    """Return documents over columns, in ascending order; entries at -1 are left out."""
    rows = np.repeat(np.arange(len(costs), dtype=np.int64), costs)
    kept = columns >= 0
    keys = (rows[kept] << 32) | columns[kept]
    order = np.argsort(keys, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[kept], minlength=len(costs)))]).astype(np.int64)
    return Documents(indptr, (keys[order] & 0xFFFFFFFF).astype(np.int32), counts[kept][order], n_words)

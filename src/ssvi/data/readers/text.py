"""Corpora of text: the documents of files, tables, JSON and folders, one after the other, and their counts."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ssvi.data.readers.base import Corpus, CorpusError, DocumentInfo, Progress
from ssvi.data.readers.columns import Columns, Gathered
from ssvi.data.readers.counting import count_words
from ssvi.data.readers.dates import plain_dates
from ssvi.data.readers.delimited import table_documents
from ssvi.data.readers.json_records import json_documents
from ssvi.data.readers.lines import Source
from ssvi.data.readers.options import TextOptions
from ssvi.data.readers.repeats import find_repeated
from ssvi.data.readers.sources import files_below, in_words, shared_progress, sizes
from ssvi.data.readers.tables import table_texts
from ssvi.data.readers.words import looks_like_html, strip_html

_MOST_ZEROS = 100  # one character in so many may be a zero byte in a file of text: they part words
_REPORT = 1 << 20  # bytes of a folder's files between two calls of progress
_MANY_FILES = 10  # of a document a line each are worth a word


@dataclass
class TextSource:
    """One source of text, and what is known of its documents once they were read."""

    path: Path
    format: str
    gathered: Gathered = field(default_factory=Gathered)
    notes: list[str] = field(default_factory=list)

    def documents(self, columns: Columns, encoding: str, progress: Progress | None) -> Iterator[str]:
        """Return its documents, one after the other; all but lines of text are counted as they come."""
        if self.format == "text":
            return self._lines(encoding, progress)
        return self._counted(columns, encoding, progress)

    def _lines(self, encoding: str, progress: Progress | None) -> Iterator[str]:
        with Source(self.path, progress) as source:
            yield from source.text(encoding)
            self.gathered.number = source.number

    def _counted(self, columns: Columns, encoding: str, progress: Progress | None) -> Iterator[str]:
        for document in self._texts(columns, encoding, progress):
            self.gathered.number += 1
            yield document

    def _texts(self, columns: Columns, encoding: str, progress: Progress | None) -> Iterator[str]:
        if self.format in ("parquet", "arrow"):
            yield from table_texts(self.path, self.format, columns, self.gathered, progress)
        elif self.format == "folder":
            yield from self._folder(encoding, progress)
        elif self.format == "file":
            yield self._file(self.path, str(self.path), encoding)
        else:
            with Source(self.path, progress) as source:
                if self.format in ("json", "jsonl"):
                    yield from json_documents(source, columns, encoding, self.gathered)
                else:
                    yield from table_documents(source, self.format, columns, encoding, self.gathered)

    def _folder(self, encoding: str, progress: Progress | None) -> Iterator[str]:
        """Yield the files under a folder in the order of their relative paths; folders in it are groups."""
        files, lost = files_below(self.path)
        if lost:
            self.notes.append(f"{lost:,} links in {self.path} lead nowhere and were left out.")
        total, done, reported = sum(file.stat().st_size for _, file in files), 0, 0
        is_nested = any("/" in name for name, _ in files)
        for number, (name, file) in enumerate(files, 1):
            text = self._file(file, name, encoding)
            if is_nested:
                self.gathered.lists["group"].append(name.partition("/")[0] if "/" in name else "")
            yield text
            done += file.stat().st_size
            if progress is not None and (done - reported >= _REPORT or number == len(files)):
                reported = done
                progress(done, max(done, total))

    def _file(self, file: Path, name: str, encoding: str) -> str:
        self.gathered.lists["id"].append(name)
        with Source(file) as source:
            source.refuse_foreign("text")
            text = source.whole_text(encoding)
        if _MOST_ZEROS * text.count("\0") > len(text):
            raise CorpusError(
                f"{file} is no text in {encoding}, it has many zero bytes: take it out of the folder, or give its "
                "`encoding`, such as 'utf-16'."
            )
        return text

    def info(self, *, is_one_of_many: bool) -> DocumentInfo:
        """Return what is known of its documents; one of many sources is a group itself where it has none."""
        lists, number = self.gathered.lists, self.gathered.number
        ids, groups = lists["id"], lists["group"]
        if is_one_of_many:
            if self.format == "folder":
                ids = [f"{self.path.as_posix()}/{name}" for name in ids]
            groups = groups or [self.path.parent.name if self.format == "file" else self.path.name] * number
        return DocumentInfo(*(tuple(own) or None for own in (ids, lists["title"], lists["date"], groups)))


def read_texts(
    sources: Sequence[tuple[Path, str]],
    columns: Columns,
    text: TextOptions,
    encoding: str,
    progress: Progress | None,
) -> Corpus:
    """Count the words of all documents of some sources, each with its format."""
    own = [TextSource(path, format) for path, format in sources]
    check_columns(own, columns)
    where = in_words([source.path for source in own])
    text = with_repeated(sources, columns, text, encoding)
    counted = count_words(where, _chained(own, columns, encoding, progress), text)
    lengths = [source.gathered.number for source in own]
    info = DocumentInfo.joined([source.info(is_one_of_many=len(own) > 1) for source in own], lengths)
    if len(own) > 1 and info.groups and len(set(info.groups)) == 1:
        info = replace(info, groups=None)
    if counted.rows is not None:
        info = info.take(counted.rows.tolist())
    info, notes = _with_plain_dates(info, was_asked_for=columns.date is not None)
    notes = [note for source in own for note in source.notes] + notes
    if sum(source.format == "text" for source in own) > _MANY_FILES:
        notes.append("each line of these files was taken for a document: with the `format` file each file is one.")
    return Corpus(
        counted.documents,
        counted.vocabulary,
        info,
        counted.text,
        words=counted.words,
        notes=(*notes, *counted.notes),
        known=counted.known,
        repeats=counted.repeats,
    )


def with_repeated(
    sources: Sequence[tuple[Path, str]], columns: Columns, text: TextOptions, encoding: str
) -> TextOptions:
    """Return the options with the lines that stand in many documents, if these are to be looked for."""
    if not text.drop_repeated or text.repeated:
        return text
    pipe = next((path for path, _ in sources if not path.is_file() and not path.is_dir()), None)
    if pipe is not None:
        raise CorpusError(
            f"{pipe} can be read only once, and `drop_repeated` reads it twice: write it to a file first."
        )
    own = [TextSource(path, format) for path, format in sources]
    found = find_repeated(_chained(own, columns, encoding, None), strip_html if text.strip_html else None)
    return replace(text, repeated=found)


def _with_plain_dates(info: DocumentInfo, *, was_asked_for: bool) -> tuple[DocumentInfo, list[str]]:
    """Return dates in one form; a column that only sounded like one of dates is left out."""
    if info.dates is None:
        return info, []
    dates, notes = plain_dates(info.dates)
    if not any(dates):
        return replace(info, dates=None), notes if was_asked_for else []
    return replace(info, dates=dates), notes


def _chained(
    sources: Sequence[TextSource], columns: Columns, encoding: str, progress: Progress | None
) -> Iterator[str]:
    """Return the documents of all sources; by `chain`, since a generator more is felt where documents are short."""
    all_sizes = sizes([source.path for source in sources]) if progress is not None and len(sources) > 1 else [0]
    return itertools.chain.from_iterable(
        source.documents(columns, encoding, shared_progress(progress, all_sizes, number))
        for number, source in enumerate(sources)
    )


def check_columns(sources: Sequence[TextSource], columns: Columns) -> None:
    """Refuse names of columns where there are none."""
    plain = next((source for source in sources if source.format in ("text", "folder", "file")), None)
    given = {"column": columns.text} | {f"{name}_column": value for name, value in columns.named().items()}
    option = next((option for option, value in given.items() if value is not None), None)
    if plain is not None and option is not None:
        raise CorpusError(
            f"{plain.path} is read as {plain.format}, which has no columns: leave out `{option}`, or give its `format`."
        )


def read_beginnings(
    sources: Sequence[tuple[Path, str]],
    rows: Collection[int],
    length: int,
    columns: Columns,
    encoding: str,
    *,
    without_html: bool = False,
) -> dict[int, str]:
    """Return the first characters of some documents of text, by their rows, with single spaces."""
    wanted, last, found = set(rows), max(rows, default=-1), {}
    own = [TextSource(path, format) for path, format in sources]
    for row, document in enumerate(itertools.islice(_chained(own, columns, encoding, None), last + 1)):
        if row in wanted:
            marked = without_html or looks_like_html([document])
            found[row] = strip_html(document) if marked else document[: 4 * length]
    return {row: " ".join(document.split())[:length] for row, document in found.items()}

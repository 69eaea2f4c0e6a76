"""What every reader shares: the corpus it returns, and the formats' names."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssvi.batches.documents import Documents
from ssvi.file_kinds import Kind, close_name, kind_of

if TYPE_CHECKING:
    from ssvi.data.readers.options import TextOptions

Progress = Callable[[int, int | None], None]
"""Called with the bytes read so far and the bytes there are, None where that is not known."""

TEXT_FORMATS = ("text", "tsv", "csv", "jsonl", "json", "folder", "file")
FORMATS = (*TEXT_FORMATS, "npz", "mtx", "uci", "ldac", "svmlight", "parquet", "arrow", "h5ad", "corpus", "table")
_UNCOMPRESSED = ("folder", "npz", "parquet", "arrow", "h5ad", "corpus")  # formats that are not read from .gz
_SUFFIXES = {
    ".txt": "text",
    ".tsv": "tsv",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".npz": "npz",
    ".mtx": "mtx",
    ".ldac": "ldac",
    ".svmlight": "svmlight",
    ".svm": "svmlight",
    ".libsvm": "svmlight",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".h5ad": "h5ad",
    **dict.fromkeys((".html", ".htm", ".md", ".rst", ".tex"), "file"),
}

ENDINGS = {
    format: ", ".join(suffix for suffix, own in _SUFFIXES.items() if own == format)
    + (" (or .gz)" if format not in _UNCOMPRESSED else "")
    for format in FORMATS
} | {
    "folder": "a folder: every file in it is a document",
    "file": ".html, .htm, .md, .rst, .tex, or any by --format file: each file is a document",
    "uci": "docword.*.txt (or .gz)",
    "corpus": "a folder of Parquet shards with an index, as `ssvi corpus build` writes it",
    "table": "numbers in .csv or .tsv (or .gz), .parquet or .arrow: a row each, for models of numbers",
}
"""How the names of files end, for people."""


_WANTED = {
    "npz": "a sparse matrix",
    "mtx": "a Matrix Market file",
    "parquet": "a Parquet file",
    "arrow": "an Arrow file",
    "h5ad": "an HDF5 file",
    **dict.fromkeys(("uci", "ldac", "svmlight"), "counts of words"),
}


class CorpusError(ValueError):
    """What is wrong with a corpus, where, and what to do."""


@dataclass(frozen=True)
class DocumentInfo:
    """What is known of documents beside their words: each None, or a text for each document, "" where it has none.

    Attributes
    ----------
    ids : tuple of str, optional
        What tells a document from others: a column of the data, or the name of its file.
    titles : tuple of str, optional
        What it is called for people.
    dates : tuple of str, optional
        When it is from: 2024, 2024-05 or 2024-05-31.
    groups : tuple of str, optional
        What it belongs to: a column of the data, a folder, or one of several sources.

    """

    ids: tuple[str, ...] | None = None
    titles: tuple[str, ...] | None = None
    dates: tuple[str, ...] | None = None
    groups: tuple[str, ...] | None = None

    def known(self) -> dict[str, tuple[str, ...]]:
        """Return those that there are, by their names in tables: id, title, date, group."""
        return {field[:-1]: texts for field in ("ids", "titles", "dates", "groups") if (texts := getattr(self, field))}

    def part(self, start: int, stop: int) -> DocumentInfo:
        """Return what is known of documents start, ..., stop - 1."""
        return DocumentInfo(**{f"{name}s": texts[start:stop] for name, texts in self.known().items()})

    def take(self, rows: Sequence[int]) -> DocumentInfo:
        """Return what is known of some documents, in this order."""
        return DocumentInfo(**{f"{name}s": tuple(texts[row] for row in rows) for name, texts in self.known().items()})

    def called(self, number: int) -> str:
        """Return what a document is called for people; its place is counted from 0, people count from 1."""
        own = (texts[number] for texts in (self.titles, self.ids) if texts)
        return next((text for text in own if text), f"document {number + 1}")

    @classmethod
    def joined(cls, parts: Sequence[DocumentInfo], lengths: Sequence[int]) -> DocumentInfo:
        """Return what is known of the documents of several sources, one after the other, so many of each."""
        return cls(*(_joined(parts, lengths, field) for field in ("ids", "titles", "dates", "groups")))


def _joined(parts: Sequence[DocumentInfo], lengths: Sequence[int], field: str) -> tuple[str, ...] | None:
    own = [getattr(part, field) for part in parts]
    if not any(own):
        return None
    return tuple(text for texts, length in zip(own, lengths, strict=True) for text in texts or ("",) * length)


@dataclass(frozen=True)
class WordFacts:
    """What became of the different words of a text.

    Attributes
    ----------
    found : int
        Those that are no stop words.
    rare, frequent : int
        Those of fewer documents than `min_df`, and of more than `max_df`.
    beyond : int
        Those beyond `max_features`.
    kept : int
        The rest.

    """

    found: int
    rare: int
    frequent: int
    beyond: int
    kept: int


@dataclass(frozen=True)
class Repeats:
    """What the documents of a text repeat.

    Attributes
    ----------
    copies : int
        Documents that are exact copies of earlier ones; empty ones do not count.
    left_out : bool
        Whether copies were left out.
    lines : tuple of (str, float)
        Lines and sentences that stand in many documents, each with the share of documents that have it, by a sample.

    """

    copies: int
    left_out: bool
    lines: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Corpus:
    """Documents, and what is known of their words and of themselves.

    Attributes
    ----------
    documents : Documents
        Bags of words, or the rows of any matrix without negative entries. Of a corpus on disk it is the
        `ssvi.corpora.DiskCorpus` itself, which is read as it is needed.
    vocabulary : tuple of str, optional
        The word of each column; None where the format has no words.
    info : DocumentInfo
        Ids, titles, dates and groups of the documents, as far as the data has them.
    text : TextOptions, optional
        How text became words; None where there was no text.
    text_before : TextOptions, optional
        How text had become words before it was written as counts, where that is known.
    words : WordFacts, optional
        What became of the words of a text.
    known : float
        Of a text that was read over given words, the share of the first documents' words that are among these; of a
        text whose own words were taken, the share that is to be expected of another like it; 1 of anything else.
    notes : tuple of str
        Sentences about the input that a person should know of.
    asked : mapping
        The format, columns and delimiter that were asked for, by the names that `read_corpus` has for them.
    is_table : bool
        Whether these are rows of a table of numbers, of any sign, NaN where one is missing.
    repeats : Repeats, optional
        What the documents of a text repeat; None where nobody looked.

    """

    documents: Documents
    vocabulary: tuple[str, ...] | None
    info: DocumentInfo = DocumentInfo()
    text: TextOptions | None = None
    text_before: TextOptions | None = None
    words: WordFacts | None = None
    notes: tuple[str, ...] = ()
    known: float = 1.0
    asked: Mapping[str, str] = field(default_factory=dict)
    is_table: bool = False
    repeats: Repeats | None = None

    @property
    def names(self) -> tuple[str, ...] | None:
        """The documents' ids, where there are any."""
        return self.info.ids


def guess_format(path: Path) -> str:
    """Return the format that a path's name stands for."""
    if path.is_dir():
        return "folder"
    name = path.name.lower().removesuffix(".gz")
    if name.startswith("docword.") and name.endswith(".txt"):
        return "uci"
    format = _SUFFIXES.get(Path(name).suffix)
    if format is None:
        kind = kind_of(path)
        if kind is not None and kind.format is not None:
            return kind.format
        refuse_foreign(path, kind, "")
        raise CorpusError(f"the name of {path} does not tell its format: give `format`, one of {', '.join(FORMATS)}.")
    return format


def check_format(path: Path, format: str) -> None:
    """Refuse formats that do not exist, paths that do not, and folders and files taken for each other."""
    if format not in FORMATS:
        raise CorpusError(f"there is no format {format!r}: give one of {', '.join(FORMATS)}.")
    if path.is_symlink() and not path.exists():
        raise CorpusError(f"{path} is a link that leads nowhere: mend it, or give another path.")
    if not path.exists():
        if str(path).startswith(("http:", "https:")):
            raise CorpusError(f"{path} is an address, and only files of this machine are read: download it first.")
        raise CorpusError(f"there is no {path}{close_name(path)}: check the path.")
    if path.is_dir() != (format in ("folder", "corpus")):
        kind, wanted = ("folder", "file") if path.is_dir() else ("file", "folder")
        raise CorpusError(
            f"{path} is a {kind}, and the format {format!r} wants a {wanted}: give another path or format."
        )
    if format in _UNCOMPRESSED and path.suffix.lower() == ".gz":
        raise CorpusError(f"{path} cannot be read as {format} while it is compressed: unpack it first.")
    if path.is_file() and path.stat().st_size == 0:
        raise CorpusError(f"{path} is empty: give a file with documents.")
    if path.is_file():
        refuse_foreign(path, kind_of(path), format)


def refuse_foreign(path: Path, kind: Kind | None, format: str) -> None:
    """Refuse a file whose first bytes say that it is something else than its name or the format says."""
    if kind is None or kind.format == format or (format == "table" and kind.format in ("parquet", "arrow")):
        return
    if format == "npz" and "zip" in kind.name:  # it may be a matrix that is damaged, or have something else with it
        return
    raise CorpusError(f"{path} is {kind.name}, not {_WANTED.get(format, 'text')}: {kind.advice}.")


def stem(path: Path) -> str:
    """Return the name of a file without its last suffix, not counting .gz."""
    name = path.name[:-3] if path.name.lower().endswith(".gz") else path.name
    return Path(name).stem


def optional_module(name: str, extra: str, path: Path) -> Any:
    """Import a package that not everyone has installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise CorpusError(f"reading {path} needs {package}: pip install 'ssvi[{extra}]'.") from error


def clause(error: Exception) -> str:
    """Return what another library says is wrong as part of a sentence."""
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__

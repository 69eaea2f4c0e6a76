"""What every reader shares: the corpus it returns, the options of text, and the formats' names."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ssvi.batches.documents import Documents

Progress = Callable[[int, int | None], None]
"""Called with the bytes read so far and the bytes there are, None where that is not known."""

TEXT_COLUMNS = ("text", "body", "abstract", "content", "document")
NAME_COLUMNS = ("id", "name")
_MOST_NAMES, _LONGEST_NAME = 10, 40  # of columns in a message
LONGEST_RUN = 20  # words of a term

TEXT_FORMATS = ("text", "tsv", "csv", "jsonl", "folder")
FORMATS = (*TEXT_FORMATS, "npz", "mtx", "uci", "ldac", "svmlight", "parquet", "arrow", "h5ad")
_UNCOMPRESSED = ("folder", "npz", "parquet", "arrow", "h5ad")  # formats that are not read from .gz
_SUFFIXES = {
    ".txt": "text",
    ".tsv": "tsv",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
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
}

ENDINGS = {
    format: ", ".join(suffix for suffix, own in _SUFFIXES.items() if own == format)
    + (" (or .gz)" if format not in _UNCOMPRESSED else "")
    for format in FORMATS
} | {"folder": "a folder: every file in it is a document", "uci": "docword.*.txt (or .gz)"}
"""How the names of files end, for people."""


class CorpusError(ValueError):
    """What is wrong with a corpus, where, and what to do."""


@dataclass(frozen=True)
class Corpus:
    """Documents, and what their words and they themselves are called.

    Attributes
    ----------
    documents : Documents
        Bags of words, or the rows of any matrix without negative entries.
    vocabulary : tuple of str, optional
        The word of each column; None where the format has no words.
    names : tuple of str, optional
        The name of each document: its file, its id; None where there are none.
    text : TextOptions, optional
        How text became words; None where there was no text.

    """

    documents: Documents
    vocabulary: tuple[str, ...] | None
    names: tuple[str, ...] | None
    text: TextOptions | None = None


@dataclass(frozen=True)
class TextOptions:
    """How text becomes words, as scikit-learn's CountVectorizer has it.

    Attributes
    ----------
    lowercase : bool
        Whether upper and lower case are the same.
    stop_words : "english", tuple of str, or None
        Words to leave out. A given vocabulary goes before: its words are counted even if they are stop words.
    ngram_range : (int, int)
        The fewest and the most words that make one term.
    min_df, max_df : int or float
        In how many documents a word must and may occur; floats are shares of the documents.
    max_features : int, optional
        How many words to keep, the most frequent ones.
    token_pattern : str
        The regular expression of a word.
    vocabulary : tuple of str, optional
        The words to count, in the order of the columns; `min_df`, `max_df` and `max_features` then do nothing.

    """

    lowercase: bool = True
    stop_words: str | tuple[str, ...] | None = "english"
    ngram_range: tuple[int, int] = (1, 1)
    min_df: int | float = 1
    max_df: int | float = 1.0
    max_features: int | None = None
    token_pattern: str = r"(?u)\b\w\w+\b"
    vocabulary: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.stop_words, str) and self.stop_words != "english":
            raise ValueError(f"stop_words must be 'english', a tuple of words or None, not {self.stop_words!r}.")
        try:
            re.compile(self.token_pattern)
        except re.error as error:
            raise ValueError(f"token_pattern {self.token_pattern!r} is no regular expression: {error}.") from error
        if self.vocabulary is not None:
            if not self.vocabulary:
                raise ValueError("the vocabulary is empty: give one word or more, or None.")
            places: dict[str, int] = {}
            for place, word in enumerate(self.vocabulary):
                if places.setdefault(word, place) != place:
                    raise ValueError(f"{word!r} is in the vocabulary twice, as words {places[word]} and {place}.")

    def kept(self) -> dict[str, Any]:
        """Return what a model must keep to read other text in the same way, as plain values."""
        words = list(self.stop_words) if isinstance(self.stop_words, tuple) else self.stop_words
        return {"lowercase": self.lowercase, "stop_words": words, "longest_run": self.ngram_range[1]}

    @classmethod
    def from_kept(cls, kept: Any) -> TextOptions:
        """Return the options that `kept` tells of, which may come from a file of anybody's making."""
        try:
            lowercase, stop_words, longest = (kept[name] for name in ("lowercase", "stop_words", "longest_run"))
        except (TypeError, KeyError):
            raise ValueError("its text options are not complete") from None
        if isinstance(stop_words, list) and all(isinstance(word, str) for word in stop_words):
            stop_words = tuple(stop_words)
        sound = isinstance(lowercase, bool) and isinstance(longest, int) and 1 <= longest <= LONGEST_RUN
        if not sound or not isinstance(stop_words, str | tuple | None):
            raise ValueError("its text options make no sense")
        return cls(lowercase=lowercase, stop_words=stop_words, ngram_range=(1, longest))

    @classmethod
    def for_words(cls, words: tuple[str, ...], kept: Any = None) -> TextOptions:
        """Return how to read text over the words of a model, by what it has kept of its own text, if it has.

        Without that, runs of words are as long as the longest among the model's words.
        """
        longest = min(LONGEST_RUN, 1 + max(word.count(" ") for word in words))
        return replace(cls(ngram_range=(1, longest)) if kept is None else cls.from_kept(kept), vocabulary=words)


def guess_format(path: Path) -> str:
    """Return the format that a path's name stands for."""
    if path.is_dir():
        return "folder"
    name = path.name.lower().removesuffix(".gz")
    if name.startswith("docword.") and name.endswith(".txt"):
        return "uci"
    format = _SUFFIXES.get(Path(name).suffix)
    if format is None:
        raise CorpusError(f"the name of {path} does not tell its format: give `format`, one of {', '.join(FORMATS)}.")
    return format


def check_format(path: Path, format: str) -> None:
    """Refuse formats that do not exist, paths that do not, and folders and files taken for each other."""
    if format not in FORMATS:
        raise CorpusError(f"there is no format {format!r}: give one of {', '.join(FORMATS)}.")
    if not path.exists():
        raise CorpusError(f"there is no {path}: check the path.")
    if path.is_dir() != (format == "folder"):
        kind, wanted = ("folder", "file") if path.is_dir() else ("file", "folder")
        raise CorpusError(
            f"{path} is a {kind}, and the format {format!r} wants a {wanted}: give another path or format."
        )
    if format in _UNCOMPRESSED and path.suffix.lower() == ".gz":
        raise CorpusError(f"{path} cannot be read as {format} while it is compressed: unpack it first.")
    if path.is_file() and path.stat().st_size == 0:
        raise CorpusError(f"{path} is empty: give a file with documents.")


def stem(path: Path) -> str:
    """Return the name of a file without its last suffix, not counting .gz."""
    name = path.name[:-3] if path.name.lower().endswith(".gz") else path.name
    return Path(name).stem


def choose_column(path: Path, columns: Sequence[str], column: str | None) -> str:
    """Return the column (or key) of the text: the one asked for, else the first that sounds like it."""
    have = ", ".join(repr(name[:_LONGEST_NAME]) for name in columns[:_MOST_NAMES]) or "none"
    if len(columns) > _MOST_NAMES:
        have += ", ..."
    if column is not None:
        if column not in columns:
            raise CorpusError(f"{path} has no column {column!r}: give one of its columns ({have}) as `column`.")
        return column
    for wanted in TEXT_COLUMNS:
        for name in columns:
            if name.strip().lower() == wanted:
                return name
    if len(columns) == 1:
        return columns[0]
    raise CorpusError(
        f"{path} does not tell which column holds the text: give one of its columns ({have}) as `column`."
    )


def choose_names(columns: Sequence[str], text: str) -> str | None:
    """Return the column (or key) of the documents' names, None if there is none."""
    own = {name.strip().lower(): name for name in reversed(columns) if name != text}
    return next((own[wanted] for wanted in NAME_COLUMNS if wanted in own), None)


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

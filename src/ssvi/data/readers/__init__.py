"""Corpora from files: text in many forms, and counts in the formats that people keep them in."""

from __future__ import annotations

from pathlib import Path

from ssvi.data.readers.base import (
    FORMATS,
    TEXT_FORMATS,
    Corpus,
    CorpusError,
    Progress,
    TextOptions,
    check_format,
    guess_format,
)
from ssvi.data.readers.cells import read_h5ad
from ssvi.data.readers.counts import read_ldac, read_svmlight, read_uci
from ssvi.data.readers.matrices import read_npz
from ssvi.data.readers.matrix_market import read_mtx
from ssvi.data.readers.tables import read_table
from ssvi.data.readers.text import read_text, with_vocabulary
from ssvi.data.readers.vocabulary import read_vocabulary
from ssvi.data.readers.write import write_corpus

__all__ = ["FORMATS", "Corpus", "CorpusError", "TextOptions", "read_corpus", "read_vocabulary", "write_corpus"]

_COUNT_READERS = {
    "uci": read_uci,
    "ldac": read_ldac,
    "svmlight": read_svmlight,
    "npz": read_npz,
    "mtx": read_mtx,
    "h5ad": read_h5ad,
}


def read_corpus(
    path: str | Path,
    *,
    format: str | None = None,
    column: str | None = None,
    vocabulary: str | Path | None = None,
    text: TextOptions = TextOptions(),  # noqa: B008  (frozen)
    progress: Progress | None = None,
    encoding: str = "utf-8",
) -> Corpus:
    """Read documents as bags of words.

    Memory is for the counts, never for the text. What is wrong with a file is said with its line, where it has lines.

    Parameters
    ----------
    path : str or Path
        A file, plain or (where it consists of lines) in gzip, or a folder of text files.
    format : str, optional
        One of `FORMATS`; by default the path's suffix tells. "text" has a document a line, "tsv" and "csv" have a
        header, "jsonl" has an object a line, "folder" has a document a file; "npz" is what `scipy.sparse.save_npz`
        writes, "mtx" Matrix Market (documents x words), "uci" a docword file, "ldac" lines `N word:count ...`.
    column : str, optional
        The column or key of the text; by default the one called text, body, abstract, content or document, or the only
        one.
    vocabulary : str or Path, optional
        A file of one word a line: the words to count in text, or the names of a matrix's columns. By default words of
        a matrix a.mtx are looked for in a.mtx.vocab.txt or a.vocab.txt beside it, of docword.a.txt in vocab.a.txt.
    text : TextOptions
        How text becomes words.
    progress : function, optional
        Called now and then with the bytes read so far and the bytes there are.
    encoding : str
        Of text and vocabulary.

    """
    path = Path(path)
    if format is None and (path / "bow.npz").is_file():
        path /= "bow.npz"  # a folder that `ssvi.data.wikipedia.save_dump` wrote
    if format is None and path.exists():
        format = guess_format(path)
    check_format(path, format or FORMATS[0])
    file = None if vocabulary is None else Path(vocabulary)
    if format in _COUNT_READERS:
        return _COUNT_READERS[format](path, file, encoding, progress)
    if format not in TEXT_FORMATS:
        return read_table(path, format or "", column, file, text, encoding, progress)
    return read_text(path, format, column, with_vocabulary(text, file, encoding), encoding, progress)

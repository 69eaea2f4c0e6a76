"""Files of words, a word a line: which one belongs to a corpus, and reading it."""

from __future__ import annotations

from pathlib import Path

from ssvi.data.readers.base import CorpusError, stem
from ssvi.data.readers.lines import Source


def read_vocabulary(path: Path, encoding: str = "utf-8") -> tuple[str, ...]:
    """Return the words of a file, one a line, without spaces around them; blank lines may stand at the end only."""
    if not path.is_file():
        raise CorpusError(f"there is no vocabulary file {path}: check the path.")
    words: list[str] = []
    with Source(path) as source:
        for line in source.text(encoding):
            words.append(line.strip())
    while words and not words[-1]:
        words.pop()
    if not words:
        raise CorpusError(f"{path} has no words: give a vocabulary of one word a line.")
    if "" in words:
        raise CorpusError(f"{path}, line {words.index('') + 1}: there is no word, so remove the line or fill it in.")
    return tuple(words)


def own_vocabulary(path: Path) -> Path:
    """Return where the vocabulary of a corpus is written: that of a.npz or a.npz.gz is a.npz.vocab.txt.

    Two other customs are kept: docword.a.txt has vocab.a.txt, and bow.npz, as `ssvi.data.wikipedia` writes it, has
    vocab.txt.
    """
    name = path.name[:-3] if path.name.lower().endswith(".gz") else path.name
    if name.lower().startswith("docword."):
        return path.with_name("vocab." + name[len("docword.") :])
    return path.with_name("vocab.txt" if name == "bow.npz" else f"{name}.vocab.txt")


def vocabulary_beside(path: Path) -> Path:
    """Return where the vocabulary of a corpus is looked for: its own, or one that is packed or named a.vocab.txt."""
    own = own_vocabulary(path)
    others = (own.with_name(own.name + ".gz"), path.with_name(stem(path) + ".vocab.txt"))
    return next((file for file in (own, *others) if file.is_file()), own)


def words_of_columns(
    path: Path, given: Path | None, encoding: str, n_words: int, *, may_be_longer: bool = False
) -> tuple[str, ...] | None:
    """Return the words of a matrix's columns: from the file given, or from the one beside the matrix if that fits.

    Parameters
    ----------
    path : Path
        The corpus.
    given : Path, optional
        The vocabulary file someone asked for; it must fit.
    encoding : str
        Of the vocabulary.
    n_words : int
        How many columns there are.
    may_be_longer : bool
        Whether the last words may be missing from the corpus, as in formats that do not say how many columns there are.

    """
    file = given or vocabulary_beside(path)
    if given is None and not file.is_file():
        return None
    words = read_vocabulary(file, encoding)
    if len(words) == n_words or (may_be_longer and len(words) > n_words):
        return words
    if given is None:
        return None
    raise CorpusError(
        f"{file} has {len(words):,} words but {path} has {n_words:,}: give the vocabulary that belongs to it."
    )

"""A corpus on disk where commands read corpora."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ssvi.corpora.disk import DiskCorpus
from ssvi.data.readers.base import Corpus, CorpusError, DocumentInfo
from ssvi.data.readers.options import TextOptions
from ssvi.data.readers.vocabulary import read_vocabulary


class StoredInfo:
    """What is known of the documents of a corpus on disk, read when it is asked for; as `DocumentInfo` otherwise."""

    def __init__(self, corpus: DiskCorpus) -> None:
        self._corpus = corpus

    def part(self, start: int, stop: int) -> DocumentInfo:
        """Return what is known of documents start, ..., stop - 1."""
        return self._corpus.info(start, stop)

    def known(self) -> dict[str, Sequence[str]]:
        """Return all that is known, by its names in tables; in memory."""
        return {name: getattr(self, f"{name}s") for name in self._corpus.index.known}

    def called(self, number: int) -> str:
        """Return what a document is called for people; its place is counted from 0, people count from 1."""
        own = self.part(number, number + 1)
        return next((texts[0] for texts in (own.titles, own.ids) if texts and texts[0]), f"document {number + 1}")

    @cached_property
    def ids(self) -> tuple[str, ...] | None:
        """The documents' ids."""
        return self._column("id")

    @cached_property
    def titles(self) -> tuple[str, ...] | None:
        """Their titles."""
        return self._column("title")

    @cached_property
    def dates(self) -> tuple[str, ...] | None:
        """Their dates."""
        return self._column("date")

    @cached_property
    def groups(self) -> tuple[str, ...] | None:
        """Their groups."""
        return self._column("group")

    def _column(self, name: str) -> tuple[str, ...] | None:
        if name not in self._corpus.index.known:
            return None
        return self._corpus.info(names=[name]).known()[name]


def read_disk(path: str | os.PathLike[str], vocabulary: Path | None, encoding: str) -> Corpus:
    """Return a corpus whose documents stay on disk."""
    disk = DiskCorpus(path)
    text = None if disk.index.text is None else _text_options(disk)
    words = disk.vocabulary
    if vocabulary is not None:
        given = read_vocabulary(vocabulary, encoding)
        if len(given) != disk.n_words or (words is not None and given != words):
            raise CorpusError(f"{vocabulary} is not the vocabulary of {path}: leave it out, or give that one.")
        disk.vocabulary = words = given
    documents: Any = disk
    info: Any = StoredInfo(disk)
    return Corpus(documents, words, info, None, text)


def _text_options(disk: DiskCorpus) -> TextOptions:
    try:
        return TextOptions.from_kept(disk.index.text)
    except (ValueError, AttributeError) as error:
        raise CorpusError(f"the index of {disk.path} does not tell how text became words: {error}.") from error

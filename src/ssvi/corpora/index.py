"""The index of a corpus on disk: what is in its shards, and how to know them again."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.batches.sizes import Sizes
from ssvi.corpora.folders import Folder, is_url
from ssvi.data.readers.base import CorpusError

NAME = "index.json"
VOCABULARY = "vocabulary.txt"
VERSION = 1
_FORMAT = "ssvi corpus"
KNOWN = ("id", "title", "date", "group")
"""What may be known of documents beside their words."""


@dataclass(frozen=True)
class Shard:
    """One file of documents.

    Attributes
    ----------
    file : str
        Its name in the folder.
    rows, entries, tokens, bytes
        Documents, different words of documents added up, words, and the file's size.
    hash : str
        BLAKE2b of what the file's footer says of its blocks, which is a hash of each.
    blocks : list of int
        The documents of each block: a row group, which is read alone.

    """

    file: str
    rows: int
    entries: int
    tokens: float
    bytes: int
    hash: str
    blocks: tuple[int, ...]


@dataclass(frozen=True)
class Index:
    """What is known of a corpus without reading its documents.

    Attributes
    ----------
    n_words : int
        The size of the vocabulary.
    sizes : Sizes
        Of all documents.
    shards : tuple of Shard
        In the order of the documents.
    known : tuple of str
        Those of id, title, date and group that documents have.
    vocabulary_hash : str
        Of the words, or of their number where they have no names.
    has_vocabulary : bool
        Whether the words are in `vocabulary.txt`, one a line.
    text : dict, optional
        How text became words.

    """

    n_words: int
    sizes: Sizes
    shards: tuple[Shard, ...]
    known: tuple[str, ...]
    vocabulary_hash: str
    has_vocabulary: bool
    text: Mapping[str, Any] | None = None

    @property
    def documents(self) -> int:
        """The number of documents."""
        return sum(shard.rows for shard in self.shards)

    def block_sizes(self) -> npt.NDArray[np.int64]:
        """Return the number of documents of each block of all shards."""
        return np.array([rows for shard in self.shards for rows in shard.blocks], dtype=np.int64)

    def to_bytes(self) -> bytes:
        """Return the index as JSON."""
        said = {
            "format": _FORMAT,
            "version": VERSION,
            "documents": self.documents,
            "words": self.n_words,
            **asdict(self.sizes),
            "known": list(self.known),
            "vocabulary": VOCABULARY if self.has_vocabulary else None,
            "vocabulary_hash": self.vocabulary_hash,
            "text": self.text,
            "shards": [asdict(shard) for shard in self.shards],
        }
        return json.dumps(said, ensure_ascii=False).encode() + b"\n"

    @classmethod
    def from_bytes(cls, data: bytes, where: str) -> Index:
        """Read an index, which may be of anybody's making."""
        try:
            said = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise CorpusError(f"{where} is no index of a corpus: it is not JSON ({error}).") from error
        if not isinstance(said, dict) or said.get("format") != _FORMAT:
            raise CorpusError(f"{where} is no index of a corpus: give a folder that `ssvi corpus build` wrote.")
        if said.get("version") != VERSION:
            raise CorpusError(
                f"{where} has version {said.get('version')!r} of the format, and this ssvi reads {VERSION}: build the "
                "corpus again, or use another version of ssvi."
            )
        try:
            index = cls._from_json(said)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise CorpusError(f"{where} is damaged ({error!r}): build the corpus again.") from error
        return index

    @classmethod
    def _from_json(cls, said: Mapping[str, Any]) -> Index:
        sizes = Sizes(**{field.name: said[field.name] for field in fields(Sizes)})
        shards = tuple(Shard(**{**shard, "blocks": tuple(map(int, shard["blocks"]))}) for shard in said["shards"])
        known = tuple(name for name in KNOWN if name in said["known"])
        index = cls(
            int(said["words"]), sizes, shards, known, str(said["vocabulary_hash"]), said["vocabulary"] is not None,
            said["text"],
        )  # fmt: skip
        if index.documents != said["documents"] or any(
            shard.rows != sum(shard.blocks) or min(shard.blocks, default=0) < 0 or Path(shard.file).name != shard.file
            for shard in shards
        ):
            raise ValueError("its numbers do not add up")
        return index


def short_hash(*parts: Any) -> str:
    """Return BLAKE2b of some bytes, in 32 hexadecimal digits."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def hash_of_words(vocabulary: Sequence[str] | None, n_words: int) -> str:
    """Return what tells a vocabulary from others."""
    return short_hash(f"{n_words} words\n".encode(), "\n".join(vocabulary or ()).encode())


def _begins_as_one(path: Path) -> bool:
    """Tell whether a file begins as an index does; other programs have files of that name too."""
    with path.open("rb") as file:
        return _FORMAT.encode() in file.read(64)


def is_corpus(path: str | os.PathLike[str]) -> bool:
    """Tell whether a path or address is a corpus on disk, by its index."""
    if not is_url(path):
        return Path(path, NAME).is_file() and _begins_as_one(Path(path, NAME))
    try:
        return NAME in Folder(path).sizes()
    except (OSError, CorpusError):
        return False

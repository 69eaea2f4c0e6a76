"""Corpora on disk: a folder of Parquet shards with an index, larger than memory if need be.

`DiskCorpus` is one to read, `CorpusWriter` writes one; `docs/disk_corpora.md` says what lies in the folder.
"""

from __future__ import annotations

from ssvi.corpora.disk import DiskCorpus
from ssvi.corpora.index import is_corpus
from ssvi.corpora.writer import CorpusWriter

__all__ = ["CorpusWriter", "DiskCorpus", "is_corpus"]

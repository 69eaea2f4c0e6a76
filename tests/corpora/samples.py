"""Small corpora to write and read."""

import numpy as np
from scipy import sparse

from ssvi.batches.documents import Documents
from ssvi.corpora import CorpusWriter, writer
from ssvi.data.readers import DocumentInfo


def counts(documents=900, words=60, seed=0):
    """Counts of two kinds of documents; some have no words."""
    rng = np.random.default_rng(seed)
    means = np.where((np.arange(documents)[:, None] % 2) == (np.arange(words) % 2), 0.5, 0.02)
    matrix = sparse.csr_array(rng.poisson(means))
    matrix.data[:: 7 * words] += 300  # one byte is not enough for all
    return matrix


def write(path, matrix, monkeypatch, *, rows=50, blocks=4, at_once=70, vocabulary=None, info=None):
    """Write a corpus of many small blocks and shards, a few documents at a time."""
    monkeypatch.setattr(writer, "ROWS", rows)
    monkeypatch.setattr(writer, "BLOCKS", blocks)
    documents, info = Documents.from_matrix(matrix), info or DocumentInfo()
    with CorpusWriter(path, matrix.shape[1], vocabulary, known=info.known()) as new:
        for start in range(0, len(documents), at_once):
            stop = min(start + at_once, len(documents))
            own = {f"{name}s": texts[start:stop] for name, texts in info.known().items()}
            new.add(documents.slice(start, stop), DocumentInfo(**own))
    return path

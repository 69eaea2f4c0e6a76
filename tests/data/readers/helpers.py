"""What the tests of readers share."""

import gzip

from scipy import sparse


def dense(corpus):
    """Return the counts of a corpus as an array."""
    own = corpus.documents.tight()
    return sparse.csr_array((own.counts, own.words, own.indptr), shape=(len(own), own.n_words)).toarray()


def write(path, content):
    """Write bytes or text, in gzip if the path says so; return the path."""
    data = content if isinstance(content, bytes) else content.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path

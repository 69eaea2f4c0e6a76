import numpy as np
import pytest
from scipy import sparse

from ssvi.models.lda import LDA


@pytest.fixture(scope="session")
def corpus_file(tmp_path_factory):
    """A file of 330 small documents over 40 words."""
    _, documents = LDA(40, np.full(4, 0.2), 0.1).simulate(np.random.default_rng(0), 330, length=30.0)
    path = tmp_path_factory.mktemp("corpus") / "tiny.npz"
    matrix = sparse.csr_array((documents.counts, documents.words, documents.indptr), shape=(330, 40))
    sparse.save_npz(path, matrix)
    return path

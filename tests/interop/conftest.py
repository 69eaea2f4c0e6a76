import numpy as np
import pytest

from ssvi.local_steps.lda.mean_field import MeanField
from ssvi.models.lda import LDA


@pytest.fixture(scope="session")
def counts():
    """Counts of 120 documents over 30 words that four topics generated."""
    _, documents = LDA(30, np.full(4, 0.2), 0.1).simulate(np.random.default_rng(0), 120, length=25.0)
    dense = np.zeros((120, 30), dtype=np.int64)
    for d in range(120):
        entries = slice(documents.indptr[d], documents.indptr[d + 1])
        dense[d, documents.words[entries]] = documents.counts[entries]
    return dense


@pytest.fixture(scope="session")
def words():
    return [f"word{column}" for column in range(30)]


@pytest.fixture(scope="session")
def to_the_end():
    """Our mean-field step without its shortcuts: it stops when rounding does."""
    return MeanField(max_rounds=3000, tolerance=1e-10, precision="float64")

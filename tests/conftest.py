"""Set-up that must come before numba and scipy are imported."""

import gc
import hashlib
import os
import shutil
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

from tests.browser import axe, browser  # noqa: F401  (fixtures: one browser for all tests of pages)

_SOURCE = Path(__file__).parent.parent / "src"


def _fingerprint() -> str:
    digest = hashlib.sha256()
    for path in sorted(_SOURCE.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


# numba's cache notices a change of a kernel's own file, not of the kernels it calls: a cache for each state of the
# source keeps tests honest.
_CACHES = _SOURCE.parent / ".numba_cache"
_CACHE = _CACHES / _fingerprint()
for _old in _CACHES.glob("*"):
    if _old != _CACHE:
        shutil.rmtree(_old, ignore_errors=True)
os.environ.setdefault("NUMBA_CACHE_DIR", str(_CACHE))
# Workers share the processors: threads of BLAS and OpenMP beside them would burn time waiting for each other. Libraries
# that are imported already are told so, and the processes that tests start find it in their environment.
if "PYTEST_XDIST_WORKER" in os.environ:
    threadpool_limits(1)
    for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(_name, "1")
# Without this scikit-learn's check_estimator skips its array API check.
os.environ.setdefault("SCIPY_ARRAY_API", "1")


def pytest_collection_finish():
    """Let the collector of garbage come seldom, and pass over what is there from the start: compiling calls it."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session")
def corpus_file(tmp_path_factory):
    """A file of 330 small documents over 40 words."""
    import numpy as np
    from scipy import sparse

    from ssvi.models.lda import LDA

    _, documents = LDA(40, np.full(4, 0.2), 0.1).simulate(np.random.default_rng(0), 330, length=30.0)
    path = tmp_path_factory.mktemp("corpus") / "tiny.npz"
    sparse.save_npz(path, sparse.csr_array((documents.counts, documents.words, documents.indptr), shape=(330, 40)))
    return path


@pytest.fixture
def many_tasks(monkeypatch):
    """Cut work finely, so that small examples have more shards and row tasks than there are threads."""
    monkeypatch.setattr("ssvi.backends.shards._FEWEST_GROUPS", 10)
    monkeypatch.setattr("ssvi.tasks._ELEMENTS_A_TASK", 30)

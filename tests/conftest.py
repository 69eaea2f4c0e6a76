"""Set-up that must come before numba and scipy are imported."""

import hashlib
import os
import shutil
from pathlib import Path

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
# Without this scikit-learn's check_estimator skips its array API check.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

"""Time and memory of GaP-KL-NMF's local steps on sparse counts: per entry that is not zero and component.

If the time of a round is proportional to entries x K, the last columns stay level while entries, K and the number of
features change. Beside it: one multiplicative update of scikit-learn's NMF with the Kullback-Leibler loss.

    python benchmarks/nmf_speed.py
"""

from __future__ import annotations

import time
import tracemalloc
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.decomposition import non_negative_factorization

from ssvi.backends import Threads
from ssvi.batches.frames import Frames
from ssvi.local_steps.gamma_process_nmf.gibbs import Gibbs
from ssvi.local_steps.gamma_process_nmf.mean_field import MeanField
from ssvi.models.gamma_process_nmf import GammaProcessNMF
from ssvi.numerics.random import derive_keys

_ROUNDS = 10
_REPEATS = 5
# Frames, features, entries a frame, K.
_SIZES = [
    (2_000, 2_000, 50, 20),
    (2_000, 2_000, 200, 20),
    (2_000, 2_000, 200, 100),
    (2_000, 20_000, 200, 100),
]


def main() -> None:
    """Print nanoseconds per entry, component and round, and the peak of memory in the units of the data."""
    rng = np.random.default_rng(0)
    print(
        "frames  features  entries    K    mean_field  gibbs  scikit-learn (ns)   peak MB   entries x K as doubles, MB"
    )
    for n, features, entries, size in _SIZES:
        counts = _counts(rng, n, features, entries)
        model = GammaProcessNMF(features, size)
        views = model.statistics(rng.gamma(1.0, 0.01, size), rng.gamma(0.5, 1.0, (size, features)) + 1e-3)
        frames, work = Frames.from_matrix(counts), counts.nnz * size * _ROUNDS
        cells = []
        for step in (MeanField(_ROUNDS, 0.0), Gibbs(_ROUNDS)):
            cells.append(1e9 * _seconds(partial(_run, step, model, views, frames)) / work)
        peer = 1e9 * _seconds(partial(_peer, counts, size)) / work
        tracemalloc.start()
        _run(MeanField(_ROUNDS, 0.0), model, views, frames)
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        print(
            f"{n:<7} {features:<9} {counts.nnz:<10} {size:<4} {cells[0]:10.2f} {cells[1]:7.2f} {peer:10.2f}"
            f" {peak:16.0f} {8e-6 * counts.nnz * size:16.0f}"
        )


def _counts(rng: np.random.Generator, n: int, features: int, entries: int) -> Any:
    """Return sparse counts with about so many entries a frame."""
    columns = rng.integers(0, features, (n, entries))
    rows = np.repeat(np.arange(n), entries)
    values = rng.poisson(2.0, n * entries) + 1
    return sparse.csr_array((values, (rows, columns.ravel())), shape=(n, features))


def _run(step: Any, model: GammaProcessNMF, views: Any, frames: Frames) -> None:
    Threads(1).map_reduce(step, model, views, frames, derive_keys(0, len(frames)))


def _peer(counts: Any, size: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        non_negative_factorization(
            counts, n_components=size, solver="mu", beta_loss="kullback-leibler", init="random", max_iter=_ROUNDS,
            tol=0, random_state=0,
        )  # fmt: skip


def _seconds(function: Callable[[], None]) -> float:
    """Return the median time, the first run left out."""
    times = []
    for _ in range(_REPEATS + 1):
        started = time.perf_counter()
        function()
        times.append(time.perf_counter() - started)
    return float(np.median(times[1:]))


if __name__ == "__main__":
    main()

"""Time of a pass of GaussianMixture over all rows against an iteration of scikit-learn's, both on the same threads.

A pass is what one step of a fit does: draw weights and components, handle every row, move lambda. An iteration of
scikit-learn's BayesianGaussianMixture is its E step and its M step. Both go from the same responsibilities on.

    python -m benchmarks.gaussian_mixture_speed
    python -m benchmarks.gaussian_mixture_speed --stream    # the memory of partial_fit over a million rows
"""

from __future__ import annotations

import argparse
import resource
import time
from typing import Any

import numpy as np
from sklearn.mixture import BayesianGaussianMixture
from threadpoolctl import threadpool_limits

from benchmarks.common import in_turns
from ssvi import engine
from ssvi.backends import Threads
from ssvi.batches import DenseRows
from ssvi.estimators.gaussian_mixture import GaussianMixture as Estimator
from ssvi.global_steps.ssvi_a import SsviA
from ssvi.local_steps.gaussian_mixture.exact import Exact
from ssvi.local_steps.gaussian_mixture.gibbs import Gibbs
from ssvi.models.gaussian_mixture import GaussianMixture
from ssvi.schedules import ConstantSchedule
from ssvi.typing import Array

# Rows, columns, components.
_SIZES = [(1_000_000, 10, 10), (100_000, 50, 20)]


def main() -> None:
    """Print seconds and ratios, medians over repeats that take turns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--share", type=float, default=1.0, help="share of the rows, for a quick look")
    parser.add_argument("--kinds", nargs="+", default=["full", "tied", "diag", "spherical"])
    parser.add_argument("--stream", action="store_true", help="fit a stream of a million rows instead")
    options = parser.parse_args()
    if options.stream:
        _stream(int(1_000_000 * options.share), 10, 10, options.threads)
        return
    print("rows       D    K    covariances  exact s  gibbs s  scikit-learn s  its / exact  its / gibbs")
    for rows, columns, size in _SIZES:
        for kind in options.kinds:
            _compare(max(1_000, int(options.share * rows)), columns, size, kind, options)


def _compare(n: int, columns: int, size: int, kind: str, options: argparse.Namespace) -> None:
    rng = np.random.default_rng(0)
    centres = rng.normal(scale=2.0, size=(size, columns))
    data = centres[rng.integers(size, size=n)] + rng.normal(size=(n, columns))
    model = GaussianMixture(columns, size, 1.0 / size, kind)
    rows = DenseRows(data)
    start = engine.init(model, 0, rows)
    peer = _Peer(data, size, kind)
    with Threads(options.threads) as backend, threadpool_limits(options.threads):
        ours = [_pass(model, step, start, rows, backend) for step in (Exact(), Gibbs())]
        exact, gibbs, theirs = in_turns([*ours, peer.iterate], options.repeats)
    print(
        f"{n:<10} {columns:<4} {size:<4} {kind:<11} {exact:8.3f} {gibbs:8.3f} {theirs:15.3f}  "
        f"{theirs / exact:11.2f}  {theirs / gibbs:11.2f}",
        flush=True,
    )


def _pass(model: GaussianMixture, step: Any, start: engine.State, rows: DenseRows, backend: Threads) -> Any:
    problem = engine.Problem(model, step, SsviA(), ConstantSchedule(), population=len(rows), backend=backend)
    return lambda: problem.step(start, rows)


def _stream(n: int, columns: int, size: int, threads: int) -> None:
    """Fit rows that come in parts of 10,000 and are not kept; print the most memory so far, and what was learned."""
    rng = np.random.default_rng(0)
    centres = rng.normal(scale=2.0, size=(size, columns))
    part = 10_000

    def rows(count: int) -> Array:
        return centres[rng.integers(size, size=count)] + rng.normal(size=(count, columns))

    model, started = Estimator(size, random_state=0, n_jobs=threads), time.perf_counter()
    print("rows       seconds  peak MB  score")
    for number in range(1, n // part + 1):
        model.partial_fit(rows(part))
        if number % max(1, n // part // 10) == 0:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            spent = time.perf_counter() - started
            print(f"{number * part:<10} {spent:7.1f} {peak:8.1f}  {model.score(rows(5_000)):.3f}", flush=True)


class _Peer:
    """scikit-learn's mixture, one iteration at a time."""

    def __init__(self, data: Array, size: int, kind: str) -> None:
        self._data = data
        self._mixture = BayesianGaussianMixture(
            n_components=size, covariance_type=kind, max_iter=1, init_params="random_from_data", random_state=0
        )
        self._mixture.fit(data[:1_000])

    def iterate(self) -> None:
        """Do what one turn of its `fit` does."""
        _, responsibilities = self._mixture._e_step(self._data)
        self._mixture._m_step(self._data, responsibilities)


if __name__ == "__main__":
    main()

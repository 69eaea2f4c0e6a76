"""Time of the Bernoulli mixture's local steps against the same arithmetic as two bare matrix products, on one thread.

The bare products are rows @ log_odds and responsibilities.T @ rows, dense and in double precision, by NumPy's BLAS.

    python benchmarks/mixture_speed.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ssvi.backends import Threads
from ssvi.batches.documents import Documents
from ssvi.local_steps.bernoulli_mixture.exact import Exact
from ssvi.local_steps.bernoulli_mixture.gibbs import Gibbs
from ssvi.models.bernoulli_mixture import BernoulliMixture
from ssvi.numerics.random import derive_keys
from ssvi.typing import Array

_REPEATS = 9
# Rows, features, components, the share of ones, and how far apart components are (0: every row is unsure).
_SIZES = [
    (4_000, 784, 200, 0.13, 1.0),
    (4_000, 784, 200, 0.50, 1.0),
    (4_000, 784, 200, 0.13, 0.0),
    (4_000, 784, 200, 0.50, 0.0),
    (1_000, 100, 100, 0.50, 1.0),
]


def main() -> None:
    """Print milliseconds and ratios, medians over repeats that alternate between the two."""
    rng = np.random.default_rng(0)
    print("rows   D    K    ones  unsure  step    ours ms  bare ms  bare / ours")
    for rows, features, size, ones, apart in _SIZES:
        model = BernoulliMixture(features, size, 10.0)
        spread = rng.beta(0.6 * ones, 0.6 * (1 - ones), (size, features))
        components = np.clip(apart * spread + (1 - apart) * ones, 0.01, 0.99)
        data, _ = model.sample(np.full(size, 1.0 / size), components, rng, rows)
        dense, documents, keys = data.astype(float), Documents.from_matrix(data), derive_keys(0, rows)
        views = model.statistics(np.full(size, 1.0 / size), components)
        log_odds, responsibilities = np.log(components / (1 - components)).T, rng.random((rows, size))

        for step in (Exact(), Gibbs()):
            ours = partial(Threads(1).map_reduce, step, model, views, documents, keys)
            bare = partial(_products, dense, log_odds, responsibilities)
            first, second = _alternate(ours, bare)
            unsure = "yes" if apart == 0 else "no"
            print(
                f"{rows:<6} {features:<4} {size:<4} {ones:<5} {unsure:<7} {step.name:<7} {1e3 * first:7.1f}  "
                f"{1e3 * second:7.1f}  {second / first:8.2f}"
            )


def _products(rows: Array, log_odds: Array, responsibilities: Array) -> tuple[Array, Array]:
    return rows @ log_odds, responsibilities.T @ rows


def _alternate(first: Callable[[], Any], second: Callable[[], Any]) -> tuple[float, float]:
    """Return the median seconds of two functions, run in turn."""
    times: tuple[list[float], list[float]] = ([], [])
    with threadpool_limits(1):
        for number in range(_REPEATS + 1):
            for function, list_ in zip((first, second), times, strict=True):
                started = time.perf_counter()
                function()
                if number:  # the first round compiles
                    list_.append(time.perf_counter() - started)
    return float(np.median(times[0])), float(np.median(times[1]))


if __name__ == "__main__":
    main()

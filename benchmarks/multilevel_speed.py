"""Time of HierarchicalLinearRegression against statsmodels' MixedLM, on the same simulated rows; and a million rows.

    python -m benchmarks.multilevel_speed                   # 1,000, 3,000 and 10,000 groups of 10 rows
    python -m benchmarks.multilevel_speed --stream          # partial_fit over a million rows in 100,000 groups

Both fit y ~ x + (1 + x | g). Times are processor time of one thread. "off" is the largest distance between the two
libraries' estimates of coefficients, in MixedLM's standard errors; deviations are shown side by side.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ssvi import HierarchicalLinearRegression
from ssvi.typing import Array

_ROWS = 10  # of a group


def main() -> None:
    """Print times, ratios and distances."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--groups", type=int, nargs="+", default=[1_000, 3_000, 10_000])
    parser.add_argument("--stream", action="store_true", help="a million rows by partial_fit and by fit, without peers")
    parser.add_argument("--share", type=float, default=1.0, help="share of the million rows, for a quick look")
    options = parser.parse_args()
    with threadpool_limits(1):
        _fit(*_simulate(100, 0))  # which compiles
        if options.stream:
            _stream(int(100_000 * options.share))
            return
        print("groups   rows      ssvi s  statsmodels s  ratio   off   deviations: ssvi, statsmodels")
        for groups in options.groups:
            _compare(groups)


def _simulate(groups: int, seed: int) -> tuple[Array, Array, Any]:
    """Return x, y and the group of each row; deviations 1 and 0.5, correlation 0.3, noise 1."""
    rng = np.random.default_rng(seed)
    root = np.linalg.cholesky([[1.0, 0.15], [0.15, 0.25]])
    effects = rng.normal(size=(groups, 2)) @ root.T
    labels = np.repeat(np.arange(groups), _ROWS)
    x = rng.normal(size=len(labels))
    y: Array = 1.0 + 0.5 * x + effects[labels, 0] + effects[labels, 1] * x + rng.normal(size=len(labels))
    return x, y, labels


def _fit(x: Array, y: Array, labels: Any, **parameters: Any) -> tuple[HierarchicalLinearRegression, float]:
    started = time.process_time()
    model = HierarchicalLinearRegression(varying="all", random_state=0, **parameters).fit(x[:, None], y, labels)
    return model, time.process_time() - started


def _compare(groups: int) -> None:
    import pandas as pd
    import statsmodels.formula.api as formulas

    x, y, labels = _simulate(groups, 1)
    model, seconds = _fit(x, y, labels)
    frame = pd.DataFrame({"x": x, "y": y, "g": labels})
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer: Any = formulas.mixedlm("y ~ x", frame, groups="g", re_formula="~x").fit()
    taken = time.process_time() - started
    off = np.abs((model.coefficients_ - peer.fe_params.to_numpy()) / peer.bse_fe.to_numpy()).max()
    theirs = np.sqrt(np.diag(np.asarray(peer.cov_re)))
    print(
        f"{groups:<8,} {len(y):<9,} {seconds:6.2f}  {taken:13.2f}  {taken / seconds:5.1f}  {off:5.3f}  "
        f"{model.deviations_.round(4)}, {theirs.round(4)}"
    )


def _stream(groups: int) -> None:
    """Fit groups that come in parts of 1,000, and then all at once."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    model, started = HierarchicalLinearRegression(varying="all", random_state=0), time.process_time()
    for part in range(groups // 1_000):
        x, y, labels = _simulate(1_000, part + 1)
        model.partial_fit(x[:, None], y, labels + 1_000 * part)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"partial_fit: {groups * _ROWS:,} rows, {time.process_time() - started:.1f} s, memory grew by {grown:.0f} MB")
    print(model.coefficients_.round(4), model.deviations_.round(4), round(model.noise_deviation_, 4))
    x, y, labels = _simulate(groups, 1)
    model, seconds = _fit(x, y, labels)
    print(f"fit: {len(y):,} rows in {groups:,} groups, {seconds:.1f} s of one processor")
    print(model.coefficients_.round(4), model.deviations_.round(4), round(model.noise_deviation_, 4))


if __name__ == "__main__":
    main()

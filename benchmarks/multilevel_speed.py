"""Time of HierarchicalLinearRegression against statsmodels' MixedLM, on the same simulated rows; and a million rows.

    python -m benchmarks.multilevel_speed                   # 1,000, 3,000 and 10,000 groups of 10 rows
    python -m benchmarks.multilevel_speed --stream          # a million rows in 100,000 groups: time and peak memory

Both fit y ~ x + (1 + x | g). Times are processor time of one thread. "off" is the largest distance between the two
libraries' estimates of coefficients, in MixedLM's standard errors; deviations are shown side by side. With `--stream`
each fit is a process of its own, by `partial_fit` in parts of 1,000 groups and by `fit` on all rows.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ssvi import HierarchicalLinearRegression
from ssvi.typing import Array

_ROWS = 10  # of a group
_PART = 1_000  # groups of a call of `partial_fit`


def main() -> None:
    """Print times, ratios and distances."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--groups", type=int, nargs="+", default=[1_000, 3_000, 10_000])
    parser.add_argument("--stream", action="store_true", help="100,000 and a million rows, without peers")
    parser.add_argument("--alone", choices=("partial_fit", "fit"), help="one such fit, of the first of --groups")
    options = parser.parse_args()
    if options.stream:
        print("way          rows       groups   seconds  peak MB  coefficients, deviations, noise", flush=True)
        for way, groups in product(("partial_fit", "fit"), (10_000, 100_000)):
            command = [sys.executable, "-m", "benchmarks.multilevel_speed", "--alone", way, "--groups", str(groups)]
            subprocess.run(command, check=True)
        return
    with threadpool_limits(1):
        _fit(*_simulate(100, 0))  # which compiles
        if options.alone:
            (_stream if options.alone == "partial_fit" else _whole)(options.groups[0])
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
    """Fit groups that come in parts of 1,000, in this process: which is to be one of its own."""
    model, started = HierarchicalLinearRegression(varying="all", random_state=0), time.process_time()
    for part in range(groups // _PART):
        x, y, labels = _simulate(_PART, part + 1)
        model.partial_fit(x[:, None], y, labels + _PART * part)
    _tell("partial_fit", groups, time.process_time() - started, model)


def _whole(groups: int) -> None:
    """Fit all groups at once."""
    model, seconds = _fit(*_simulate(groups, 1))
    _tell("fit", groups, seconds, model)


def _tell(name: str, groups: int, seconds: float, model: HierarchicalLinearRegression) -> None:
    peak = int(re.findall(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[0]) / 1024
    found = [*model.coefficients_.round(4), *model.deviations_.round(4), round(model.noise_deviation_, 4)]
    print(f"{name:<12} {groups * _ROWS:<10,} {groups:<8,} {seconds:6.1f}  {peak:7.0f}  {' '.join(map(str, found))}")


if __name__ == "__main__":
    main()

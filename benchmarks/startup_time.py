"""Seconds to import the library, of commands, and of first fits with kernels that must be compiled or are there.

Every measurement is a process of its own. `steady` is the second fit of the same data in one process. Commands read
made-up text; a first `ssvi fit` compiles its kernels in other processes while it reads.

    python -m benchmarks.startup_time
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.common import Report, arguments

_IMPORT = "import time; t = time.perf_counter(); import {0}; print(time.perf_counter() - t)"
_FIT = """
import time
import numpy as np
counts = np.random.default_rng(0).poisson(0.05, (2_000, 1_000))
started = time.perf_counter()
from ssvi import LatentDirichletAllocation
imported = time.perf_counter()
model = LatentDirichletAllocation(20, batch_size=200, max_iter=5, random_state=0, verbose=0)
model.fit(counts)
first = time.perf_counter()
model.fit(counts)
print(imported - started, first - imported, time.perf_counter() - first)
"""


def main() -> None:
    """Measure in fresh processes, several times each but for the cold one."""
    options = _options()
    report = Report(options, "startup_time")
    for package in ("ssvi", "numpy", "sklearn.decomposition", "gensim", "tomotopy"):
        report.add(what=f"import {package}", seconds=_median(_IMPORT.format(package), options, None)[0])
    with tempfile.TemporaryDirectory() as cache:
        _, cold, steady = _run(_FIT, Path(cache))
        report.add(what="first fit, kernels compiled", seconds=cold)
        estimator, warm, steady = _median(_FIT, options, Path(cache))
    report.add(what="import of the estimator", seconds=estimator)
    report.add(what="first fit, kernels found compiled", seconds=warm)
    report.add(what="steady fit", seconds=steady)
    report.add(what="first fit over steady", seconds=warm - steady)
    _add_commands(report, options)
    report.show()


def _add_commands(report: Report, options: argparse.Namespace) -> None:
    """Measure commands on two thousand documents of made-up words."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rng = np.random.default_rng(0)
        lines = (" ".join(f"word{v}" for v in rng.geometric(0.005, size=100)) for _ in range(2_000))
        (folder / "texts.txt").write_text("\n".join(lines), encoding="utf-8")
        fit = ["fit", "lda", str(folder / "texts.txt"), "--topics", "20", "-o", str(folder / "model.ssvi"), "--quiet"]
        for what in ("kernels compiled", "kernels found compiled"):
            report.add(what=f"first ssvi fit, {what}", seconds=_command(fit, folder / "cache"))
        for command in (["--help"], ["topics", str(folder / "model.ssvi")]):
            seconds = float(np.median([_command(command, folder / "cache") for _ in range(options.repeats)]))
            report.add(what=f"ssvi {command[0]}", seconds=seconds)


def _command(arguments_: list[str], cache: Path) -> float:
    """Run a command in a new process; return the seconds it took."""
    started = time.perf_counter()
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    subprocess.run([sys.executable, "-m", "ssvi", *arguments_], check=True, capture_output=True, env=environment)
    return time.perf_counter() - started


def _median(code: str, options: argparse.Namespace, cache: Path | None) -> list[float]:
    return [float(value) for value in np.median([_run(code, cache) for _ in range(options.repeats)], axis=0)]


def _run(code: str, cache: Path | None) -> list[float]:
    """Run code in a new process; return the numbers it prints."""
    environment = dict(os.environ)
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = str(cache)
    command = [sys.executable, "-c", code]
    output = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    return [float(value) for value in output.split()]


def _options() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    return parser.parse_args()


if __name__ == "__main__":
    main()

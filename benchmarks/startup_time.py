"""Seconds to import the library, of commands, and of first fits with kernels that must be compiled or are there.

Every measurement is a process of its own. `steady` is the second fit of the same data in one process. Commands read
made-up text. First `ssvi fit`s are those of a new user: the project is installed from this checkout into an environment
of its own, with the kernels that an installation compiles, and has nothing in any cache. Beside it, in turns and in the
same environment, are fits that leave those kernels alone: they compile their own in two other processes, or find them
in numba's cache. `ratio` is to the first of these. `--no-install` takes the environment that runs this, and leaves out
what needs an installation, which takes some minutes.

    python -m benchmarks.startup_time
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Mapping
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


_ROOT = Path(__file__).parents[1]
_OWN = {"SSVI_SHIPPED_KERNELS": "0"}  # what makes a fit compile its kernels, whatever came with the installation


def main() -> None:
    """Measure in fresh processes, several times each but for the cold one."""
    options = _options()
    report = Report(options, "startup_time")
    for package in ("ssvi", "numpy", "sklearn.decomposition", "gensim", "tomotopy"):
        _add(report, f"import {package}", _median(_IMPORT.format(package), options, None)[0])
    with tempfile.TemporaryDirectory() as cache:
        _, cold, steady = _run(_FIT, Path(cache))
        _add(report, "first fit, kernels compiled", cold)
        estimator, warm, steady = _median(_FIT, options, Path(cache))
    _add(report, "import of the estimator", estimator)
    _add(report, "first fit, kernels found compiled", warm, warm / cold)
    _add(report, "steady fit", steady)
    _add(report, "first fit over steady", warm - steady)
    with tempfile.TemporaryDirectory() as folder:
        _add_commands(report, options, Path(folder))
    report.show()


def _add(report: Report, what: str, seconds: float, ratio: float | str = "") -> None:
    report.add(what=what, seconds=seconds, ratio=ratio)


def _add_commands(report: Report, options: argparse.Namespace, folder: Path) -> None:
    """Measure commands on two thousand documents of made-up words."""
    rng = np.random.default_rng(0)
    lines = (" ".join(f"word{v}" for v in rng.geometric(0.005, size=100)) for _ in range(2_000))
    (folder / "texts.txt").write_text("\n".join(lines), encoding="utf-8")
    python = _install(report, folder) if options.install else Path(sys.executable)
    _add_first_fits(report, options, folder, python)
    for command in (["--help"], ["topics", str(folder / "model.ssvi")]):
        seconds = float(np.median([_command(python, command, folder / "cache 0", {}) for _ in range(options.repeats)]))
        _add(report, f"ssvi {command[0]}", seconds)


def _install(report: Report, folder: Path) -> Path:
    """Install this checkout into a new environment; return its Python. The last of three times has the kernels."""
    venv.create(folder / "installed", with_pip=True)
    python = folder / "installed" / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet", str(_ROOT)]
    without, again = {**os.environ, "SSVI_COMPILE_AT_INSTALL": "0"}, ["--force-reinstall", "--no-deps"]
    subprocess.run(pip, check=True, capture_output=True, env=without)
    first = 0.0
    for what, environment in (("without kernels", without), ("with kernels", dict(os.environ))):
        started = time.perf_counter()
        subprocess.run([*pip, *again], check=True, capture_output=True, env=environment)
        seconds = time.perf_counter() - started
        first = first or seconds
        _add(report, f"pip install . with all dependencies there, {what}", seconds, seconds / first)
    return python


def _add_first_fits(report: Report, options: argparse.Namespace, folder: Path, python: Path) -> None:
    """Measure first fits in turns: kernels compiled by the fit, found in numba's cache, and from the installation."""
    kinds: dict[str, Mapping[str, str]] = {"kernels compiled": _OWN, "kernels found compiled": _OWN}
    if options.install:
        kinds["kernels from pip install ."] = {}
    fit = ["fit", "lda", str(folder / "texts.txt"), "--topics", "20", "-o", str(folder / "model.ssvi"), "--quiet"]
    times: dict[str, list[float]] = {what: [] for what in kinds}
    for turn in range(options.turns):
        for what, settings in kinds.items():
            cache = folder / f"cache {turn}" if settings else folder / f"nothing {turn}"
            times[what].append(_command(python, fit, cache, settings))
            if not settings and list(cache.rglob("*.nbi")):
                raise SystemExit("the installed kernels were not used")
    medians = {what: float(np.median(seconds)) for what, seconds in times.items()}
    for what, seconds in medians.items():
        _add(report, f"first ssvi fit, {what}", seconds, seconds / medians["kernels compiled"])


def _command(python: Path, arguments_: list[str], cache: Path, settings: Mapping[str, str]) -> float:
    """Run a command in a new process with a cache of its own; return the seconds it took."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), **settings}
    if str(python) != sys.executable:
        environment.pop("PYTHONPATH", None)  # which may lead to another installation
    started = time.perf_counter()
    subprocess.run([str(python), "-m", "ssvi", *arguments_], check=True, capture_output=True, env=environment)
    return time.perf_counter() - started


def _median(code: str, options: argparse.Namespace, cache: Path | None) -> list[float]:
    return [float(value) for value in np.median([_run(code, cache) for _ in range(options.repeats)], axis=0)]


def _run(code: str, cache: Path | None) -> list[float]:
    """Run code in a new process; return the numbers it prints."""
    environment = {**os.environ, **_OWN}
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = str(cache)
    command = [sys.executable, "-c", code]
    output = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    return [float(value) for value in output.split()]


def _options() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--turns", type=int, default=3, help="first fits of each kind")
    parser.add_argument("--no-install", dest="install", action="store_false", help="measure no new installation")
    return parser.parse_args()


if __name__ == "__main__":
    main()

"""Compiles the kernels of topics while the package is installed, so that first fits need not.

They go into the wheel, or beside the sources if the installation is editable; `ssvi.numerics.shipped` says when they
are used. Without them all works as well, only the first fit takes longer: so nothing that goes wrong here stops an
installation. SSVI_COMPILE_AT_INSTALL=0 leaves them out, for a wheel that is the same everywhere.

After a change of the sources, this makes those of an editable installation anew:

    python hatch_build.py
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run as a command, by a Python that builds no packages
    BuildHookInterface = object

PARTS = ("documents", "topics")  # of `ssvi.at_install`, a process each
SECONDS = 600.0  # after which an installation goes on without kernels
_PLACE = "ssvi/_kernels"


class CompileKernels(BuildHookInterface):
    """What hatchling calls when it builds a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile kernels, and put them into the wheel; it is then one for this kind of machine only."""
        self._made = tempfile.mkdtemp(prefix="ssvi-kernels-")
        if os.environ.get("SSVI_COMPILE_AT_INSTALL") == "0":
            return
        source = Path(self.root) / "src"
        if version == "editable":
            compile_in_place(source)
        elif compile_kernels(source, Path(self._made)):
            build_data["force_include"][self._made] = _PLACE
            build_data["pure_python"], build_data["infer_tag"] = False, True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what the wheel has by now."""
        shutil.rmtree(self._made, ignore_errors=True)


def compile_in_place(source: Path) -> bool:
    """Compile kernels beside the sources, in the place of those that were there; tell whether they are there."""
    with tempfile.TemporaryDirectory() as made:
        if not compile_kernels(source, Path(made)):
            return False
        try:
            shutil.rmtree(source / _PLACE, ignore_errors=True)
            shutil.copytree(made, source / _PLACE)
        except OSError as error:
            return _go_without(str(error))
    return True


def compile_kernels(source: Path, folder: Path, parts: tuple[str, ...] = PARTS, seconds: float = SECONDS) -> bool:
    """Compile the kernels of the package in `source` into `folder`, and tell whether they are all there."""
    try:
        with tempfile.TemporaryDirectory() as cache:
            failure = _run_parts(source, folder, parts, seconds, cache)
    except Exception as error:
        failure = str(error)
    if not failure and not any(folder.iterdir()):
        failure = "numba compiles nothing here"
    return _go_without(failure) if failure else True


def _run_parts(source: Path, folder: Path, parts: tuple[str, ...], seconds: float, cache: str) -> str:
    """Run each part in a process of its own; return what went wrong, or nothing."""
    before = [path for path in [os.environ.get("PYTHONPATH")] if path]
    # A cache of its own: what numba finds in another is not compiled, and so not kept.
    settings = {"PYTHONPATH": os.pathsep.join([str(source), *before]), "NUMBA_CACHE_DIR": cache}
    deadline, processes = time.monotonic() + seconds, []
    try:
        for part in parts:
            command = [sys.executable, "-m", "ssvi.at_install", part, str(folder)]
            with open(Path(cache) / f"{part}.log", "wb") as log:
                processes.append(
                    subprocess.Popen(command, env={**os.environ, **settings}, stdout=log, stderr=subprocess.STDOUT)
                )
        for part, process in zip(parts, processes, strict=True):
            if process.wait(max(deadline - time.monotonic(), 0.0)):
                said = (Path(cache) / f"{part}.log").read_text(errors="replace").splitlines()
                return said[-1] if said else f"the process that compiles {part} ended with {process.returncode}"
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return ""


def _go_without(reason: str) -> bool:
    """Say that there will be no kernels, and why."""
    print(f"ssvi: kernels were not compiled, so the first fit will compile them: {reason}", file=sys.stderr)
    return False


if __name__ == "__main__":
    sys.exit(0 if compile_in_place(Path(__file__).parent / "src") else 1)

"""Fits that are killed at random moments, again and again, and what they end with.

Every round fits a model in a process with checkpoints, kills the process at a random moment and starts it again with
--resume, up to three times, and then lets it end. The model file must then hold exactly what an uninterrupted fit has.
After every kill, each checkpoint under its final name must be whole, and so must a model file, if there is one already.
Every second fit of a model may stop early. Before a fit goes on, something is done to its checkpoints half of the time:
a bit of the last one is flipped, it is cut off, or a folder or a link that leads nowhere or to itself has the name of a
later one. The fit must then go on from an earlier one, or anew. What is being written when a process is killed must not
stay behind for ever.

    python -m benchmarks.kills --kills 200
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from scipy import sparse

import ssvi
from ssvi.files import Checkpoints, container
from ssvi.files.models import estimators

_MOST_KILLS = 3  # of one fit: then it may end, and another begins
Variant = tuple[str, ...]  # a model, and options of its fit


def main() -> None:
    """Kill until there have been enough kills; print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    kills, under_way, rounds, wrong = 0, 0, 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = (rng.random((400, 30)) < 0.3).astype(np.int32)
        sparse.save_npz(folder / "counts.npz", sparse.csr_array(rows))
        variants: list[Variant] = [(model, *extra) for extra in ((), ("--early-stopping",)) for model in estimators()]
        expected = {variant: _uninterrupted(folder, variant) for variant in variants}
        while kills < options.kills:
            variant = variants[rounds % len(variants)]
            fitted, seconds = expected[variant]
            met, seconds = _until_it_ends(folder, variant, seconds, rng)
            expected[variant] = fitted, seconds
            kills, under_way, rounds = kills + len(met), under_way + sum(met), rounds + 1
            wrong += not _same(fitted, ssvi.load(folder / "model.ssvi"))
            shown = f"{kills} kills ({under_way} with a checkpoint on the disk) in {rounds} fits"
            print(f"{shown}, {wrong} of them with another result", flush=True)
    print("every fit ended with the uninterrupted result" if not wrong else f"{wrong} fits went wrong")
    raise SystemExit(bool(wrong))


def _command(folder: Path, variant: Variant, output: str, checkpoints: str) -> list[str]:
    model, *extra = variant
    return [
        sys.executable, "-m", "ssvi.cli", "fit", model, str(folder / "counts.npz"), "--output", str(folder / output),
        "--components", "5", "--passes", "60", "--batch-size", "20", "--jobs", "1", "--quiet",
        "--checkpoint", str(folder / checkpoints), "--every", "2", "--resume", *extra,
    ]  # fmt: skip


def _uninterrupted(folder: Path, variant: Variant) -> tuple[object, float]:
    """Return a fit that nothing happened to, and how long it took, start-up and all."""
    command = _command(folder, variant, "whole.ssvi", "whole")
    subprocess.run(command, check=True)  # compiles kernels
    started = time.perf_counter()
    subprocess.run(command, check=True)
    return ssvi.load(folder / "whole.ssvi"), time.perf_counter() - started


def _until_it_ends(
    folder: Path, variant: Variant, seconds: float, rng: np.random.Generator
) -> tuple[list[bool], float]:
    """Kill a fit at random moments, unless it is quicker.

    Return for each kill whether there was a checkpoint to go on from, and how long a whole fit takes, by what is known
    now: the machine may have been busy before.
    """
    (folder / "model.ssvi").unlink(missing_ok=True)
    met: list[bool] = []
    spoilt: dict[Path, bytes] = {}
    while True:
        started = time.perf_counter()
        process = subprocess.Popen(_command(folder, variant, "model.ssvi", "checkpoints"))
        try:
            moment = seconds * rng.uniform(0.4, 1.0)
            process.wait(timeout=moment if len(met) < _MOST_KILLS else None)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            met.append(_has_whole_files(folder, spoilt))
            spoilt |= _damage(folder / "checkpoints", rng)
            continue
        if process.returncode:
            raise SystemExit(f"a fit of {' '.join(variant)} ended with {process.returncode}")
        if list((folder / "checkpoints").glob(".unfinished-*")):
            raise SystemExit("a checkpoint that was never finished has stayed behind")
        shutil.rmtree(folder / "checkpoints")  # with what was put there
        return met, seconds if met else min(seconds, time.perf_counter() - started)


def _has_whole_files(folder: Path, spoilt: Mapping[Path, bytes]) -> bool:
    """Read every file that has its final name, where an error is one that was half written; tell if there is any.

    Those that were spoilt and are still as they were then are left out.
    """
    files = [path for path in Checkpoints(folder / "checkpoints").files() if path.read_bytes() != spoilt.get(path)]
    for path in files:
        container.read(path, "a whole checkpoint")
    if (folder / "model.ssvi").exists():
        ssvi.load(folder / "model.ssvi")
    return bool(files)


def _damage(checkpoints: Path, rng: np.random.Generator) -> dict[Path, bytes]:
    """Do something to a folder of checkpoints, or nothing; return the file that was spoilt, if any, and its content."""
    way, files = int(rng.integers(10)), Checkpoints(checkpoints).files()
    later = checkpoints / f"step-{10**8 + int(rng.integers(10**8)):09d}.ssvi"
    if way < 2 and files:
        content = bytearray(files[-1].read_bytes())
        content[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
        spoilt = bytes(content if way == 0 else content[: int(rng.integers(len(content)))])
        files[-1].write_bytes(spoilt)
        return {files[-1]: spoilt}
    if way in (2, 3, 4) and checkpoints.is_dir():
        if way == 2:
            later.mkdir()
        else:
            later.symlink_to(checkpoints / "nowhere" / "file" if way == 3 else later)
    return {}


def _same(one: object, other: object) -> bool:
    """Tell whether two fits have the same parameters, bit for bit."""
    first, second = one._state.parameters, other._state.parameters  # type: ignore[attr-defined]
    return all(np.array_equal(lam, second[block]) for block, lam in first.items())


if __name__ == "__main__":
    main()

"""Mutated models, checkpoints and corpora: each must be read or refused in one sentence, quickly, in little memory.

Bytes are changed, cut out, doubled or cut off in files of every format; of packed files, half the time in what they
pack, so that the damage gets past the checksums; of models and checkpoints, half the time with a checksum that fits.
Worker processes read them one after the other; of a checkpoint, a fit goes on from it to its end. A file is bad, and
kept in the output folder, if it crashes its worker, takes over ten seconds, takes more than a gigabyte of memory beyond
what the worker has at its start, or ends in anything but a `ValueError` or an `OSError` that names the file. So is a
model or checkpoint that is read although its checksum does not fit, and a fit that passes over a damaged checkpoint and
ends otherwise than one without checkpoints.

    python -m benchmarks.fuzz_files --files 100000
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import shutil
import signal
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fuzz_samples import fit_of_a_checkpoint, mutate, write_samples

_LIMIT = 10  # seconds
_MEMORY = 1 << 30  # bytes beyond what the libraries take
_BATCH = 500
_OUTCOMES = ("read", "refused", "bad")


@dataclass
class Totals:
    """What happened to files so far.

    Attributes
    ----------
    outcomes : dict
        How many files were read, refused and bad.
    slowest : float
        Seconds of the file that took the longest.
    growth : int
        The most memory, in bytes, that one took beyond what its worker had before the first file.

    """

    outcomes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_OUTCOMES, 0))
    slowest: float = 0.0
    growth: int = 0

    def add(self, outcome: str, seconds: float, growth: int) -> None:
        """Count one file."""
        self.outcomes[outcome] += 1
        self.slowest, self.growth = max(self.slowest, seconds), max(self.growth, growth)

    def __str__(self) -> str:
        shown = ", ".join(f"{value:,} {name}" for name, value in self.outcomes.items())
        return (
            f"{sum(self.outcomes.values()):,} files: {shown}; slowest {self.slowest:.2f} s; "
            f"largest growth {self.growth / 2**20:.0f} MB"
        )


def main() -> None:
    """Make the files, read them in batches, and print what happened."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--formats", nargs="*", help="suffixes such as .h5ad; by default all")
    parser.add_argument("--output", type=Path, default=Path("results") / "fuzz", help="where bad files are kept")
    options = parser.parse_args()
    folder = options.output / "samples"
    folder.mkdir(parents=True, exist_ok=True)
    # In a process of its own, because those that are forked off later want no threads of libraries here.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["ssvi", "ssvi.data.readers", "sklearn.feature_extraction.text", "pyarrow.parquet"])
    maker = context.Process(target=write_samples, args=(folder,))
    maker.start()
    maker.join()
    if maker.exitcode:
        raise SystemExit("the samples could not be written: see above.")
    samples = [path for path in sorted(folder.iterdir()) if _wanted(path, options.formats)]
    totals = Totals()
    starts = range(0, options.files, _BATCH)
    batches = [range(start, min(start + _BATCH, options.files)) for start in starts]
    with ThreadPoolExecutor(options.workers) as pool:
        results = pool.map(lambda numbers: _supervise(context, samples, options.output, options.seed, numbers), batches)
        for done, results_of_batch in enumerate(results, start=1):
            for result in results_of_batch:
                totals.add(*result)
            if done % 10 == 0 or done == len(batches):
                print(totals, flush=True)
    raise SystemExit(bool(totals.outcomes["bad"]))


def _wanted(path: Path, formats: Sequence[str] | None) -> bool:
    is_vocabulary = path.name.startswith("vocab.") or path.name.endswith(".vocab.txt")
    return not is_vocabulary and (not formats or path.suffix in formats)


def _supervise(
    context: Any, samples: list[Path], output: Path, seed: int, numbers: range
) -> list[tuple[str, float, int]]:
    """Have the files of a batch read; after one that ended its worker, a new worker goes on with the next."""
    results: list[tuple[str, float, int]] = []
    while len(results) < len(numbers):
        receiver, sender = context.Pipe(duplex=False)
        left = numbers[len(results) :]
        worker = context.Process(target=_work, args=(sender, samples, output, seed, left), daemon=True)
        worker.start()
        sender.close()
        started = time.perf_counter()
        try:
            for _ in left:
                results.append(receiver.recv())
                started = time.perf_counter()
            worker.join()
        except EOFError:
            worker.join()
            path, _, _ = _mutated(samples, output, seed, numbers[len(results)])
            print(f"{path}: its worker ended with code {worker.exitcode}", flush=True)
            results.append(("bad", time.perf_counter() - started, 0))
    return results


def _work(sender: Connection, samples: list[Path], output: Path, seed: int, numbers: range) -> None:
    """Mutate and read files; tell after each what happened."""
    _warm_up(samples)
    baseline = _memory("VmRSS")
    used = _memory("VmSize")
    resource.setrlimit(resource.RLIMIT_AS, (used + 2 * _MEMORY, used + 2 * _MEMORY))  # a guard, not the measure
    for number in numbers:
        path, content, must_be_noticed = _mutated(samples, output, seed, number)
        path.write_bytes(content)
        Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
        outcome, seconds = _read(path)
        if outcome == "read" and must_be_noticed:
            print(f"{path}: was read, though it was changed", flush=True)
            outcome = "bad"
        children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        growth = max(_memory("VmHWM") - baseline, children)
        if growth > _MEMORY and outcome != "bad":
            print(f"{path}: took {growth / 2**20:.0f} MB", flush=True)
            outcome = "bad"
        if outcome != "bad":
            path.unlink()
        sender.send((outcome, seconds, growth))


def _warm_up(samples: list[Path]) -> None:
    """Read every sample once, so that what libraries load late is not taken for memory that a file took."""
    for sample in samples:
        _reader(sample)(sample)
        if sample.suffix == ".checkpoint":
            _whole_fit(sample.stem)


def _mutated(samples: list[Path], output: Path, seed: int, number: int) -> tuple[Path, bytes, bool]:
    """Return where a mutated file goes, what is in it, and whether it must be refused, by the seed and its number."""
    rng = np.random.default_rng([seed, number])
    sample = samples[int(rng.integers(len(samples)))]
    prefix = "docword." if sample.name.startswith("docword.") else ""
    return output / f"{prefix}{seed}-{number}-{sample.name.removeprefix(prefix)}", *mutate(sample, rng)


def _read(path: Path) -> tuple[str, float]:
    """Read a file; tell how that ended and how long it took."""
    started = time.perf_counter()
    signal.alarm(_LIMIT)  # ends the worker, whatever library it hangs in
    try:
        _reader(path)(path)
        outcome = "read"
    except BaseException as error:
        outcome = "refused" if isinstance(error, ValueError | OSError) and str(path) in str(error) else "bad"
        if outcome == "bad":
            print(f"{path}: {type(error).__name__}: {error}", flush=True)
    finally:
        signal.alarm(0)
    return outcome, time.perf_counter() - started


def _reader(path: Path) -> Callable[[Path], Any]:
    import ssvi
    from ssvi.data.readers import read_corpus

    return {".ssvi": ssvi.load, ".checkpoint": _go_on}.get(path.suffix, read_corpus)


def _go_on(path: Path) -> None:
    """Let a fit go on from a checkpoint; raise a `ValueError` that names the file if it was passed over."""
    from ssvi.errors import FitError
    from ssvi.files import Checkpoints

    name = path.stem.rpartition("-")[2]
    with tempfile.TemporaryDirectory() as own, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        keeper = Checkpoints(own, every=2)
        shutil.copyfile(path, Path(own, "step-000000004.ssvi"))
        try:
            model = fit_of_a_checkpoint(name, keeper)
        except (ValueError, FitError) as error:  # of another fit, or one whose numbers lead nowhere
            raise ValueError(f"{path}: {error}") from error
    if keeper.resumed_at is None:
        if not any("is passed over" in str(warning.message) for warning in said) or not _as_ever(name, model):
            raise RuntimeError("the fit began anew, and said nothing of it or ended otherwise than ever")
        raise ValueError(f"{path}: passed over")


@cache
def _whole_fit(name: str) -> dict[str, Any]:
    """Return what a fit without checkpoints ends with."""
    from ssvi.files import Checkpoints

    with tempfile.TemporaryDirectory() as own:
        return dict(fit_of_a_checkpoint(name, Checkpoints(own, every=1_000))._state.parameters)


def _as_ever(name: str, model: Any) -> bool:
    return all(np.array_equal(lam, model._state.parameters[block]) for block, lam in _whole_fit(name).items())


def _memory(name: str) -> int:
    """Return a figure of this process in bytes: resident now (VmRSS), at its peak (VmHWM), or addresses (VmSize)."""
    lines = Path(f"/proc/{os.getpid()}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name + ":"))


if __name__ == "__main__":
    main()

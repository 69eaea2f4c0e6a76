"""Mutated model and corpus files: each must be read or refused in one sentence, quickly, in little memory.

Bytes are changed, cut out, doubled or cut off in files of every format. Worker processes read them under a memory
limit; a file that crashes its worker, takes over ten seconds or ends in anything but a `ValueError` or an `OSError` is
kept in the output folder.

    python -m benchmarks.fuzz_files --files 100000
"""

from __future__ import annotations

import argparse
import resource
import signal
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

_LIMIT = 10  # seconds
_MEMORY = 1 << 30  # bytes beyond what the libraries take
_BATCH = 500


def main() -> None:
    """Make the files, read them in batches, and print what happened."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--output", type=Path, default=Path("results") / "fuzz", help="where bad files are kept")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    samples = _samples(options.output / "samples")
    tasks = [(samples, options.output, options.seed + first) for first in range(0, options.files, _BATCH)]
    totals = {"read": 0, "refused": 0, "bad": 0}
    slowest = 0.0
    with ProcessPoolExecutor(options.workers, initializer=_limit_memory) as pool:
        for number, (counts, longest) in enumerate(pool.map(_read_batch, tasks), start=1):
            totals = {name: totals[name] + counts[name] for name in totals}
            slowest = max(slowest, longest)
            if number % 20 == 0 or number == len(tasks):
                shown = ", ".join(f"{value:,} {name}" for name, value in totals.items())
                print(f"{sum(totals.values()):,} files: {shown}; slowest {slowest:.2f} s", flush=True)
    raise SystemExit(bool(totals["bad"]))


def _samples(folder: Path) -> list[Path]:
    """Write small files of every kind that is read."""
    import ssvi
    from ssvi.data.documents import Documents
    from ssvi.data.readers import Corpus, write_corpus

    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.6, (30, 12))
    words = tuple(f"word{i}" for i in range(12))
    made = []
    for name in ("LatentDirichletAllocation", "BernoulliMixture", "GammaProcessNMF"):
        data = (counts > 0).astype(int) if name == "BernoulliMixture" else counts
        path = folder / f"{name}.ssvi"
        getattr(ssvi, name)(3, max_iter=2, random_state=0).fit(data).save(path, words)
        made.append(path)
    corpus = Corpus(Documents.from_matrix(counts), words, None)
    for name in ("a.npz", "a.mtx", "a.ldac", "docword.a.txt", "a.mtx.gz", "docword.b.txt.gz"):
        write_corpus(corpus, folder / name)
        made.append(folder / name)
    texts = [" ".join(np.repeat(words, row)) for row in counts]
    (folder / "a.txt").write_text("\n".join(texts))
    (folder / "a.csv").write_text("id,text\n" + "\n".join(f'{i},"{text}"' for i, text in enumerate(texts)))
    (folder / "a.jsonl").write_text("\n".join(f'{{"text": "{text}"}}' for text in texts))
    (folder / "a.svmlight").write_text("\n".join(f"0 {i % 7 + 1}:2 {i % 5 + 9}:1" for i in range(30)))
    return [*made, *(folder / f"a.{suffix}" for suffix in ("txt", "csv", "jsonl", "svmlight"))]


def _limit_memory() -> None:
    """Leave a worker a gigabyte beyond what it has when all libraries are loaded."""
    import ssvi.data.readers  # noqa: F401
    from ssvi import BernoulliMixture, GammaProcessNMF, LatentDirichletAllocation, load  # noqa: F401

    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 2 * _MEMORY, used + 2 * _MEMORY))


def _read_batch(task: tuple[list[Path], Path, int]) -> tuple[dict[str, int], float]:
    """Mutate and read some files; return what happened and the longest time of one."""
    samples, output, seed = task
    rng, counts, longest = np.random.default_rng(seed), {"read": 0, "refused": 0, "bad": 0}, 0.0
    for number in range(_BATCH):
        sample = samples[int(rng.integers(len(samples)))]
        path = output / f"{seed}-{number}-{sample.name}"
        if sample.name.startswith("docword."):
            path = output / f"docword.{seed}-{number}-{sample.name.removeprefix('docword.')}"
        path.write_bytes(_mutate(sample.read_bytes(), rng))
        outcome, seconds = _read(path)
        counts[outcome] += 1
        longest = max(longest, seconds)
        if outcome != "bad":
            path.unlink()
    return counts, longest


def _read(path: Path) -> tuple[str, float]:
    """Read a file; tell how that ended and how long it took."""
    import ssvi
    from ssvi.data.readers import read_corpus

    reader: Callable[[Path], Any] = ssvi.load if path.suffix == ".ssvi" else read_corpus
    started = time.perf_counter()
    signal.alarm(_LIMIT)
    try:
        reader(path)
        outcome = "read"
    except (ValueError, OSError):
        outcome = "refused"
    except BaseException as error:
        print(f"{path}: {type(error).__name__}: {error}", flush=True)
        outcome = "bad"
    finally:
        signal.alarm(0)
    return outcome, time.perf_counter() - started


def _mutate(content: bytes, rng: np.random.Generator) -> bytes:
    """Change a file in one to five places."""
    changed = bytearray(content)
    for _ in range(int(rng.integers(1, 6))):
        at, span = int(rng.integers(len(changed) + 1)), int(rng.integers(1, 60))
        way = int(rng.integers(6))
        if way == 0 and at < len(changed):
            changed[at] = int(rng.integers(256))
        elif way == 1:
            del changed[at : at + span]
        elif way == 2:
            changed[at:at] = changed[at : at + span]
        elif way == 3:
            changed[at:at] = rng.bytes(span)
        elif way == 4:
            changed[at:at] = b"9" * int(rng.integers(1, 20))
        else:
            del changed[at:]
    return bytes(changed)


if __name__ == "__main__":
    main()

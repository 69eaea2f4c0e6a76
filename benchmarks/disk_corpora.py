"""Corpora on disk: peak memory of fits and of building, and what streaming costs against the same corpus in memory.

    python -m benchmarks.disk_corpora memory --sizes 100000 4000000
    python -m benchmarks.disk_corpora throughput
    python -m benchmarks.disk_corpora whole-pass --documents 4000000
    python -m benchmarks.disk_corpora build --megabytes 1000 3000

Corpora are simulated (`ssvi corpus simulate`: 8,000 words, documents of 100 in the mean) into --folder, where a later
run finds them. Fits and builds run in processes of their own, which tell their largest resident size at the end.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import Report
from ssvi import LatentDirichletAllocation
from ssvi.batches.sources import Source
from ssvi.corpora import DiskCorpus, is_corpus
from ssvi.corpora.simulation import Simulation, simulate

_PEAK = """
import json, re, sys, time
from pathlib import Path
def peak():  # not getrusage, which also knows the process that this one was forked from
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024
"""
_FIT = (
    _PEAK
    + """
from ssvi import LatentDirichletAllocation
from ssvi.corpora import DiskCorpus
corpus = DiskCorpus(sys.argv[1])
steps, threads, topics, batch = map(int, sys.argv[2:6])
rest, aside = corpus.set_aside(2_000, 0)
def stop(state, info):
    return steps and info.step >= steps
model = LatentDirichletAllocation(topics, max_iter=1, batch_size=batch, n_jobs=threads, random_state=0, verbose=0)
model.set_params(callbacks=[stop])
started, spent = time.perf_counter(), time.process_time()
model.fit(rest)
took = {"seconds": time.perf_counter() - started, "processor": time.process_time() - spent}
print(json.dumps({"peak_mb": peak(), "documents": model._state.documents_seen, "score": model.score(aside.to_matrix()),
                  **took}))
"""
)
_BUILD = (
    _PEAK
    + """
from ssvi.corpora.building import build_corpus
from ssvi.data.readers import TextOptions
started, spent = time.perf_counter(), time.process_time()
build_corpus([sys.argv[1]], sys.argv[2], text=TextOptions(min_df=2, max_df=0.5))
print(json.dumps({"peak_mb": peak(), "seconds": time.perf_counter() - started,
                  "processor": time.process_time() - spent}))
"""
)


def main() -> None:
    """Run one of the benchmarks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["memory", "throughput", "whole-pass", "build"])
    parser.add_argument("--folder", type=Path, default=Path("results") / "corpora", help="where corpora go")
    parser.add_argument("--output", type=Path, default=Path("results") / "bench", help="where tables go")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 4_000_000], help="documents of each corpus")
    parser.add_argument("--steps", type=int, default=30, help="steps of a fit for its memory; 0: a whole pass")
    parser.add_argument("--documents", type=int, default=4_000_000, help="of the whole pass")
    parser.add_argument("--megabytes", type=int, nargs="+", default=[1_000, 3_000], help="of texts to build from")
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--batch-size", type=int, default=4_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    report = Report(options, f"disk_corpora_{options.what.replace('-', '_')}")
    {"memory": _memory, "throughput": _throughput, "whole-pass": _whole_pass, "build": _build}[options.what](
        options, report
    )
    report.show()


def simulated(folder: Path, documents: int) -> Path:
    """Return a simulated corpus, which is made if it is not there."""
    path = folder / f"simulated-{documents}"
    if not is_corpus(path):
        simulate(Simulation(documents), path, n_jobs=-1)
    return path


def _child(program: str, *given: Any) -> dict[str, float]:
    output = subprocess.run([sys.executable, "-c", program, *map(str, given)], check=True, stdout=subprocess.PIPE)
    told: dict[str, float] = json.loads(output.stdout.decode().splitlines()[-1])
    return told


def _fit(options: argparse.Namespace, path: Path, steps: int) -> dict[str, float]:
    return _child(_FIT, path, steps, options.threads, options.topics, options.batch_size)


def _memory(options: argparse.Namespace, report: Report) -> None:
    """Fit over corpora of several sizes."""
    peaks = {}
    for size in options.sizes:
        told = _fit(options, simulated(options.folder, size), options.steps)
        peaks[size] = told["peak_mb"]
        report.add(corpus=size, **told, against_first=told["peak_mb"] / peaks[options.sizes[0]])


def _whole_pass(options: argparse.Namespace, report: Report) -> None:
    """Go over all of a large corpus once."""
    report.add(corpus=options.documents, **_fit(options, simulated(options.folder, options.documents), 0))


def _throughput(options: argparse.Namespace, report: Report) -> None:
    """Fit over a corpus on disk and over the same one in memory, in turns; both must end with the same bits."""
    disk = DiskCorpus(simulated(options.folder, options.sizes[0]))
    loaded = disk.load()
    parameters = {"max_iter": 1, "batch_size": options.batch_size, "n_jobs": options.threads, "random_state": 0}
    ratios: dict[str, list[float]] = {"processor": [], "seconds": []}
    spent_in_memory: list[float] = []
    LatentDirichletAllocation(options.topics, **parameters).fit(disk.first(3 * options.batch_size))  # compiles
    for repeat in range(options.repeats):
        spent: dict[str, tuple[float, float]] = {}
        topics = []
        for name, data in (("disk", disk), ("memory", loaded))[:: 1 if repeat % 2 else -1]:
            before = time.process_time(), time.perf_counter()
            topics.append(LatentDirichletAllocation(options.topics, **parameters).fit(data).components_)
            spent[name] = time.process_time() - before[0], time.perf_counter() - before[1]
        if not np.array_equal(topics[0], topics[1]):
            raise SystemExit("the two fits have different bits")
        spent_in_memory.append(spent["memory"][0])
        for place, name in enumerate(ratios):
            ratios[name].append(spent["disk"][place] / spent["memory"][place])
        report.add(repeat=repeat, processor_disk=spent["disk"][0], processor_memory=spent["memory"][0],
                   processor_ratio=ratios["processor"][-1], seconds_ratio=ratios["seconds"][-1])  # fmt: skip
    reading = {name: _reading(data, options.batch_size) for name, data in (("disk", disk), ("memory", loaded))}
    fit = statistics.median(spent_in_memory) / len(disk)
    more = reading["disk"] - reading["memory"]
    print(
        f"reading takes {1e6 * more:.2f} microseconds of a processor more a document on disk, {more / fit:.1%} of a fit"
    )
    for name, own in ratios.items():
        print(f"{name}: on disk {statistics.median(own):.3f} times that in memory (median of {len(own)})")


def _reading(data: Source, batch_size: int) -> float:
    """Return the processor time of this thread that reading all minibatches of a pass takes, for each document."""
    times = []
    for _ in range(3):
        started = time.thread_time()
        for place in data.places(batch_size, 0, 0):
            data.read(place)
        times.append(time.thread_time() - started)
    return statistics.median(times) / len(data)


def _build(options: argparse.Namespace, report: Report) -> None:
    """Build corpora of files of text, a document a line; words have the frequencies of a language."""
    for megabytes in options.megabytes:
        text, output = options.folder / f"text-{megabytes}.txt", options.folder / f"built-{megabytes}"
        shutil.rmtree(output, ignore_errors=True)
        try:
            write_text(text, megabytes)
            told = _child(_BUILD, text, output)
            disk = DiskCorpus(output)
            report.add(megabytes=megabytes, **told, documents=len(disk), words=disk.n_words)
        finally:
            text.unlink(missing_ok=True)
            shutil.rmtree(output, ignore_errors=True)


def write_text(path: Path, megabytes: int, seed: int = 0) -> None:
    """Write lines of words: the word of rank r has a chance of about 1 / r, of eight million different ones.

    The first hundred megabytes are drawn, and come again and again, in another order of documents.
    """
    rng, lines = np.random.default_rng(seed), list[str]()
    frequent, size = [f"w{rank:x}" for rank in range(200_000)], 0
    while size < min(megabytes, 100) * 1_000_000:
        lengths = rng.integers(20, 300, 200)
        ranks = np.exp(rng.random(lengths.sum()) * np.log(8e6)).astype(np.int64).tolist()
        words = [frequent[rank] if rank < 200_000 else f"w{rank:x}" for rank in ranks]
        ends = np.cumsum(lengths).tolist()
        lines += [" ".join(words[end - own : end]) + "\n" for end, own in zip(ends, lengths.tolist(), strict=True)]
        size = size + sum(map(len, lines[-200:]))
    written = 0
    with path.open("w", encoding="ascii") as file:
        while written < megabytes * 1_000_000:
            file.writelines(lines[place] for place in rng.permutation(len(lines)).tolist())
            written += size


if __name__ == "__main__":
    main()

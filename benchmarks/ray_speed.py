"""Fits on a local Ray beside fits on threads, of the same minibatches, step by step in turns.

Both have as many workers, and end with the same bits, which is checked. `ratio` is how many times as fast Ray is; that
of processor time counts all of Ray's processes, and means something on a busy machine too.

    python -m benchmarks.ray_speed
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

from benchmarks.common import ALPHA, ETA, Report, arguments, load
from ssvi import engine
from ssvi.backends.base import Backend
from ssvi.backends.on_ray import Ray
from ssvi.backends.threads import Threads
from ssvi.batches.documents import Documents
from ssvi.global_steps.ssvi import Ssvi
from ssvi.local_steps.base import LocalStep
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.local_steps.lda.mean_field import MeanField
from ssvi.models.lda import LDA

SETTINGS = {"worker_niceness": 0}
"""Ray's workers would let all other programs go first, which threads do not."""
_FIRST = 2  # steps that are not counted: workers start, kernels are loaded


def main() -> None:
    """Take steps in turns; print medians and ratios."""
    parser = arguments(__doc__, documents=40_000)
    parser.add_argument("--batch-sizes", type=int, nargs="+", default=[1_000, 8_000])
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--steps", type=int, default=20)
    options = parser.parse_args()
    split, report = load(options), Report(options, "ray_speed")
    places: dict[str, Backend] = {"threads": Threads(options.threads), "ray": _local_ray(options.threads)}
    local_steps: tuple[LocalStep, ...] = (Gibbs(sweeps=5, kept=4, statistics="drawn"), MeanField())
    for size in options.batch_sizes:
        for local_step in local_steps:
            wall, processor = _times(split.train, local_step, size, options.topics, options.steps, places)
            report.add(
                local_step=local_step.name,
                batch_size=size,
                threads_ms=1e3 * wall["threads"],
                ray_ms=1e3 * wall["ray"],
                ratio=wall["threads"] / wall["ray"],
                threads_processor_ms=1e3 * processor["threads"],
                ray_processor_ms=1e3 * processor["ray"],
                processor_ratio=processor["threads"] / processor["ray"],
            )
    report.show()


def _local_ray(workers: int) -> Ray:
    os.environ |= {f"RAY_{name}": str(value) for name, value in SETTINGS.items()}
    return Ray(workers, "local", object_store_memory=300 * 2**20)


def _times(
    documents: Documents, local_step: LocalStep, size: int, topics: int, steps: int, places: dict[str, Backend]
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the median of a step's seconds in each place, and the mean of its seconds of processors."""
    model = LDA(documents.n_words, np.full(topics, ALPHA), ETA)
    start, rng = engine.init(model, 0), np.random.default_rng(0)
    fits = {}
    for name, backend in places.items():
        problem = engine.Problem(model, local_step, Ssvi(), population=len(documents), backend=backend)
        fits[name] = problem.begin(start)
    wall: dict[str, list[float]] = {name: [] for name in places}
    processor = dict.fromkeys(places, 0.0)
    for number in range(steps + _FIRST):
        batch = documents.take(rng.choice(len(documents), size, replace=False))
        for name, fit in fits.items():
            started, used = time.perf_counter(), processor_seconds()
            fit.step(batch)
            if number >= _FIRST:
                wall[name].append(time.perf_counter() - started)
                processor[name] += (processor_seconds() - used) / steps
    one, other = (fit.end().parameters["topics"] for fit in fits.values())
    if not np.array_equal(one, other):
        raise SystemExit("the two fits have different bits")
    return {name: float(np.median(values)) for name, values in wall.items()}, processor


def processor_seconds() -> float:
    """Return the seconds that processors have spent on this process and on all that it has started: Ray's."""
    ticks = sum(started_processes().values())
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def started_processes() -> dict[int, int]:
    """Return the processes that this one has started, and those that they have, with the ticks spent on each."""
    parents, ticks = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        parents[int(folder.name)], ticks[int(folder.name)] = int(fields[1]), sum(map(int, fields[11:13]))
    own, found = {os.getpid()}, 0
    while len(own) > found:
        found = len(own)
        own |= {process for process, parent in parents.items() if parent in own}
    return {process: ticks[process] for process in own - {os.getpid()}}


if __name__ == "__main__":
    main()

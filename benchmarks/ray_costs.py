"""What a step on a Ray cluster costs: bytes and milliseconds to send views, to read, to compute and to add up.

Clusters are one to four nodes on this machine, each with one processor, an object store and processes of its own.
Milliseconds of tasks are of processor time, so that they mean something where nodes share processors; `step` is the
time on the clock of a whole step. At last comes what a model of these costs says of larger clusters (docs/scaling.md).

    python -m benchmarks.ray_costs
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import ALPHA, ETA
from benchmarks.ray_speed import SETTINGS, processor_seconds
from ssvi import engine
from ssvi.backends import on_ray
from ssvi.backends.blocks import Found, Given, cut_blocks, groups_of, merge_packed, run_block
from ssvi.backends.parcels import wrap
from ssvi.backends.ray_cluster import import_ray
from ssvi.backends.shards import shards
from ssvi.corpora import DiskCorpus
from ssvi.corpora.simulation import Simulation, simulate
from ssvi.experiments.table import markdown as _markdown
from ssvi.global_steps.ssvi import Ssvi
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.models.lda import LDA
from ssvi.numerics.random import derive_keys

_STORE = 150 * 2**20
_STEP = Gibbs(sweeps=5, kept=4, statistics="drawn")
_NODE: dict[str, Any] = {"num_cpus": 1, "object_store_memory": _STORE}


def main() -> None:
    """Measure pieces of a step here, and whole steps on clusters; print both, and what follows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--batch-size", type=int, default=8_000)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--nodes", type=int, default=4, help="of the largest cluster; 0: start no Ray")
    parser.add_argument("--start-ms", type=float, default=1.0, help="milliseconds to start a task, if there is no Ray")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        simulate(Simulation(3 * options.batch_size), Path(name) / "corpus")
        source = DiskCorpus(Path(name) / "corpus")
        model = LDA(source.n_words, np.full(options.topics, ALPHA), ETA)
        pieces = _pieces(model, source, options.batch_size)
        _show([{"piece": name, **row} for name, row in pieces.items()])
        _show(_sent(model, source, options.batch_size, [(1, 1), (1, 2), (2, 2), (3, 3), (4, 4), (10, 80), (100, 800)]))
        rows = _on_nodes(model, source, options, [2]) if options.nodes else []
        rows += _on_nodes(model, source, options, [1] * options.nodes) if options.nodes else []
    if not rows:
        _show(_predicted(pieces, options.batch_size, options.start_ms, source.sizes.entries // len(source)))
        return
    for row in rows:
        row["predicted"] = _processor_ms(pieces, options.batch_size, row)
    _show(rows)
    submit = min(row["send_ms"] / row["tasks"] for row in rows)
    _show(_predicted(pieces, options.batch_size, submit, source.sizes.entries // len(source)))


def _show(rows: Sequence[Mapping[str, Any]]) -> None:
    lines = [[f"{value:,.4g}" if isinstance(value, float) else str(value) for value in row.values()] for row in rows]
    print(_markdown(list(rows[0]), lines), flush=True)


def _pieces(model: LDA, source: DiskCorpus, size: int) -> dict[str, dict[str, float]]:
    """Return bytes and processor milliseconds of each piece of a step, the least of a few tries."""
    place, step = next(source.places(size, 0, 0)), _STEP
    batch = source.read(place)
    chosen = step.touched(batch)["topics"]
    problem = engine.Problem(model, step, Ssvi(), population=10 * size)
    fit = problem.begin(engine.init(model, 0))
    for _ in range(3):
        fit.step(batch)
    views = fit._views(batch, Ssvi(), 4)
    given, keys = Given("", step, model, views, "statistics"), derive_keys(0, size)
    parcel, half = wrap(given), slice(0, size // 2)
    found = run_block(given, batch.slice(0, size // 2).tight(), keys[half], [half])

    def read() -> None:
        DiskCorpus(source.path).read(place.slice(0, size // 2))

    return {
        "draw and move lambda": {
            "bytes": 0,
            "ms": _least(lambda: fit.step(batch)) - _least(lambda: _local(fit, batch)),
        },
        "views, opened by a worker": {"bytes": parcel.size, "ms": _least(parcel.open)},
        "prepare the views": {"bytes": 0, "ms": _least(lambda: step.prepare(model, views, batch.slice(0, 1)))},
        "read half of a minibatch": {"bytes": wrap(batch).size // 2, "ms": _least(read)},
        "compute half of a minibatch": {
            "bytes": 0,
            "ms": _least(lambda: run_block(given, batch.slice(0, size // 2).tight(), keys[half], [half])),
        },
        "add up two halves": {"bytes": found.size, "ms": _least(lambda: merge_packed([found, found]))},
        "words of the minibatch": {"bytes": 4 * len(chosen), "ms": _least(lambda: step.touched(batch))},
    }


def _local(fit: Any, batch: Any) -> None:
    """Do the local part of a step."""
    problem = fit._problem
    views = fit._views(batch, Ssvi(), 4)
    keys = derive_keys(0, len(batch))
    problem.backend.map_reduce(problem.local_step, fit._model, views, batch, keys, want_local=False)


def _least(function: Any, tries: int = 3) -> float:
    """Return the fewest milliseconds of processor time of some tries."""
    found = []
    for _ in range(tries):
        started = time.thread_time()
        function()
        found.append(1e3 * (time.thread_time() - started))
    return min(found)


def _sent(model: LDA, source: DiskCorpus, size: int, clusters: Sequence[tuple[int, int]]) -> list[dict[str, Any]]:
    """Return how many megabytes of a step go where, on clusters of so many nodes and workers; no Ray is needed."""
    batch = source.read(next(source.places(size, 0, 0)))
    problem = engine.Problem(model, _STEP, Ssvi(), population=10 * size)
    fit, keys = problem.begin(engine.init(model, 0)), derive_keys(0, size)
    for _ in range(3):
        fit.step(batch)
    given = Given("", _STEP, model, fit._views(batch, Ssvi(), 4), "statistics")
    rows = []
    for nodes, workers in clusters:
        blocks = cut_blocks(shards(batch.costs()), on_ray._TASKS_A_PROCESSOR * workers)
        found, read = [], 0
        for block in blocks:
            groups, start = groups_of(batch, block[0].start, block[-1].stop), block[0].start
            own = [slice(shard.start - start, shard.stop - start) for shard in block]
            found.append(run_block(given, groups, keys[start : block[-1].stop], own))
            read += wrap(groups).size
        rows.append({"nodes": nodes, "workers": workers, "tasks": len(blocks),
                     "broadcast_mb": nodes * wrap(given).size / 1e6, "read_mb": read / 1e6,
                     "reduce_mb": sum(own.size for own in found) / 1e6})  # fmt: skip
    return rows


class _Watched(on_ray.Ray):
    """Notes bytes and seconds of what this process does for a step."""

    def __init__(self, address: str) -> None:
        super().__init__(1, address)
        self.notes: dict[str, float] = dict.fromkeys(("tasks", "broadcast_mb", "reduce_mb", "send_ms"), 0.0)

    def _start(self, given: Given, batch: Any, keys: Any) -> list[Any]:
        started = time.thread_time()
        references = super()._start(given, batch, keys)
        self.notes["send_ms"] += 1e3 * (time.thread_time() - started)
        self.notes["broadcast_mb"] += wrap(given).size / 1e6
        self.notes["tasks"] += len(references)
        return references

    def _get(self, references: Any) -> list[Any]:
        found = super()._get(references)
        self.notes["reduce_mb"] += sum(own.size for own in found if isinstance(own, Found)) / 1e6
        return found

    def look_again(self) -> None:
        """Forget how large the cluster was, and all notes."""
        self._looked = -1e9
        self.notes = dict.fromkeys(self.notes, 0.0)


def _on_nodes(model: LDA, source: DiskCorpus, options: argparse.Namespace, sizes: list[int]) -> list[dict[str, float]]:
    """Return what a step costs on a cluster that grows node by node, each of so many workers, which read themselves."""
    ray = import_ray()
    from ray.cluster_utils import Cluster

    cluster = Cluster(
        initialize_head=True,
        head_node_args=_NODE | {"num_cpus": 0, "include_dashboard": False, "_system_config": SETTINGS},
    )
    rows: list[dict[str, float]] = []
    backend: _Watched | None = None
    for nodes, workers in enumerate(sizes, 1):
        cluster.add_node(**_NODE | {"num_cpus": workers})
        backend = backend or _Watched(cluster.address)
        backend.look_again()
        rows.append({"nodes": nodes, "workers": sum(sizes[:nodes]), **_steps(model, source, options, backend)})
        rows[-1]["broadcast_mb"] *= nodes
        print(rows[-1], flush=True)
    ray.shutdown()
    stop: Any = cluster.shutdown
    stop()
    return rows


def _steps(model: LDA, source: DiskCorpus, options: argparse.Namespace, backend: _Watched) -> dict[str, float]:
    """Take some steps; return what one costs, without the first ones, in which workers start."""
    times, used = [time.perf_counter()], [0.0]

    def note(state: engine.State, info: engine.Info) -> bool:
        times.append(time.perf_counter())
        used.append(processor_seconds())
        if len(times) == 1 + _FIRST:
            backend.look_again()
        return bool(len(times) == 1 + _FIRST + options.steps)

    problem = engine.Problem(model, _STEP, Ssvi(), population=len(source), backend=backend)
    engine.run(problem, engine.init(model, 0), source, sweeps=99, batch_size=options.batch_size, callbacks=[note])
    row = {name: value / options.steps for name, value in backend.notes.items()}
    processor = 1e3 * (used[-1] - used[_FIRST]) / options.steps
    return {**row, "step_ms": 1e3 * float(np.median(np.diff(times[_FIRST:]))), "processor_ms": processor}


def _processor_ms(pieces: dict[str, dict[str, float]], size: int, row: Mapping[str, float]) -> float:
    """Return the processor time that a step should take in all processes, from its pieces alone."""
    cost = {name: own["ms"] for name, own in pieces.items()}
    for_each_worker = cost["views, opened by a worker"] + cost["prepare the views"]
    documents = 2 * (cost["read half of a minibatch"] + cost["compute half of a minibatch"])
    adding = row["tasks"] * cost["add up two halves"] / 2
    return cost["draw and move lambda"] + row["workers"] * for_each_worker + documents + adding + row["send_ms"]


def _predicted(pieces: dict[str, dict[str, float]], size: int, submit: float, entries: int) -> list[dict[str, Any]]:
    """Return what a step takes on larger clusters of eight processors a node and 10 Gbit a second between nodes.

    `submit` is the milliseconds that starting a task takes the fit's process, and `entries` are those of a document.
    """
    cost = {name: row["ms"] for name, row in pieces.items()}
    view, back = (pieces[name]["bytes"] for name in ("views, opened by a worker", "add up two halves"))
    a_document = (cost["read half of a minibatch"] + cost["compute half of a minibatch"]) / (size / 2)
    rows = []
    for nodes in (1, 10, 100):
        for batch in (8_000, 100_000, 1_000_000):
            workers, rounds = 8 * nodes, float(np.ceil(np.log2(nodes + 1)))
            send = cost["views, opened by a worker"] + cost["prepare the views"] + 1e3 * view / 1.25e9 * rounds
            tasks = min(on_ray._TASKS_A_PROCESSOR * workers, len(shards(np.full(batch, entries))))
            start = submit * tasks
            reduce = rounds * (cost["add up two halves"] + 1e3 * back / 1.25e9) + 8 * back / 1.25e6
            compute = a_document * batch / min(workers, tasks)
            step = cost["draw and move lambda"] + send + start + compute + reduce
            row = {"nodes": nodes, "batch": batch, "step_ms": step, "documents_a_second": 1e3 * batch / step}
            hours = {f"{name}_hours": total / batch * step / 3.6e6 for name, total in _CORPORA.items()}
            rows.append(row | {"busy": compute / step} | hours)
    return rows


_FIRST = 2  # steps that are not counted
_CORPORA = {"wikipedia": 3.8e6, "billion": 1e9}


if __name__ == "__main__":
    main()

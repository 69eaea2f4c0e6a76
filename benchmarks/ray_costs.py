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
from ssvi import engine
from ssvi.backends import on_ray
from ssvi.backends.blocks import Found, Given, merge_packed, run_block
from ssvi.backends.parcels import wrap
from ssvi.backends.ray_cluster import import_ray
from ssvi.corpora import CorpusWriter, DiskCorpus
from ssvi.experiments.table import markdown as _markdown
from ssvi.global_steps.ssvi import Ssvi
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.models.lda import LDA
from ssvi.numerics.random import derive_keys

_STORE = 150 * 2**20


def main() -> None:
    """Measure pieces of a step here, and whole steps on clusters; print both, and what follows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=8_000)
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--batch-size", type=int, default=8_000)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--nodes", type=int, nargs="+", default=[1, 2, 3, 4])
    options = parser.parse_args()
    model = LDA(options.words, np.full(options.topics, ALPHA), ETA)
    with tempfile.TemporaryDirectory() as name:
        source = _corpus(model, Path(name) / "corpus", 3 * options.batch_size)
        pieces = _pieces(model, source, options.batch_size)
        _show([{"piece": name, **row} for name, row in pieces.items()])
        rows = [_on_nodes(model, source, options, nodes) for nodes in options.nodes]
    _show(rows)
    _show(_predicted(pieces, options.batch_size))


def _show(rows: Sequence[Mapping[str, Any]]) -> None:
    lines = [[f"{value:,.4g}" if isinstance(value, float) else str(value) for value in row.values()] for row in rows]
    print(_markdown(list(rows[0]), lines), flush=True)


def _corpus(model: LDA, path: Path, documents: int) -> DiskCorpus:
    _, drawn = model.simulate(np.random.default_rng(0), documents, length=100.0)
    with CorpusWriter(path, model.n_words) as new:
        new.add(drawn)
    return DiskCorpus(path)


def _pieces(model: LDA, source: DiskCorpus, size: int) -> dict[str, dict[str, float]]:
    """Return bytes and processor milliseconds of each piece of a step, the least of a few tries."""
    place, step = next(source.places(size, 0, 0)), Gibbs(sweeps=5, kept=4)
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


def _least(function: Any, tries: int = 5) -> float:
    """Return the fewest milliseconds of processor time of some tries."""
    found = []
    for _ in range(tries):
        started = time.thread_time()
        function()
        found.append(1e3 * (time.thread_time() - started))
    return min(found)


class _Watched(on_ray.Ray):
    """Notes bytes and seconds of what this process does for a step."""

    def __init__(self, address: str) -> None:
        super().__init__(1, address)
        self.notes: dict[str, float] = {"sent_mb": 0.0, "sent_ms": 0.0, "back_mb": 0.0, "tasks": 0.0}

    def _start(self, given: Given, batch: Any, keys: Any) -> list[Any]:
        started = time.thread_time()
        references = super()._start(given, batch, keys)
        self.notes["sent_ms"] += 1e3 * (time.thread_time() - started)
        self.notes["sent_mb"] += wrap(given).size / 1e6
        self.notes["tasks"] += len(references)
        return references

    def _get(self, references: Any) -> list[Any]:
        found = super()._get(references)
        self.notes["back_mb"] += sum(own.size for own in found if isinstance(own, Found)) / 1e6
        return found


def _on_nodes(model: LDA, source: DiskCorpus, options: argparse.Namespace, nodes: int) -> dict[str, float]:
    """Return what a step costs on a cluster of some nodes, read by its workers."""
    ray = import_ray()
    from ray.cluster_utils import Cluster

    own: dict[str, Any] = {"num_cpus": 1, "object_store_memory": _STORE}
    cluster = Cluster(initialize_head=True, head_node_args=own | {"num_cpus": 0, "include_dashboard": False})
    for _ in range(nodes):
        cluster.add_node(**own)
    backend, times = _Watched(cluster.address), [time.perf_counter()]

    def note(state: engine.State, info: engine.Info) -> bool:
        times.append(time.perf_counter())
        if len(times) == 3:  # workers have started
            backend.notes = dict.fromkeys(backend.notes, 0.0)
        return bool(len(times) == 3 + options.steps)

    problem = engine.Problem(model, Gibbs(sweeps=5, kept=4), Ssvi(), population=len(source), backend=backend)
    start = engine.init(model, 0)
    engine.run(problem, start, source, sweeps=9, batch_size=options.batch_size, callbacks=[note])
    ray.shutdown()
    stop: Any = cluster.shutdown
    stop()
    row = {name: value / options.steps for name, value in backend.notes.items()}
    return {"nodes": nodes, **row, "step_ms": 1e3 * float(np.median(np.diff(times[2:])))}


def _predicted(pieces: dict[str, dict[str, float]], size: int) -> list[dict[str, Any]]:
    """Return what a step takes on larger clusters of eight processors a node and 10 Gbit a second between nodes."""
    cost = {name: row["ms"] for name, row in pieces.items()}
    view, back = (pieces[name]["bytes"] for name in ("views, opened by a worker", "add up two halves"))
    a_document = (cost["read half of a minibatch"] + cost["compute half of a minibatch"]) / (size / 2)
    rows = []
    for nodes in (1, 10, 100):
        for batch in (8_000, 100_000, 1_000_000):
            workers, rounds = 8 * nodes, np.ceil(np.log2(nodes + 1))
            send = cost["views, opened by a worker"] + cost["prepare the views"] + 1e3 * view / 1.25e9 * rounds
            reduce = rounds * (cost["add up two halves"] + 1e3 * back / 1.25e9) + 8 * back / 1.25e6
            step = cost["draw and move lambda"] + send + a_document * batch / workers + reduce
            row = {"nodes": nodes, "batch": batch, "step_ms": step, "documents_a_second": 1e3 * batch / step}
            share = a_document * batch / workers / step
            hours = {f"{name}_hours": total / batch * step / 3.6e6 for name, total in _CORPORA.items()}
            rows.append(row | {"busy": share} | hours)
    return rows


_CORPORA = {"wikipedia": 3.8e6, "billion": 1e9}


if __name__ == "__main__":
    main()

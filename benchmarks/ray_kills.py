"""Fits on a Ray cluster of which workers and nodes are killed at random moments, and what the fits end with.

The cluster is three nodes on this machine, and a fourth without processors where the fit is. A thread kills a worker in
the middle of its task, or all processes of a node; then a new node comes. Every fit must end, with exactly the numbers
that threads find. Runs with other seeds are other kills, so that many can be had in several short runs.

    python -m benchmarks.ray_kills --kills 50
"""

from __future__ import annotations

import argparse
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.ray_speed import SETTINGS, started_processes
from ssvi import engine
from ssvi.backends.base import Backend
from ssvi.backends.on_ray import Ray
from ssvi.backends.ray_cluster import import_ray
from ssvi.backends.threads import Threads
from ssvi.batches.documents import Documents
from ssvi.global_steps.ssvi import Ssvi
from ssvi.local_steps.base import LocalStep
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.local_steps.lda.mean_field import MeanField
from ssvi.models.lda import LDA
from ssvi.typing import Array

_NODE: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
_NODES = 3
_PATIENCE = 300.0  # seconds without a step, which are taken for a fit that hangs
_MODEL = LDA(2_000, np.full(20, 0.1), 0.01)


class Killer(threading.Thread):
    """Kills workers and nodes until there have been enough kills."""

    def __init__(self, cluster: Any, nodes: list[Any], kills: int, rng: np.random.Generator) -> None:
        super().__init__(daemon=True)
        self._cluster, self._nodes, self._left, self._rng = cluster, nodes, kills, rng
        self.workers, self.gone = 0, 0
        self.moved = True
        """Whether there was a step since the last kill."""

    def replace(self) -> None:
        """Let new nodes come for those that are gone; Ray wants this from the main thread."""
        while len(self._nodes) < _NODES:
            self._nodes.append(self._cluster.add_node(**_NODE))

    def run(self) -> None:
        """Kill at random moments."""
        while self.workers + self.gone < self._left:
            time.sleep(self._rng.uniform(0.1, 2.0))
            if not self.moved:  # a worker takes seconds to start: not all of them are to die before their first task
                continue
            if self._rng.random() < 0.3 and len(self._nodes) > 1:
                node = self._nodes.pop(int(self._rng.integers(len(self._nodes))))
                self._cluster.remove_node(node, allow_graceful=False)
                self.gone, self.moved = self.gone + 1, False
                continue
            busy = _busy_workers()
            if busy:
                os.kill(int(self._rng.choice(busy)), signal.SIGKILL)
                self.workers, self.moved = self.workers + 1, False


def main() -> None:
    """Fit again and again until there have been enough kills; print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    _, documents = _MODEL.simulate(rng, 6_000, length=80.0)
    steps: tuple[LocalStep, ...] = (Gibbs(), MeanField())
    expected = [_fit(documents, step, Threads(2), lambda: None) for step in steps]
    ray, cluster, nodes = _start()
    backend, last = Ray(1, cluster.address), [time.monotonic()]
    threading.Thread(target=_watch, args=(last,), daemon=True).start()
    killer, fits, wrong = Killer(cluster, nodes, options.kills, rng), 0, 0

    def on_step() -> None:
        last[:] = [time.monotonic()]
        killer.replace()
        killer.moved = True

    killer.start()
    while killer.is_alive():
        which = fits % len(steps)
        lam = _fit(documents, steps[which], backend, on_step)
        wrong += not np.array_equal(lam, expected[which])
        fits += 1
        kills = f"{killer.workers} workers and {killer.gone} nodes killed"
        print(f"{kills} in {fits} fits, {wrong} of them with another result", flush=True)
    ray.shutdown()
    cluster.shutdown()
    print("every fit ended with the numbers of threads" if not wrong else f"{wrong} fits went wrong")
    raise SystemExit(bool(wrong))


def _start() -> tuple[Any, Any, list[Any]]:
    """Return Ray, a cluster, and its nodes but for the one where this process is."""
    ray = import_ray()
    from ray.cluster_utils import Cluster

    cluster = Cluster(
        initialize_head=True,
        head_node_args=_NODE | {"num_cpus": 0, "include_dashboard": False, "_system_config": SETTINGS},
    )
    return ray, cluster, [cluster.add_node(**_NODE) for _ in range(_NODES)]


def _fit(documents: Documents, local_step: LocalStep, backend: Backend, on_step: Callable[[], None]) -> Array:
    """Return lambda after a pass."""

    def note(state: engine.State, info: engine.Info) -> None:
        on_step()

    problem = engine.Problem(_MODEL, local_step, Ssvi(), population=len(documents), backend=backend)
    start = engine.init(_MODEL, 0)
    return engine.run(problem, start, documents, sweeps=1, batch_size=1_000, callbacks=[note]).parameters["topics"]


def _busy_workers() -> list[int]:
    """Return the processes of this cluster that are in the middle of a task of a local step."""
    busy = []
    for process in started_processes():
        try:
            if Path(f"/proc/{process}/cmdline").read_bytes().startswith(b"ray::_block"):
                busy.append(process)
        except OSError:  # it has ended
            continue
    return busy


def _watch(last: list[float]) -> None:
    """End everything if there is no step for too long."""
    while time.monotonic() - last[0] < _PATIENCE:
        time.sleep(1.0)
    print(f"no step for {_PATIENCE:.0f} s: the fit hangs", flush=True)
    os._exit(1)


if __name__ == "__main__":
    main()

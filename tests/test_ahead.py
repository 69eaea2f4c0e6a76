"""Kernels compiled before they are needed: all of a fit, and only where it helps."""

import subprocess
import sys

import pytest

from ssvi import ahead

FIT = """
import sys
import numpy as np
from scipy import sparse
from numba.core.dispatcher import Dispatcher
from ssvi import ahead
from ssvi import LatentDirichletAllocation

def compiled():
    found = [value for name, module in list(sys.modules.items()) if name.startswith("ssvi.")
             for value in vars(module).values() if isinstance(value, Dispatcher)]
    return {(kernel.__name__, str(signature)) for kernel in found for signature in kernel.signatures}

ahead.compile_documents(20)
ahead.compile_topics(20, "ssvi")
before = compiled()
counts = sparse.csr_array(np.random.default_rng(0).poisson(0.05, (300, 200)))
counts.indices, counts.indptr = counts.indices.astype(np.int64), counts.indptr.astype(np.int64)
LatentDirichletAllocation(20, max_iter=5, random_state=0, n_jobs=1).fit(counts[:250], X_val=counts[250:])
print(sorted(compiled() - before))
"""


def test_a_fit_needs_no_kernel_that_was_not_compiled_ahead():
    """In a process of its own: in this one, other tests have compiled theirs."""
    output = subprocess.run([sys.executable, "-c", FIT], check=True, capture_output=True, text=True).stdout
    assert output.splitlines()[-1] == "[]"


@pytest.fixture
def started(monkeypatch):
    """What would be started in the background, on a machine with two processors and no kernels."""
    found = []

    class Process:
        def join(self):
            pass

        kill = join

    def start_processes(*parts):
        found.extend(parts)
        return [Process() for _ in parts]

    monkeypatch.setattr(ahead, "start_processes", start_processes)
    monkeypatch.setattr(ahead.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(ahead, "is_compiled", lambda n_topics: False)
    return found


def test_two_processes_compile_while_this_one_reads(started):
    with ahead.compiling("lda", 50, "auto", "auto") as wait:
        assert started == [(ahead.compile_documents, 50), (ahead.compile_topics, 50, "ssvi")]
        wait()


PARTS = """
import gc, os, sys, threading
from pathlib import Path
from ssvi import ahead

def write(path, says):
    os.write(1, b"nobody sees this")
    Path(path).write_text(f"{says} {gc.isenabled()}")

if __name__ == "__main__":
    if sys.argv[1] == "threads":
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    processes = ahead.start_processes((write, "a", "one"), (write, "b", "two"))
    for process in processes:
        process.join()
    print(*(type(process).__name__ for process in processes), *(process.exitcode for process in processes))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="processes part on Linux only")
@pytest.mark.parametrize(("threads", "kind"), [("alone", "ForkProcess"), ("threads", "SpawnProcess")])
def test_parts_run_in_silent_processes_that_part_where_there_are_no_threads(tmp_path, threads, kind):
    (tmp_path / "parts.py").write_text(PARTS)
    command = [sys.executable, "parts.py", threads]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (run.stdout, run.stderr) == (f"{kind} {kind} 0 0\n", "")
    assert [(tmp_path / name).read_text() for name in "ab"] == ["one False", "two False"]


@pytest.mark.parametrize(
    "wanted", [("bernoulli_mixture", 50, "auto", "auto"), ("lda", 50, "cvb0", "ssvi"), ("lda", 50, "gibbs", "")]
)
def test_nothing_is_compiled_that_a_fit_does_not_need(started, wanted):
    with ahead.compiling(*wanted) as wait:
        wait()
    assert started == []


def test_nothing_is_compiled_again(started, monkeypatch):
    monkeypatch.setattr(ahead, "is_compiled", lambda n_topics: True)
    with ahead.compiling("lda", 50, "auto", "ssvi") as wait:
        wait()
    assert started == []


def test_whether_kernels_are_on_disk_is_seen(tmp_path, monkeypatch):
    from ssvi.local_steps.lda import gibbs_dense

    class Kernel:
        __name__ = "_sample"
        py_func = staticmethod(gibbs_dense.DrawCode.__init__)

        class stats:  # noqa: N801
            cache_path = str(tmp_path)

    monkeypatch.setattr(gibbs_dense, "_sample", Kernel())
    assert not ahead.is_compiled(20)
    (tmp_path / "draw_code._sample-12.py311.nbi").touch()
    assert ahead.is_compiled(20)


def test_kernels_that_came_with_the_installation_are_seen(tmp_path, monkeypatch):
    from ssvi.local_steps.lda import gibbs_dense, gibbs_sparse
    from ssvi.numerics import shipped

    for sample in (gibbs_dense._sample, gibbs_sparse._sample):
        monkeypatch.setattr(sample, "_cache", shipped.ShippedFirst(sample.py_func, _EmptyCache(tmp_path)))
    monkeypatch.setattr(shipped, "_shelf", shipped.Shelf(tmp_path / "kernels"))
    assert not ahead.is_compiled(20)
    folder = tmp_path / "kernels" / shipped.stamp(shipped.PACKAGE)
    folder.mkdir(parents=True)
    (folder / "ssvi.local_steps.lda.gibbs_dense._sample-12").touch()
    monkeypatch.setattr(shipped, "_shelf", shipped.Shelf(tmp_path / "kernels"))
    assert ahead.is_compiled(20)
    assert not ahead.is_compiled(1_000)  # which the other kernel samples


class _EmptyCache:
    """A cache of numba's with nothing in it."""

    def __init__(self, folder):
        self.cache_path = str(folder)

"""Fits on a Ray cluster: nodes on this machine, of which a worker and a node are really killed."""

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from tests.backends.bits import assert_bits_of_threads, same
from tests.corpora import samples
from typer.testing import CliRunner

import ssvi
from ssvi import LatentDirichletAllocation, engine
from ssvi.backends.threads import Threads
from ssvi.baselines.goem import ChainedGibbs
from ssvi.cli.app import app
from ssvi.corpora import DiskCorpus
from ssvi.data.readers.base import CorpusError
from ssvi.errors import BackendError
from ssvi.estimators.choices import make_backend
from ssvi.global_steps.ssvi import Ssvi
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.local_steps.lda.mean_field import MeanField
from ssvi.local_steps.plain import PlainStep
from ssvi.models.lda import LDA
from ssvi.testing.settings import Setting

ray = pytest.importorskip("ray")

NODE = {"num_cpus": 2, "object_store_memory": 80 * 2**20}
# A disk that counts as full is the only way to a full object store: else Ray moves what it has no room for there.
# Ray's workers would let all other programs go first, and tests would wait for them on a busy machine.
SETTINGS = {"local_fs_capacity_threshold": 0.0, "worker_niceness": 0}


@pytest.fixture(scope="module")
def cluster():
    """A head without processors, where this process is, and a node of two workers."""
    from ray.cluster_utils import Cluster

    from ssvi.backends.ray_cluster import import_ray

    import_ray()
    head = NODE | {"num_cpus": 0, "include_dashboard": False, "_system_config": SETTINGS}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    cluster.add_node(**NODE)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture(scope="module")
def backend(cluster):
    from ssvi.backends.on_ray import Ray

    return Ray(1, cluster.address)


STEPS = {
    "gibbs": Gibbs(),
    "many": Gibbs(kernel="sparse"),
    "drawn": Gibbs(statistics="drawn"),
    "mean_field": MeanField(),
}


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_workers_find_the_bits_of_threads(backend, step, many_tasks, monkeypatch):
    assert_bits_of_threads(backend, Setting(step, LDA.example(), seed=0), monkeypatch)


def test_steps_that_share_memory_run_in_this_process(backend):
    _, documents = LDA(20, np.full(3, 0.3), 0.1).simulate(np.random.default_rng(0), 30, length=20.0)
    chain = ChainedGibbs.over(documents, Gibbs())
    model = LDA(20, np.full(3, 0.3), 0.1)
    views = {"topics": np.log(np.full((3, 20), 0.05))}
    backend.map_reduce(chain, model, views, documents, np.arange(30, dtype=np.uint64), want_local=False)
    assert len(np.unique(chain.chains)) == 3


def fits(backend, step, **options):
    """Lambda after a few steps of a fit."""
    model = LDA(30, np.full(4, 0.3), 0.1)
    _, documents = model.simulate(np.random.default_rng(1), 400, length=20.0)
    problem = engine.Problem(model, step, Ssvi(), population=400, backend=backend)
    return engine.run(problem, engine.init(model, 0), documents, sweeps=2, batch_size=100, **options).parameters[
        "topics"
    ]


def troubled(folder, *what):
    """A Gibbs step, of a class that only this test has, which meets with each thing once: a node if there are two."""

    @dataclass(frozen=True)
    class Troubled(Gibbs):
        folder: str = ""

        def count(self, *arguments):
            for trouble in what:
                if trouble == "node" and not Path(self.folder, "another").exists():
                    continue
                try:
                    os.close(os.open(f"{self.folder}/{trouble}", os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    continue
                if trouble == "error":
                    raise KeyError("something is wrong with group 7")
                if trouble == "node":
                    os.kill(os.getppid(), signal.SIGKILL)  # a worker's parent is its node
                os.kill(os.getpid(), signal.SIGKILL)
            super().count(*arguments)

    return Troubled(folder=str(folder))


def test_an_error_of_a_step_is_raised_as_it_was(backend, tmp_path):
    with pytest.raises(KeyError, match="group 7") as caught:
        fits(backend, troubled(tmp_path, "error"))
    assert caught.value.__cause__ is None
    assert type(caught.value) is KeyError


def test_a_step_of_a_module_that_workers_do_not_have(backend, monkeypatch):
    module = type(sys)("nowhere_else")
    exec("from ssvi.local_steps.lda.gibbs import Gibbs\nclass Foreign(Gibbs): pass", module.__dict__)
    monkeypatch.setitem(sys.modules, "nowhere_else", module)
    with pytest.raises(BackendError, match=r"cannot import what this fit needs \(No module named 'nowhere_else'\)"):
        fits(backend, module.Foreign())


def test_no_room_in_the_object_store(backend):
    @dataclass(frozen=True)
    class Wasteful(PlainStep):
        name = "wasteful"
        model = "lda"

        def group(self, model, views, group, rng):
            return {"topics": np.zeros(views["topics"].shape)}, None, {"much": np.zeros(40_000)}

    model = LDA(20, np.full(3, 0.3), 0.1)
    _, documents = model.simulate(np.random.default_rng(0), 400, length=5.0)
    views = {"topics": np.zeros((3, 20))}
    given = (Wasteful(), model, views, documents, np.arange(400, dtype=np.uint64))
    started = time.monotonic()
    with pytest.raises(BackendError, match="has no room left"):
        backend.map_local(*given)
    views = {"topics": np.zeros((100, 200_000))}
    with pytest.raises(BackendError, match="has no room left"):
        backend.map_local(Wasteful(), model, views, documents, given[-1])
    assert time.monotonic() - started < 120


def test_transform_and_score_are_the_same(backend, cluster, corpus_file):
    from scipy import sparse

    counts = sparse.load_npz(corpus_file)
    alone = LatentDirichletAllocation(3, max_iter=1, random_state=0).fit(counts)
    there = LatentDirichletAllocation(3, max_iter=1, random_state=0, backend=f"ray:{cluster.address}").fit(counts)
    np.testing.assert_array_equal(there.components_, alone.components_)
    np.testing.assert_array_equal(there.transform(counts), alone.transform(counts))
    assert there.score(counts) == alone.score(counts)


def test_workers_read_a_corpus_on_disk_themselves(backend, many_tasks, tmp_path, monkeypatch):
    """With held-out documents set aside: lambda is that of threads, and this process reads next to nothing."""
    source, _ = DiskCorpus(samples.write(tmp_path / "corpus", samples.counts(), monkeypatch)).set_aside(30, 0)
    model = LDA(60, np.full(4, 0.3), 0.1)

    def lam(backend, step):
        problem = engine.Problem(model, step, Ssvi(), population=len(source), backend=backend)
        return engine.run(problem, engine.init(model, 0), source, sweeps=1, batch_size=200).parameters["topics"]

    for step in (Gibbs(), MeanField()):
        expected, read = lam(Threads(1), step), []
        with monkeypatch.context() as patch:
            patch.setattr(DiskCorpus, "read_block", spied(DiskCorpus.read_block, read))
            np.testing.assert_array_equal(lam(backend, step), expected)
        assert len(read) <= 5  # one row a minibatch
    shard = next((tmp_path / "corpus").glob("*.parquet"))
    shard.write_bytes(shard.read_bytes()[::-1])
    with pytest.raises(CorpusError, match=f"{shard.name} .*: get the file again"):
        lam(backend, Gibbs(sweeps=9))


def spied(function, calls):
    def noted(*arguments):
        calls.append(arguments[1])
        return function(*arguments)

    return noted


def test_a_killed_command_is_resumed(backend, cluster, corpus_file, tmp_path):
    """The process of the fit is killed when there is a checkpoint; a model file is whole or not there."""
    fit = ["fit", "lda", corpus_file, "-k", "3", "--passes", "2", "--batch-size", "60", "--jobs", "1", "--quiet"]
    kept = [*fit, "--checkpoint", tmp_path / "kept", "--every", "2", "--resume", "--output", tmp_path / "model.ssvi"]
    kept = [*map(str, kept), "--backend", f"ray:{cluster.address}"]
    with subprocess.Popen([sys.executable, "-m", "ssvi.cli", *kept], env=elsewhere()) as process:
        while not list((tmp_path / "kept").glob("step-*")) and process.poll() is None:
            time.sleep(0.02)
        process.kill()
    assert not (tmp_path / "model.ssvi").exists()
    for arguments in (kept, [*map(str, fit), "--output", str(tmp_path / "alone.ssvi")]):
        assert CliRunner().invoke(app, arguments).exit_code == 0
    one, other = (ssvi.load(tmp_path / name)._state.parameters for name in ("model.ssvi", "alone.ssvi"))
    assert same(one, other)


def elsewhere():
    """The environment of another process."""
    return os.environ | {"PYTHONPATH": str(Path(ssvi.__file__).parents[1])}


def test_clusters_that_cannot_be_joined(cluster):
    """In a process of its own, since this one is connected: nobody, somebody else, another version of Ray."""
    script = """
        import socket, sys, time
        from ssvi.errors import BackendError
        from ssvi.estimators.choices import make_backend
        from ssvi.backends import ray_cluster
        ray = ray_cluster.import_ray()
        ray_cluster._PATIENCE = 1
        deaf, closed = socket.create_server(("127.0.0.1", 0)), socket.create_server(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        closed.close()
        for address in ("nonsense", f"127.0.0.1:{port}", f"127.0.0.1:{deaf.getsockname()[1]}", sys.argv[1]):
            if address == sys.argv[1]:
                ray_cluster._check_reachable, ray.__version__ = lambda _: None, "0.1"
            try:
                make_backend(f"ray:{address}", 1)
            except BackendError as error:
                print(error)
    """
    lines = subprocess.run(
        [sys.executable, "-c", re.sub(r"(?m)^ {8}", "", script), cluster.address], capture_output=True, check=True,
        text=True, env=elsewhere(),
    ).stdout.splitlines()  # fmt: skip
    assert len(lines) == 4
    assert lines[0] == "the address of a Ray cluster is auto or host:port, such as 10.0.0.1:6379, not 'nonsense'."
    assert re.fullmatch(r"the Ray cluster at 127.0.0.1:\d+ cannot be reached \(.*\): is it running, .*", lines[1])
    assert re.fullmatch(r"what is at 127.0.0.1:\d+ is no Ray cluster: is it running, .*", lines[2])
    assert "has other versions of Ray or Python than this process" in lines[3]


def test_another_cluster_than_the_one_that_is_joined(backend):
    with pytest.raises(BackendError, match=r"cannot join 10\.1\.2\.3:6379 too: call ray\.shutdown"):
        make_backend("ray:10.1.2.3:6379", 1)


def test_a_fit_goes_on_when_workers_and_nodes_die_and_come(backend, cluster, many_tasks, tmp_path):
    """The last of the tests on the cluster, since those that follow would wait for new workers to start."""

    def add_a_node(state, info):
        if info.step == 2:
            cluster.add_node(**NODE)
            (tmp_path / "another").touch()

    found = fits(backend, troubled(tmp_path, "worker", "node"), callbacks=[add_a_node])
    np.testing.assert_array_equal(found, fits(Threads(1), Gibbs()))
    assert {path.name for path in tmp_path.iterdir()} == {"worker", "another", "node"}


def test_without_ray(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ValueError, match=r"backend 'ray' needs Ray, which is not installed: pip install 'ssvi\[ray\]'"):
        make_backend("ray", 1)


def test_only_clusters_have_addresses():
    with pytest.raises(ValueError, match="backend 'threads' is on this machine and has no address"):
        make_backend("threads:auto", 1)
    with pytest.raises(ValueError, match=r"backend 'spark' is not known; the known ones are 'ray', 'threads'"):
        make_backend("spark", 1)


def test_the_cluster_file_of_the_docs_parses():
    """Ray's own schema takes it; its example of every field is in the package."""
    import yaml
    from ray.autoscaler._private.util import prepare_config, validate_config

    path = Path(__file__).parents[2] / "docs" / "cluster.yaml"
    config = yaml.safe_load(path.read_text())
    validate_config(prepare_config(config))
    assert config["available_node_types"]["head"]["resources"] == {"CPU": 0}

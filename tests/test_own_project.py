"""The model of docs/your_own_model.md in a project of its own: everything from the command line, in other processes."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy import sparse

import ssvi
from tests.pages import code_blocks

METADATA = "Metadata-Version: 2.1\nName: excess-zeros\nVersion: 1.0\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A folder as an installed package leaves it: a module and the entry point that the page tells of."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "excess_zeros.py").write_text(code_blocks("your_own_model.md")[0], encoding="utf-8")
    about = folder / "excess_zeros-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(METADATA)
    (about / "entry_points.txt").write_text("[ssvi.models]\nexcess_zeros = excess_zeros:ExcessZerosModel\n")
    broken = folder / "broken-1.0.dist-info"
    broken.mkdir()
    (broken / "METADATA").write_text(METADATA.replace("excess-zeros", "broken"))
    (broken / "entry_points.txt").write_text("[ssvi.models]\nbroken = no_such_module:Model\nlda = no_such_module:Lda\n")
    rng = np.random.default_rng(0)
    counts = (rng.random((300, 4)) < 0.6) * rng.poisson([1.0, 3.0, 8.0, 2.0], (300, 4))
    sparse.save_npz(folder / "sites.npz", sparse.csr_array(counts))
    return folder


def _environment(project):
    before = [os.path.abspath(path) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(project), *before])}


def _python(project, *arguments):
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, env=_environment(project), cwd=project, capture_output=True, text=True, check=False)


def _fit(model, folder):
    arguments = ["fit", "excess_zeros", "sites.npz", "-o", model, "--passes", 30, "--batch-size", 15, "--jobs", 1]
    return [*arguments, "--checkpoint", folder, "--every", 40, "--set", "rate_prior=[2, 0.5]", "--quiet"]


@pytest.fixture(scope="module")
def model(project):
    """A fit that was killed on its way and resumed."""
    folder = project / "checkpoints"
    command = [sys.executable, "-m", "ssvi", *map(str, _fit("model.ssvi", folder))]
    process = subprocess.Popen(command, env=_environment(project), cwd=project)
    deadline = time.monotonic() + 120
    while not (folder.is_dir() and any(name.endswith(".ssvi") for name in os.listdir(folder))):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    if not (project / "model.ssvi").exists():  # which a machine under load may have finished before the signal
        resumed = _python(project, "-m", "ssvi", *_fit("model.ssvi", folder), "--resume")
        assert (resumed.returncode, resumed.stderr) == (0, "")
    return project / "model.ssvi"


def test_a_killed_fit_goes_on_to_the_same_bits_and_loads_elsewhere(project, model):
    code = """
import json, sys
import numpy as np, ssvi
from ssvi.cli import main
sys.argv = ["ssvi", *json.loads(sys.argv[1])]
try:
    main()
except SystemExit as end:
    assert not end.code
whole, resumed = ssvi.load("whole.ssvi"), ssvi.load("model.ssvi")
assert type(whole).__module__ == "excess_zeros"
from ssvi.estimators.registry import estimators
assert estimators()["lda"].__module__ == "ssvi.estimators.lda"  # whoever else wants the name
for name, lam in whole.parameters_.items():
    np.testing.assert_array_equal(resumed.parameters_[name], lam)
from ssvi.testing import check_model
from excess_zeros import ExcessZeros
check_model(ExcessZeros.example())
print(whole.n_batch_iter_)
"""
    found = _python(project, "-c", code, json.dumps([*map(str, _fit("whole.ssvi", project / "unused"))]))
    assert found.stderr == ""
    assert found.stdout == "570\n"


MANY = """
import contextlib, io, json, os, sys
from ssvi.cli import main
results = []
for arguments in json.loads(sys.argv[1]):
    settings = arguments.pop() if arguments and isinstance(arguments[-1], dict) else {}
    os.environ.update(settings)
    sys.argv = ["ssvi", *arguments]
    said, complained, code = io.StringIO(), io.StringIO(), None
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
        try:
            main()
        except SystemExit as end:
            code = end.code
    results.append((code, said.getvalue(), complained.getvalue()))
print(json.dumps(results))
"""


def _many(project, *commands):
    """Run several commands in one other process, where the package of the model is there; return what each said.

    The last may end with settings of the environment.
    """
    return json.loads(_python(project, "-c", MANY, json.dumps(commands, default=str)).stdout)


def test_commands_take_it(project, model):
    completion = {"_SSVI_COMPLETE": "complete_bash", "COMP_WORDS": "ssvi fit ex", "COMP_CWORD": "2"}
    info, score, transform, *refused, completed = _many(
        project,
        ["info", model],
        ["score", model, "sites.npz"],
        ["transform", model, "sites.npz", "-o", "rows.csv"],
        ["topics", model],
        ["report", model],
        ["fit", "excess_zeros", "sites.npz", "-o", "x.ssvi", "--components", 3],
        ["fit", "broken", "sites.npz", "-o", "x.ssvi"],
        ["fit", "excess_zero", "sites.npz", "-o", "x.ssvi"],
        [completion],
    )
    assert "class: ExcessZerosModel" in info[1]
    assert "\ncomponents: " not in info[1]
    assert float(score[1]) < 0
    assert transform[0] == 0
    rows = (project / "rows.csv").read_text().splitlines()
    assert rows[0] == "document,column_0,column_1,column_2,column_3"
    assert len(rows) == 301
    no_components = "ssvi: ExcessZerosModel has no components to show; `ssvi info` says what it holds.\n"
    assert [code for code, _, _ in refused] == [2] * 5
    assert [sentence for _, _, sentence in refused][:4] == [
        no_components,
        no_components,
        "ssvi: excess_zeros has no number of components: leave out --components (--topics).\n",
        "ssvi: the model 'broken' of the package 'broken' cannot be used: No module named 'no_such_module'.\n",
    ]
    assert "did you mean 'excess_zeros'?" in refused[-1][-1]
    assert completed[1].split() == ["excess_zeros"]


def test_without_the_package_a_file_is_refused_and_imports_nothing(model, tmp_path, monkeypatch):
    """The module can be imported here, but nobody has registered it: a file does not choose what is imported."""
    (tmp_path / "excess_zeros.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match="its class is 'ExcessZerosModel' of the package 'excess_zeros'") as refused:
        ssvi.load(model)
    assert "which is not registered: install it, or call ssvi.register" in str(refused.value)
    assert "\n" not in str(refused.value)

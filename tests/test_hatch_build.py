"""The hook of an installation: kernels where they can be had, and an installation without them where not."""

import importlib.util
import os
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WRITES = "import sys; from pathlib import Path; (Path(sys.argv[2]) / sys.argv[1]).write_text('machine code')"


@pytest.fixture
def hook():
    """The build script, as hatchling imports it."""
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def project(tmp_path):
    """A project whose kernels take no time to compile."""

    class Project:
        root, source = tmp_path, tmp_path / "src"
        kernels = source / "ssvi" / "_kernels"

        def compiles_by(self, code):
            (self.source / "ssvi" / "at_install.py").write_text(code)

    (tmp_path / "src" / "ssvi").mkdir(parents=True)
    (tmp_path / "src" / "ssvi" / "__init__.py").touch()
    result = Project()
    result.compiles_by(WRITES)
    return result


def _build(hook, project, version):
    """Do what hatchling does; return what it is told, with the files that go into the wheel."""
    made = hook.CompileKernels.__new__(hook.CompileKernels)
    if hook.BuildHookInterface is object:
        made.root = str(project.root)
    else:
        made.__init__(str(project.root), {}, None, None, "", "wheel")
    told = {"force_include": {}, "pure_python": True, "infer_tag": False}
    made.initialize(version, told)
    files = {place: sorted(os.listdir(folder)) for folder, place in told["force_include"].items()}
    folder = made._made
    made.finalize(version, told, "")
    assert not os.path.exists(folder)
    return files, told["pure_python"], told["infer_tag"]


def test_a_wheel_with_kernels_is_for_one_kind_of_machine(hook, project):
    assert _build(hook, project, "standard") == ({"ssvi/_kernels": ["documents", "topics"]}, False, True)
    assert not project.kernels.exists()


def test_an_editable_installation_has_them_beside_its_sources_and_no_older_ones(hook, project):
    project.kernels.mkdir()
    (project.kernels / "older").touch()
    assert _build(hook, project, "editable") == ({}, True, False)
    assert sorted(os.listdir(project.kernels)) == ["documents", "topics"]


def test_they_can_be_left_out(hook, project, monkeypatch):
    monkeypatch.setenv("SSVI_COMPILE_AT_INSTALL", "0")
    assert _build(hook, project, "standard") == ({}, True, False)


FAILURES = {
    "raise ImportError('no numba')": "ImportError: no numba",
    "import sys; sys.exit(3 if sys.argv[1] == 'topics' else 0)": "the process that compiles topics ended with 3",
    "pass": "numba compiles nothing here",
}


@pytest.mark.parametrize("version", ["standard", "editable"])
@pytest.mark.parametrize("code", FAILURES)
def test_an_installation_goes_on_where_something_goes_wrong_and_says_so(hook, project, capfd, code, version):
    project.compiles_by(code)
    assert _build(hook, project, version) == ({}, True, False)
    assert not project.kernels.exists()
    sentence = "ssvi: kernels were not compiled, so the first fit will compile them: "
    assert capfd.readouterr().err == f"{sentence}{FAILURES[code]}\n"


def test_it_does_not_wait_for_ever(hook, project, capfd):
    project.compiles_by("import time; time.sleep(600)")
    started = time.monotonic()
    assert not hook.compile_kernels(project.source, project.root, seconds=0.5)
    assert time.monotonic() - started < 60
    assert "timed out" in capfd.readouterr().err


def test_a_place_that_cannot_be_written_to_is_left_alone(hook, project, monkeypatch, capfd):
    def refuse(*_):
        raise PermissionError("read-only")

    monkeypatch.setattr(hook.shutil, "copytree", refuse)
    assert not hook.compile_in_place(project.source)
    assert capfd.readouterr().err.endswith(": read-only\n")


def test_the_hook_and_the_package_mean_the_same(hook):
    from ssvi import at_install
    from ssvi.numerics import shipped

    assert set(hook.PARTS) == set(at_install.PARTS)
    assert f"ssvi/{shipped.FOLDER_NAME}" == hook._PLACE

import importlib.resources
import subprocess
import sys

import pytest

import ssvi

IMPORT_THE_CORE = """
import importlib, pkgutil, sys, ssvi.engine, ssvi.files, ssvi.progress
parts = "families global_steps local_steps models backends data numerics evaluation testing"
for part in parts.split():
    package = importlib.import_module(f"ssvi.{part}")
    for module in pkgutil.walk_packages(package.__path__, f"ssvi.{part}."):
        importlib.import_module(module.name)
print("sklearn" in sys.modules)
"""


def _run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


def test_importing_the_package_imports_nothing_heavy():
    code = "import ssvi, sys; print('sklearn' in sys.modules, 'numba' in sys.modules)"
    assert _run(code) == ["False", "False"]


def test_the_core_knows_no_framework():
    assert _run(IMPORT_THE_CORE) == ["False"]


def test_names_at_the_top():
    assert set(ssvi.__all__) <= set(dir(ssvi))
    for name in ssvi.__all__:
        assert getattr(ssvi, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'Nonsense'"):
        ssvi.Nonsense  # noqa: B018


def test_it_says_that_it_is_typed():
    assert (importlib.resources.files("ssvi") / "py.typed").is_file()

import subprocess
import sys

import pytest

import ssvi


def _run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_importing_the_package_imports_no_framework():
    assert _run("import ssvi, sys; print('sklearn' in sys.modules, 'numba' in sys.modules)").split() == [
        "False",
        "False",
    ]


def test_the_core_knows_no_framework():
    code = (
        "import sys, ssvi.engine, ssvi.io, ssvi.evaluation, ssvi.progress\n"
        "from ssvi.registry import discover\n"
        "for package in ('families', 'global_steps', 'local_steps', 'models', 'backends', 'data', 'numerics'):\n"
        "    discover(f'ssvi.{package}', object)\n"
        "print('sklearn' in sys.modules)"
    )
    assert _run(code).split() == ["False"]


def test_names_at_the_top():
    assert set(ssvi.__all__) <= set(dir(ssvi))
    for name in ssvi.__all__:
        assert getattr(ssvi, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'Nonsense'"):
        ssvi.Nonsense  # noqa: B018

"""The code in the documentation runs as it stands. (Pages whose code takes a while are run by hand.)"""

import pytest

from ssvi.estimators import registry
from tests.pages import code_blocks, run_code


@pytest.mark.parametrize("name", ["engine.md", "interop.md", "scikit_learn.md", "your_own_model.md"])
def test_code_blocks_run(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_registered", {})
    if name == "scikit_learn.md":
        pytest.importorskip("sklearn.callback")
    blocks = code_blocks(name)
    assert len(blocks) >= 3
    run_code("\n".join(blocks), tmp_path / "page.py")
    assert capsys.readouterr().out


def test_a_model_of_ones_own_is_less_than_a_hundred_lines():
    """From nothing to a fitted, saved, checked model: all blocks before the compiled kernel."""
    model, check, use, kernel = code_blocks("your_own_model.md")
    assert "@kernel" in kernel
    assert sum(len(block.splitlines()) for block in (model, check, use)) < 100

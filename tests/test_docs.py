"""The code in the documentation runs as it stands. (Pages whose code takes a while are run by hand.)"""

import numpy as np
import pytest

from ssvi.backends import Threads
from ssvi.batches import DenseRows
from ssvi.estimators import registry
from ssvi.numerics.random import derive_keys
from tests.pages import code_blocks, run_code


@pytest.mark.parametrize(
    "name",
    [
        "engine.md",
        "interop.md",
        "linear_dynamics.md",
        "scikit_learn.md",
        "sequences.md",
        "streams.md",
        "uncertainty.md",
        "your_own_model.md",
    ],
)
def test_code_blocks_run(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_registered", {})
    if name == "scikit_learn.md":
        pytest.importorskip("sklearn.callback")
    blocks = code_blocks(name)
    assert len(blocks) >= 3
    run_code("\n".join(blocks), tmp_path / "page.py")
    assert capsys.readouterr().out


def test_the_code_about_corpora_on_disk_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run_code("\n".join(code_blocks("disk_corpora.md")), tmp_path / "page.py")
    assert capsys.readouterr().out.startswith("3000 [1000 1000 1000] -3.")


def test_the_code_about_correlated_topics_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run_code("\n".join(code_blocks("correlated_topics.md")), tmp_path / "page.py")
    numbers = capsys.readouterr().out.replace("[", "").replace("]", "").split()
    correlations = np.array(numbers, dtype=float).reshape(4, 4) - np.eye(4)
    assert (correlations.max(axis=1) > 0.1).all()  # each topic has one that it goes together with


def test_the_code_about_convergence_runs(tmp_path, capsys):
    run_code("\n".join(code_blocks("convergence.md")), tmp_path / "page.py")
    passes, converged, gain = capsys.readouterr().out.split()
    assert (int(passes) < 50, converged) == (True, "True")
    assert float(gain) < 1.4e-3


def test_a_model_of_ones_own_is_less_than_a_hundred_lines():
    """From nothing to a fitted, saved, checked model: all blocks before the compiled kernel."""
    model, check, use, kernel = code_blocks("your_own_model.md")
    assert "@kernel" in kernel
    assert sum(len(block.splitlines()) for block in (model, check, use)) < 100


def test_the_kernel_of_the_page_does_what_its_plain_step_does(tmp_path):
    """Also where probabilities are 0 or 1 to the last digit."""
    model, _, _, kernel = code_blocks("your_own_model.md")
    page = run_code(f"{model}\nfrom ssvi.testing import check_local_step\n{kernel}", tmp_path / "page.py")
    views = {
        "absent": np.log([[1e-200, 1.0], [0.5, 0.5], [1.0, 1e-200]]),
        "rate": np.array([[-300.0, -1e-9], [0.0, -1.0], [6.6, -700.0]]),
    }
    rows, keys = DenseRows(np.random.default_rng(0).integers(0, 3, (50, 3)).astype(float)), derive_keys(0, 50)
    given = (page["ExcessZeros"](3), views, rows, keys)
    plain, compiled = (Threads().map_reduce(page[name](), *given) for name in ("Exact", "Compiled"))
    assert compiled.bound == pytest.approx(plain.bound, rel=1e-12)
    for name, value in plain.eta_hat.items():
        np.testing.assert_allclose(compiled.eta_hat[name], value, rtol=1e-12, atol=1e-12)

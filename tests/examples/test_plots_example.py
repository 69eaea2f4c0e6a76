"""The example of plots, on few docstrings."""

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "examples" / "plots.py"


def test_plots(tmp_path, capsys):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    spec = importlib.util.spec_from_file_location("example_plots", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        module.main(["--files", "60", "--topics", "4", "--passes", "20", "--dpi", "40", "--output", str(tmp_path)])
    finally:
        pyplot.close("all")
    names = {"dictionary", "map", "prototypes", "similarity", "spectra", "topics", "training"}
    assert {path.stem for path in tmp_path.glob("*.png")} == names
    assert "docstrings over" in capsys.readouterr().out

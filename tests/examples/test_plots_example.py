"""The examples of plots, on few docstrings and with few passes."""

import importlib.util
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"


def _drawn(name, tmp_path, *options):
    """Run an example; return the names of the pictures that it has made."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        module.main([*options, "--dpi", "40", "--output", str(tmp_path)])
    finally:
        pyplot.close("all")
    return {path.stem for path in tmp_path.glob("*.png")}


def test_plots(tmp_path, capsys):
    names = {"dictionary", "map", "prototypes", "similarity", "spectra", "topics", "training"}
    assert _drawn("plots", tmp_path, "--files", "60", "--topics", "4", "--passes", "20") == names
    assert "docstrings over" in capsys.readouterr().out


def test_sequences(tmp_path):
    names = {"nile_paths", "nile_forecast", "geyser_emissions", "geyser_transitions", "house_paths"}
    assert _drawn("sequences", tmp_path, "--passes", "3") == names
    assert {path.stem for path in tmp_path.glob("*.html")} == {"nile", "sunspots"}

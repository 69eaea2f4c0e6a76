"""The examples, on data small enough for a test."""

import csv
import importlib.util
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

FOLDER = Path(__file__).parents[2] / "examples"


def _load(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def expression():
    """Counts of 120 cells of two types: each expresses its own half of 30 genes, and all express the first."""
    rng = np.random.default_rng(0)
    types = np.array(["T", "B"])[rng.integers(0, 2, 120)]
    means = np.full((120, 30), 0.2)
    means[types == "T", 1:15] = means[types == "B", 15:] = 4.0
    means[:, 0] = 5.0
    return rng.poisson(means), [f"G{number}" for number in range(30)], types


def test_digits(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)  # away from MNIST, if it is near
    _load("digits").main(["--components", "12", "--passes", "20", "--output", str(tmp_path)])
    printed = capsys.readouterr().out
    assert "scikit-learn digits: 1500 images" in printed
    assert "SSVI-A" in printed
    assert (tmp_path / "prototypes.png").read_bytes()[:4] == b"\x89PNG"


def test_music(tmp_path, capsys):
    soundfile = pytest.importorskip("soundfile")
    rate, time = 8_000, np.arange(16_000) / 8_000
    notes = [
        np.sin(2 * np.pi * pitch * time) * (np.sin(2 * np.pi * beat * time) > 0) for pitch, beat in ((440, 2), (990, 3))
    ]
    soundfile.write(tmp_path / "notes.wav", 0.4 * sum(notes), rate)
    options = ["--components", "6", "--window", "256", "--passes", "30", "--output", str(tmp_path / "out")]
    _load("music").main([str(tmp_path / "notes.wav"), *options])
    sounds = sorted((tmp_path / "out").glob("component-*.wav"))
    assert f"{len(sounds)} of 6 components in use" in capsys.readouterr().out
    parts = [soundfile.read(path)[0] for path in sounds]
    # The parts add up to the recording, but for its ends and 16-bit rounding.
    middle = slice(500, 15_000)
    np.testing.assert_allclose(sum(parts)[middle], 0.4 * sum(notes)[middle], atol=1e-3)
    assert (tmp_path / "out" / "components.png").exists()


def test_music_says_what_is_wrong_with_a_file(tmp_path):
    pytest.importorskip("soundfile")
    (tmp_path / "text.wav").write_text("no sound")
    with pytest.raises(SystemExit, match="cannot be read as a sound file"):
        _load("music").main([str(tmp_path / "text.wav")])


def test_cells_from_a_folder(tmp_path, expression, capsys):
    counts, genes, types = expression
    sparse.save_npz(tmp_path / "pbmc_facs_counts.npz", sparse.csr_array(counts))
    for what, name, values in (("genes", "symbol", genes), ("samples", "celltype", types)):
        with (tmp_path / f"pbmc_facs_{what}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([["", name], *([str(i), value] for i, value in enumerate(values))])
    options = ["--components", "6", "--passes", "60", "--output", str(tmp_path / "out")]
    table = _load("cells").main([str(tmp_path), *options])
    printed = capsys.readouterr().out
    assert "most in T" in printed
    assert "most in B" in printed
    # Every component that matters belongs to one type. (Of a cell's counts a twentieth is background of the other's.)
    strong = table[:, table.max(axis=0) > 0.05]
    assert strong.shape[1] >= 2
    assert np.all(strong.max(axis=0) > 0.8 * strong.sum(axis=0))
    assert (tmp_path / "out" / "components.png").exists()


@pytest.mark.filterwarnings("ignore")  # anndata warns of its own dependencies
def test_cells_from_an_h5ad_file(tmp_path, expression, capsys):
    anndata = pytest.importorskip("anndata")
    pandas = pytest.importorskip("pandas")
    counts, genes, types = expression
    cells = pandas.DataFrame({"kind": types}, index=[f"c{i}" for i in range(len(types))])
    table = anndata.AnnData(sparse.csr_matrix(counts.astype(np.float32)), cells, pandas.DataFrame(index=genes))
    table.write_h5ad(tmp_path / "cells.h5ad")
    example = _load("cells")
    options = ["--components", "5", "--passes", "20", "--output", str(tmp_path / "out")]
    example.main([str(tmp_path / "cells.h5ad"), "--types", "kind", *options])
    assert "120 cells, 30 genes" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="has no column 'celltype' for its cells; it has kind"):
        example.main([str(tmp_path / "cells.h5ad")])


def test_cells_that_are_not_there(tmp_path):
    with pytest.raises(SystemExit, match=r"there is no .*pbmc_facs_counts.npz"):
        _load("cells").main([str(tmp_path)])

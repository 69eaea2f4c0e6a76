import numpy as np
import pytest

from ssvi.experiments import corpora
from ssvi.experiments.convergence import ConvergenceSetting, default_corpora, step_sizes, stops_growing


def test_a_score_stops_growing_where_its_slope_falls_below_a_thousandth():
    """s = -0.1 / p has the slope 0.1 / p^2, which is 0.001 at p = 10."""
    passes = np.arange(3, 51)
    assert stops_growing(passes, -0.1 / passes) in (10, 11)
    noise = np.random.default_rng(0).normal(0.0, 2e-4, len(passes))
    assert 8 <= stops_growing(passes, -0.1 / passes + noise) <= 12


def test_a_score_that_goes_on_growing_has_no_such_pass():
    passes = np.arange(3, 21)
    assert stops_growing(passes, 0.01 * passes) is None


def test_step_sizes_by_name():
    assert step_sizes("adaptive") == {"learning_rate": "adaptive"}
    with pytest.raises(ValueError, match="such as 0"):
        step_sizes("0.6")
    with pytest.raises(ValueError, match="passes must be"):
        ConvergenceSetting(passes=3)


def test_corpora_are_those_that_are_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert default_corpora() == ("docstrings",)
    monkeypatch.setattr(corpora, "WIKIPEDIA", tmp_path / "wikipedia")
    (tmp_path / "ap").mkdir()
    file = tmp_path / "ap" / "ap.dat"
    file.write_text("2 0:6 3:5\n1 1:12\n" * 10)
    assert default_corpora() == (str(file),)
    corpus = corpora.load(file, held_out=2)
    assert (len(corpus.train), len(corpus.test), corpus.train.n_words) == (18, 2, 4)
    assert corpus.train.lengths()[:2].tolist() == [11, 12]

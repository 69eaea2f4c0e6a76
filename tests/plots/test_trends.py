import numpy as np
import pytest
from tests.plots.conftest import COUNTS

from ssvi.lookup import Trends, shares_of
from ssvi.plots import plot_trends
from ssvi.plots.trends import draw_trends

YEARS = [str(1990 + 2 * (row % 3)) for row in range(60)]


def test_lines_are_mean_shares_of_the_periods_that_have_documents(lda):
    panel = plot_trends(lda, COUNTS, dates=YEARS, unit="year", components=[2, 0])
    shares = shares_of(lda.component_weights(COUNTS))
    for line, k in zip(panel.lines, (2, 0), strict=True):
        expected = [shares[place // 2 :: 3, k].mean() if place % 2 == 0 else np.nan for place in range(5)]
        np.testing.assert_allclose(line.get_xydata(), list(enumerate(expected)))
    assert [text.get_text()[:2] for text in panel.get_legend().get_texts()] == ["2 ", "0 "]
    assert "of a year" in panel.get_ylabel()


def test_periods_with_too_few_documents_are_gaps_and_set_no_scale():
    names = tuple(str(1990 + place) for place in range(6))
    counts = np.array([1, 100, 100, 1, 100, 0])
    shares = np.array([[0.9, 0.1], [0.1, 0.9], [0.2, 0.8], [0.9, 0.1], [0.1, 0.9], [0.0, 0.0]])
    panel = draw_trends(Trends("year", names, counts, shares, np.array([0.2, 0.8]), 0), [0], ["a word " * 30])
    (line,) = panel.lines
    np.testing.assert_allclose(line.get_xdata(), [1, 2, 3, 4])
    np.testing.assert_allclose(line.get_ydata(), [0.1, 0.2, np.nan, 0.1])
    assert panel.get_ylim()[1] < 0.3
    assert [text.get_text() for text in panel.get_xticklabels()] == ["1991", "1992", "1993", "1994"]
    (label,) = panel.get_legend().get_texts()
    assert all(len(part) <= 28 for part in label.get_text().splitlines())
    assert label.get_text().endswith("…")


def test_no_two_of_eight_lines_look_alike():
    shares = np.random.default_rng(0).dirichlet(np.ones(8), 3)
    found = Trends("year", ("1990", "1991", "1992"), np.full(3, 9), shares, shares.mean(axis=0), 0)
    panel = draw_trends(found, range(8), list("abcdefgh"))
    assert len({line.get_color() for line in panel.lines}) == 8
    assert len({line.get_linestyle() for line in panel.lines}) == 4


def test_bars_of_groups_add_up(lda):
    panel = plot_trends(lda, COUNTS, groups=["$a$", "b"] * 30)
    shares = shares_of(lda.component_weights(COUNTS))
    widths = np.array([[bar.get_width() for bar in bars] for bars in panel.containers])
    np.testing.assert_allclose(widths.sum(axis=0), 1.0)
    largest = int(panel.get_legend().get_texts()[0].get_text().split()[0])
    np.testing.assert_allclose(widths[0], [shares[0::2, largest].mean(), shares[1::2, largest].mean()])
    assert [label.get_text() for label in panel.get_yticklabels()] == ["$a$", "b"]


def test_dates_or_groups_not_both(lda):
    for given in ({}, {"dates": YEARS, "groups": YEARS}):
        with pytest.raises(ValueError, match="give one of the two"):
            plot_trends(lda, COUNTS, **given)

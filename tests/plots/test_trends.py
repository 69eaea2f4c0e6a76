import numpy as np
import pytest
from tests.plots.conftest import COUNTS

from ssvi.lookup import shares_of
from ssvi.plots import plot_trends

YEARS = [str(1990 + 2 * (row % 3)) for row in range(60)]


def test_lines_are_mean_shares_of_the_periods_that_have_documents(lda):
    panel = plot_trends(lda, COUNTS, dates=YEARS, unit="year", components=[2, 0])
    shares = shares_of(lda.component_weights(COUNTS))
    for line, k in zip(panel.lines, (2, 0), strict=True):
        expected = [[2 * place, shares[place::3, k].mean()] for place in range(3)]
        np.testing.assert_allclose(line.get_xydata(), expected)
    assert [text.get_text()[:2] for text in panel.get_legend().get_texts()] == ["2 ", "0 "]
    assert "of a year" in panel.get_ylabel()


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

import numpy as np
import pytest

from ssvi import LinearDynamicalSystem
from ssvi.plots import plot_forecast


@pytest.fixture(scope="module")
def system():
    rows = np.sin(np.arange(80) / 4)[:, None] + 0.1 * np.random.default_rng(0).normal(size=(80, 2))
    rows[30:34] = np.nan
    return LinearDynamicalSystem(2, random_state=0, max_iter=30).fit(rows), rows


def test_a_forecast_is_drawn_behind_what_was_seen(system):
    model, rows = system
    panels = plot_forecast(model, rows, 5, names=["left", "right"])
    assert [panel.get_title() for panel in panels] == ["left", "right"]
    seen, smooth, ahead = panels[0].lines
    np.testing.assert_array_equal(seen.get_ydata(), rows[:, 0])
    np.testing.assert_allclose(smooth.get_ydata(), model.smooth(rows).means[:, 0])
    np.testing.assert_array_equal(ahead.get_xdata(), np.arange(80, 85))
    np.testing.assert_allclose(ahead.get_ydata(), model.forecast(5, rows).mean[:, 0])
    assert panels[0].get_legend() is not None


def test_the_last_time_points_can_be_shown_alone(system):
    model, rows = system
    panels = plot_forecast(model, rows, 5, shown=20)
    np.testing.assert_array_equal(panels[1].lines[0].get_xdata(), np.arange(60, 80))


def test_what_has_no_forecasts_is_said(lda):
    with pytest.raises(
        TypeError, match="plot_forecast draws what has forecasts, and LatentDirichletAllocation has none"
    ):
        plot_forecast(lda, np.zeros((3, 2)))

import numpy as np
import pytest
from tests.evaluation.test_choice import _option

from ssvi.evaluation.choice import Choice
from ssvi.plots import plot_choice


def test_a_panel_for_each_measure_that_is_known():
    choice = Choice.of([_option(10, 0.0), _option(100, 1.0)], "topic")
    (panel,) = plot_choice(choice)
    line = panel.containers[0].lines[0]
    np.testing.assert_allclose(line.get_xydata(), [[option.n_components, option.score] for option in choice.options])
    assert panel.get_xscale() == "log"
    assert [label.get_text() for label in panel.get_xticklabels()] == ["10", "100"]
    panel.figure.draw_without_rendering()


def test_only_choices_are_drawn(lda):
    with pytest.raises(TypeError, match="plot_choice draws what ssvi"):
        plot_choice(lda)

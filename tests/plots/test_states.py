import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from tests.report.made_sequences import MadeChains, MadeStates, MadeSymbols

from ssvi import HiddenMarkovModel, LinearDynamicalSystem
from ssvi.plots import plot_emissions, plot_paths, plot_transitions
from ssvi.plots.transitions import _arrows
from ssvi.report.chains import chains_of


def test_means_and_deviations_of_each_column():
    model = MadeStates(3)
    panels = plot_emissions(model)
    assert [panel.get_title() for panel in panels] == ["sensor a", "sensor b"]
    chain = chains_of(model)[0]
    for column, panel in enumerate(panels):
        marks = [line.get_xdata()[0] for line in panel.lines if line.get_marker() == "|"]
        np.testing.assert_allclose(marks, chain.rows[:, column])
        bars = [(bar.get_x(), bar.get_width()) for bar in panel.patches]
        np.testing.assert_allclose(bars, [(mean - 1.2, 2.4) for mean in chain.rows[:, column]])


def test_probabilities_are_a_matrix():
    model = MadeSymbols()
    panel = plot_emissions(model)[0]
    shown = np.asarray(panel.images[0].get_array()) ** 2
    chain = chains_of(model)[0]
    first = np.argsort(-(chain.shares @ chain.rows), kind="stable")
    np.testing.assert_allclose(shown, chain.rows[:, first])
    assert "space" in [label.get_text() for label in panel.get_xticklabels()]


@pytest.mark.parametrize("count", [1, 2, 20])
def test_transitions_as_a_matrix_and_as_a_graph(count):
    model = MadeStates(count)
    chain = chains_of(model)[0]
    matrix = plot_transitions(model)
    order = chain.order()
    shown = np.asarray(matrix.images[0].get_array()) ** 2
    np.testing.assert_allclose(shown, chain.transitions[np.ix_(order, order)])
    graph = plot_transitions(model, kind="graph")
    arrows = _arrows(chain)
    assert len(graph.patches) == len(arrows) + 2 * count
    assert {i for i, _ in arrows} == (set(range(count)) if count > 1 else set())


def test_a_path_colours_its_time_and_gaps_stay_gaps():
    model = MadeStates(3)
    rows = model.sequences()[0][:60]
    panels = plot_paths(model, rows, times=np.arange(1900, 1960))
    assert len(panels) == 3
    assert np.isnan(panels[0].lines[0].get_ydata()[30:36]).all()
    changes = np.flatnonzero(np.diff(model.predict(rows))) + 1
    assert [span.get_x() for span in panels[0].patches] == [1900, *(1900 + changes)]
    bands = plot_paths(MadeChains(), MadeChains().sequences()[0])
    assert [label.get_text() for label in bands[-1].get_yticklabels()] == ["chain 0", "chain 1"]


def test_what_cannot_be_drawn_is_said():
    with pytest.raises(
        TypeError, match="plot_paths draws fitted models with hidden states, and LinearDynamicalSystem is none"
    ):
        plot_paths(LinearDynamicalSystem(), np.zeros((3, 2)))
    with pytest.raises(ValueError, match="chain must be from 0 to 1, not 2"):
        plot_transitions(MadeChains(), chain=2)
    with pytest.raises(ValueError, match="kind must be 'matrix' or 'graph', not 'tree'"):
        plot_transitions(MadeStates(2), kind="tree")
    with pytest.raises(ValueError, match="names has 1 entries, and the model has 2 columns"):
        plot_emissions(MadeStates(2), names=["one"])
    with pytest.raises(NotFittedError, match="plot_emissions draws fitted models"):
        plot_emissions(HiddenMarkovModel(2))

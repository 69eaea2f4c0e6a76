"""What all plots share: where they draw, which components, and what they say of bad input."""

import builtins
import subprocess
import sys

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from tests.plots.conftest import COUNTS

from ssvi import LatentDirichletAllocation, plots
from ssvi.plots.choice import choose, percent
from ssvi.report.components import Components

OF_OTHERS = (
    "plot_training", "plot_choice", "plot_forecast", "plot_coefficients", "plot_group_effects", "plot_topic_graph",
    "plot_correlations", "plot_emissions", "plot_paths", "plot_transitions",
)  # fmt: skip
OF_COMPONENTS = [getattr(plots, name) for name in plots.__all__ if name not in OF_OTHERS]
ALL = [*OF_COMPONENTS, plots.plot_training]
OPTIONS = {
    plots.plot_prototypes: {"shape": (4, 4)},
    plots.plot_trends: {"data": COUNTS, "groups": ["a", "b", "c"] * 20},
}


def _draw(plot, model, **options):
    if plot is plots.plot_training:
        options["what"] = "bound"
    where = options.pop("where", None)
    name = "axes" if plot in (plots.plot_topics, plots.plot_prototypes, plots.plot_spectra) else "ax"
    drawn = plot(model, **OPTIONS.get(plot, {}), **options, **{name: where})
    return np.atleast_1d(np.asarray(drawn, dtype=object))


@pytest.fixture
def model(nmf):
    return nmf


@pytest.mark.parametrize("plot", ALL)
def test_a_new_figure_is_made_and_renders(plot, model):
    axes = _draw(plot, model)
    assert pyplot.get_fignums() == [axes[0].figure.number]
    axes[0].figure.draw_without_rendering()


@pytest.mark.parametrize("plot", ALL)
def test_given_axes_are_used_and_no_figure_is_left_open(plot, model):
    figure = Figure()
    given = figure.subplots()
    options = {} if plot is plots.plot_training else {"components": 1}
    (panel,) = _draw(plot, model, where=given, **options)
    assert panel is given
    assert pyplot.get_fignums() == []
    figure.draw_without_rendering()


@pytest.mark.parametrize("plot", ALL)
def test_a_figure_without_pyplot_is_filled(plot, model):
    figure = Figure(figsize=(5, 4))
    axes = _draw(plot, model, where=figure.subfigures(1, 2)[0])
    assert all(panel.figure.figure is figure for panel in axes)
    assert tuple(figure.get_size_inches()) == (5, 4)
    assert pyplot.get_fignums() == []
    figure.draw_without_rendering()


@pytest.mark.parametrize("plot", OF_COMPONENTS)
@pytest.mark.parametrize("kind", ["lda", "mixture", "nmf"])
def test_every_model_can_be_drawn(plot, kind, request):
    figure = Figure()
    _draw(plot, request.getfixturevalue(kind), where=figure)
    figure.draw_without_rendering()


def test_one_component_is_enough():
    model = LatentDirichletAllocation(1, max_iter=1, random_state=0).fit([[1, 2], [3, 0]] * 5)
    for plot in (plots.plot_topics, plots.plot_map, plots.plot_similarity, plots.plot_spectra):
        _draw(plot, model)[0].figure.draw_without_rendering()


def test_by_default_the_largest_in_use_are_drawn(mixture):
    parts = Components.of(mixture)
    assert 1 < mixture.n_active_ < 8
    choice = choose(mixture, None, 100, "plot")
    np.testing.assert_array_equal(choice.parts.numbers, parts.numbers[: mixture.n_active_])
    assert choice.note == ""
    assert choose(mixture, None, 1, "plot").note == f"the 1 largest of {mixture.n_active_} clusters"


def test_components_are_chosen_by_how_many_or_by_number(lda):
    parts = Components.of(lda)
    np.testing.assert_array_equal(choose(lda, 2, 12, "plot").parts.numbers, parts.numbers[:2])
    assert len(choose(lda, 99, 2, "plot")) == 4
    chosen = choose(lda, [3, 0], 12, "plot").parts
    np.testing.assert_array_equal(chosen.numbers, [3, 0])
    np.testing.assert_allclose(chosen.rows, lda.topic_word_[[3, 0]])
    np.testing.assert_allclose(chosen.shares, lda.summarize_components()[0][[3, 0]])


@pytest.mark.parametrize(
    ("components", "message"),
    [
        (0, "components must be 1 or more"),
        (True, "components must be 1 or more"),
        ([], "components must be a number of them, or a list"),
        ([0.5], "components must be a number of them, or a list"),
        ("largest", "components must be a number of them, or a list"),
        ([4], r"there is no topic 4: their numbers are 0 to 3\."),
        ([-1], "there is no topic -1"),
    ],
)
def test_components_that_are_not_there(lda, components, message):
    with pytest.raises(ValueError, match=message):
        plots.plot_topics(lda, components=components)
    assert pyplot.get_fignums() == []


@pytest.mark.parametrize("plot", ALL)
def test_what_cannot_be_drawn(plot):
    with pytest.raises(NotFittedError, match=f"^{plot.__name__} draws fitted models, .* call its fit first"):
        plot(LatentDirichletAllocation(), **OPTIONS.get(plot, {}))
    with pytest.raises(
        TypeError, match=f"^{plot.__name__} draws fitted estimators of ssvi, and this is of type KMeans"
    ):
        plot(KMeans(), **OPTIONS.get(plot, {}))
    with pytest.raises(TypeError, match=r"this is of type Pipeline: give its last step, model\[-1\]"):
        plot(make_pipeline(LatentDirichletAllocation()), **OPTIONS.get(plot, {}))
    with pytest.raises(TypeError, match=r"this is a class: fit a LatentDirichletAllocation\(\)\."):
        plot(LatentDirichletAllocation, **OPTIONS.get(plot, {}))


def test_axes_that_do_not_do(lda):
    with pytest.raises(ValueError, match="3 panels are to be drawn, and 2 Axes are given: give more, or draw fewer"):
        plots.plot_topics(lda, components=3, axes=Figure().subplots(1, 2))
    with pytest.raises(TypeError, match="axes must be Axes of matplotlib"):
        plots.plot_topics(lda, axes=["here"])


def test_axes_left_over_are_hidden(lda):
    given = Figure().subplots(2, 3)
    axes = plots.plot_topics(lda, axes=given)
    assert list(axes) == list(given.flat[:4])
    assert [panel.axison for panel in given.flat] == [True] * 4 + [False] * 2


@pytest.mark.parametrize("plot", ALL)
def test_without_matplotlib(plot, model, monkeypatch):
    original = builtins.__import__

    def without(name, *rest, **others):
        if name.partition(".")[0] == "matplotlib":
            raise ImportError(name)
        return original(name, *rest, **others)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"^ssvi\.plots needs matplotlib: pip install 'ssvi\[plots\]'\.$"):
        plot(model, **OPTIONS.get(plot, {}))


def test_importing_plots_does_not_import_matplotlib():
    code = "import ssvi.plots, sys; print('matplotlib' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.strip() == "False"


@pytest.mark.parametrize(("share", "text"), [(0.5, "50%"), (0.0999, "10%"), (0.0994, "9.9%"), (0.0, "<0.1%")])
def test_shares_in_words(share, text):
    assert percent(share) == text

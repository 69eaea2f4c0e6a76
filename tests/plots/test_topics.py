import copy

import numpy as np
import pytest
from matplotlib.figure import Figure

from ssvi.plots import plot_topics
from ssvi.report.components import Components

NAMES = [f"word{column}" for column in range(16)]


def _words(panel):
    return [label.get_text() for label in panel.get_yticklabels()]


def _widths(panel):
    return [bar.get_width() for bar in panel.patches]


def _reach(panel):
    """Return the ends of the lines on the bars."""
    (lines,) = panel.collections
    return np.array([segment[:, 0] for segment in lines.get_segments()])


def test_bars_are_probabilities_and_lines_deviations(lda):
    parts = Components.of(lda)
    axes = plot_topics(lda, names=NAMES, words=5)
    assert len(axes) == 4
    for k, panel in enumerate(axes):
        first = np.argsort(-parts.rows[k])[:5]
        np.testing.assert_allclose(_widths(panel), parts.rows[k, first])
        assert _words(panel) == [NAMES[v] for v in first]
        reach = np.stack([parts.rows[k] - parts.deviations[k], parts.rows[k] + parts.deviations[k]], axis=1)
        np.testing.assert_allclose(_reach(panel), reach[first])
        assert panel.get_title().startswith(f"topic {parts.numbers[k]} · ")
        low, high = panel.get_ylim()
        assert low > high  # the first word is at the top
    assert axes[0].figure.get_supxlabel() == "probability of the word (line: one standard deviation)"


def test_words_by_relevance(lda):
    parts = Components.of(lda)
    axes = plot_topics(lda, names=NAMES, relevance=0.3, words=6)
    for k, panel in enumerate(axes):
        scores = 0.3 * np.log(parts.rows[k]) + 0.7 * np.log(parts.rows[k] / parts.overall)
        first = np.argsort(-scores)[:6]
        assert _words(panel) == [NAMES[v] for v in first]
        np.testing.assert_allclose(_widths(panel), parts.rows[k, first])
        (ticks,) = (line for line in panel.lines if line.get_marker() == "|")
        np.testing.assert_allclose(ticks.get_xdata(), parts.overall[first])
    assert _words(plot_topics(lda, components=1, relevance=0.0, words=1)[0]) == [
        str((parts.rows[0] / parts.overall).argmax())
    ]


def test_in_all_data_a_mixture_has_the_mean_of_its_clusters(mixture):
    (panel,) = plot_topics(mixture, components=1, relevance=0.5, words=16)
    (ticks,) = (line for line in panel.lines if line.get_marker() == "|")
    means = mixture.weights_ @ mixture.means_
    np.testing.assert_allclose(ticks.get_xdata(), means[[int(name) for name in _words(panel)]])


def test_one_scale_for_all(lda):
    figure = Figure()
    assert len({panel.get_xlim() for panel in plot_topics(lda, same_scale=True, axes=figure)}) == 1
    assert figure.get_supxlabel()
    assert len({panel.get_xlim() for panel in plot_topics(lda)}) == 4


def test_as_many_as_there_are_axes(lda):
    given = Figure().subplots(1, 2)
    assert len(plot_topics(lda, axes=given)) == 2
    assert given[0].get_xlabel().startswith("probability of the word")


def test_names_are_written_as_they_are(lda):
    names = ["$\\frac", "a\nb", "x" * 40, *NAMES[3:]]
    (panel,) = plot_topics(lda, components=1, words=16, names=names)
    panel.figure.draw_without_rendering()
    assert {"$\\frac", "a b", "x" * 21 + "…"} <= set(_words(panel))


def test_a_model_that_knows_its_words_names_them(lda):
    known = copy.copy(lda)
    known.feature_names_in_ = np.array(NAMES, dtype=object)
    assert _words(plot_topics(known, components=1, words=3)[0]) == _words(
        plot_topics(lda, components=1, words=3, names=NAMES)[0]
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": ["one"]}, "names has 1 entries, and the model has 16 columns"),
        ({"relevance": 1.5}, r"relevance must be from 0 to 1, not 1\.5"),
        ({"words": 0}, "words and columns must be 1 or more"),
        ({"columns": 0}, "words and columns must be 1 or more"),
    ],
)
def test_bad_options(lda, options, message):
    with pytest.raises(ValueError, match=message):
        plot_topics(lda, **options)

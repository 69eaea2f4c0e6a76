import logging

import numpy as np
import pytest
from matplotlib.figure import Figure

from ssvi.plots import plot_map, plot_similarity
from ssvi.plots.room import place_texts
from ssvi.report.components import Components
from ssvi.report.layout import plane, principal_axes

NAMES = [f"word{column}" for column in range(16)]


def test_circles_are_where_the_report_has_them_and_as_large_as_their_shares(lda, caplog):
    parts = Components.of(lda)
    with caplog.at_level(logging.WARNING):
        panel = plot_map(lda)
        panel.figure.draw_without_rendering()
    assert not caplog.records
    (circles,) = panel.collections
    np.testing.assert_allclose(circles.get_offsets(), plane(parts.distances()), atol=1e-9)
    areas = circles.get_sizes()
    np.testing.assert_allclose(areas / areas[0], parts.shares / parts.shares[0])
    assert [text.get_text() for text in panel.texts] == [str(number) for number in parts.numbers]
    share = principal_axes(parts.distances())[1]
    assert f"the two axes hold {share:.0%} of the structure" in panel.get_title(loc="left")


def test_first_words_beside_circles(lda):
    parts = Components.of(lda)
    panel = plot_map(lda, names=["$", *NAMES[1:]], words=2, components=1)
    number, words = (text.get_text() for text in panel.texts)
    first = parts.ranked(0, 0.6)[:2]
    assert number == str(parts.numbers[0])
    assert words == ", ".join(NAMES[v] if v else "$" for v in first)
    assert len(plot_map(lda, names=NAMES, words=0).texts) == 4


def test_a_map_that_is_drawn_small_still_has_its_numbers(lda):
    figure = Figure(figsize=(1.5, 1.5))
    panel = plot_map(lda, names=NAMES, ax=figure)
    assert len(panel.texts) >= 4
    figure.draw_without_rendering()


def test_copies_stay_in_one_place_and_have_their_numbers_side_by_side(lda, monkeypatch):
    rows = np.array([[0.9, 0.1, 0, 0], [0, 0, 0.9, 0.1], [0.9, 0.1, 0, 0], [0, 0.8, 0, 0.2]])
    monkeypatch.setattr(lda, "summarize_components", lambda: (np.array([0.4, 0.3, 0.2, 0.1]), rows, rows))
    panel = plot_map(lda, words=0)
    places = panel.collections[0].get_offsets()
    np.testing.assert_allclose(places[0], places[2], atol=1e-9)
    assert [text.get_text() for text in panel.texts] == ["0, 2", "1", "3"]


def test_texts_cover_neither_circles_nor_each_other():
    radii = np.full(3, 10.0)
    (alone,) = place_texts(np.array([[0.0, 0.0]]), radii[:1], ["word"])
    assert alone == (0, (0.0, -12.0), "center", "top")
    below = np.array([[0.0, 0.0], [0.0, -25.0], [200.0, 0.0]])
    placed = {place.number: place.up for place in place_texts(below, radii, ["word", "", "word"])}
    assert placed == {0: "bottom", 2: "top"}


def test_a_text_without_room_has_no_place():
    crowd = np.array([[x, y] for x in (0.0, -20.0, 20.0) for y in (0.0, -20.0, 20.0)])
    assert place_texts(crowd, np.full(9, 10.0), ["word"] + [""] * 8) == []


def test_likeness_is_one_minus_the_distance(lda):
    parts = Components.of(lda)
    panel = plot_similarity(lda, components=[2, 0, 1])
    place = {int(number): k for k, number in enumerate(parts.numbers)}
    rows = [place[number] for number in (2, 0, 1)]
    expected = 1 - parts.distances()[np.ix_(rows, rows)] / np.sqrt(np.log(2))
    np.fill_diagonal(expected, np.nan)
    (image,) = panel.images
    np.testing.assert_allclose(np.ma.filled(image.get_array(), np.nan), expected, atol=1e-9)
    assert image.get_clim() == (0.0, pytest.approx(np.nanmax(expected)))
    for labels in (panel.get_xticklabels(), panel.get_yticklabels()):
        assert [label.get_text() for label in labels] == ["2", "0", "1"]


def test_lines_of_the_matrix_have_labels_where_words_are_known(lda, monkeypatch):
    monkeypatch.setattr(lda, "vocabulary_", NAMES, raising=False)
    parts = Components.of(lda)
    panel = plot_similarity(lda, components=[2, 0])
    for label, number in zip(panel.get_yticklabels(), (2, 0), strict=True):
        words = parts.distinctive(list(parts.numbers).index(number), NAMES, 1)
        assert label.get_text().startswith(f"{words[0]}, word")
        assert label.get_text().endswith(f" · {number}")
    assert [label.get_text() for label in panel.get_xticklabels()] == ["2", "0"]


def test_components_that_are_alike_stand_side_by_side(lda, monkeypatch):
    rows = np.array([[0.9, 0.1, 0, 0], [0, 0, 0.9, 0.1], [0.8, 0.2, 0, 0], [0, 0, 0.8, 0.2]])
    monkeypatch.setattr(lda, "summarize_components", lambda: (np.array([0.4, 0.3, 0.2, 0.1]), rows, rows))
    panel = plot_similarity(lda)
    order = [int(label.get_text()) for label in panel.get_xticklabels()]
    assert {frozenset(order[:2]), frozenset(order[2:])} == {frozenset({0, 2}), frozenset({1, 3})}


def test_bad_options(lda):
    with pytest.raises(ValueError, match="words must be 0 or more"):
        plot_map(lda, words=-1)
    with pytest.raises(ValueError, match="names has 1 entries"):
        plot_map(lda, names=["one"])

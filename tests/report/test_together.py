"""Which components occur together: the graph and the matrix, their plots, and both on the page."""

import numpy as np
import pytest
from tests.browser import PHONE
from tests.report.conftest import settle
from tests.report.made import Made, MadeTogether

from ssvi import plots
from ssvi.report.facts import gather_facts
from ssvi.report.together import LEAST_TIE, TIES_EACH, Together

NINE = MadeTogether(9)
OVERLAPS = """
() => {
  const seen = [...document.querySelectorAll('.names text')].filter((text) => text.style.display !== 'none');
  const boxes = seen.map((text) => text.getBBox());
  const meet = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
  return [boxes.length, boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) => meet(a, b))).length];
}
"""


def _together(made=NINE):
    return Together.of(made, np.arange(len(made.shares)))


def test_ties_are_the_strongest_positive_correlations_of_each():
    rng = np.random.default_rng(0)
    own = np.corrcoef(rng.normal(size=(12, 20)))
    ties = Together(own).ties()
    assert [value for *_, value in ties] == sorted((value for *_, value in ties), reverse=True)
    pairs = {(a, b) for a, b, _ in ties}
    for a in range(12):
        others = sorted((b for b in range(12) if b != a), key=lambda b: -own[a, b])[:TIES_EACH]
        wanted = {(min(a, b), max(a, b)) for b in others if own[a, b] >= LEAST_TIE}
        assert wanted <= pairs
    assert all(a < b and value >= LEAST_TIE and value == own[a, b] for a, b, value in ties)
    assert len(pairs) == len(ties) <= TIES_EACH * 12


def test_those_that_occur_together_are_side_by_side_and_near():
    found = _together()
    assert sorted(len(set(own // 3)) for own in np.split(found.order(), 3)) == [1, 1, 1]
    points = found.arrangement().points
    apart = np.hypot(*(points[:, None] - points).T)
    groups = np.arange(9) // 3
    same = groups[:, None] == groups
    assert apart[same].max() < apart[~same].min()
    assert apart[~np.eye(9, dtype=bool)].min() > 0.2  # none upon another


def test_the_last_digits_of_a_processor_change_nothing():
    other = MadeTogether(9)
    plain = other.component_correlations()
    other.component_correlations = lambda: plain * (1.0 + 1e-13)
    first, second = _together(), _together(other)
    assert first.ties() == second.ties()
    np.testing.assert_array_equal(first.arrangement().points, second.arrangement().points)
    np.testing.assert_array_equal(first.order(), second.order())


def test_a_model_without_correlations_and_one_of_two_components_have_none():
    assert "together" not in gather_facts(Made(9))
    assert "together" not in gather_facts(MadeTogether(2))


def test_plots_show_the_same():
    graph = plots.plot_topic_graph(NINE)
    assert len(graph.lines) == len(_together().ties())
    matrix = plots.plot_correlations(NINE, components=range(9))
    shown, wanted = matrix.images[0].get_array(), NINE.component_correlations()
    np.testing.assert_allclose(shown[~np.eye(9, dtype=bool)], wanted[~np.eye(9, dtype=bool)], atol=1e-6)
    for plot in (plots.plot_topic_graph, plots.plot_correlations):
        with pytest.raises(ValueError, match="fit a CorrelatedTopicModel"):
            plot(Made(9))


@pytest.fixture
def page_of(content):
    return content("together", lambda: MadeTogether(21))


def test_the_page_has_the_graph_in_lines_and_in_words(open_page, page_of):
    page = open_page(page_of)
    assert page.locator("#arrangement [aria-pressed=true]").inner_text() == "Together"
    ties = Together.of(MadeTogether(21), np.arange(21)).ties()
    assert page.locator("#map .threads line").count() == len(ties)
    chosen = sum(0 in tie[:2] for tie in ties)
    assert page.locator("#map .threads line.own").count() == chosen == 2
    assert "from 0.10 on" in page.locator("#map-note").inner_text()
    shown, overlapping = page.evaluate(OVERLAPS)
    assert shown >= 12
    assert overlapping == 0
    assert page.locator("#together li").count() == 2
    assert page.locator("#together p").inner_text().startswith("Keeps apart from ")
    page.locator("#together button").first.click()
    assert page.locator("#map [aria-selected=true]").count() == 1
    page.locator("#arrangement button", has_text="Distances").click()
    settle(page)
    assert page.locator("#map .threads line.tie").count() == 0


def test_the_matrix_shows_correlations_or_likeness(open_page, page_of):
    page = open_page(page_of, **PHONE)
    page.click("#tab-likeness")
    assert page.locator("#measure [aria-pressed=true]").inner_text() == "Correlations"
    assert "occur together" in page.locator("#scale").inner_text()
    page.focus("#likeness")
    page.keyboard.press("ArrowRight")
    assert "correlation " in page.locator("#live").inner_text()
    page.locator("#measure button", has_text="Likeness").click()
    assert "most alike" in page.locator("#scale").inner_text()


def test_axe_finds_no_fault(open_page, page_of, axe):
    for scheme in ("light", "dark"):
        page = open_page(page_of, color_scheme=scheme)
        page.add_script_tag(content=axe)
        for view in ("map", "likeness"):
            page.click(f"#tab-{view}")
            settle(page)
            found = page.evaluate("() => axe.run()")["violations"]
            assert [fault["id"] for fault in found] == []

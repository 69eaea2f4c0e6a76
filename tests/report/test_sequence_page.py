"""The page of a model of sequences in a real browser: clicked, touched, typed into and read out."""

import itertools

import pytest
from tests.browser import DESKTOP, PHONE
from tests.report.conftest import settle
from tests.report.made_sequences import MadeChains, MadeDynamics, MadeStates, MadeSymbols
from tests.report.test_browser import SMALL_TARGETS

from ssvi.report.page import render
from ssvi.report.sequences import gather_sequence_facts

TEXTS = """
[...document.querySelectorAll('#graph text')].map((e) => e.getBoundingClientRect())
  .map((b) => [b.left, b.top, b.right, b.bottom])
"""
INK = "document.getElementById('time').toDataURL()"


def page_of(model, **given):
    rows, lengths = model.sequences()
    return render(gather_sequence_facts(model, data=rows, lengths=lengths, title="Made", **given))


@pytest.fixture(scope="module")
def states():
    return page_of(MadeStates(3), names=["morning", "evening"])


def test_everything_is_there(open_page, states):
    page = open_page(states)
    assert page.locator("#sequence option").all_inner_texts() == ["morning", "evening"]
    assert page.locator(".card").count() == 3
    assert page.locator("#graph [role=option]").count() == 3
    assert page.locator("#matrix tbody td").count() == 9
    assert "Gaps are values that are missing" in page.locator("#series-note").inner_text()
    assert page.locator("#dynamics").is_hidden()
    assert page.locator("#meaning").inner_text().startswith("Higher is better")


def test_a_state_that_is_chosen_is_marked_everywhere(open_page, states):
    page = open_page(states)
    before = page.evaluate(INK)
    page.locator(".card button").nth(1).click()
    settle(page)
    assert page.locator(".card.chosen").count() == 1
    assert page.locator("#graph [aria-selected=true]").get_attribute("id") == "graph-1"
    number = page.locator(".card.chosen button").inner_text().split(":")[0].removeprefix("State ")
    assert page.locator("#matrix tr.chosen th").inner_text() == number
    assert page.evaluate(INK) != before
    page.focus("#graph")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.locator("#graph [aria-selected=true]").count() == 1
    assert page.locator("#graph [aria-selected=true]").get_attribute("id") != "graph-1"


def test_keys_go_along_and_zoom(open_page, states):
    page = open_page(states)
    page.focus("#time")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.locator("#live").inner_text().startswith("time point 2; sensor a: ")
    assert ", 90%" in page.locator("#live").inner_text()
    for _ in range(2):
        page.keyboard.press("+")
    assert page.locator("#position-row").is_visible()
    page.keyboard.press("End")
    assert page.locator("#live").inner_text().startswith("time point 120; ")
    page.keyboard.press("0")
    assert page.locator("#position-row").is_hidden()
    page.select_option("#sequence", label="evening")
    page.focus("#time")
    page.keyboard.press("End")
    assert page.locator("#live").inner_text().startswith("time point 60; ")


def test_the_pointer_shows_values_and_what_is_missing(open_page, states):
    page = open_page(states)
    box = page.locator("#time").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 60)
    assert "sensor a: " in page.locator("#tip").inner_text()
    page.focus("#time")
    page.keyboard.press("Home")
    for _ in range(32):
        page.keyboard.press("ArrowRight")
    assert "sensor a: missing" in page.locator("#live").inner_text()


@pytest.mark.parametrize("count", [2, 3, 8, 20])
def test_texts_of_the_graph_do_not_overlap(open_page, count):
    page = open_page(page_of(MadeStates(count)))
    boxes = page.evaluate(TEXTS)
    assert len(boxes) >= count
    for a, b in itertools.combinations(boxes, 2):
        apart = a[2] <= b[0] + 1 or b[2] <= a[0] + 1 or a[3] <= b[1] + 2 or b[3] <= a[1] + 2
        assert apart, (a, b)


def test_more_lines_are_drawn_if_asked_for(open_page):
    page = open_page(page_of(MadeStates(20)))
    few = page.locator(".edges path").count()
    page.locator("#lines").fill(page.locator("#lines").get_attribute("max"))
    assert page.locator(".edges path").count() > 2 * few


@pytest.mark.parametrize("make", [MadeStates, MadeSymbols, MadeChains, MadeDynamics])
def test_axe_finds_nothing_in_light_and_dark(open_page, axe, make):
    content = page_of(make())
    for scheme in ("light", "dark"):
        page = open_page(content, color_scheme=scheme, **DESKTOP)
        page.evaluate(axe)
        found = page.evaluate("axe.run().then((result) => result.violations)")
        assert [(fault["id"], fault["nodes"][0]["html"]) for fault in found] == []


@pytest.mark.parametrize("make", [MadeStates, MadeChains, MadeDynamics])
def test_fingers_have_room_and_nothing_sticks_out(open_page, make):
    page = open_page(page_of(make()), **PHONE)
    assert page.evaluate(SMALL_TARGETS) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_chain_can_be_picked(open_page):
    page = open_page(page_of(MadeChains()))
    first = page.locator("#matrix tbody").inner_text()
    page.select_option("#chain", label="chain 1")
    assert page.locator("#matrix tbody").inner_text() != first


def test_modes_and_loadings_are_read_out(open_page):
    page = open_page(page_of(MadeDynamics()))
    assert "a cycle of 12 time points" in page.locator("#circle").get_attribute("aria-label")
    assert page.locator("#loadings tbody tr").count() == 2
    page.focus("#time")
    page.keyboard.press("End")
    assert page.locator("#live").inner_text().startswith("step 18 ahead; tide: ")

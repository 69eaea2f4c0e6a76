"""The page in a real browser."""

import pytest
from tests.browser import DESKTOP, PHONE


@pytest.fixture
def page_of(browser, server):
    """Return a function that opens the page, and check at the end that it had no errors and asked nobody else."""
    contexts, problems = [], []

    def open_(**options):
        contexts.append(browser.new_context(**{**DESKTOP, **options}))
        page = contexts[-1].new_page()
        page.on("console", lambda said: problems.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        own = (server.address, "data:")
        page.on("request", lambda sent: sent.url.startswith(own) or problems.append(sent.url))
        page.goto(server.address)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert problems == []


def test_paste_click_and_see_topics(page_of):
    page = page_of()
    page.fill("#text", "The court heard the judge's appeal.\nThe price of oil <i>fell</i>.")
    page.click("#ask")
    page.wait_for_selector("#topics li")
    assert "court" in page.locator("#topics li").first.inner_text()
    assert [mark.inner_text() for mark in page.locator("#pieces mark").all()] == [
        "court", "judge", "appeal", "price", "oil",
    ]  # fmt: skip
    assert "<i>fell</i>" in page.locator("#pieces").inner_text()
    assert "equally likely words" in page.locator("#score").inner_text()
    assert page.locator("#documents li").first.inner_text().startswith("<b>about</b> court")
    page.locator("#topics li").first.hover()
    assert page.locator("#pieces mark.chosen").count() == 3
    assert page.locator("#live").inner_text().startswith("3 topics, the largest:")


@pytest.mark.parametrize(
    ("weights", "shown", "others"),
    [
        ([0.7, 0.26] + [0.008] * 5, 2, "5 others, 4.0% together"),  # which make up 95%
        ([0.05] * 20, 8, "12 others, 60% together"),
        ([0.6, 0.36, 0.04], 3, None),  # one alone is not folded
    ],
)
def test_topics_that_hold_little_of_a_text_are_folded(page_of, weights, shown, others):
    components = [
        {
            "component": k,
            "label": f"label {k}",
            "weight": weight,
            "distinctive": ["oil"],
            "beside": ["oil"],
            "marks": [],
        }
        for k, weight in enumerate(weights)
    ]
    page = page_of()
    answer = {"words": 2, "components": components, "pieces": [], "score": None, "meaning": None, "similar": []}
    page.route("**/api/text", lambda route: route.fulfill(json=answer))
    page.fill("#text", "oil")
    page.click("#ask")
    page.wait_for_selector("#topics li")
    assert page.locator("#topics > li > .line").count() == shown
    assert page.locator("#topics summary").all_inner_texts() == ([others] if others else [])
    assert page.locator("#topics li .line").count() == len(weights)


def test_an_empty_text_is_told_of(page_of):
    page = page_of()
    page.click("#ask")
    assert page.locator("#problem").inner_text() == "Paste a text first."
    page.fill("#text", "oil " * 2_000)
    page.click("#ask")
    assert "at most 5,000 bytes" in page.locator("#problem").inner_text()
    page.fill("#text", "oil")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("#topics li")
    assert page.locator("#problem").is_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_stands_in_anybodys_way(page_of, axe, scheme):
    page = page_of(color_scheme=scheme, bypass_csp=True, **PHONE)
    page.fill("#text", "court oil")
    page.click("#ask")
    page.wait_for_selector("#topics li")
    page.evaluate(axe)
    found = page.evaluate("() => axe.run().then((r) => r.violations.map((v) => [v.id, v.nodes.map((n) => n.html)]))")
    assert found == []
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    assert page.locator("#ask").bounding_box()["height"] >= 43.9

"""Pages of the report in a real browser."""

import pytest
from tests.browser import DESKTOP

from ssvi.report.facts import gather_facts
from ssvi.report.page import render


@pytest.fixture(scope="session")
def content():
    """Return a function that makes the page of a model, once for all tests."""
    made = {}

    def of(key, make, **given):
        if key not in made:
            made[key] = render(gather_facts(make(), **given))
        return made[key]

    return of


@pytest.fixture
def open_page(browser, tmp_path):
    """Return a function that opens a page, and check at the end that it had no errors and asked for nothing."""
    contexts, problems = [], []

    def open_(text, address="", **options):
        path = tmp_path / "report.html"
        path.write_text(text, encoding="utf-8")
        contexts.append(browser.new_context(**{**DESKTOP, "reduced_motion": "reduce", **options}))
        page = contexts[-1].new_page()
        page.on(
            "console", lambda message: problems.append(message.text) if message.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: problems.append(str(error)))
        own = ("file:", "data:", "blob:")
        page.on("request", lambda request: request.url.startswith(own) or problems.append(request.url))
        page.goto(path.as_uri() + address)
        settle(page)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert problems == []


def settle(page):
    """Wait until what was asked for has been drawn: two frames."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

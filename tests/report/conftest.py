"""A real browser for the report's tests, where there is one."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from ssvi.report.facts import gather_facts
from ssvi.report.page import render

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
REQUIRED = os.environ.get("SSVI_REQUIRE_BROWSER") == "1"
AXE = Path(sys.prefix) / "node_modules" / "axe-core" / "axe.min.js"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--force-color-profile=srgb", "--hide-scrollbars"]  # fmt: skip
DESKTOP = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}


def missing(what):
    """Skip a test for want of something, or fail it where nothing may be left out."""
    if REQUIRED:
        pytest.fail(f"these tests are required here, and there is no {what}")
    pytest.skip(f"no {what} on this machine: the report was not tried with it")


@pytest.fixture(scope="session")
def browser():
    if CHROMIUM is None:
        missing("Chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def axe():
    """Return the source of axe-core, which `make test` installs beside the packages of Python."""
    if not AXE.is_file():
        missing("axe-core (npm install --prefix .venv axe-core@4)")
    return AXE.read_text(encoding="utf-8")


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

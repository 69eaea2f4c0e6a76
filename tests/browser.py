"""A real browser for tests of pages, where there is one: the same for all of them."""

import os
import shutil
import sys
from pathlib import Path

import pytest

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

"""The page as text, and in a real browser where there is one."""

import json
import os
import re
import shutil

import numpy as np
import pytest
from typer.testing import CliRunner

from ssvi import BernoulliMixture, GammaProcessNMF, GaussianMixture, LatentDirichletAllocation
from ssvi.cli.app import app
from ssvi.report import write_report
from ssvi.report.page import gather_facts, render

WORDS = [f"word{i}" for i in range(15)] + ["</script><b>&"]
COUNTS = np.random.default_rng(0).poisson(0.6, (80, 16))


def _topics():
    lda = LatentDirichletAllocation(4, max_iter=2, random_state=1).fit(COUNTS)
    lda.vocabulary_ = np.array(WORDS, dtype=object)
    lda.scores_ = [(0.5, -3.0), (1.0, -2.5), (1.5, -2.4)]
    return lda


def _data(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


def test_the_page_holds_everything_and_loads_nothing(tmp_path):
    write_report(_topics(), tmp_path / "r.html", data=COUNTS, names=[f"doc {i}" for i in range(80)], title="A < B")
    page = (tmp_path / "r.html").read_text()
    assert "<title>A &lt; B</title>" in page
    assert "default-src 'none'" in page
    assert not re.search(r"(src|href)\s*=", page)
    facts = _data(page)
    assert len(facts["components"]) == 4
    assert sum(part["share"] for part in facts["components"]) == pytest.approx(1.0, abs=1e-3)
    assert len(facts["components"][0]["examples"]) == 5
    assert facts["components"][0]["examples"][0][0].startswith("doc ")
    assert any(word[0] == "</script><b>&" for part in facts["components"] for word in part["words"])


def test_documents_show_how_they_begin(tmp_path):
    lda, asked = _topics(), []

    def beginnings(rows, length):
        asked.append((sorted(rows), length))
        return {row: f"text {row} </script>" for row in rows if row % 2}

    facts = gather_facts(lda, data=COUNTS, beginnings=beginnings)
    examples = [example for part in facts["components"] for example in part["examples"]]
    assert asked == [(sorted({int(name.split()[1]) - 1 for name, _, _ in examples}), 160)]
    for name, _, text in examples:
        row = int(name.split()[1]) - 1
        assert text == (f"text {row} </script>" if row % 2 else "")
    assert "text 1 </script>" not in render(facts)


def test_whatever_a_title_or_a_name_holds_the_page_is_whole(tmp_path):
    names = np.array([f"doc {i} \ud800" for i in range(80)])
    write_report(_topics(), tmp_path / "r.html", data=COUNTS, names=names, title="{{style}} {{data}}")
    page = (tmp_path / "r.html").read_text()
    assert "<title>{{style}} {{data}}</title>" in page
    assert _data(page)["title"] == "{{style}} {{data}}"
    assert "color-scheme" in page
    with pytest.raises(ValueError, match="names has 3 entries, and the data 80 rows"):
        write_report(_topics(), tmp_path / "r.html", data=COUNTS, names=["a", "b", "c"])


def test_rows_that_are_images_are_shown_as_such():
    mixture = BernoulliMixture(3, max_iter=2, random_state=0).fit((COUNTS > 0).astype(int))
    facts = gather_facts(mixture)
    assert facts["shape"] == [4, 4]
    assert len(facts["components"][0]["image"]) == 16
    assert gather_facts(GammaProcessNMF(2, max_iter=1).fit(COUNTS), shape=(2, 8))["shape"] == [2, 8]
    assert gather_facts(_topics())["shape"] is None


def test_factorisations_show_spectra_and_the_activations_of_given_rows():
    wide = np.random.default_rng(1).poisson(1.0, (500, 18))
    nmf = GammaProcessNMF(3, max_iter=2, random_state=0).fit(wide)
    facts = gather_facts(nmf, data=wide)
    first = facts["components"][0]
    np.testing.assert_allclose(first["spectrum"], nmf.summarize_components()[1][first["number"]], rtol=1e-4)
    activations = nmf.transform(wide)[:, first["number"]]
    assert len(first["activations"]) == 400
    np.testing.assert_allclose(first["activations"][0], activations[:2].mean(), rtol=1e-4)
    np.testing.assert_allclose(first["activations"][-1], activations[-1], rtol=1e-4)
    assert gather_facts(nmf)["components"][0]["activations"] is None
    assert gather_facts(_topics(), data=COUNTS)["components"][0]["spectrum"] is None


def test_the_command_writes_a_page(tmp_path):
    _topics().save(tmp_path / "m.ssvi")
    result = CliRunner().invoke(app, ["report", str(tmp_path / "m.ssvi"), "-o", str(tmp_path / "r.html")])
    assert result.exit_code == 0
    assert "open it in a browser" in result.stdout
    assert len(_data((tmp_path / "r.html").read_text())["curve"]) == 3


# --- in a browser

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
REQUIRED = os.environ.get("SSVI_REQUIRE_BROWSER") == "1"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        if REQUIRED:
            pytest.fail("these tests are required here, and there is no Chromium")
        pytest.skip("no Chromium on this machine: the report was not tried in a browser")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """Return a function that opens a page, and check at the end that it had no errors and asked for nothing."""
    contexts, problems = [], []

    def open_(content, **options):
        path = tmp_path / "report.html"
        path.write_text(content)
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: request.url.startswith("file:") or problems.append(request.url))
        page.goto(path.as_uri())
        return page

    yield open_
    for context in contexts:
        context.close()
    assert problems == []


def _page():
    return render(gather_facts(_topics(), data=COUNTS))


def test_a_browser_shows_the_topics(open_page):
    page = open_page(_page())
    assert page.locator("#list button").count() == 4
    assert page.locator("#map circle").count() == 4
    assert page.locator("#words tr").count() == 16
    assert page.locator("#curve polyline").count() == 1
    assert page.locator("#examples li").count() == 5


def test_clicks_and_keys_choose_a_topic(open_page):
    page = open_page(_page())
    title = page.locator("#chosen h2")
    first = title.inner_text()
    page.locator("#list button").nth(2).click()
    assert title.inner_text() != first
    assert page.locator("#list button").nth(2).get_attribute("aria-current") == "true"
    page.keyboard.press("ArrowUp")
    assert page.locator("#list button").nth(1).get_attribute("aria-current") == "true"
    page.locator("#map circle").nth(3).focus()
    page.keyboard.press("Enter")
    assert page.locator("#list button").nth(3).get_attribute("aria-current") == "true"
    page.locator("#similar button").first.click()
    assert page.locator("#list button").nth(3).get_attribute("aria-current") == "false"


def test_the_slider_sorts_words_anew(open_page):
    page = open_page(_page())
    orders = []
    for value in ("0", "1"):
        page.locator("#relevance").fill(value)
        orders.append(page.locator("#words tr td:first-child").all_inner_texts())
    facts = _data(_page())["components"][0]["words"]
    assert orders[0] == [word[0] for word in sorted(facts, key=lambda word: -word[1])][:20]
    assert orders[1] == [word[0] for word in sorted(facts, key=lambda word: -word[1] / word[2])][:20]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_in_light_and_dark(open_page, scheme):
    page = open_page(_page(), viewport={"width": 360, "height": 740}, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") == (scheme == "light")


def test_prototypes_are_drawn(open_page):
    mixture = BernoulliMixture(3, max_iter=2, random_state=0).fit((COUNTS > 0).astype(int))
    page = open_page(render(gather_facts(mixture)))
    assert page.locator("#picture canvas").count() == 1
    assert page.locator("#list canvas").count() == 3
    assert page.locator("#spectrum").is_hidden()
    assert page.evaluate("document.querySelector('canvas').getContext('2d').getImageData(0, 0, 4, 4).data[3]") == 255


def test_spectra_and_activations_are_drawn(open_page):
    wide = np.random.default_rng(1).poisson(1.0, (60, 18))
    page = open_page(render(gather_facts(GammaProcessNMF(3, max_iter=2, random_state=0).fit(wide), data=wide)))
    for name, count in (("spectrum", 18), ("activations", 60)):
        line = page.locator(f"#{name} polyline")
        assert line.count() == 1
        assert len(line.get_attribute("points").split()) == count
    before = page.locator("#activations polyline").get_attribute("points")
    page.locator("#list button").nth(1).click()
    assert page.locator("#activations polyline").get_attribute("points") != before


def test_a_browser_shows_means_of_any_sign(open_page):
    """Bars are as long as a mean is far from that of all rows, and there is nothing to slide."""
    rng = np.random.default_rng(4)
    rows = np.concatenate([rng.normal([5.0, -3.0], 0.3, (60, 2)), rng.normal([5.0, 3.0], 0.3, (40, 2))])
    page = open_page(render(gather_facts(GaussianMixture(2, max_iter=100, random_state=0, verbose=0).fit(rows))))
    cells = page.locator("#words tr").first.locator("td")
    assert float(cells.nth(1).inner_text()) == pytest.approx(-3.0, abs=0.2)
    assert page.locator("#words tr").first.locator("i").evaluate("bar => bar.getBoundingClientRect().width") > 50
    assert page.locator("#words tr").nth(1).locator("i").evaluate("bar => bar.getBoundingClientRect().width") < 50
    assert not page.locator(".slider").is_visible()

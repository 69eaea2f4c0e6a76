"""The page in a real browser: what it does when it is clicked, touched, typed into and read out."""

import csv
import io
import itertools
import re

import pytest
from tests.browser import DESKTOP, PHONE
from tests.report.conftest import settle
from tests.report.made import Made, MadeImages, MadeMeans, MadeSpectra, documents_of

SMALL_TARGETS = """
[...document.querySelectorAll('button, a, input, select, [role=option]')]
  .filter((e) => e.checkVisibility() && !e.closest('.circles'))
  .map((e) => [e.id || e.textContent, e.getBoundingClientRect()])
  .filter(([, b]) => b.width < 43.9 || b.height < 43.9)
  .map(([name, b]) => [name, b.width, b.height])
"""
CIRCLES = "all => all.map((c) => ['cx', 'cy', 'r'].map((name) => Number(c.getAttribute(name))))"
ALPHAS = "canvas => [...canvas.getContext('2d').getImageData(0, 0, 8, 8).data].filter((value, i) => i % 4 == 3)"


@pytest.fixture
def topics(content):
    """Return a page of twenty topics with documents, dates and groups."""
    made = Made(20)
    return content("topics", lambda: made, **documents_of(made), title="Made topics")


def _heading(page):
    return page.locator("#topic-label").inner_text()


def test_everything_is_there(open_page, topics):
    page = open_page(topics)
    assert page.locator("#map [role=option]").count() == 20
    assert page.locator("#words tbody tr").count() == 25
    assert page.locator("#documents li").count() == 6
    assert page.locator("#similar li").count() == 5
    assert page.locator("#groups li").count() == 3
    assert page.locator("#when svg path.line").count() == 1
    assert [tab.inner_text() for tab in page.locator("[role=tab]").all()] == [
        "Map",
        "Topics",
        "Hierarchy",
        "Likeness",
        "Over time",
        "About",
    ]
    assert page.locator("#meaning").inner_text().startswith("Higher is better")
    note = page.locator("#map-note").inner_text()
    assert "of what sets the topics apart" in note
    assert re.search(r"Of the 5 topics most like a given one, \d+% are also the nearest to it here\.", note)


def test_clicks_and_keys_choose_a_topic(open_page, topics):
    page = open_page(topics)
    first = _heading(page)
    page.click("#tab-list")
    page.locator("#list tbody a").nth(2).click()
    second = _heading(page)
    assert second != first
    assert page.locator("#list tbody tr.chosen a").inner_text() == second
    page.click("#tab-map")
    page.focus("#map")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    third = _heading(page)
    assert third != second
    assert page.locator("#map [aria-selected=true]").get_attribute("aria-label").endswith(third)
    page.locator("#similar button").first.click()
    assert _heading(page) != third
    page.click("#after")
    page.click("#before")
    assert _heading(page) != third


def test_a_click_on_a_circle_chooses_it_and_a_drag_does_not(open_page, topics):
    page = open_page(topics)
    first = _heading(page)
    box = page.locator("#map-3").bounding_box()
    place = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(*place)
    page.mouse.down()
    page.mouse.move(place[0] + 60, place[1] + 40, steps=4)
    page.mouse.up()
    assert _heading(page) == first
    page.mouse.click(*place)
    assert page.locator("#map-3").get_attribute("aria-selected") == "true" or _heading(page) != first


def test_wheel_and_buttons_zoom_about_the_pointer(open_page, topics):
    page = open_page(topics)
    before = page.locator("#map-0").bounding_box()
    centre = before["x"] + before["width"] / 2, before["y"] + before["height"] / 2
    page.mouse.move(*centre)
    page.mouse.wheel(0, -240)
    settle(page)
    after = page.locator("#map-0").bounding_box()
    assert after["width"] > before["width"]
    assert after["x"] + after["width"] / 2 == pytest.approx(centre[0], abs=1.5)
    page.click("#zoom-all")
    settle(page)
    assert page.locator("#map-0").bounding_box()["width"] == pytest.approx(before["width"], abs=0.5)
    page.click("#zoom-in")
    settle(page)
    assert page.locator("#map-0").bounding_box()["width"] > before["width"]


def test_the_slider_sorts_words_anew(open_page, topics):
    page, made = open_page(topics, address="#topic-0"), Made(20)
    row, overall = made.rows[0], made.shares @ made.rows
    for value, said in (("0", row), ("1", row / overall)):
        page.locator("#relevance").fill(value)
        shown = page.locator("#words tbody th").all_inner_texts()
        order = [str(made.vocabulary_[v]) for v in (-said).argsort(kind="stable")]
        assert shown[:5] == order[:5]


def test_a_word_shows_its_topics(open_page, topics):
    page = open_page(topics)
    word = page.locator("#words tbody tr").first
    word.hover()
    settle(page)
    assert page.locator("#tip").is_visible()
    assert page.locator("#map.by-word").count() == 1
    strengths = page.eval_on_selector_all(
        ".circles circle", "all => all.map(c => Number(c.style.getPropertyValue('--strength')))"
    )
    assert max(strengths) == 1.0
    assert min(strengths) == 0.0
    page.mouse.move(3, 3)
    settle(page)
    assert page.locator("#tip").is_hidden()
    word.locator("button").click()
    page.mouse.move(3, 3)
    assert page.locator("#word h3").inner_text() == word.locator("button").inner_text()
    assert page.locator("#map.by-word").count() == 1
    page.locator("#word .chip").nth(1).click()
    assert page.locator("#word").is_visible()  # the word is held on the way to its topics
    page.locator("#word .title button").click()
    assert page.locator("#word").is_hidden()


def test_search_finds_topics_words_and_documents(open_page, topics):
    page, made = open_page(topics), Made(20)
    word = str(made.vocabulary_[made.rows[4].argmax()])
    page.keyboard.press("/")
    page.keyboard.type(word)
    kinds = page.locator("#found .kind").all_inner_texts()
    assert {"topic", "word"} <= set(kinds)
    page.locator("#found li").nth(kinds.index("word")).click()
    assert page.locator("#word h3").inner_text() == word
    title = page.locator("#documents li strong").last.inner_text()
    page.fill("#search", title[title.index("part") :])
    assert page.locator("#found .kind").first.inner_text() == "document"
    page.keyboard.press("ArrowDown")
    assert page.locator("#search").get_attribute("aria-activedescendant") == "found-0"
    page.keyboard.press("Enter")
    assert page.locator("#documents li.found strong").inner_text() == title
    page.fill("#search", "qqqq")
    assert page.locator("#found").inner_text().startswith("Nothing found")
    page.keyboard.press("Escape")
    assert page.locator("#found").is_hidden()


def test_documents_have_titles_and_marked_words(open_page, topics):
    page = open_page(topics, address="#topic-0")
    first = page.locator("#documents li").first
    assert first.locator("strong").inner_text().startswith("On ")
    assert "id-" in first.locator("small").first.inner_text()
    marked = {text.lower() for text in first.locator("mark").all_inner_texts()}
    made = Made(20)
    assert str(made.vocabulary_[made.rows[0].argmax()]) in marked
    assert len(marked) > 3


def test_every_topic_has_an_address(open_page, topics):
    page = open_page(topics, address="#topic-11")
    assert page.locator("#topic-number").inner_text() == "Topic 11"
    page.click("#tab-list")
    page.locator("#list tbody a").nth(3).click()
    assert page.evaluate("location.hash") == "#topic-3"
    page.evaluate("location.hash = '#topic-6'")
    page.wait_for_function("document.getElementById('topic-number').textContent === 'Topic 6'")


def test_the_page_opens_on_a_topic_worth_reading_first(open_page, topics):
    page = open_page(topics, address="#nothing")
    first = page.evaluate("JSON.parse(document.getElementById('data').textContent).first")
    assert first > 0  # the largest of these is no more distinctive than others
    assert page.locator("#topic-number").inner_text() == f"Topic {first}"


def test_words_beside_a_label_do_not_repeat_it(open_page, topics):
    page = open_page(topics)
    page.click("#tab-list")
    for row in page.locator("#list tbody tr").all()[:5]:
        label, words = row.locator("a").inner_text(), row.locator("td.words").inner_text()
        assert words
        assert not set(label.split(", ")) & set(words.split(", "))


def test_the_list_is_sorted_by_what_is_clicked(open_page, topics):
    page = open_page(topics)
    page.click("#tab-list")

    def numbers():
        return [int(text) for text in page.locator("#list tbody td:first-child").all_inner_texts()]

    assert numbers() == list(range(20))
    page.get_by_role("button", name="Sort by Share").click()
    assert numbers() == list(range(19, -1, -1))
    page.get_by_role("button", name="Sort by Coherence").click()
    shown = [float(text) for text in page.locator("#list td.coherence").all_inner_texts()]
    assert shown == sorted(shown, reverse=True)
    assert page.locator("#list th[aria-sort=descending]").inner_text().startswith("Coherence")
    assert "copy of #2" in page.locator("#list tbody tr", has=page.locator("a[href='#topic-7']")).inner_text()


def test_arrow_keys_walk_through_tabs_hierarchy_and_matrix(open_page, topics):
    page = open_page(topics)
    page.focus("#tab-map")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.locator("#panel-tree").is_visible()
    page.focus("#tree")
    page.keyboard.press("End")
    last = page.locator("#tree").get_attribute("aria-activedescendant")
    assert page.locator(f"#{last}.pointed").count() == 1
    page.keyboard.press("Enter")
    assert page.locator(f"#{last}[aria-selected=true]").count() == 1
    page.click("#tab-likeness")
    page.focus("#likeness")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert "likeness 0." in page.locator("#live").inner_text()
    before = _heading(page)
    page.keyboard.press("Enter")
    assert _heading(page) != before


def test_time_is_sorted_by_what_is_asked(open_page, topics):
    page = open_page(topics)
    page.click("#tab-time")
    rows = page.locator("#time [role=option]")
    first = rows.first.get_attribute("id")
    page.select_option("#time-order", "rise")
    assert rows.count() == 20
    rising = rows.first.get_attribute("id")
    page.select_option("#time-order", "fall")
    assert rows.last.get_attribute("id") == rising
    page.select_option("#time-order", "size")
    assert rows.first.get_attribute("id") == first


def test_a_month_of_one_document_sets_no_scale(open_page, content):
    made = Made(4)
    facts = documents_of(made, 201)
    facts["dates"] = ["2010-01"] + ["2015-03"] * 100 + ["2015-04"] * 100
    page = open_page(content("stray", lambda: made, **facts))
    page.click("#tab-time")
    note = page.locator("#time-note").inner_text()
    assert "201 documents in 64 months. 1 month with fewer than 100 documents left out: too few to tell." in note
    assert page.locator("#time > text").all_text_contents() == ["2015-03", "2015-04"]
    shares = [float(text.rstrip("%")) for text in page.locator("#time .row text.soft").all_text_contents()]
    assert max(shares) < 60
    for row in page.locator("#time .row").all():
        row.click()
        assert "(100 documents)" in page.locator("#when .note").inner_text()


def test_what_is_seen_can_be_taken_along(open_page, topics):
    page = open_page(topics)

    def saved(selector):
        with page.expect_download() as download:
            page.click(selector)
        return download.value.suggested_filename, download.value.path().read_bytes()

    name, data = saved("#save-csv")
    rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"))))
    assert name == "made-topics-map.csv"
    assert [row["topic"] for row in rows] == [str(k) for k in range(20)]
    assert rows[7]["marks"] == "copy of #2"
    for view, head in (("likeness", "topic,0,1"), ("time", "month,documents,0"), ("tree", "join,one,other,distance")):
        page.click(f"#tab-{view}")
        assert saved("#save-csv")[1].decode("utf-8-sig").startswith(head)
        assert saved("#save-png")[1].startswith(b"\x89PNG")
    assert saved("#words-csv")[1].decode("utf-8-sig").startswith("word,weight,deviation,in all the data")
    page.click("#tab-map")
    assert len(saved("#save-png")[1]) > 10_000
    page.click("#tab-list")
    assert page.locator("#save-png").is_hidden()


def test_cells_that_a_spreadsheet_would_run_are_made_harmless(open_page, content):
    def dangerous():
        made = Made(3, 40)
        made.vocabulary_[made.rows[0].argmax()] = "=cmd()"
        return made

    page = open_page(content("dangerous", dangerous), address="#topic-0")
    with page.expect_download() as download:
        page.click("#words-csv")
    text = download.value.path().read_text(encoding="utf-8-sig")
    assert "'=cmd()," in text
    assert "\n=cmd()" not in text


@pytest.mark.parametrize("count", [20, 100, 500])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_labels_never_overlap(open_page, content, count, size):
    page = open_page(content(f"{count} topics", lambda: Made(count, 1_000)), **size)
    least = {"desktop": {20: 15, 100: 30, 500: 30}, "phone": {20: 5, 100: 5, 500: 5}}[
        "desktop" if size is DESKTOP else "phone"
    ]
    for _ in range(3):
        boxes = _label_boxes(page)
        assert len(boxes) >= least[count]
        for one, other in itertools.combinations(boxes, 2):
            assert not _meet(one, other), (one, other)
        frame = page.locator("#map").bounding_box()
        for box in boxes:
            assert box["left"] >= frame["x"] - 1
            assert box["right"] <= frame["x"] + frame["width"] + 1
        page.click("#zoom-in")
        settle(page)
        least = dict.fromkeys(least, 2)


def _label_boxes(page):
    return page.eval_on_selector_all(
        ".names text",
        "all => all.filter(t => t.style.display !== 'none').map(t => { const b = t.getBoundingClientRect();"
        " return {text: t.textContent, left: b.left, right: b.right, top: b.top, bottom: b.bottom}; })",
    )


def _meet(one, other):
    apart = one["right"] <= other["left"] or other["right"] <= one["left"]
    return not (apart or one["bottom"] <= other["top"] or other["bottom"] <= one["top"])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_axe_finds_nothing(open_page, topics, axe, scheme, size):
    page = open_page(topics, color_scheme=scheme, **size)
    page.evaluate(axe)
    for view in ("map", "list", "tree", "likeness", "time", "about"):
        page.click(f"#tab-{view}")
        _check(page, view)
    page.click("#tab-map")
    page.locator("#words button.word").nth(1).click()
    page.fill("#search", "ba")
    _check(page, "a word that is held, and a search")


@pytest.mark.parametrize("make", [MadeImages, MadeMeans, MadeSpectra])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_pages_of_other_models(open_page, content, axe, make, scheme):
    page = open_page(content(make.__name__, make), color_scheme=scheme)
    page.evaluate(axe)
    for view in ("map", "list", "tree", "likeness"):
        page.click(f"#tab-{view}")
        _check(page, view)


def _check(page, where):
    settle(page)
    found = page.evaluate(
        "axe.run().then((r) => r.violations.map((v) => [v.id, v.nodes.map((n) => n.target.join(' '))]))"
    )
    assert found == [], where


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(open_page, topics, scheme):
    page = open_page(topics, color_scheme=scheme, **PHONE)
    for view in ("map", "list", "tree", "likeness", "time", "about"):
        page.tap(f"#tab-{view}")
        settle(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, view
        small = page.evaluate(SMALL_TARGETS)
        assert small == [], view


def test_a_finger_beside_a_small_circle_takes_the_nearest(open_page, topics):
    page = open_page(topics, **PHONE)
    places = page.eval_on_selector_all(".circles circle", CIRCLES)
    frame = page.locator("#map").bounding_box()
    x, y, r = places[10]
    page.touchscreen.tap(frame["x"] + x + r + 8, frame["y"] + y)
    reached = page.locator("#map [aria-selected=true]").get_attribute("id")
    nearest = min(
        range(20),
        key=lambda k: max(
            ((places[k][0] - x - r - 8) ** 2 + (places[k][1] - y) ** 2) ** 0.5 - places[k][2], places[k][2] / 1e4
        ),
    )
    assert reached == f"map-{nearest}"


def test_the_chosen_topic_has_its_label_also_on_a_phone(open_page, topics):
    page = open_page(topics, **PHONE)
    page.tap("#tab-list")
    for k in (2, 3, 7):
        page.locator("#list tbody a").nth(k).tap()
        page.tap("#tab-map")
        settle(page)
        assert _heading(page) in {box["text"] for box in _label_boxes(page)}
        page.tap("#tab-list")


def test_paper_has_the_map_and_the_table(open_page, topics):
    page = open_page(topics)
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("#map").is_visible()
    assert page.locator("#list tbody tr").count() == 20
    assert page.locator("#list").is_visible()
    assert page.locator("#search").is_hidden()
    assert page.evaluate("getComputedStyle(document.getElementById('topic')).overflowY") == "visible"


def test_prototypes_are_drawn(open_page, content):
    page = open_page(content("MadeImages", MadeImages))
    assert page.locator("#picture canvas").count() == 1
    assert page.locator(".names image").count() >= 10
    assert page.locator("#spectrum").is_hidden()
    page.click("#tab-list")
    assert page.locator("#list canvas").count() == 12
    inked = page.eval_on_selector("#picture canvas", ALPHAS)
    assert max(inked) == 255
    assert min(inked) < 20


def test_spectra_are_drawn(open_page, content):
    page = open_page(content("MadeSpectra", MadeSpectra))
    line = page.locator("#spectrum polyline")
    assert len(line.get_attribute("points").split()) == 50
    before = line.get_attribute("points")
    page.click("#after")
    assert page.locator("#spectrum polyline").get_attribute("points") != before


def test_means_have_bars_to_both_sides(open_page, content):
    page = open_page(content("MadeMeans", MadeMeans))
    assert page.locator(".slider").is_hidden()
    sides = page.eval_on_selector_all("#words .here", "all => all.map(b => parseFloat(b.style.left) < 49.9)")
    made = MadeMeans()
    below = made.rows[0] < made.shares @ made.rows
    assert sum(sides) == below.sum()


def test_one_component_has_a_page(open_page, content):
    page = open_page(content("one", lambda: Made(1, 30)))
    assert page.locator("#map [role=option]").count() == 1
    assert page.locator("#tab-tree").count() == 0
    assert page.locator("#similar").is_hidden()
    page.click("#tab-list")
    page.click("#tab-about")

"""The page as text: what it holds, and what becomes of anything that data can hold."""

import json
import re
from importlib import resources

import numpy as np
import pytest
from tests.report.made import Made, MadeMeans, documents_of
from typer.testing import CliRunner

from ssvi import BernoulliMixture, GammaProcessNMF, LatentDirichletAllocation
from ssvi.cli.app import app
from ssvi.report import write_report
from ssvi.report.facts import gather_facts
from ssvi.report.packing import unpack
from ssvi.report.page import SCRIPTS, SEQUENCE_SCRIPTS, render

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
    assert not re.search(r"<[^>]*\s(src|href)\s*=", page)
    facts = _data(page)
    assert len(facts["components"]) == 4
    assert sum(part["share"] for part in facts["components"]) == pytest.approx(1.0, abs=1e-3)
    assert facts["documents"][0]["name"].startswith("doc ")
    assert "</script><b>&" in facts["columns"]["names"]
    assert "as hard to guess as one of 11 equally likely words (of 16)" in facts["score"]["meaning"]


def test_weights_on_the_page_are_those_of_the_model():
    lda = _topics()
    facts = gather_facts(lda)
    shares, rows, deviations = lda.summarize_components()
    places, weights = unpack(facts["shown"]["columns"]), unpack(facts["shown"]["weights"])
    spreads, starts = unpack(facts["shown"]["deviations"]), facts["shown"]["starts"]
    for k, part in enumerate(facts["components"]):
        own = slice(starts[k], starts[k + 1])
        names = [facts["columns"]["names"][place] for place in places[own]]
        columns = [WORDS.index(name) for name in names]
        np.testing.assert_allclose(weights[own], rows[part["number"], columns], rtol=1e-6)
        np.testing.assert_allclose(spreads[own], deviations[part["number"], columns], rtol=1e-6)
    np.testing.assert_allclose(
        unpack(facts["columns"]["overall"]),
        [(shares @ rows)[WORDS.index(name)] for name in facts["columns"]["names"]],
        rtol=1e-6,
    )


def test_the_components_of_a_word_are_given_with_their_shares_of_it():
    made = Made(30, 200)
    facts = gather_facts(made)
    own = facts["columns"]
    members = unpack(own["parts"]).reshape(own["count"], own["parts_each"])
    values = unpack(own["values"]).reshape(own["count"], own["parts_each"]) / 255
    joint = made.shares[:, None] * made.rows
    joint /= joint.sum(axis=0)
    for place, name in enumerate(own["names"]):
        column = list(made.vocabulary_).index(name)
        order = np.argsort(-joint[:, column], kind="stable")[:6]
        kept = [k for k in order if joint[k, column] >= 0.01]
        assert [facts["components"][m - 1]["number"] for m in members[place] if m] == kept
        np.testing.assert_allclose(values[place][: len(kept)], joint[kept, column], atol=0.5 / 255 + 1e-9)


def test_means_come_with_widths_and_values():
    facts = gather_facts(MadeMeans())
    assert facts["means"]
    assert unpack(facts["columns"]["widths"]).tolist() == [1.0] * 5
    values = unpack(facts["columns"]["values"]).reshape(5, 4)
    order = unpack(facts["columns"]["parts"]).reshape(5, 4) - 1
    np.testing.assert_allclose(
        values[0],
        MadeMeans().rows[order[0], list(MadeMeans().vocabulary_).index(facts["columns"]["names"][0])],
        rtol=1e-6,
    )


def test_marks_and_labels_are_on_the_page():
    made = Made(20)
    made.labels_ = ["", "My own name"] + [""] * 18
    facts = gather_facts(made, **documents_of(made))
    assert [part["marks"] for part in facts["components"] if part["marks"]] == [["junk"], ["copy of #2"], ["dust"]]
    labels = [part["label"] for part in facts["components"]]
    assert len(set(labels)) == 20
    assert labels[1] == "My own name"
    assert [part["given"] for part in facts["components"]] == [False, True] + [False] * 18
    assert (facts["time"]["unit"], facts["groups"]["names"][0]) == ("month", "east")
    assert len(facts["coherence"]) == 20


def test_documents_show_how_they_begin_and_end_no_script():
    def beginnings(rows, length):
        return {row: f"text {row} </script>" for row in rows}

    page = render(gather_facts(_topics(), data=COUNTS, beginnings=beginnings))
    assert "text 1 </script>" not in page
    for own in _data(page)["documents"]:
        row = int(own["name"].split()[1]) - 1  # people count from 1
        assert own["text"] == f"text {row} </script>"


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
    first = facts["components"][0]["number"]
    image = unpack(facts["images"][0]) / 255 * facts["images"][0]["largest"]
    np.testing.assert_allclose(image, mixture.summarize_components()[1][first], atol=0.005)
    assert gather_facts(GammaProcessNMF(2, max_iter=1).fit(COUNTS), shape=(2, 8))["shape"] == [2, 8]
    assert gather_facts(_topics())["shape"] is None


def test_factorisations_show_spectra_and_the_activations_of_given_rows():
    wide = np.random.default_rng(1).poisson(1.0, (500, 18))
    nmf = GammaProcessNMF(3, max_iter=2, random_state=0).fit(wide)
    facts = gather_facts(nmf, data=wide)
    first = facts["components"][0]["number"]

    def curve(packed):
        return unpack(packed) / 65_535 * packed["largest"]

    row = nmf.summarize_components()[1][first]
    np.testing.assert_allclose(curve(facts["spectra"][0]), row, atol=1e-4 * row.max())
    activations, shown = nmf.transform(wide)[:, first], curve(facts["activations"][0])
    assert len(shown) == 400
    np.testing.assert_allclose(shown[[0, -1]], [activations[:2].mean(), activations[-1]], atol=1e-4 * shown.max())
    assert "activations" not in gather_facts(nmf)
    assert nmf.explain_score(-1.25).endswith("an entry the fit did not see is -1.25 or more.")
    assert "spectra" not in gather_facts(_topics(), data=COUNTS)


def test_a_page_of_a_hundred_topics_is_under_a_megabyte():
    made = Made(100, 20_000)
    page = render(gather_facts(made, **documents_of(made, 400)))
    assert len(page.encode()) < 1_000_000


def test_scripts_are_all_joined_and_short_enough_to_read():
    folder = resources.files("ssvi.report") / "assets" / "scripts"
    files = {
        str(file.relative_to(folder)).removesuffix(".js"): file.read_text("utf-8") for file in folder.rglob("*.js")
    }
    assert sorted(files) == sorted({*SCRIPTS, *SEQUENCE_SCRIPTS})
    for name, text in files.items():
        assert text.count("\n") <= 300, name
        assert "innerHTML" not in text, name


def test_the_command_writes_a_page(tmp_path):
    _topics().save(tmp_path / "m.ssvi")
    result = CliRunner().invoke(app, ["report", str(tmp_path / "m.ssvi"), "-o", str(tmp_path / "r.html")])
    assert result.exit_code == 0
    assert "open it in a browser" in result.stdout
    assert len(_data((tmp_path / "r.html").read_text())["score"]["curve"]) == 3

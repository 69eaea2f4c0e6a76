"""What a model file says of itself, beside what the model says."""

import numpy as np
import pytest

import ssvi
from ssvi.files import container
from ssvi.files.look import Look, keep_labels
from ssvi.overview import Overview, facts_of
from ssvi.report.components import Components

COUNTS = np.random.default_rng(0).poisson(0.6, (60, 12))
WORDS = [f"word{i}" for i in range(12)]
KINDS = {"LatentDirichletAllocation": COUNTS, "BernoulliMixture": COUNTS > 0, "GaussianMixture": COUNTS * 1.0,
         "GammaProcessNMF": COUNTS}  # fmt: skip


@pytest.fixture(params=KINDS)
def saved(request, tmp_path):
    model = getattr(ssvi, request.param)(3, max_iter=2, random_state=5).fit(np.asarray(KINDS[request.param], float))
    model.save(tmp_path / "model.ssvi", WORDS)
    return model, tmp_path / "model.ssvi"


def test_components_are_described_as_the_report_has_them(saved):
    model, path = saved
    look, parts = Look.at(path), Components.used_by(model)
    lines = look.components().described(look.words, look.given, n=5)
    assert [line["component"] for line in lines] == parts.numbers.tolist()
    assert [line["share"] for line in lines] == parts.shares.tolist()
    assert [line["label"] for line in lines] == parts.labels(WORDS)
    assert [line["marks"] for line in lines] == parts.marks()
    for k, line in enumerate(lines):
        assert line["distinctive"] == parts.distinctive(k, WORDS, 5)
        assert line["words"] == [WORDS[v] for v in parts.ranked(k)[:5]]
    assert {name: look.facts[name] for name in facts_of(model)} == facts_of(model)


def test_labels_are_all_that_changes(saved):
    _, path = saved
    text, arrays = container.read(path, "a model")
    keep_labels(path, ["Fruit", "", ""])
    assert Look.at(path).given == ssvi.load(path).labels_ == ["Fruit", "", ""]
    text["fitted"]["mapping"]["labels_"] = ["Fruit", "", ""]
    changed, after = container.read(path, "a model")
    assert changed == text
    assert all(np.array_equal(arrays[name], after[name]) for name in arrays)


def test_a_file_without_an_overview_is_loaded(saved):
    model, path = saved
    text, arrays = container.read(path, "a model")
    del text["overview"]
    container.write(path, text, arrays)
    look = Look.at(path)
    assert look.overview == Overview.of(model, words=10)
    keep_labels(path, ["", "Fruit", ""])
    assert Look.at(path).given == ["", "Fruit", ""]


CHANGES = {
    "a column that is not there": lambda kept: kept["distinctive"][0].__setitem__(0, 99),
    "a word for a number": lambda kept: kept["shares"].__setitem__(0, "much"),
    "fewer marks": lambda kept: kept.__setitem__("marks", []),
    "a component that is not there": lambda kept: kept["numbers"].__setitem__(0, -1),
    "an unknown entry": lambda kept: kept.__setitem__("more", 1),
    "no entry": lambda kept: kept.pop("nouns"),
    "what a terminal would obey": lambda kept: kept["marks"].__setitem__(0, ["\x1b[2J"]),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_an_overview_that_somebody_changed_is_refused(tmp_path, change):
    path = tmp_path / "model.ssvi"
    ssvi.LatentDirichletAllocation(3, max_iter=1, random_state=0).fit(COUNTS).save(path, WORDS)
    text, arrays = container.read(path, "a model")
    change(text["overview"]["components"])
    container.write(path, text, arrays)
    with pytest.raises(ValueError, match="its overview is not one of a model"):
        Look.at(path)


def test_what_a_fit_has_learned_of_its_priors_is_told():
    hmm = ssvi.HiddenMarkovModel(2, covariance_type="diag", transmat_prior="auto", covariance_prior="auto", max_iter=3)
    learned = facts_of(hmm.fit(COUNTS[:, :3].astype(float)))["learned"]
    assert learned == {"transmat_prior": hmm.transmat_prior_, "covariance_prior": hmm.covariance_prior_.tolist()}
    beta = ssvi.BernoulliMixture(3, mean_prior="auto", max_iter=2).fit(COUNTS > 0)
    assert facts_of(beta)["learned"] == {"mean_prior": list(beta.mean_prior_)}
    assert facts_of(ssvi.GaussianMixture(2, max_iter=2).fit(COUNTS[:, :2].astype(float)))["learned"] is None

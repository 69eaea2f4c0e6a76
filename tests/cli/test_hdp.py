"""`ssvi fit hdp`, and what commands show of its topics."""

import json

import numpy as np
from tests.cli.helpers import run

import ssvi


def test_commands_show_active_topics_only(texts, tmp_path):
    model, weights = tmp_path / "model.ssvi", tmp_path / "weights.csv"
    options = ["-k", 12, "--jobs", 1, "--held-out", 0]
    fitted = run("fit", "hdp", texts, "-o", model, *options)
    assert fitted.exit_code == 0
    estimator = ssvi.load(model)
    active = np.flatnonzero(estimator.active_)
    assert len(active) < 12
    assert f"hdp, {len(active)} of 12 topics" in fitted.stdout
    topics = json.loads(run("topics", model, "--json").stdout)
    assert sorted(topic["component"] for topic in topics) == active.tolist()
    assert run("transform", model, texts, "-o", weights, "--jobs", 1).exit_code == 0
    assert weights.read_text().splitlines()[0] == ",".join(["document", *(f"component_{k}" for k in active)])
    assert json.loads(run("info", model, "--json").stdout)["in_use"] == len(active)

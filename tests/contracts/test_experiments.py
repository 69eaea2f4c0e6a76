"""One suite for every experiment, at a tiny size: run, drawn, interrupted and resumed."""

from dataclasses import replace

import numpy as np
import pytest
from tests.interrupted import Interrupt, without_times

from ssvi.backends import Threads
from ssvi.estimators import lds_starts
from ssvi.experiments.base import Experiment, chosen_rows, reproduce
from ssvi.registry import discover

EXPERIMENTS = {name: kind() for name, kind in discover("ssvi.experiments", Experiment).items()}
LDA = {
    "topics": 4, "batch_size": 50, "documents": None, "test_documents": 30, "evaluations": 3, "sweeps": 2,
    "eta": (0.1,),
}  # fmt: skip
STATES = {"sequences": 3, "length": 8, "test_sequences": 4, "iterations": 8, "evaluations": 2, "draws": 2}
SMALL = {
    **dict.fromkeys([name for name in EXPERIMENTS if name.startswith("lda")], LDA),
    "dpmb": {
        "components": 6, "features": 10, "rows": 60, "iterations": 8, "whole": 3, "ascent": 4, "sweeps": 4, "kept": 2,
        "test_rows": 100, "ramp": 8.0,
    },
    "nmf": {
        "components": 6, "bases": 3, "features": 40, "frames": 50, "iterations": 6, "whole": 2, "ascent": 5,
        "polish": 2, "sweeps": 3, "most_alike": 0.9,
    },
    "gaussians": {"size": ("2x2", "3x2"), "rows": 60, "passes": 6, "test_rows": 100},
    "digits": {
        "components": 8, "batch_size": 300, "iterations": 4, "passes": 2, "sweeps": 3, "kept": 2, "snapshots": 2,
    },
    "hdp": {
        "simulated_documents": 60, "words": 40, "length": 20.0, "documents": None, "test_documents": 30, "passes": 2,
        "topics": (3,), "truncation": (5,), "lda_topics": (3,), "room": (1.5,), "sizes": ("equal",),
    },
    "convergence": {"topics": 4, "documents": 200, "test_documents": 30, "passes": 5},
    "hyperparameters": {
        "topics": 3, "words": 30, "documents": 60, "length": 20.0, "test_documents": 20, "passes": 2,
        "grid_alpha": (0.1,), "grid_eta": (0.1, 0.2), "corpus": ("0.1:0.1", "uneven 0.3:0.1"),
    },
    "fhmm": STATES,
    "hmm": {**STATES, "states": 3},
    "lds": STATES,
    "calibration": {"rows": 10, "iterations": 4, "draws": 19, "burn": 2, "thin": 1, "start": ("data", "truth")},
}  # fmt: skip


@pytest.fixture(params=sorted(EXPERIMENTS))
def small(request, corpus_file, monkeypatch, tmp_path):
    """An experiment and a small setting of it, away from any data but what the tests bring."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(lds_starts, "MOST_PASSES", 5)  # of three hundred: starts have tests of their own
    experiment = EXPERIMENTS[request.param]
    quick = experiment.settings["quick"]
    some = quick.algorithm[:2] + quick.algorithm[-1:]
    changes = {"algorithm": some, "seeds": 1, **SMALL[request.param]}
    if request.param.startswith("lda") or request.param == "hdp":
        changes["corpus"] = corpus_file
    if request.param == "convergence":
        changes["corpus"] = (str(corpus_file),)
    return experiment, replace(quick, **changes)


def test_every_experiment_runs_and_is_drawn(small, tmp_path):
    experiment, setting = small[0], replace(small[1], seeds=2)
    table = reproduce(experiment, setting, tmp_path, Threads())
    rows = chosen_rows(table, experiment.trials(setting))
    assert rows == table.rows
    assert np.isfinite([value for row in rows for value in row.values() if isinstance(value, float)]).all()
    headings, lines = experiment.summary(rows)
    assert all(len(line) == len(headings) for line in lines)
    experiment.draw(rows, tmp_path / "figure.png", setting)
    assert (tmp_path / "figure.png").read_bytes()[:4] == b"\x89PNG"
    # Nothing is measured twice.
    again = reproduce(experiment, setting, tmp_path, Threads(), Interrupt(0))
    assert again.rows == table.rows


def test_an_interrupted_experiment_ends_as_if_it_had_not_been(small, tmp_path):
    experiment, setting = small
    whole = reproduce(experiment, setting, tmp_path / "whole", Threads())
    attempts = 0
    while True:
        attempts += 1
        try:
            table = reproduce(experiment, setting, tmp_path / "parts", Threads(), Interrupt(5))
            break
        except KeyboardInterrupt:
            assert attempts < 200
    assert attempts > 1
    assert without_times(table.rows) == without_times(whole.rows)
    names = {path.name for path in (tmp_path / "parts").iterdir()}
    assert names == {"measurements.csv", "conditions.json"}

"""The LDA experiments on a tiny corpus."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from tests.interrupted import Interrupt, without_times

from ssvi import engine
from ssvi.backends import Threads
from ssvi.evaluation import document_completion, mean_field_elbo
from ssvi.experiments.algorithms import label, lda_algorithm, pair
from ssvi.experiments.base import Experiment, chosen_rows, reproduce
from ssvi.experiments.lda import LdaSetting, evaluation_steps, grid
from ssvi.models.lda import LDA
from ssvi.registry import discover
from ssvi.schedules import PowerSchedule

EXPERIMENTS = {name: kind() for name, kind in discover("ssvi.experiments", Experiment).items() if name[:3] == "lda"}
SMALL = {"topics": 4, "batch_size": 50, "documents": None, "test_documents": 30, "evaluations": 3, "sweeps": 2}


def _small(experiment, corpus, **changes):
    quick = experiment.settings["quick"]
    some = quick.algorithm[:2] + quick.algorithm[-1:]
    return replace(quick, corpus=corpus, **{**SMALL, "algorithm": some, "seeds": 1, "eta": (0.1,), **changes})


def test_scores_are_those_of_a_plain_run(corpus_file, tmp_path):
    experiment = EXPERIMENTS["lda-heldout"]
    setting = _small(experiment, corpus_file, algorithm=("ssvi_a:gibbs",), offset=(10.0,), ramp=("off",))
    table = reproduce(experiment, setting, tmp_path, Threads())
    corpus = experiment.bench(setting, Threads()).corpus
    model = LDA(40, np.full(4, 0.1), 0.1)
    algorithm = lda_algorithm(
        "ssvi_a:gibbs", model, len(corpus.train), PowerSchedule(0.75, 10.0), Threads(), ramp=False
    )
    state = engine.run(algorithm.steps, algorithm.start(0), corpus.train, sweeps=2, batch_size=50)
    expected = document_completion(model.mean_topics(state.parameters), model.alpha, corpus.test)
    assert table.rows[-1]["score"] == pytest.approx(expected.mean, abs=1e-6)
    assert table.rows[-1]["documents"] == 2 * len(corpus.train)


def test_the_bound_is_the_mean_field_elbo(corpus_file, tmp_path):
    experiment = EXPERIMENTS["lda-local-optima"]
    setting = _small(experiment, corpus_file, algorithm=("mean_field:mean_field",), decay=(0.6,))
    rows = reproduce(experiment, setting, tmp_path, Threads()).rows
    bench = experiment.bench(setting, Threads())
    model = LDA(40, np.full(4, 0.1), 0.1)
    algorithm = lda_algorithm(
        "mean_field:mean_field", model, len(bench.corpus.train), PowerSchedule(0.6, 0.0), Threads()
    )
    for row, sweeps in zip(rows, (2, 3), strict=True):  # SVI after SVI is SVI for longer
        state = engine.run(algorithm.steps, algorithm.start(0), bench.corpus.train, sweeps=sweeps, batch_size=50)
        bound = mean_field_elbo(model, state.parameters, bench.corpus.train)
        assert row["elbo"] == pytest.approx(bound.per_word, abs=1e-6)


def test_svi_takes_over_from_another_algorithm(corpus_file, tmp_path, monkeypatch):
    """Two sweeps of SSVI-A, one of SVI, and the bound on a sample of 100 of the 300 documents, all by hand."""
    monkeypatch.setattr("ssvi.experiments.lda_local_optima._SAMPLE", 100)
    experiment = EXPERIMENTS["lda-local-optima"]
    setting = _small(experiment, corpus_file, algorithm=("ssvi_a:gibbs",))
    rows = reproduce(experiment, setting, tmp_path, Threads()).rows
    train, model = experiment.bench(setting, Threads()).corpus.train, LDA(40, np.full(4, 0.1), 0.1)
    first, then = (
        lda_algorithm(name, model, len(train), PowerSchedule(0.75, 0.0), Threads())
        for name in ("ssvi_a:gibbs", "mean_field:mean_field")
    )
    middle = engine.run(first.steps, first.start(0), train, sweeps=2, batch_size=50)
    end = engine.run(then.steps, middle, train, sweeps=3, batch_size=50)
    for row, state in zip(rows, (middle, end), strict=True):
        sample = mean_field_elbo(model, state.parameters, train.slice(0, 100))
        prior = engine.prior_bound(model, state.parameters)
        expected = (sample.value - prior) / sample.n_words + prior / train.lengths().sum()
        assert row["elbo"] == pytest.approx(expected, abs=1e-6)


def test_other_conditions_are_refused_and_more_trials_are_not(corpus_file, tmp_path):
    experiment = EXPERIMENTS["lda-matrix"]
    setting = _small(experiment, corpus_file)
    few = reproduce(experiment, setting, tmp_path, Threads()).rows
    more = reproduce(experiment, replace(setting, seeds=2), tmp_path, Threads())
    assert more.rows[: len(few)] == few
    assert len(more.rows) == 2 * len(few)
    assert chosen_rows(more, experiment.trials(setting)) == few
    with pytest.raises(ValueError, match=r"holds measurements with topics = 4, and this run has topics = 5"):
        reproduce(experiment, replace(setting, topics=5), tmp_path, Threads())


def test_what_was_measured_elsewhere_is_not_mixed_in(corpus_file, tmp_path):
    first, second = EXPERIMENTS["lda-heldout"], EXPERIMENTS["lda-matrix"]
    setting = _small(first, corpus_file, algorithm=("map:cvb0",))
    reproduce(first, setting, tmp_path, Threads())
    with pytest.raises(ValueError, match="experiment = lda-heldout, and this run has experiment = lda-matrix"):
        reproduce(second, _small(second, corpus_file), tmp_path, Threads())
    (tmp_path / "conditions.json").unlink()
    with pytest.raises(ValueError, match="but not under which conditions"):
        reproduce(first, setting, tmp_path, Threads())


def test_nothing_is_lost_to_a_mistake(corpus_file, tmp_path):
    experiment = EXPERIMENTS["lda-matrix"]
    setting = _small(experiment, corpus_file, algorithm=("map:cvb0",))
    rows = reproduce(experiment, setting, tmp_path, Threads()).rows
    for bad in ({"algorithm": ("map:cvb0", "map:guess")}, {"corpus": tmp_path / "nowhere.npz"}, {"alpha": (0.1, 0.2)}):
        with pytest.raises(ValueError, match=r"not known|there is no|takes one alpha"):
            reproduce(experiment, replace(setting, **bad), tmp_path, Threads(), restart=True)
    assert reproduce(experiment, setting, tmp_path, Threads(), Interrupt(0)).rows == rows


def test_a_mistake_leaves_no_folder(corpus_file, tmp_path):
    experiment = EXPERIMENTS["lda-matrix"]
    with pytest.raises(ValueError, match="there is no"):
        reproduce(experiment, _small(experiment, tmp_path / "nowhere.npz"), tmp_path / "out", Threads())
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", sorted(set(EXPERIMENTS) - {"lda-heldout"}))
def test_sgrld_is_refused_where_it_has_no_place(name, corpus_file, tmp_path):
    with pytest.raises(ValueError, match="'sgrld' is none"):
        reproduce(EXPERIMENTS[name], _small(EXPERIMENTS[name], corpus_file, algorithm=("sgrld",)), tmp_path, Threads())


def test_fractions_are_not_sampled(tmp_path):
    sparse.save_npz(tmp_path / "tfidf.npz", sparse.csr_array(np.full((50, 30), 0.4)))
    experiment = EXPERIMENTS["lda-heldout"]
    with pytest.raises(ValueError, match="needs whole counts"):
        reproduce(experiment, _small(experiment, tmp_path / "tfidf.npz"), tmp_path / "out", Threads())


def test_threads_do_not_change_scores(corpus_file, tmp_path, many_tasks):
    experiment = EXPERIMENTS["lda-heldout"]
    setting = _small(experiment, corpus_file)
    tables = []
    for jobs in (1, 2):
        with Threads(jobs) as backend:
            tables.append(reproduce(experiment, setting, tmp_path / str(jobs), backend).rows)
    assert without_times(tables[0]) == without_times(tables[1])


def test_the_grid_has_all_of_it_before_a_second_seed():
    setting = LdaSetting(algorithm=("a:b", "c:d"), eta=(0.1, 0.2), seeds=2)
    trials = grid(setting)
    assert len(trials) == 8
    assert [trial.seed for trial in trials] == [0] * 4 + [1] * 4
    assert len({(trial.algorithm, trial.eta) for trial in trials[:4]}) == 4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"topics": 0}, "topics must be 1 or more"),
        ({"documents": -5}, "documents must be 1 or more"),
        ({"test_documents": 0}, "test-documents must be 1 or more"),
        ({"langevin_step": 5.0}, "langevin-step must be above 0 and at most 1"),
        ({"evaluator": "perplexity"}, "evaluator 'perplexity' is not known"),
        ({"ramp": ("maybe",)}, "ramp must be on or off"),
        ({"eta": (-1.0,)}, "eta must be positive"),
    ],
)
def test_bad_settings_get_a_clear_error(changes, message):
    with pytest.raises(ValueError, match=message):
        LdaSetting(**changes)


def test_algorithms_by_name():
    assert [step.name for step in pair("ssvi_a:cvb0")] == ["ssvi_a", "cvb0"]
    assert label("ssvi:gibbs") == "SSVI"
    assert label("map:cvb0") == "map:cvb0"
    with pytest.raises(ValueError, match="'ssvi' is not known; it is GLOBAL:LOCAL"):
        pair("ssvi")
    with pytest.raises(ValueError, match="global step 'nuts' is not known"):
        pair("nuts:gibbs")


def test_scores_are_taken_early_and_late():
    assert evaluation_steps(320, 6) == [10, 20, 40, 80, 160, 320]
    assert evaluation_steps(7, 1) == [7]
    assert evaluation_steps(2, 6) == [1, 2]

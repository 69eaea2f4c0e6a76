"""Fits of topics that end where a further pass would gain little."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.corpora.samples import write

import ssvi
from ssvi import HierarchicalDirichletTopics, LatentDirichletAllocation
from ssvi.batches.documents import Documents
from ssvi.corpora import DiskCorpus
from ssvi.estimators.convergence import is_far
from ssvi.estimators.gains import Gains
from ssvi.evaluation.held_out import HeldOut
from ssvi.evaluation.left_out import LeftOut
from ssvi.evaluation.trend import expected_gain
from ssvi.files import Checkpoints
from ssvi.models.lda import LDA

KINDS = [LatentDirichletAllocation, HierarchicalDirichletTopics]
_, DOCUMENTS = LDA(80, np.full(4, 0.3), 0.1).simulate(np.random.default_rng(1), 300, 30.0)
COUNTS = DOCUMENTS.to_matrix()
USUAL = {"max_iter": "auto", "random_state": 1, "verbose": 0}


@pytest.mark.parametrize("passes", [6, 7, 9, 30])
def test_the_gain_of_scores_that_flatten_like_one_over_t_is_the_slope_there(passes):
    scores = [-7.0 - 0.4 / t for t in range(1, passes + 1)]
    scores[:2] = [-30.0, -8.0]  # the first two passes are not like the others, and do not count
    assert expected_gain(scores) == pytest.approx(0.4 / passes**2, rel=1e-9)
    assert np.isnan(expected_gain(scores[:5]))


def test_where_several_passes_are_between_two_scores_the_gain_is_still_that_of_one():
    scores = [-7.0 - 0.4 / (4 * look) for look in range(1, 16)]
    assert expected_gain(scores, 4) == pytest.approx(0.4 / 60**2, rel=1e-9)
    few = COUNTS[:30]  # a step a pass
    model = HierarchicalDirichletTopics(10, learning_method="batch", **USUAL).fit(few)
    looks = len(model.left_out_scores_)
    assert model.n_iter_ == 4 * looks
    assert model.gain_ == expected_gain(model.left_out_scores_, 4)


def test_the_gain_is_that_of_the_later_passes():
    early, late = [-7.0 - 0.4 / t for t in range(1, 11)], [-6.95] * 16
    assert expected_gain(early + late) == pytest.approx(0.0, abs=1e-9)


def test_auto_ends_where_two_passes_in_a_row_gain_little_and_is_a_fit_of_so_many_passes():
    model = LatentDirichletAllocation(4, merge_copies=False, gain_tol=0.01, **USUAL).fit(COUNTS)
    scores = model.left_out_scores_
    assert model.converged_
    assert 5 < model.n_iter_ == len(scores) < 80
    gains = [expected_gain(scores[:count]) for count in range(6, len(scores) + 1)]
    small = [gain < 1.4 * 0.01 for gain in gains]
    both = [before and after for before, after in itertools.pairwise(small)]
    assert both[-1]
    assert not any(both[:-1])
    assert model.gain_ == gains[-1]
    same = LatentDirichletAllocation(4, merge_copies=False, **(USUAL | {"max_iter": model.n_iter_})).fit(COUNTS)
    np.testing.assert_array_equal(same.components_, model.components_)
    assert np.isnan(same.gain_)
    assert not hasattr(same, "left_out_scores_")


@pytest.mark.parametrize(("tolerance", "end"), [(0.004, 10), (0.001, 18)])
def test_where_a_fit_ends_follows_from_its_scores(tolerance, end, monkeypatch):
    """With 7 + 0.4 / t, pass t gains 0.4 / t^2, which is below 1.4 times the tolerance from passes 9 and 17 on."""
    _score_after_passes(monkeypatch, lambda passes: -7.0 - 0.4 / passes)
    model = LatentDirichletAllocation(4, gain_tol=tolerance, **USUAL).fit(COUNTS)
    assert (model.n_iter_, model.converged_) == (end, True)


def test_scores_from_before_copies_are_mended_say_nothing_of_what_is_to_come(monkeypatch):
    """They fall at pass 5, and go on climbing: by all from the third on, a further pass would seem to gain nothing."""
    score = lambda passes: -7.0 - 0.4 / passes if passes < 5 else -7.05 - 0.6 / passes  # noqa: E731
    assert expected_gain([score(passes) for passes in range(1, 8)]) < 1e-3
    assert expected_gain([score(passes) for passes in range(1, 8)], formed=5) == pytest.approx(0.6 / 49)
    _score_after_passes(monkeypatch, score)
    settings = USUAL | {"learning_method": "batch"}  # 20 passes are planned, and copies mended from a quarter on
    model = LatentDirichletAllocation(4, **settings).fit(COUNTS)
    assert model._rearranges(model._plan(300))[0] == 5.0
    assert model.n_iter_ == 22  # 0.6 / t^2 is below 0.0014 from t = 21 on


def test_a_fit_does_not_end_on_what_has_just_been_mended(monkeypatch):
    _score_after_passes(monkeypatch, lambda passes: -7.0)
    plain = LatentDirichletAllocation(4, **USUAL).fit(COUNTS)
    assert not any(info.merged for info in plain.history_[-1:])
    look = Gains.__call__
    mended = lambda self, state, info: look(self, state, replace(info, merged=int(info.step == plain._state.step)))  # noqa: E731
    monkeypatch.setattr(Gains, "__call__", mended)
    assert LatentDirichletAllocation(4, **USUAL).fit(COUNTS).n_iter_ == plain.n_iter_ + 1


def _score_after_passes(monkeypatch, score):
    passes = itertools.count(1)
    result = lambda self, *given, **options: HeldOut(np.array([score(next(passes))]), np.ones(1))  # noqa: E731
    monkeypatch.setattr(LeftOut, "score", result)


def test_hierarchical_topics_go_on_for_as_long_as_it_takes_them_to_form():
    model = HierarchicalDirichletTopics(10, **USUAL).fit(COUNTS)
    planned = HierarchicalDirichletTopics(10, random_state=1)._planned_passes(300)
    assert model.converged_
    assert planned <= model.n_iter_ < 2 * planned
    assert np.isfinite(model.gain_)


@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_that_is_taken_up_again_ends_where_it_would_have(kind, tmp_path):
    def cut(state, info):
        if info.step == 31:
            raise KeyboardInterrupt

    settings = USUAL | {"batch_size": 30}
    whole = kind(10, **settings).fit(COUNTS)
    assert whole.n_batch_iter_ > 31
    with pytest.raises(KeyboardInterrupt):
        kind(10, callbacks=[Checkpoints(tmp_path, 8), cut], **settings).fit(COUNTS)
    keeper = Checkpoints(tmp_path, 8)
    resumed = kind(10, callbacks=[keeper], **settings).fit(COUNTS)
    assert keeper.resumed_at == 24
    assert (resumed.left_out_scores_, resumed.gain_) == (whole.left_out_scores_, whole.gain_)
    np.testing.assert_array_equal(resumed.components_, whole.components_)


def test_as_many_documents_are_scored_as_there_is_time_for_whatever_their_counts_are():
    model = LatentDirichletAllocation(4, **USUAL)
    model.random_state_, plan = 1, model._plan(300)
    rows = [Gains(model, Documents.from_matrix(COUNTS * factor), plan)._rows for factor in (1, 10_000)]
    assert len(rows[0]) == 300
    np.testing.assert_array_equal(*rows)


def test_documents_that_are_too_short_for_halves_have_a_clear_error():
    with pytest.raises(ValueError, match="are too short for halves: give max_iter as a number"):
        LatentDirichletAllocation(2, **USUAL).fit(np.array([[0.25, 0.0, 0.0]]))


def test_the_best_state_of_early_stopping_has_the_scores_that_there_were_then(monkeypatch):
    _score_after_passes(monkeypatch, lambda passes: -7.0 - 0.4 / passes)
    falling = itertools.count(1)
    monkeypatch.setattr(LatentDirichletAllocation, "score", lambda self, X: -7.0 - abs(next(falling) - 8))
    monkeypatch.setattr(LatentDirichletAllocation, "_score", lambda self, data: self.score(data))
    model = LatentDirichletAllocation(4, early_stopping=True, merge_copies=False, **USUAL).fit(COUNTS)
    assert (model.n_iter_, len(model.scores_), model.converged_) == (8, 13, False)
    assert len(model.left_out_scores_) == 8
    assert model.gain_ == expected_gain(model.left_out_scores_)
    assert model.gain_ > model.gain_tol
    assert is_far(model)
    model.gain_ = -0.01
    assert not is_far(model)


def test_threads_do_not_matter_and_files_keep_how_it_went(tmp_path):
    alone, shared = (LatentDirichletAllocation(4, n_jobs=n_jobs, **USUAL).fit(COUNTS) for n_jobs in (1, 3))
    assert alone.left_out_scores_ == shared.left_out_scores_
    shared.save(tmp_path / "model.ssvi")
    loaded = ssvi.load(tmp_path / "model.ssvi")
    assert (loaded.left_out_scores_, loaded.gain_) == (alone.left_out_scores_, alone.gain_)
    loaded.partial_fit(COUNTS)
    assert np.isnan(loaded.gain_)
    assert not hasattr(loaded, "left_out_scores_")


def test_a_corpus_on_disk_and_the_same_one_in_memory_end_alike(tmp_path, monkeypatch):
    disk = DiskCorpus(write(tmp_path / "corpus", COUNTS.toarray(), monkeypatch, rows=20))
    there, here = (LatentDirichletAllocation(4, **USUAL).fit(data) for data in (disk, disk.load()))
    assert there.left_out_scores_ == here.left_out_scores_
    assert there.converged_
    np.testing.assert_array_equal(there.components_, here.components_)


def test_a_fit_that_has_not_come_there_says_so_and_what_to_do(monkeypatch):
    _score_after_passes(monkeypatch, lambda passes: -7.0 + 0.01 * passes)
    with pytest.warns(ConvergenceWarning, match=r"of 200 passes gained about 0\.00\d+ nats a word.* set `max_iter` to"):
        model = LatentDirichletAllocation(4, batch_size=100, **USUAL).fit(COUNTS)
    assert not model.converged_
    with pytest.raises(ValueError, match="gain_tol must be"):
        LatentDirichletAllocation(4, gain_tol=0.0).fit(COUNTS)

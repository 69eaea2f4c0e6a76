"""Scores of held-out rows during a fit, and fits that stop by them."""

import numpy as np
import pytest
from sklearn.base import clone
from tests.kinds import WITH_COMPONENTS

from ssvi import (
    BernoulliMixture,
    GammaProcessNMF,
    HierarchicalDirichletTopics,
    LatentDirichletAllocation,
    LinearDynamicalSystem,
)
from ssvi.batches.documents import Documents
from ssvi.estimators.plan import Plan
from ssvi.estimators.validation import Validation, set_aside
from ssvi.files import Checkpoints
from ssvi.global_steps.mean_field import MeanField
from ssvi.schedules import PowerSchedule, snapshot_steps, whole_step_schedule

RNG = np.random.default_rng(0)
ROWS = (RNG.random((120, 12)) < RNG.random((2, 12))[RNG.integers(0, 2, 120)]).astype(int)
TRAIN, HELD_OUT = ROWS[:90], ROWS[90:]


@pytest.mark.parametrize("kind", WITH_COMPONENTS.values(), ids=list(WITH_COMPONENTS))
def test_given_rows_are_scored_after_every_pass_and_change_nothing(kind):
    plain = kind(3, max_iter=4, batch_size=30, learning_method="online", random_state=1).fit(TRAIN)
    scored = kind(3, max_iter=4, batch_size=30, learning_method="online", random_state=1).fit(TRAIN, X_val=HELD_OUT)
    assert plain.scores_ == []
    assert len(scored.scores_) == (5 if kind is GammaProcessNMF else 4)  # its polish has a score of its own
    assert [seconds for seconds, _ in scored.scores_] == sorted(seconds for seconds, _ in scored.scores_)
    for name, lam in plain._state.parameters.items():
        np.testing.assert_array_equal(scored._state.parameters[name], lam)
    assert scored.scores_[-1][1] == scored.score(HELD_OUT)


@pytest.mark.parametrize("kind", WITH_COMPONENTS.values(), ids=list(WITH_COMPONENTS))
def test_a_fit_that_stops_early_keeps_its_best_state(kind):
    """With a margin that no gain exceeds, a fit ends after the first score and as many more as it has patience for."""
    model = kind(
        3, max_iter=40, batch_size=30, learning_method="online", random_state=1, early_stopping=True,
        n_iter_no_change=3, validation_tol=10.0,
    )  # fmt: skip
    if kind is GammaProcessNMF:
        model.set_params(polish=0, merge=None)
    model.fit(TRAIN, X_val=HELD_OUT)
    best = int(np.argmax([score for _, score in model.scores_]))
    assert len(model.scores_) == 4
    assert model.score(HELD_OUT) == model.scores_[best][1]
    assert (model.n_iter_, model.n_batch_iter_) == (best + 1, 3 * (best + 1))
    assert [info.step for info in model.history_] == list(range(1, 3 * (best + 1) + 1))
    if kind in (HierarchicalDirichletTopics, LinearDynamicalSystem):  # whose starts know of the passes planned
        return
    shorter = clone(model).set_params(early_stopping=False, max_iter=best + 1).fit(TRAIN)
    for name, lam in shorter._state.parameters.items():
        np.testing.assert_array_equal(model._state.parameters[name], lam)


def _goes_down_after(passes, steps_per_pass=3):
    """Return a stand-in for a score that is best after so many passes."""
    return lambda self, data: -float(abs(self._state.step - passes * steps_per_pass))


def test_what_comes_after_a_best_state_goes_on_from_there(monkeypatch):
    """The bound of further steps is that of a fit which had ended at the best state in the first place."""
    monkeypatch.setattr(LatentDirichletAllocation, "_score", _goes_down_after(2))
    parameters = {"batch_size": 30, "local_step": "mean_field", "random_state": 1}
    model = LatentDirichletAllocation(3, max_iter=9, early_stopping=True, n_iter_no_change=2, **parameters)
    model.fit(TRAIN, X_val=HELD_OUT)
    assert (len(model.scores_), model.n_batch_iter_) == (4, 6)
    plain = LatentDirichletAllocation(3, max_iter=2, **parameters).fit(TRAIN)
    assert model.bound_ == plain.bound_
    assert model.partial_fit(HELD_OUT).bound_ == plain.partial_fit(HELD_OUT).bound_
    assert [info.step for info in model.history_] == [1, 2, 3, 4, 5, 6, 7]


def test_a_factorisation_goes_back_before_it_is_polished(monkeypatch):
    monkeypatch.setattr(GammaProcessNMF, "_score", _goes_down_after(2))
    parameters = {"batch_size": 30, "learning_method": "online", "polish": 3, "tol": 0.0, "random_state": 1}
    model = GammaProcessNMF(3, max_iter=9, early_stopping=True, n_iter_no_change=2, **parameters)
    model.fit(TRAIN, X_val=HELD_OUT)
    plain = GammaProcessNMF(3, max_iter=2, **parameters).fit(TRAIN)
    np.testing.assert_array_equal(model.components_, plain.components_)
    assert [info.step for info in model.history_] == list(range(1, 10))


def test_snapshots_are_of_no_state_after_the_best(monkeypatch):
    monkeypatch.setattr(BernoulliMixture, "_score", _goes_down_after(5))
    parameters = {"batch_size": 30, "learning_method": "online", "snapshots": 6, "random_state": 1}
    model = BernoulliMixture(3, max_iter=9, early_stopping=True, n_iter_no_change=2, **parameters)
    model.fit(TRAIN, X_val=HELD_OUT)
    wanted = snapshot_steps(27, 6)
    assert len(model._snapshots) == sum(step <= 15 for step in wanted) < sum(step <= 21 for step in wanted)


@pytest.mark.parametrize("kind", [BernoulliMixture, GammaProcessNMF])
def test_single_draws_are_not_compared(kind):
    """Where every step sees all rows the first third replace q by a draw: a fit does not stop or go back there."""
    model = kind(3, max_iter=100, early_stopping=True, n_iter_no_change=2, validation_tol=10.0, random_state=0)
    if kind is GammaProcessNMF:
        model.set_params(polish=0, merge=None)
    model.fit(TRAIN, X_val=HELD_OUT)
    whole = sum(whole_step_schedule(100)(step) == 1.0 for step in range(1, 101))
    assert 30 <= whole <= 34
    first = -(-(whole + 1) // 2)  # scores come after every second step
    assert len(model.scores_) == first + 2
    assert model.history_[-1].step_size < 1.0


def test_a_fit_that_settles_between_two_scores_is_scored_where_it_ended():
    mixture = BernoulliMixture(
        3, max_iter=500, global_step="mean_field", local_step="exact", tol=1e-3, early_stopping=True, random_state=0
    ).fit(TRAIN, X_val=HELD_OUT)
    assert mixture.converged_
    assert mixture.n_batch_iter_ % 10  # scores come after every tenth step
    assert mixture.scores_[-1][1] == mixture.score(HELD_OUT)
    assert len(mixture.scores_) == mixture.n_batch_iter_ // 10 + 1


def test_without_rows_of_its_own_a_fit_sets_some_aside_by_its_seed():
    documents = Documents.from_matrix(ROWS)
    rest, aside = set_aside(documents, 0.25, seed=3)
    assert (len(rest), len(aside)) == (90, 30)
    both = np.concatenate([rest.lengths(), aside.lengths()])
    np.testing.assert_array_equal(np.sort(both), np.sort(documents.lengths()))
    again = set_aside(documents, 0.25, seed=3)[1]
    np.testing.assert_array_equal(again.words, aside.words)
    assert not np.array_equal(set_aside(documents, 0.25, seed=4)[1].words, aside.words)

    model = LatentDirichletAllocation(2, max_iter=3, batch_size=50, early_stopping=True, random_state=3)
    model.set_params(validation_fraction=0.25, topic_word_prior=0.1).fit(ROWS)
    assert {info.population for info in model.history_} == {45.0, 90.0}
    assert len(model.scores_) == 3


def test_a_fit_of_very_many_passes_is_scored_some_fifty_times():
    mixture = BernoulliMixture(3, max_iter=130, random_state=0).fit(TRAIN, X_val=HELD_OUT)
    assert len(mixture.scores_) == 65
    odd = BernoulliMixture(3, max_iter=101, random_state=0).fit(TRAIN, X_val=HELD_OUT)
    assert len(odd.scores_) == 51  # every second pass, and the last


class _Scored:
    """As much of an estimator as the rule for stopping looks at."""

    early_stopping, n_iter_no_change, validation_tol = True, 2, 0.01

    def __init__(self, scores):
        self.scores_ = [(0.0, score) for score in scores]
        self.history_ = []


@pytest.mark.parametrize(
    ("scores", "over"),
    [
        ([-5.0, -4.0], False),  # not enough of them
        ([-5.0, -4.0, -3.0], False),
        ([-5.0, -4.98, -4.96], True),  # gains of less than a hundredth of 5
        ([-5.0, -4.98, -4.94], False),
        ([-4.0, -5.0, -5.0], True),
        ([5.0, 5.04, 5.0], True),  # densities have logs above 0
        ([5.0, 5.06, 5.0], False),
        ([-4.0, -3.0, -3.0, -3.0], True),
    ],
)
def test_when_a_fit_is_over(scores, over):
    plan = Plan(10, 1, 10, 10, False, MeanField(), PowerSchedule())
    assert Validation(_Scored(scores), None, plan)._is_over() is over


def test_a_second_fit_forgets_the_scores_of_the_first():
    model = LatentDirichletAllocation(2, max_iter=2, random_state=0).fit(TRAIN, X_val=HELD_OUT)
    assert len(model.fit(TRAIN, X_val=HELD_OUT).scores_) == 2
    assert model.fit(TRAIN).scores_ == []


class _DiesError(Exception):
    pass


def _dies_at(step):
    def callback(state, info):
        if info.step == step:
            raise _DiesError

    return callback


@pytest.mark.parametrize("dies", [5, 13, 17, 18])
def test_a_fit_that_stops_early_goes_on_from_a_checkpoint_as_if_nothing_had_happened(tmp_path, dies):
    """It is stopped at step 18; one that dies there before its checkpoint has that of step 17."""

    def model(*callbacks):
        return LatentDirichletAllocation(
            3, max_iter=40, batch_size=30, random_state=1, early_stopping=True, validation_tol=10.0, callbacks=callbacks
        )

    whole = model().fit(TRAIN, X_val=HELD_OUT)
    assert len(whole.scores_) == 6
    keeper = Checkpoints(tmp_path, 1)
    with pytest.raises(_DiesError):
        model(_dies_at(dies), keeper).fit(TRAIN, X_val=HELD_OUT)
    resumed = model(keeper).fit(TRAIN, X_val=HELD_OUT)
    assert keeper.resumed_at == dies - 1
    assert [score for _, score in resumed.scores_] == [score for _, score in whole.scores_]
    np.testing.assert_array_equal(resumed.components_, whole.components_)
    with pytest.raises(ValueError, match="checkpoints of another fit, with other data"):
        model(keeper).fit(TRAIN, X_val=HELD_OUT[:-1])


@pytest.mark.parametrize(
    "parameters",
    [
        {"early_stopping": True, "validation_tol": 10.0},
        {"global_step": "mean_field", "local_step": "exact", "learning_method": "batch", "tol": 1e-2},
    ],
    ids=["early stopping", "settled"],
)
@pytest.mark.parametrize("every", [1, 1000])
def test_a_fit_that_had_ended_makes_no_further_step(tmp_path, parameters, every):
    """Its last step is in a checkpoint of its own, whatever `every` is."""

    def model(*callbacks):
        return BernoulliMixture(3, max_iter=60, random_state=1, callbacks=callbacks, **parameters)

    whole, keeper = model().fit(TRAIN, X_val=HELD_OUT), Checkpoints(tmp_path, every)
    model(keeper).fit(TRAIN, X_val=HELD_OUT)
    resumed = model(keeper).fit(TRAIN, X_val=HELD_OUT)
    assert keeper.resumed_at < 60
    assert [score for _, score in resumed.scores_] == [score for _, score in whole.scores_]
    assert len(resumed.history_) == len(whole.history_)
    np.testing.assert_array_equal(resumed.means_, whole.means_)


def test_a_seed_of_chance_is_that_of_the_checkpoint(tmp_path):
    """It also says which rows were set aside."""

    def model(*callbacks):
        return LatentDirichletAllocation(3, max_iter=4, batch_size=30, early_stopping=True, callbacks=callbacks)

    keeper = Checkpoints(tmp_path, 1)
    with pytest.raises(_DiesError):
        model(_dies_at(5), keeper).fit(TRAIN)
    resumed = model(keeper).fit(TRAIN)
    assert keeper.resumed_at == 4
    whole = model().set_params(random_state=resumed.random_state_).fit(TRAIN)
    np.testing.assert_array_equal(resumed.components_, whole.components_)


def test_a_perplexity_that_settles_does_so_after_a_resume_too(tmp_path):
    def model(*callbacks):
        return LatentDirichletAllocation(
            2, topic_word_prior=0.02, max_iter=30, batch_size=30, evaluate_every=1, perp_tol=0.01, random_state=1,
            callbacks=callbacks,
        )  # fmt: skip

    whole = model().fit(TRAIN)
    steps = len(whole.history_)
    assert 6 < steps < 90
    keeper = Checkpoints(tmp_path, 1)
    with pytest.raises(_DiesError):
        model(_dies_at(steps - 1), keeper).fit(TRAIN)
    resumed = model(keeper).fit(TRAIN)
    assert resumed.perplexity_history_ == whole.perplexity_history_
    np.testing.assert_array_equal(resumed.components_, whole.components_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"early_stopping": "yes"}, "early_stopping must be True or False, not 'yes'"),
        ({"validation_fraction": 0.0}, "validation_fraction must be above 0 and below 1, not 0.0"),
        ({"n_iter_no_change": 0}, "n_iter_no_change must be an integer of 1 or more, not 0"),
        ({"validation_tol": -1.0}, "validation_tol must be a number of 0 or more, not -1.0"),
    ],
)
@pytest.mark.parametrize("kind", WITH_COMPONENTS.values(), ids=list(WITH_COMPONENTS))
def test_bad_parameters_are_refused(kind, parameters, message):
    with pytest.raises(ValueError, match=message):
        kind(2, **parameters).fit(TRAIN)


def test_rows_that_cannot_be_scored_are_refused_and_change_nothing():
    nmf = GammaProcessNMF(2, max_iter=1)
    with pytest.raises(ValueError, match="the validation rows have the score nan after step 1"):
        nmf.fit(TRAIN, X_val=np.ma.masked_array(HELD_OUT, mask=True))
    assert not hasattr(nmf, "history_")
    model = LatentDirichletAllocation(2, max_iter=1)
    with pytest.raises(ValueError, match="There is nothing but zeros"):
        model.fit(TRAIN, X_val=np.zeros_like(HELD_OUT))
    with pytest.raises(ValueError, match="has 5 features"):
        model.fit(TRAIN, X_val=HELD_OUT[:, :5])
    with pytest.raises(ValueError, match="early stopping sets rows aside, and there are only 1"):
        model.set_params(early_stopping=True).fit(TRAIN[:1])
    assert not hasattr(model, "history_")

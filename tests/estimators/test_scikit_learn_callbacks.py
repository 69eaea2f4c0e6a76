"""scikit-learn's callback protocol, where the installed version has it."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from tests.kinds import WITH_COMPONENTS

from ssvi import GammaProcessNMF, HierarchicalDirichletTopics, LatentDirichletAllocation, LinearDynamicalSystem
from ssvi.estimators import scikit_learn_callbacks as callbacks
from ssvi.files import Checkpoints

callback = pytest.importorskip("sklearn.callback")

# A fit of so many passes is another than so many passes of a longer one: by its polish, or by when it gives up a start.
PLANNED = (GammaProcessNMF, HierarchicalDirichletTopics, LinearDynamicalSystem)
COUNTS = np.random.default_rng(0).integers(0, 3, (60, 8))
ROWS = (COUNTS > 0).astype(int)


class Recorder:
    """Writes down what it is told; stops a fit after a pass if asked to, or fails there."""

    def __init__(self, stop_after=None, fail_at=None):
        self.events, self.scores, self.stop_after, self.fail_at = [], [], stop_after, fail_at

    def setup(self, estimator, context):
        self.events.append("setup")

    def on_fit_task_begin(self, estimator, context):
        self.events.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, X, metadata, fitted_estimator):
        self.events.append(f"end {context.task_name}")
        self.scores.append(fitted_estimator and fitted_estimator.score(X, **metadata))
        done = self.events.count("end pass")
        if self.fail_at == done:
            raise ZeroDivisionError
        return done == self.stop_after

    def teardown(self, estimator, context):
        self.events.append("teardown")


def _expected(passes):
    return ["setup", "begin fit", *["begin pass", "end pass"] * passes, "end fit", "teardown"]


@pytest.mark.parametrize("kind", WITH_COMPONENTS.values(), ids=list(WITH_COMPONENTS))
def test_callbacks_are_told_of_a_fit_and_its_passes(kind):
    recorder = Recorder()
    model = kind(2, max_iter=3, batch_size=20, learning_method="online", random_state=0)
    plain = clone(model).fit(ROWS)
    model.set_callbacks(recorder).fit(ROWS)
    assert recorder.events == _expected(3)
    assert recorder.scores[-1] == model.score(ROWS) == plain.score(ROWS)
    shorter = clone(plain).set_params(max_iter=1)
    if kind not in PLANNED:
        assert recorder.scores[0] == shorter.fit(ROWS).score(ROWS)
    assert not [name for name in vars(model) if "callback_fit_ctx" in name or "teardown" in name]


def test_a_callback_can_stop_the_fit_after_a_pass():
    recorder = Recorder(stop_after=2)
    model = LatentDirichletAllocation(2, max_iter=9, batch_size=20, random_state=0).set_callbacks(recorder).fit(COUNTS)
    assert model.n_iter_ == 2
    assert recorder.events == _expected(2)


@pytest.mark.parametrize("last", [4, 6])
def test_a_fit_that_somebody_else_stops_closes_its_tasks(last):
    """In the middle of its second pass, or at its end, after which there is no third."""
    recorder = Recorder()
    model = LatentDirichletAllocation(2, batch_size=20, callbacks=[lambda state, info: info.step == last])
    model.set_callbacks(recorder).fit(COUNTS)
    assert recorder.events == _expected(2)
    assert (recorder.scores[1] is None) == (last == 4)


def test_a_fit_that_stops_early_has_no_further_pass():
    recorder = Recorder()
    model = LatentDirichletAllocation(2, batch_size=20, early_stopping=True, n_iter_no_change=1, validation_tol=9.0)
    model.set_callbacks(recorder).fit(COUNTS, X_val=COUNTS)
    assert recorder.events == _expected(2)


def test_a_fit_that_had_ended_before_has_no_pass_to_tell_of(tmp_path):
    recorder = Recorder()
    model = LatentDirichletAllocation(2, max_iter=2, random_state=0, callbacks=[Checkpoints(tmp_path, 1)]).fit(COUNTS)
    model.set_callbacks(recorder).fit(COUNTS)
    assert recorder.events == _expected(0)


@pytest.mark.parametrize("kind", WITH_COMPONENTS.values(), ids=list(WITH_COMPONENTS))
def test_what_callbacks_are_given_can_be_pickled(kind):
    class Keeper(Recorder):
        def on_fit_task_end(self, estimator, context, *, fitted_estimator):
            clean = copy.copy(fitted_estimator)
            clean.__dict__ = {name: value for name, value in vars(clean).items() if "callback" not in name}
            self.events.append(pickle.dumps(clean))

    keeper = Keeper()
    kind(2, max_iter=2, batch_size=20, random_state=0).set_callbacks(keeper).fit(ROWS)
    first = next(event for event in keeper.events if isinstance(event, bytes))
    assert np.isfinite(pickle.loads(first).score(ROWS))


def test_callbacks_are_closed_and_the_estimator_unchanged_when_a_fit_fails():
    recorder = Recorder(fail_at=2)
    model = LatentDirichletAllocation(2, batch_size=20).set_callbacks(recorder)
    with pytest.raises(ZeroDivisionError):
        model.fit(COUNTS)
    assert recorder.events[-1] == "teardown"
    assert sorted(set(vars(model)) - set(model.get_params())) == ["_skl_callbacks"]


def test_a_mask_is_told_too():
    mask = np.zeros(COUNTS.shape, dtype=bool)
    mask[::7] = True
    counts = np.where(mask, np.nan, COUNTS)
    recorder = Recorder()
    GammaProcessNMF(2, max_iter=2, random_state=0).set_callbacks(recorder).fit(counts, mask=mask)
    assert np.isfinite(recorder.scores).all()


def test_scikit_learns_own_monitor_has_a_score_of_every_pass():
    monitor = callback.ScoringMonitor(scoring=lambda model, X, y: {"held_out": model.score(X)})
    model = LatentDirichletAllocation(2, max_iter=3, batch_size=20, random_state=0).set_callbacks(monitor)
    model.fit(COUNTS, np.zeros(len(COUNTS)))  # it scores only where there is some y
    scores = [row["held_out"] for row in monitor.get_logs().data if row["task_name"] == "pass"]
    assert len(scores) == 3
    assert scores[-1] == model.score(COUNTS)


@pytest.mark.filterwarnings("ignore:The estimator CountVectorizer does not support callbacks")
def test_progress_bars_reach_through_searches_and_pipelines(capsys):
    texts = ["cat dog", "cat sun", "dog sea", "sea sun cat"] * 5
    search = GridSearchCV(
        make_pipeline(CountVectorizer(), LatentDirichletAllocation(max_iter=2, random_state=0)),
        {"latentdirichletallocation__n_components": [2, 3]},
        cv=2,
    )
    search.set_callbacks(callback.ProgressBar(max_propagation_depth=None)).fit(texts)
    assert "LatentDirichletAllocation" in capsys.readouterr().out


def test_without_the_protocol_nothing_is_told(monkeypatch):
    class Older:
        pass

    with callbacks.fit_tasks(Older(), callbacks.Given(0, COUNTS), None) as told:
        assert told([len]) == [len]
    monkeypatch.setattr(callbacks, "_with_callbacks", None)
    assert callbacks.with_callbacks(len) is len

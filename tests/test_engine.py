import numpy as np
import pytest

from ssvi import engine, tasks
from ssvi.backends import Threads
from ssvi.batches import Documents, minibatches
from ssvi.files.states import load_state, save_state
from ssvi.global_steps.mean_field import MeanField
from ssvi.global_steps.ssvi import Ssvi
from ssvi.global_steps.ssvi_a import SsviA
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.local_steps.lda.mean_field import MeanField as LocalMeanField
from ssvi.models.lda import LDA
from ssvi.schedules import PowerSchedule

MODEL = LDA(40, np.full(5, 0.2), 0.05)
_, CORPUS = MODEL.simulate(np.random.default_rng(0), 230)


def _problem(**changes):
    settings = {"local_step": Gibbs(), "global_step": SsviA(), "population": len(CORPUS)}
    return engine.Problem(MODEL, **{**settings, **changes})


def _collect(infos):
    return lambda state, info: infos.append(info)


def test_the_population_ramps_up_over_the_first_sweep():
    infos = []
    engine.run(_problem(), engine.init(MODEL, 0), CORPUS, sweeps=2, batch_size=100, callbacks=[_collect(infos)])
    assert [info.population for info in infos] == [100, 200, 230, 230, 230, 230]
    assert [info.documents_seen for info in infos] == [100, 200, 230, 330, 430, 460]


def test_without_the_ramp_every_minibatch_stands_for_all():
    infos = []
    problem = _problem(ramp=False)
    engine.run(problem, engine.init(MODEL, 0), CORPUS, sweeps=1, batch_size=100, callbacks=[_collect(infos)])
    assert [info.population for info in infos] == [230, 230, 230]


def test_a_stream_of_unknown_length_stands_for_what_was_seen():
    infos = []
    problem = _problem(population=None)
    engine.run(problem, engine.init(MODEL, 0), CORPUS, sweeps=2, batch_size=200, callbacks=[_collect(infos)])
    assert [info.population for info in infos] == [200, 230, 430, 460]


def test_lambda_has_the_mass_of_prior_and_represented_words():
    """With step size 1 and no correction lambda is eta + eta-hat, which holds every word of the batch."""
    problem = _problem(schedule=PowerSchedule(0.0, 0.0, 1.0), ramp=False)
    batch = CORPUS.take(np.arange(50))
    state, _ = engine.step(problem, engine.init(MODEL, 0), batch)
    expected = 0.05 * 5 * 40 + batch.lengths().sum() * 230 / 50
    np.testing.assert_allclose(state.parameters["topics"].sum(), expected)


def test_a_step_leaves_the_old_state_alone():
    state = engine.init(MODEL, 0)
    before = state.parameters["topics"].copy()
    engine.step(_problem(), state, CORPUS.take(np.arange(10)))
    assert state.step == 0
    np.testing.assert_array_equal(state.parameters["topics"], before)


@pytest.mark.parametrize("stop_after", [1, 3, 4])
def test_a_saved_state_goes_on_bit_for_bit(tmp_path, stop_after):
    problem, settings = _problem(global_step=Ssvi()), {"sweeps": 3, "batch_size": 80}
    whole = engine.run(problem, engine.init(MODEL, 7), CORPUS, **settings)
    half = engine.run(
        problem, engine.init(MODEL, 7), CORPUS, callbacks=[lambda state, info: info.step == stop_after], **settings
    )
    assert half.step == stop_after
    save_state(half, tmp_path / "half.npz")
    resumed = engine.run(problem, load_state(tmp_path / "half.npz"), CORPUS, **settings)
    assert (resumed.step, resumed.documents_seen) == (whole.step, whole.documents_seen) == (9, 690)
    np.testing.assert_array_equal(resumed.parameters["topics"], whole.parameters["topics"])


def test_a_state_does_not_go_on_with_another_corpus_or_batch_size():
    problem = _problem()
    half = engine.run(problem, engine.init(MODEL, 0), CORPUS, sweeps=1, batch_size=100)
    with pytest.raises(ValueError, match="continue with the corpus and batch_size it began with"):
        engine.run(problem, half, CORPUS, sweeps=2, batch_size=50)


def test_every_callback_hears_of_the_last_step():
    heard = []
    callbacks = [lambda state, info: True, _collect(heard)]
    engine.run(_problem(), engine.init(MODEL, 0), CORPUS, sweeps=1, batch_size=100, callbacks=callbacks)
    assert len(heard) == 1


def test_threads_and_many_row_tasks_do_not_change_the_result(monkeypatch):
    monkeypatch.setattr(tasks, "_ELEMENTS_A_TASK", 40)  # one row of the block a task
    results = []
    for n_jobs in (1, 3):
        with Threads(n_jobs) as backend:
            problem = _problem(global_step=Ssvi(), backend=backend)
            results.append(engine.run(problem, engine.init(MODEL, 1), CORPUS, sweeps=1, batch_size=230))
    np.testing.assert_array_equal(results[0].parameters["topics"], results[1].parameters["topics"])


def test_full_ssvi_from_the_start_is_guarded_counted_and_stays_inside():
    infos = []
    problem = _problem(global_step=Ssvi(softening=0, correction_sweeps=0), schedule=PowerSchedule(0.5, 0.0))
    end = engine.run(problem, engine.init(MODEL, 0), CORPUS, sweeps=3, batch_size=50, callbacks=[_collect(infos)])
    assert sum(info.guarded for info in infos) > 0
    assert MODEL.blocks()["topics"].family.in_domain(end.parameters["topics"]).all()


def test_a_value_that_is_not_finite_stops_the_fit_and_names_block_and_step():
    huge = Documents.from_matrix(np.full((4, 40), 1e307))
    problem = _problem(local_step=LocalMeanField(precision="float64"), global_step=MeanField())
    state = engine.init(MODEL, 0)
    with np.errstate(all="ignore"), pytest.raises(engine.FitError, match=r"block 'topics' .* after step 1 "):
        engine.step(problem, state, huge)


def test_prior_bound_is_minus_the_divergence_from_the_prior():
    at_the_prior = {"topics": np.full((5, 40), 0.05)}
    np.testing.assert_allclose(engine.prior_bound(MODEL, at_the_prior), 0.0, atol=1e-9)
    assert engine.prior_bound(MODEL, engine.init(MODEL, 0).parameters) < 0


def test_minibatches_take_every_document_once_in_a_new_order_each_sweep():
    sweeps = [minibatches(23, 5, seed=1, sweep=sweep) for sweep in (0, 1)]
    for batches in sweeps:
        assert [len(batch) for batch in batches] == [5, 5, 5, 5, 3]
        assert sorted(np.concatenate(batches).tolist()) == list(range(23))
    assert not np.array_equal(sweeps[0][0], sweeps[1][0])
    np.testing.assert_array_equal(sweeps[0][0], minibatches(23, 5, seed=1, sweep=0)[0])

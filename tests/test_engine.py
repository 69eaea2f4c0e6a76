import numpy as np
import pytest

from ssvi import engine, tasks
from ssvi.backends import Threads
from ssvi.batches import Documents, minibatches
from ssvi.errors import FitError
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
    assert [info.population for info in infos] == [76, 153, 230, 230, 230, 230]
    assert [info.documents_seen for info in infos] == [76, 153, 230, 306, 383, 460]


def test_without_the_ramp_every_minibatch_stands_for_all():
    infos = []
    problem = _problem(ramp=False)
    engine.run(problem, engine.init(MODEL, 0), CORPUS, sweeps=1, batch_size=100, callbacks=[_collect(infos)])
    assert [info.population for info in infos] == [230, 230, 230]


def test_a_stream_of_unknown_length_stands_for_what_was_seen():
    infos = []
    problem = _problem(population=None)
    engine.run(problem, engine.init(MODEL, 0), CORPUS, sweeps=2, batch_size=200, callbacks=[_collect(infos)])
    assert [info.population for info in infos] == [115, 230, 345, 460]


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
    with np.errstate(all="ignore"), pytest.raises(FitError, match=r"block 'topics' .* after step 1 "):
        engine.step(problem, state, huge)


def test_prior_bound_is_minus_the_divergence_from_the_prior():
    at_the_prior = {"topics": np.full((5, 40), 0.05)}
    np.testing.assert_allclose(engine.prior_bound(MODEL, at_the_prior), 0.0, atol=1e-9)
    assert engine.prior_bound(MODEL, engine.init(MODEL, 0).parameters) < 0


def test_minibatches_take_every_document_once_in_a_new_order_each_sweep():
    sweeps = [minibatches(23, 5, seed=1, sweep=sweep) for sweep in (0, 1)]
    for batches in sweeps:
        assert [len(batch) for batch in batches] == [4, 5, 4, 5, 5]
        assert sorted(np.concatenate(batches).tolist()) == list(range(23))
    assert not np.array_equal(sweeps[0][0], sweeps[1][0])
    np.testing.assert_array_equal(sweeps[0][0], minibatches(23, 5, seed=1, sweep=0)[0])


def test_a_memory_bounds_the_population_and_the_step_size():
    infos = []
    problem = _problem(population=None, memory=150.0, schedule=PowerSchedule(1.0, 0.0))
    engine.run(problem, engine.init(MODEL, 0), CORPUS, sweeps=3, batch_size=100, callbacks=[_collect(infos)])
    assert [info.population for info in infos] == [76, 150, 150, 150, 150, 150, 150, 150, 150]
    sizes = [76, 77, 77] * 3  # a step of S documents is S / W of a memory
    assert [info.step_size for info in infos] == [max(1 / t, size / 150) for t, size in enumerate(sizes, 1)]
    far = engine.run(_problem(memory=1e9), engine.init(MODEL, 0), CORPUS, sweeps=1, batch_size=100)
    none = engine.run(_problem(), engine.init(MODEL, 0), CORPUS, sweeps=1, batch_size=100)
    np.testing.assert_array_equal(far.parameters["topics"], none.parameters["topics"])


def test_with_a_memory_lambda_is_a_sum_that_forgets():
    """lambda - eta = sum over documents of their statistics, each times (1 - S / W) for every later step."""
    batches, weight = [CORPUS.slice(start, start + 20) for start in range(0, 200, 20)], 1 - 20 / 80
    problem = _problem(memory=80.0, ramp=False, schedule=PowerSchedule(0.0, 0.0, 1e-9))
    start = engine.init(MODEL, 0)
    end = engine.follow(problem, start, batches)
    tokens = [batch.lengths().sum() for batch in batches]
    mass = (start.parameters["topics"].sum() - 0.05 * 200) * weight**10
    mass += sum(count * weight ** (9 - number) for number, count in enumerate(tokens))
    np.testing.assert_allclose(end.parameters["topics"].sum() - 0.05 * 200, mass)


def test_averages_of_a_stream_with_a_memory_are_of_the_steps_that_it_takes():
    path = []
    problem = _problem(population=None, memory=100.0, global_step=SsviA(averaging=3.0))
    batches = [CORPUS.slice(start, start + 20) for start in range(0, 220, 20)]
    keep = [lambda state, info: path.append(state.parameters["topics"])]
    start = engine.init(MODEL, 0)
    end = engine.follow(problem, start, batches, keep)
    average = start.parameters["topics"]
    for step, lam in enumerate(path, 1):
        average = average + 4 / (min(step, 5) + 3) * (lam - average)
    np.testing.assert_allclose(end.averages["topics"], average, rtol=1e-12)


def test_further_coordinates_come_to_lambda_its_sums_and_its_average():
    problem = _problem(global_step=SsviA(averaging=2.0))
    state, _ = engine.step(problem, engine.init(MODEL, 0), CORPUS.slice(0, 50))
    more = np.arange(1.0, 11.0).reshape(5, 2)
    grown = state.with_coordinates("topics", more)
    for name in ("parameters", "averages"):
        old, new = getattr(state, name)["topics"], getattr(grown, name)["topics"]
        np.testing.assert_array_equal(new, np.hstack([old, more]))
    np.testing.assert_allclose(grown.totals["topics"], grown.parameters["topics"].sum(axis=1))
    assert (grown.step, grown.documents_seen, grown.seed) == (state.step, state.documents_seen, state.seed)
    wider = engine.Problem(LDA(42, np.full(5, 0.2), 0.05), Gibbs(), SsviA(averaging=2.0), population=len(CORPUS))
    batch = Documents(CORPUS.indptr, CORPUS.words, CORPUS.counts, 42).slice(50, 100)
    after, _ = engine.step(wider, grown, batch)
    # Nobody has used the new words: they have shrunk towards eta by one step.
    rho = wider.schedule(2)
    np.testing.assert_allclose(after.parameters["topics"][:, 40:], (1 - rho) * more + rho * 0.05)


@pytest.mark.parametrize("shape", [(40,), (5, 40)])
@pytest.mark.parametrize("rule", [SsviA(), Ssvi(), MeanField()])
def test_a_prior_of_each_word_and_topic_is_what_lambda_shrinks_to(shape, rule):
    """Also that of words which no document has, whose steps are put off."""
    eta = np.random.default_rng(1).uniform(0.05, 2.0, shape)
    model = LDA(40, np.full(5, 0.2), eta)
    prior = np.broadcast_to(eta, (5, 40))
    few = Documents(CORPUS.indptr, CORPUS.words % 30, CORPUS.counts, 40)  # the last ten words are never seen
    few = Documents.from_matrix(few.to_matrix())
    problem = engine.Problem(model, LocalMeanField(), rule, PowerSchedule(0.5, 1.0), population=230)
    batches = [few.slice(start, start + 50) for start in range(0, 200, 50)]
    start = engine.init(model, 0)
    end = engine.follow(problem, start, batches)
    if rule.corrects:  # which moves them too, but never below their prior
        assert (end.parameters["topics"] >= np.minimum(prior, start.parameters["topics"]) * (1 - 1e-12)).all()
        return
    left = np.prod([1 - problem.schedule(step) for step in (1, 2, 3, 4)])
    unseen = left * start.parameters["topics"][:, 30:] + (1 - left) * prior[:, 30:]
    np.testing.assert_allclose(end.parameters["topics"][:, 30:], unseen, rtol=1e-12)
    mass, tokens = start.parameters["topics"].sum(), [batch.lengths().sum() for batch in batches]
    for step, count in enumerate(tokens, 1):
        rho = problem.schedule(step)
        mass = (1 - rho) * mass + rho * (prior.sum() + count * min(50 * step, 230) / 50)
    np.testing.assert_allclose(end.parameters["topics"].sum(), mass, rtol=1e-6)
    np.testing.assert_allclose(end.totals["topics"], end.parameters["topics"].sum(axis=1), rtol=1e-9)

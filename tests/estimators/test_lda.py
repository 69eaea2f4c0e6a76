import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import LatentDirichletAllocation as SklearnLDA
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import ssvi
from ssvi import LatentDirichletAllocation, engine, tasks
from ssvi.backends import shards
from ssvi.batches import minibatches
from ssvi.global_steps.mean_field import MeanField
from ssvi.global_steps.ssvi import Ssvi
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.local_steps.lda.mean_field import MeanField as LocalMeanField
from ssvi.models.lda import LDA
from ssvi.schedules import ConstantSchedule

TRUTH, DOCUMENTS = LDA(60, np.full(4, 0.2), 0.05).simulate(np.random.default_rng(0), 400)
COUNTS = sparse.csr_array((DOCUMENTS.counts, DOCUMENTS.words, DOCUMENTS.indptr), shape=(400, 60))
PAIRS = [(g, local) for g in ("map", "mean_field", "ssvi", "ssvi_a") for local in ("mean_field", "cvb0", "gibbs")]


def _lda(**parameters):
    settings = {"n_components": 4, "batch_size": 100, "max_iter": 2, "random_state": 0, "verbose": 0}
    return LatentDirichletAllocation(**{**settings, **parameters})


@pytest.mark.parametrize(("global_step", "local_step"), PAIRS)
def test_every_pair_gives_the_same_bits_for_any_number_of_threads(global_step, local_step, monkeypatch):
    # Small enough pieces that every step has work for four threads, in the local and in the global part.
    monkeypatch.setattr(shards, "_FEWEST_GROUPS", 8)
    monkeypatch.setattr(tasks, "_ELEMENTS_A_TASK", 60)
    assert len(shards.shards(np.ones(100, dtype=int))) == 8
    assert len(tasks.row_tasks((4, 60))) == 4
    fits = [_lda(global_step=global_step, local_step=local_step, n_jobs=n).fit(COUNTS) for n in (1, 2, 4)]
    for other in fits[1:]:
        np.testing.assert_array_equal(fits[0].components_, other.components_)
        np.testing.assert_array_equal(fits[0].transform(COUNTS), other.transform(COUNTS))


@pytest.mark.parametrize(("global_step", "local_step"), PAIRS)
def test_fit_is_a_loop_of_partial_fit_over_the_same_batches(global_step, local_step):
    parameters = {"global_step": global_step, "local_step": local_step, "learning_decay": 0.5, "learning_offset": 1.0}
    whole = _lda(**parameters, batch_size=150, merge_copies=False).fit(COUNTS)
    loop = _lda(**parameters, batch_size=150, total_samples=400)
    for sweep in range(2):
        for rows in minibatches(400, 150, seed=0, sweep=sweep):
            loop.partial_fit(COUNTS[rows])
    np.testing.assert_array_equal(whole.components_, loop.components_)
    assert whole.n_batch_iter_ == loop.n_batch_iter_ == len(loop.history_) == 6
    assert whole.n_iter_ == loop.n_iter_ == 2


@pytest.mark.parametrize(
    ("n", "words", "steps"),
    [
        (100, 3, 1),
        (1_000, 3, 3),
        (6_000, 3, 15),
        (30_000, 3, 15),
        (100_000, 3, 25),
        (20, 90, 1),
        (90, 90, 4),
        (900, 90, 15),
        (3_000, 180, 20),
        (3_000, 600, 25),
    ],
)
def test_minibatches_grow_with_the_data_and_have_words_enough(n, words, steps):
    """A fifteenth of the documents, of long ones a 25th; at least 24, and a thousand words: 334 documents of three."""
    own = words // 3 * np.array([[2, 0, 1], [0, 2, 1]])
    few = sparse.csr_array(np.tile(own, (n // 2, 1)))
    assert _lda(batch_size=None, n_components=2, max_iter=1).fit(few).n_batch_iter_ == steps


def test_partial_fit_cuts_long_input_into_batches():
    one = _lda(total_samples=400).partial_fit(COUNTS)
    four = _lda(total_samples=400)
    for start in range(0, 400, 100):
        four.partial_fit(COUNTS[start : start + 100])
    np.testing.assert_array_equal(one.components_, four.components_)
    assert one.n_batch_iter_ == 4


def test_partial_fit_without_total_samples_stands_for_what_was_seen():
    model = _lda().partial_fit(COUNTS[:200]).partial_fit(COUNTS[200:250])
    assert [info.population for info in model.history_] == [100, 200, 250]


def test_partial_fit_after_fit_adds_new_documents_to_those_of_the_fit():
    model = _lda(max_iter=10).fit(COUNTS[:300])
    model.partial_fit(COUNTS[300:]).partial_fit(COUNTS[300:350])
    assert [info.population for info in model.history_[-2:]] == [400, 450]


def test_partial_fit_is_online_also_where_fit_is_by_batch():
    model = _lda(learning_method="batch", global_step="mean_field")
    assert model.fit(COUNTS).history_[-1].step_size == 1.0
    assert model.partial_fit(COUNTS).history_[-1].step_size < 0.5


@pytest.mark.parametrize("changed", [{"n_components": 7}, {"doc_topic_prior": 0.5}, {"topic_word_prior": 0.3}])
def test_partial_fit_goes_on_with_the_same_model_or_not_at_all(changed):
    model = _lda().fit(COUNTS).set_params(**changed)
    with pytest.raises(ValueError, match="set it back, or call fit"):
        model.partial_fit(COUNTS)


def test_empty_stretches_are_fine_in_a_stream():
    counts = COUNTS.toarray()
    counts[100:200] = 0
    whole = _lda(total_samples=400).partial_fit(counts)
    parts = _lda(total_samples=400)
    for start in range(0, 400, 100):
        parts.partial_fit(counts[start : start + 100])
    np.testing.assert_array_equal(whole.components_, parts.components_)


@pytest.mark.parametrize("global_step", ["ssvi_a", "ssvi"])
def test_it_finds_the_topics_that_made_the_data(global_step):
    """One start in ten merges two topics (of 80 with SSVI; none with SSVI-A): three bad ones of five are under 1%."""
    priors = {"doc_topic_prior": 0.2, "topic_word_prior": 0.05}
    good = []
    for seed in range(5):
        model = _lda(global_step=global_step, max_iter=15, random_state=seed, **priors).fit(COUNTS)
        overlap = np.minimum(model.topic_word_[:, None], TRUTH["topics"][None]).sum(axis=2)
        good += [model] if np.all(overlap.max(axis=0) > 0.85) else []
    assert len(good) >= 3
    exact = _lda(doc_topic_prior=0.2, topic_word_prior=0.05).fit(COUNTS)
    exact._state = engine.State(0, 1, 1, {"topics": 1e6 * TRUTH["topics"] + 1e-3})
    assert all(model.score(COUNTS) > exact.score(COUNTS) - 0.05 for model in good)


def test_same_names_as_scikit_learn():
    ours, theirs = LatentDirichletAllocation().get_params(), SklearnLDA().get_params()
    assert set(theirs) <= set(ours)
    fitted = _lda().fit(COUNTS)
    learned = [name for name in vars(SklearnLDA(2, max_iter=1).fit(COUNTS)) if name.endswith("_")]
    for name in learned:
        assert hasattr(fitted, name), name
    assert fitted.components_.shape == fitted.exp_dirichlet_component_.shape == (4, 60)
    np.testing.assert_allclose(fitted.topic_word_.sum(axis=1), 1.0)
    assert fitted.n_iter_ == 2
    assert fitted.get_feature_names_out().tolist() == [f"latentdirichletallocation{i}" for i in range(4)]


def test_batch_mean_field_is_scikit_learns_batch_method():
    """From one start, three steps of coordinate ascent with converged documents: the same lambda."""
    n = 60
    theirs = SklearnLDA(
        3, doc_topic_prior=0.3, topic_word_prior=0.1, max_iter=1, max_doc_update_iter=500, mean_change_tol=1e-9
    )
    counts = COUNTS[:n].astype(float)
    theirs.set_params(random_state=0).fit(counts)
    state = engine.State(seed=0, step=0, documents_seen=0, parameters={"topics": theirs.components_.copy()})
    local_step = LocalMeanField(max_rounds=500, tolerance=1e-9, precision="float64")
    model = LDA(60, np.full(3, 0.3), 0.1)
    problem = engine.Problem(model, local_step, MeanField(), ConstantSchedule(), population=n)
    for _ in range(3):
        theirs._em_step(counts, total_samples=n, batch_update=True)
        state, _ = engine.step(problem, state, DOCUMENTS.slice(0, n))
    np.testing.assert_allclose(state.parameters["topics"], theirs.components_, rtol=1e-5, atol=1e-6)


def test_batch_coordinate_ascent_raises_the_bound():
    bounds = []
    for passes in (1, 2, 4, 8):
        settings = {"global_step": "mean_field", "local_step": "mean_field", "doc_topic_prior": 0.2}
        model = _lda(learning_method="batch", max_iter=passes, **settings)
        bounds.append(model.fit(COUNTS).bound_)
    assert np.all(np.diff(bounds) > -1e-4)
    assert bounds[-1] > bounds[0]
    assert np.isnan(_lda(local_step="gibbs").fit(COUNTS).bound_)


def test_the_bound_is_per_word_however_much_of_a_pass_there_was():
    """It rises as topics get better, and is no smaller in size because fewer documents were seen."""
    settings = {"global_step": "mean_field", "local_step": "mean_field", "population_ramp": False, "max_iter": 1}
    bounds = []
    for last in (1, 2, 3, 4):
        stop = [lambda state, info, last=last: info.step == last]
        bounds.append(_lda(**settings, callbacks=stop).fit(COUNTS).bound_)
    assert np.all(np.diff(bounds) > 0)
    first_of_stream = _lda(**settings, total_samples=400).partial_fit(COUNTS[:100]).bound_
    assert first_of_stream == pytest.approx(bounds[0], abs=0.3)


@pytest.mark.parametrize(("eta", "excess"), [(None, 0.25 / 0.02), (0.1, 0.1 / 0.02), (0.01, 1.0), ("auto", 1.0)])
def test_instances_and_names_are_the_same_thing(eta, excess):
    """Draws begin later and are drawn in further where eta is large; by default it is 1 / K."""
    by_name = _lda(global_step="ssvi", local_step="gibbs", topic_word_prior=eta).fit(COUNTS)
    step = Ssvi(averaging=7.0, warm_sweeps=max(2.0, 1.0 + 2.0 * np.log(excess)), draw_softening=max(3.0, excess**2))
    by_instance = _lda(global_step=step, local_step=Gibbs(), topic_word_prior=eta).fit(COUNTS)
    np.testing.assert_array_equal(by_name.components_, by_instance.components_)


@pytest.mark.parametrize(
    ("settings", "first"),
    [
        ({"topic_word_prior": 0.15}, 100),
        ({"topic_word_prior": 0.16}, 400),
        ({"topic_word_prior": [0.1] + [1.0] * 59}, 100),
        ({"topic_word_prior": "auto"}, 100),
        ({"n_components": 10}, 100),
        ({}, 400),
        ({"population_ramp": True}, 100),
        ({"topic_word_prior": 0.01, "population_ramp": False}, 400),
    ],
)
def test_beside_a_large_prior_the_first_minibatch_stands_for_all_documents(settings, first):
    assert [info.population for info in _lda(max_iter=1, **settings).fit(COUNTS).history_] == [
        max(first, seen) for seen in (100, 200, 300, 400)
    ]


def test_the_ramp_is_a_flag():
    with pytest.raises((ValueError, TypeError), match="population_ramp"):
        _lda(population_ramp="no").fit(COUNTS)


def test_whole_float_counts_are_counts_and_fractions_get_mean_field():
    whole = _lda().fit(COUNTS)
    np.testing.assert_array_equal(whole.components_, _lda().fit(COUNTS.astype(float)).components_)
    np.testing.assert_array_equal(whole.components_, _lda().fit(COUNTS.toarray()).components_)
    halves = _lda().fit(COUNTS * 0.5)
    np.testing.assert_array_equal(halves.components_, _lda(local_step="mean_field").fit(COUNTS * 0.5).components_)
    assert (whole.local_step_, halves.local_step_) == ("gibbs", "mean_field")
    with pytest.raises(ValueError, match="needs whole counts"):
        whole.transform(COUNTS * 0.5)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int16, np.float16, np.longdouble, ">i4", ">f8", object])
def test_any_type_of_numbers(dtype):
    counts = np.minimum(COUNTS.toarray(), 1)
    np.testing.assert_array_equal(_lda().fit(counts.astype(dtype)).components_, _lda().fit(counts).components_)


def test_the_prior_is_the_models_own_copy():
    prior = np.full(4, 0.3)
    model = _lda(doc_topic_prior=prior).fit(COUNTS)
    before = model.transform(COUNTS)
    prior[:] = 5.0
    np.testing.assert_array_equal(model.transform(COUNTS), before)


@pytest.mark.parametrize(("global_step", "local_step"), PAIRS)
def test_one_topic_one_word_one_document(global_step, local_step):
    parameters = {"global_step": global_step, "local_step": local_step, "n_components": 1}
    for counts in (np.array([[3]]), np.array([[3, 0, 2]]), np.array([[0, 0], [1, 0]])):
        model = _lda(**parameters).fit(counts)
        assert np.isfinite(model.components_).all()
        np.testing.assert_array_equal(model.transform(counts), np.ones((len(counts), 1)))


@pytest.mark.parametrize("local_step", ["mean_field", "cvb0", "gibbs"])
def test_odd_sparse_matrices_mean_the_same_documents(local_step):
    """Unsorted words, words twice and stored zeros change no bit of anything."""
    data, words, indptr = np.array([2, 1, 1, 4, 0, 5]), np.array([2, 0, 2, 1, 0, 2]), np.array([0, 3, 6])
    odd = sparse.csr_array((data, words, indptr), shape=(2, 3))
    tidy = sparse.csr_array(odd.toarray())
    fits = [_lda(local_step=local_step, n_components=2).fit(counts) for counts in (odd, tidy)]
    np.testing.assert_array_equal(fits[0].components_, fits[1].components_)
    np.testing.assert_array_equal(fits[0].transform(odd), fits[0].transform(tidy))
    assert fits[0].score(odd) == fits[0].score(tidy)
    assert len(odd.data) == 6


def test_large_index_pointers():
    wide = sparse.csr_array(
        (COUNTS.data, COUNTS.indices.astype(np.int64), COUNTS.indptr.astype(np.int64)), COUNTS.shape
    )
    np.testing.assert_array_equal(_lda().fit(wide).components_, _lda().fit(COUNTS).components_)


def test_transform_knows_documents_and_not_their_company():
    model = _lda().fit(COUNTS)
    whole = model.transform(COUNTS)
    np.testing.assert_array_equal(model.transform(COUNTS[[17, 3]]), whole[[17, 3]])
    np.testing.assert_allclose(whole.sum(axis=1), 1.0)
    unnormalised = model.transform(COUNTS, normalize=False)
    lengths = COUNTS.sum(axis=1) + model.doc_topic_prior_.sum()
    np.testing.assert_allclose(unnormalised, whole * lengths[:, None])


@pytest.mark.parametrize("local_step", ["mean_field", "cvb0", "gibbs"])
def test_empty_documents_have_the_priors_weights(local_step):
    prior = np.array([0.1, 0.2, 0.3, 0.4])
    with_gaps = COUNTS.toarray()
    with_gaps[::3] = 0
    model = _lda(local_step=local_step, doc_topic_prior=prior).fit(with_gaps)
    np.testing.assert_allclose(model.transform(with_gaps)[::3], np.tile(prior, (134, 1)))
    np.testing.assert_allclose(model.transform(np.zeros((1, 60), dtype=int)), prior[None])


def test_score_is_the_held_out_log_probability_and_perplexity_its_exponential():
    model = _lda().fit(COUNTS)
    assert model.score(COUNTS) == model.held_out(COUNTS).mean
    assert model.perplexity(COUNTS) == pytest.approx(np.exp(-model.score(COUNTS)))


def test_evaluate_every_stops_when_nothing_changes():
    stopped = _lda(max_iter=50, evaluate_every=2, perp_tol=1e9).fit(COUNTS)
    assert stopped.n_iter_ == 4
    assert stopped.perplexity_history_[-1] == pytest.approx(stopped.perplexity(COUNTS))
    assert _lda(max_iter=3, evaluate_every=1, perp_tol=0.0).fit(COUNTS).n_iter_ == 3


def test_random_states():
    seeds = [_lda(random_state=r).fit(COUNTS).random_state_ for r in (3, np.random.RandomState(3), None)]
    assert seeds[0] == 3
    generators = [_lda(random_state=np.random.default_rng(5)).fit(COUNTS).components_ for _ in range(2)]
    np.testing.assert_array_equal(*generators)


def test_callbacks_see_every_step_and_can_stop():
    seen = []
    model = _lda(callbacks=[lambda state, info: seen.append(info.step) or info.step == 3]).fit(COUNTS)
    assert seen == [1, 2, 3]
    assert model.n_batch_iter_ == 3


BAD_DATA = [
    (np.array([[1.0, -2.0], [0.0, 1.0]]), "Negative values in data passed to .*: -2.0 at row 0, column 1"),
    (np.array([[1.0, np.nan]]), "contains NaN"),
    (np.array([[1.0, np.inf]]), "contains infinity"),
    (np.zeros((3, 2)), "There is nothing but zeros"),
    (sparse.csr_array((3, 2)), "There is nothing but zeros"),
    (["the cat sat", "on the mat"], r"Expected 2D array|there is text in it"),
    (np.array([["the cat", "sat"]], dtype=object), "there is text in it: count its words first"),
]


@pytest.mark.parametrize(
    ("data", "message"), BAD_DATA, ids=["negative", "nan", "infinite", "empty", "empty-sparse", "texts", "object-texts"]
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_bad_data_is_refused_and_changes_nothing(data, message, method):
    fresh = _lda()
    with pytest.raises(ValueError, match=message):
        getattr(fresh, method)(data)
    assert not [name for name in vars(fresh) if name.endswith("_") or name.startswith("_")]
    if method == "partial_fit" and "nothing but zeros" in message:
        return  # a stream under way may have empty stretches
    fitted = _lda().fit(COUNTS[:, :2].toarray() + 1)
    before = fitted.components_.copy()
    with pytest.raises(ValueError, match=message):
        getattr(fitted, method)(data)
    np.testing.assert_array_equal(fitted.components_, before)
    assert fitted.n_features_in_ == 2


@pytest.mark.parametrize("method", ["partial_fit", "transform", "score"])
def test_a_wrong_number_of_columns_is_refused(method):
    model = _lda().fit(COUNTS)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="X has 59 features, but LatentDirichletAllocation is expecting 60"):
        getattr(model, method)(COUNTS[:, :59])
    assert pickle.dumps(model) == before


BAD_PARAMETERS = [
    ({"n_components": 0}, "n_components must be an integer of 1 or more, not 0"),
    ({"n_components": 2.5}, "n_components must be an integer"),
    ({"n_components": True}, "n_components must be an integer"),
    ({"doc_topic_prior": 0.0}, "doc_topic_prior must be a positive number"),
    ({"doc_topic_prior": 1e39}, r"doc_topic_prior must be a positive number from 1e-10 to 1e\+10, or 4 .*, not 1e\+39"),
    ({"doc_topic_prior": [0.1, 0.1, 0.1, 1e-50]}, "doc_topic_prior must be .* from 1e-10"),
    ({"doc_topic_prior": [0.1, 0.1]}, "doc_topic_prior must be .* or 4 of them"),
    ({"doc_topic_prior": float("nan")}, "doc_topic_prior"),
    ({"topic_word_prior": -1.0}, "topic_word_prior must be a positive number, not -1.0"),
    ({"topic_word_prior": np.ones(7)}, r"topic_word_prior has the shape \(7,\), and there are .* 60 words"),
    ({"topic_word_prior": np.zeros(60)}, "topic_word_prior must be a positive number, or an array of them"),
    ({"topic_word_prior": "often"}, "topic_word_prior must be a positive number, not 'often'"),
    ({"global_step": "newton"}, "global_step 'newton' is not known; the known ones are 'map', 'mean_field'"),
    (
        {"local_step": "exact"},
        "local_step 'exact' is not known; the known ones are 'cvb0', 'gibbs', 'mean_field', 'auto'",
    ),
    ({"learning_method": "both"}, "learning_method must be 'auto', 'online' or 'batch'"),
    ({"learning_decay": -0.5}, "learning_decay must be a number of 0 or more"),
    ({"learning_scale": 0}, "learning_scale must be a positive number"),
    ({"batch_size": 0}, "batch_size must be an integer of 1 or more"),
    ({"max_iter": "many"}, "max_iter must be an integer of 1 or more, or 'auto', not 'many'"),
    ({"total_samples": 0}, "total_samples must be 1 or more"),
    ({"verbose": "loud"}, "verbose must be 'auto' or an integer"),
    ({"n_jobs": 0}, "n_jobs must be an integer but 0"),
    ({"n_jobs": "2"}, "n_jobs must be an integer but 0 .*, not '2'"),
    (
        {"doc_topic_prior": "automatic"},
        "doc_topic_prior must be a positive number .* or 'auto', 'symmetric' or 'asymmetric'",
    ),
    ({"evaluate_every": 1.5}, "evaluate_every must be an integer"),
]


@pytest.mark.parametrize(("parameters", "message"), BAD_PARAMETERS, ids=lambda value: str(value)[:40])
def test_bad_parameters_are_refused_in_one_sentence(parameters, message):
    model = _lda(**parameters)
    with pytest.raises(ValueError, match=message):
        model.fit(COUNTS)
    assert not model.__sklearn_is_fitted__()
    fitted = _lda().fit(COUNTS).set_params(**parameters)
    before = dict(vars(fitted))
    for method in (fitted.fit, fitted.partial_fit):
        with pytest.raises(ValueError, match=message):
            method(COUNTS)
        assert all(vars(fitted)[name] is value for name, value in before.items())


@pytest.mark.parametrize("method", ["transform", "score"])
@pytest.mark.parametrize(("data", "message"), BAD_DATA[:3], ids=["negative", "nan", "infinite"])
def test_bad_data_is_refused_by_a_fitted_model(data, message, method):
    fitted = _lda().fit(COUNTS[:, :2].toarray() + 1)
    with pytest.raises(ValueError, match=message):
        getattr(fitted, method)(data)


def test_gibbs_refuses_fractions_and_changes_nothing():
    model = _lda(local_step="gibbs")
    with pytest.raises(ValueError, match="needs whole counts"):
        model.fit(COUNTS * 0.5)
    assert not model.__sklearn_is_fitted__()


@pytest.mark.parametrize("method", ["transform", "score", "perplexity"])
def test_before_fit_there_is_nothing_to_apply(method):
    with pytest.raises(NotFittedError):
        getattr(_lda(), method)(COUNTS)
    assert not hasattr(_lda(), "components_")


def test_clone_pickle_and_pandas():
    model = _lda(global_step=Ssvi(control_variate=True)).fit(COUNTS)
    np.testing.assert_array_equal(clone(model).fit(COUNTS).components_, model.components_)
    restored = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(restored.transform(COUNTS), model.transform(COUNTS))
    frame = model.set_output(transform="pandas").transform(COUNTS)
    assert list(frame.columns) == list(model.get_feature_names_out())


def test_in_a_pipeline_and_a_grid_search():
    texts = ["cat dog cat mouse", "dog cat pet", "stock bond market", "market bank stock stock"] * 10
    search = GridSearchCV(
        make_pipeline(CountVectorizer(), _lda(n_components=2, max_iter=20)),
        {"latentdirichletallocation__n_components": [1, 2]},
        cv=2,
    ).fit(texts)
    assert search.best_params_ == {"latentdirichletallocation__n_components": 2}


def test_progress_is_shown_when_asked_for(capsys, monkeypatch):
    monkeypatch.setattr("ssvi.progress._PATIENCE", -1.0)
    _lda(verbose=1).fit(COUNTS)
    assert "lda [" in capsys.readouterr().err
    _lda(verbose=0).fit(COUNTS)
    _lda(verbose="auto").fit(COUNTS)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("alpha", "sweeps"), [("symmetric", 24), ("asymmetric", 24), ("auto", 8), (0.1, 8)])
def test_an_alpha_by_likelihood_is_small_and_sampled_for_longer(alpha, sweeps):
    by_name, by_instance = (
        _lda(local_step=step, doc_topic_prior=alpha).fit(COUNTS) for step in ("gibbs", Gibbs(sweeps=sweeps))
    )
    np.testing.assert_array_equal(by_name.components_, by_instance.components_)


def test_alpha_is_a_tenth_for_fifty_topics_and_falls_with_more():
    assert [LatentDirichletAllocation(k)._alpha()[0] for k in (50, 200)] == pytest.approx([0.1, 0.05])
    np.testing.assert_allclose(_lda().fit(COUNTS).doc_topic_prior_, 0.1 * (50 / 4) ** 0.5)


@pytest.mark.parametrize("rule", ["symmetric", "asymmetric"])
def test_alpha_can_be_learned(rule, tmp_path):
    """Simulated with 0.2 for each of four topics; few documents, so that a factor of two is all that is asked for."""
    model = _lda(doc_topic_prior=rule, max_iter=15).fit(COUNTS)
    alpha = model.doc_topic_prior_
    assert np.all((alpha > 0.1) & (alpha < 0.4))
    assert (len(set(alpha)) == 1) == (rule == "symmetric")
    again = model.fit(COUNTS).doc_topic_prior_
    np.testing.assert_array_equal(again, alpha)  # a new fit begins anew
    model.save(tmp_path / "learned.ssvi")
    loaded = ssvi.load(tmp_path / "learned.ssvi")
    np.testing.assert_array_equal(loaded.doc_topic_prior_, alpha)
    np.testing.assert_array_equal(loaded.transform(COUNTS), model.transform(COUNTS))
    for one in (loaded, model):
        one.partial_fit(COUNTS)
    np.testing.assert_array_equal(loaded.doc_topic_prior_, model.doc_topic_prior_)
    assert not np.array_equal(loaded.doc_topic_prior_, alpha)
    with pytest.raises(ValueError, match="doc_topic_prior changed since"):
        loaded.set_params(doc_topic_prior=0.2).partial_fit(COUNTS)

import json
import struct
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from tests.kinds import WITH_COMPONENTS

import ssvi
from ssvi import BernoulliMixture, GammaProcessNMF, LatentDirichletAllocation
from ssvi.estimators.registry import estimators
from ssvi.files import container
from ssvi.files.container import SCHEMA
from ssvi.files.models import describe
from ssvi.global_steps.ssvi import Ssvi
from ssvi.local_steps.lda.gibbs import Gibbs

ESTIMATORS = [kind.__name__ for kind in WITH_COMPONENTS.values()]
COUNTS = np.random.default_rng(0).poisson(0.6, (60, 12))
GOLDEN = Path(__file__).parent / "golden"
KEPT = sorted((path.stem.split("-")[0], int(path.stem.split("-")[1])) for path in GOLDEN.glob("*.ssvi"))
WORDS = [f"word{i}" for i in range(12)]


def _fitted(name, **parameters):
    kind = getattr(ssvi, name)
    data = (COUNTS > 0).astype(int) if kind is BernoulliMixture else COUNTS
    return kind(3, max_iter=2, random_state=5, **parameters).fit(data), data


def _predict(model, data):
    if hasattr(model, "smooth"):
        return model.smooth(data).states
    return model.predict_proba(data) if hasattr(model, "predict_proba") else model.transform(data)


@pytest.fixture(params=ESTIMATORS)
def fitted(request):
    return _fitted(request.param)


def test_every_estimator_can_be_saved():
    everything = {name for name in ssvi.__all__ if hasattr(getattr(ssvi, name), "fit")}
    assert everything == {kind.__name__ for kind in estimators().values()}


def test_what_is_loaded_predicts_and_goes_on_as_what_was_saved(fitted, tmp_path):
    model, data = fitted
    model.save(tmp_path / "model.ssvi")
    loaded = ssvi.load(tmp_path / "model.ssvi")
    assert type(loaded) is type(model)
    assert loaded.get_params() == model.get_params()
    assert loaded.history_ == model.history_
    np.testing.assert_array_equal(_predict(loaded, data), _predict(model, data))
    for estimator in (loaded, model):
        estimator.partial_fit(data)
    for name, lam in model._state.parameters.items():
        np.testing.assert_array_equal(loaded._state.parameters[name], lam)


def test_nothing_of_a_fit_is_forgotten(fitted, tmp_path):
    """Every attribute that a fit sets is in the list of what is saved."""
    model, _ = fitted
    left = set(vars(model)) - set(model.get_params(deep=False)) - set(model.saved_attributes)
    assert left == set()


def test_steps_given_as_instances_and_priors_given_as_arrays(tmp_path):
    model = LatentDirichletAllocation(
        3,
        doc_topic_prior=np.array([0.1, 0.2, 0.3]),
        global_step=Ssvi(softening=0.5),
        local_step=Gibbs(6, 3),
        max_iter=1,
    ).fit(COUNTS)
    model.save(tmp_path / "model.ssvi")
    loaded = ssvi.load(tmp_path / "model.ssvi")
    assert (loaded.global_step, loaded.local_step) == (Ssvi(softening=0.5), Gibbs(6, 3))
    np.testing.assert_array_equal(loaded.doc_topic_prior, [0.1, 0.2, 0.3])


def test_names_of_columns_are_kept(tmp_path):
    frame = pd.DataFrame(COUNTS, columns=WORDS)
    LatentDirichletAllocation(3, max_iter=1).fit(frame).save(tmp_path / "a.ssvi")
    assert ssvi.load(tmp_path / "a.ssvi").feature_names_in_.tolist() == WORDS
    model, _ = _fitted("LatentDirichletAllocation")
    model.save(tmp_path / "b.ssvi", vocabulary=WORDS)
    assert ssvi.load(tmp_path / "b.ssvi").vocabulary_.tolist() == WORDS
    with pytest.raises(ValueError, match="the vocabulary has 3 words, and the model 12 columns"):
        model.save(tmp_path / "c.ssvi", vocabulary=WORDS[:3])


def test_words_of_an_earlier_fit_are_forgotten(tmp_path):
    model, _ = _fitted("LatentDirichletAllocation")
    model.save(tmp_path / "a.ssvi", vocabulary=WORDS)
    loaded = ssvi.load(tmp_path / "a.ssvi")
    loaded.fit(COUNTS[:, :5]).save(tmp_path / "b.ssvi")
    assert not hasattr(ssvi.load(tmp_path / "b.ssvi"), "vocabulary_")
    loaded.vocabulary_ = WORDS
    with pytest.raises(ValueError, match="the vocabulary has 12 words, and the model 5 columns"):
        loaded.save(tmp_path / "c.ssvi")


def test_large_parameters_are_no_large_sizes(tmp_path):
    model = GammaProcessNMF(2, max_iter=1, inverse_scale=1e6, weight_concentration_prior=1e5).fit(COUNTS)
    model.save(tmp_path / "model.ssvi")
    assert ssvi.load(tmp_path / "model.ssvi").inverse_scale_ == 1e6


def test_generators_and_callbacks_are_left_behind(tmp_path):
    model = GammaProcessNMF(2, max_iter=1, random_state=np.random.RandomState(3), callbacks=[lambda *_: None])
    model.fit(COUNTS).save(tmp_path / "model.ssvi")
    loaded = ssvi.load(tmp_path / "model.ssvi")
    assert loaded.callbacks is None
    assert loaded.random_state == model.random_state_


def test_what_is_not_fitted_or_cannot_be_written_is_refused(tmp_path):
    with pytest.raises((ValueError, NotFittedError), match="not fitted yet"):
        LatentDirichletAllocation().save(tmp_path / "model.ssvi")
    model, _ = _fitted("LatentDirichletAllocation")
    model.perp_tol = object()
    with pytest.raises(ValueError, match="cannot be saved: a object cannot be saved"):
        model.save(tmp_path / "model.ssvi")
    assert not list(tmp_path.iterdir())


def test_describe_says_what_a_file_is(fitted, tmp_path):
    model, _ = fitted
    model.save(tmp_path / "model.ssvi")
    about = describe(tmp_path / "model.ssvi")
    assert (about["class"], about["schema"]) == (type(model).__name__, SCHEMA)
    assert about["versions"]["ssvi"] == ssvi.__version__


def test_every_estimator_has_a_file_of_this_schema_that_must_stay_readable():
    assert {name for name, schema in KEPT if schema == SCHEMA} == set(ESTIMATORS)


@pytest.mark.parametrize(("name", "schema"), KEPT)
def test_files_of_every_schema_stay_readable(name, schema):
    """Written once by `python tests/files/make_golden.py`, and never again."""
    expected = json.loads((GOLDEN / f"{name}-{schema}.json").read_text())
    loaded = ssvi.load(GOLDEN / f"{name}-{schema}.ssvi")
    assert type(loaded).__name__ == name
    assert loaded.vocabulary_.tolist() == expected["vocabulary"]
    for block, lam in loaded._state.parameters.items():
        np.testing.assert_array_equal(lam, np.array(expected["parameters"][block]))
    assert len(loaded.history_) == expected["steps"]
    _predict(loaded, (COUNTS > 0).astype(int))


def _fitted_of(text):
    return text["fitted"]["mapping"]


def _spoil(arrays, shape, value):
    """Put a value at the beginning of every array of a shape."""
    for name, array in arrays.items():
        if array.shape == shape and array.dtype.kind == "f":
            arrays[name] = array.copy()
            arrays[name].flat[0] = value


def _change(path, change):
    """Rewrite a model file with a change to its text or arrays."""
    text, arrays = container.read(path, "a model")
    change(text, arrays)
    container.write(path, text, arrays)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda text, _: text.update(kind="state"), "it is a file of the kind 'state'"),
        (lambda text, _: text.update(schema=99), r"its schema is 99, and this version of ssvi .* knows 2"),
        (lambda text, _: text.update({"class": "os"}), "its class is 'os', which ssvi has not"),
        (lambda text, _: text.pop("fitted"), "'fitted'"),
        (lambda text, _: text["parameters"]["mapping"].update(evil=1), "has not: evil"),
        (lambda text, _: text["fitted"]["mapping"].update(transform=1), "has not: transform"),
        (lambda text, _: text["fitted"]["mapping"].update(n_features_in_=10**12), "larger than the arrays"),
        (lambda text, _: text["fitted"]["mapping"].update(history_=[1, 2]), "its history is not one of steps"),
        (lambda text, _: text["fitted"]["mapping"].update(scores_="good"), "its scores are not pairs|object of type"),
        (lambda text, _: text["fitted"]["mapping"].update(scores_=[[1.0], [2.0]]), "its scores are not pairs"),
        (lambda text, _: text["fitted"]["mapping"].update(text_options_=[]), "its text options are not complete"),
        (lambda text, _: _fitted_of(text).update(reading_options_="title"), "its reading options make no sense"),
        (
            lambda text, _: _fitted_of(text).update(reading_options_={"mapping": {"column": 3}}),
            "its reading options make no sense",
        ),
        (
            lambda text, _: _fitted_of(text).update(reading_options_={"mapping": {"run": "a"}}),
            "its reading options make no sense",
        ),
        (
            lambda text, _: _fitted_of(text).update(reading_options_={"mapping": {"format": "exe", "ending": ".x"}}),
            "its reading options name no format",
        ),
        (lambda text, _: text["fitted"]["mapping"].update(_state=3), "it holds a int where a state should be"),
        (
            lambda _, arrays: arrays.update({name: -array for name, array in arrays.items() if array.ndim == 2}),
            "outside the domain|must be|is a ndarray of another form",
        ),
        (
            lambda text, _: _fitted_of(text).update(feature_names_in_={"strings": ["a", "b"]}),
            "has 2 words, and the model",
        ),
        (lambda text, _: _fitted_of(text).update(feature_names_in_=7), "its feature_names_in_ is a int and no list"),
        (lambda text, _: _fitted_of(text).update(feature_names_in_=[1] * 12), "something in it that is no word"),
        (lambda text, _: _fitted_of(text).update(vocabulary_="abcdefghijkl"), "the vocabulary is a str and no list"),
        (lambda text, _: _fitted_of(text).update(n_iter_=-1), "its n_iter_ is -1, not a whole number"),
        (lambda text, _: _fitted_of(text).update(random_state_=True), "its random_state_ is True, not a whole number"),
        (lambda text, _: _fitted_of(text).update(bound_="high"), "its bound_ is 'high', not a number"),
        (lambda text, _: _fitted_of(text).update(converged_=3), "its converged_ is 3, not True or False"),
        (lambda text, _: _fitted_of(text).update(scores_=[[1.0, {"number": "nan"}]]), "its scores are not pairs"),
        (lambda text, _: _fitted_of(text).update(topic_word_prior_=0), "its topic_word_prior_ is 0, not a positive"),
        (lambda text, _: _fitted_of(text).update(doc_topic_prior_=0.5), "its doc_topic_prior_ is 0.5, not a row of"),
        (lambda text, _: _fitted_of(text).update(local_step_="guess"), "its local_step_ is 'guess', not the name"),
        (lambda text, _: _fitted_of(text).update(_n_words=11), "its _n_words is 11, and it has 12 columns"),
        (lambda text, _: _fitted_of(text).update(perplexity_history_=[-1]), "is \\[-1\\], not a list of perplexities"),
        (lambda text, _: _fitted_of(text).pop("history_"), "it has no history_"),
        (lambda text, _: text["parameters"]["mapping"].update(batch_size="all"), "batch_size must be an integer"),
        (lambda _, arrays: _spoil(arrays, (3, 12), np.nan), r"block 'topics' of the state has nan at \(0, 0\)"),
        (lambda _, arrays: _spoil(arrays, (2,), np.inf), "its history is not one of steps"),
    ],
)
def test_files_that_do_not_fit_together_are_refused(tmp_path, change, fault):
    model, _ = _fitted("LatentDirichletAllocation")
    model.save(tmp_path / "model.ssvi")
    _change(tmp_path / "model.ssvi", change)
    with pytest.raises(ValueError, match=rf"model\.ssvi is not a saved model: .*({fault})"):
        ssvi.load(tmp_path / "model.ssvi")


def test_a_header_that_claims_too_much_is_refused(tmp_path):
    (tmp_path / "bomb").write_bytes(struct.pack("<Q", 2**62) + b"{}")
    with pytest.raises(ValueError, match="it does not begin as one, or is cut short"):
        ssvi.load(tmp_path / "bomb")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda text: text.update(inverse_scale_=-1.0), "its inverse_scale_ is -1.0, not a positive number"),
        (
            lambda text: text["_fitted"]["mapping"].update(inverse_scale=0),
            "the 'inverse_scale' that it was fitted with",
        ),
        (lambda text: text["_fitted"]["mapping"].update(colour=1.0), "the 'colour' that it was fitted with is 1.0"),
        (lambda text: text.update(_fitted=3), "'int' object"),
    ],
)
def test_what_a_factorisation_was_fitted_with_is_checked(tmp_path, change, fault):
    model, _ = _fitted("GammaProcessNMF")
    model.save(tmp_path / "model.ssvi")
    _change(tmp_path / "model.ssvi", lambda text, _: change(_fitted_of(text)))
    with pytest.raises(ValueError, match=rf"model\.ssvi is not a saved model: .*{fault}"):
        ssvi.load(tmp_path / "model.ssvi")


def test_a_prior_of_each_word_is_checked(tmp_path):
    model, _ = _fitted("LatentDirichletAllocation", topic_word_prior=np.linspace(0.1, 0.5, 12))
    model.save(tmp_path / "model.ssvi")
    np.testing.assert_array_equal(ssvi.load(tmp_path / "model.ssvi").topic_word_prior_, model.topic_word_prior_)
    for wrong in (np.ones(11), np.ones((2, 12)), -np.ones(12), np.full((3, 12), np.nan), np.ones(12, dtype=int), "low"):
        model.topic_word_prior_ = wrong
        model.save(tmp_path / "model.ssvi")
        with pytest.raises(ValueError, match=r"its topic_word_prior_ is .*, not a positive number, nor one for each"):
            ssvi.load(tmp_path / "model.ssvi")


def test_snapshots_are_checked(tmp_path):
    model, _ = _fitted("BernoulliMixture", snapshots=2, learning_method="online")
    assert model._snapshots
    weights, means = model._snapshots[0]
    for wrong in ([(weights, means[:, :-1])], [(weights, 2 * means)], [(weights,)], [3.0]):
        model._snapshots = wrong
        model.save(tmp_path / "model.ssvi")
        with pytest.raises(ValueError, match=r"is not a saved model: (its snapshots are not pairs|object of type)"):
            ssvi.load(tmp_path / "model.ssvi")


def test_the_same_model_has_the_same_bytes(tmp_path):
    model, _ = _fitted("LatentDirichletAllocation")
    for name in ("a", "b"):
        model.save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_mutated_files_are_read_or_refused(fitted, tmp_path):
    """Bytes changed, cut out, doubled or cut off, and a checksum made to fit: a model or a `ValueError`."""
    model, _ = fitted
    path = tmp_path / "model.ssvi"
    model.save(path)
    whole, rng = path.read_bytes(), np.random.default_rng(0)
    for _ in range(300):
        content = bytearray(whole)
        for _ in range(int(rng.integers(1, 4))):
            at = int(rng.integers(len(content)))
            way = rng.integers(4)
            if way == 0:
                content[at] = int(rng.integers(256))
            elif way == 1:
                del content[at : at + int(rng.integers(1, 40))]
            elif way == 2:
                content[at:at] = content[at : at + int(rng.integers(1, 40))]
            else:
                del content[at:]
            content = content or bytearray(b" ")
        path.write_bytes(container.seal(bytes(content)))
        try:
            ssvi.load(path)
        except ValueError as error:
            assert "is not a saved model" in str(error)  # noqa: PT017

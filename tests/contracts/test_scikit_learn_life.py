"""Estimators among scikit-learn's other parts: pipelines, searches, names of columns, metadata."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from tests.kinds import WITH_COMPONENTS

from ssvi import BernoulliMixture, GammaProcessNMF, LatentDirichletAllocation

RNG = np.random.default_rng(0)
ROWS = (RNG.random((80, 6)) < RNG.random((3, 6))[RNG.integers(0, 3, 80)]).astype(int)
NAMES = ["sun", "sea", "sand", "snow", "ski", "sledge"]
TEXTS = [" ".join(word for word, is_there in zip(NAMES, row, strict=True) if is_there) or "sun" for row in ROWS]
EVERY = pytest.mark.parametrize("kind", WITH_COMPONENTS.values(), ids=list(WITH_COMPONENTS))
TRANSFORMERS = pytest.mark.parametrize(
    "kind", [kind for kind in WITH_COMPONENTS.values() if hasattr(kind, "transform")], ids=lambda kind: kind.__name__
)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@EVERY
def test_in_a_pipeline_after_a_vectorizer_and_in_a_search_by_held_out_score(kind):
    pipeline = make_pipeline(CountVectorizer(), kind(max_iter=5, random_state=0))
    parameter = f"{kind.__name__.lower()}__n_components"
    search = GridSearchCV(pipeline, {parameter: [1, 3]}, cv=3).fit(TEXTS)
    by_hand = [cross_val_score(clone(pipeline).set_params(**{parameter: k}), TEXTS, cv=3).mean() for k in (1, 3)]
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], by_hand)
    assert np.isfinite(by_hand).all()
    assert search.best_params_[parameter] == (1, 3)[int(np.argmax(by_hand))]
    assert search.score(TEXTS) == search.best_estimator_.score(TEXTS)


@EVERY
def test_names_of_columns_are_remembered_and_minded(kind):
    frame = pd.DataFrame(ROWS, columns=NAMES)
    model = kind(2, max_iter=2, random_state=0).fit(frame)
    assert model.feature_names_in_.tolist() == NAMES
    model.score(frame)
    with pytest.raises(ValueError, match="feature names should match"):
        model.score(frame[NAMES[::-1]])


@TRANSFORMERS
@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_weights_come_as_a_frame_if_that_is_asked_for(kind, output):
    frame = pd.DataFrame(ROWS, columns=NAMES, index=[f"row {i}" for i in range(len(ROWS))])
    model = kind(2, max_iter=2, random_state=0).fit(frame)
    plain = model.transform(frame)
    weights = model.set_output(transform=output).transform(frame)
    names = [f"{kind.__name__.lower()}{k}" for k in range(2)]
    assert list(weights.columns) == model.get_feature_names_out().tolist() == names
    np.testing.assert_array_equal(weights.to_numpy(), plain)
    if output == "pandas":
        assert list(weights.index) == list(frame.index)
    np.testing.assert_array_equal(model.component_weights(frame), plain)  # an array whatever the output is


@EVERY
def test_validation_rows_go_through_a_pipeline_as_its_data_do(kind, routing):
    model = kind(2, max_iter=3, batch_size=20, random_state=0).set_fit_request(X_val=True)
    steps = [("count", CountVectorizer()), ("model", model)]
    pipeline = Pipeline(steps, transform_input=["X_val"]).fit(TEXTS[:60], X_val=TEXTS[60:])
    count = pipeline["count"]
    alone = clone(model).fit(count.transform(TEXTS[:60]), X_val=count.transform(TEXTS[60:]))
    scores = [score for _, score in pipeline["model"].scores_]
    assert len(scores) == 3 + (kind is GammaProcessNMF)  # whose polish has a score of its own
    assert scores == [score for _, score in alone.scores_]


@TRANSFORMERS
def test_validation_rows_reach_a_model_in_the_middle_of_a_pipeline(kind, routing):
    model = kind(2, max_iter=3, batch_size=20, random_state=0).set_fit_request(X_val=True)
    pipeline = make_pipeline(model, LogisticRegression()).fit(ROWS[:60], np.arange(60) % 2, X_val=ROWS[60:])
    assert len(pipeline[0].scores_) == 3 + (kind is GammaProcessNMF)
    assert len(model.fit_transform(ROWS[:60], X_val=ROWS[60:])) == 60


def test_fit_predict_takes_validation_rows():
    mixture = BernoulliMixture(2, max_iter=3, random_state=0)
    assert len(mixture.fit_predict(ROWS[:60], X_val=ROWS[60:])) == 60
    assert len(mixture.scores_) == 3


def test_a_search_routes_validation_rows_and_masks(routing):
    search = GridSearchCV(LatentDirichletAllocation(max_iter=3, random_state=0).set_fit_request(X_val=True),
                          {"n_components": [1, 2]}, cv=2)  # fmt: skip
    search.fit(ROWS[:60], X_val=ROWS[60:])
    assert len(search.best_estimator_.scores_) == 3

    mask = np.zeros(ROWS.shape, dtype=bool)
    mask[::5, 2] = True
    holes = np.where(mask, np.nan, ROWS)
    nmf = GammaProcessNMF(max_iter=3, random_state=0).set_fit_request(mask=True).set_score_request(mask=True)
    search = GridSearchCV(nmf, {"n_components": [1, 2]}, cv=2, error_score="raise").fit(holes, mask=mask)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_metadata_that_nobody_asked_for_is_refused(routing):
    pipeline = make_pipeline(FunctionTransformer(), LatentDirichletAllocation(2, max_iter=1))
    with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="X_val"):
        pipeline.fit(ROWS, X_val=ROWS)

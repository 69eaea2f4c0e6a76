from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import nbinom
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from tests.testing.test_broken import Exact, ExcessZeros, ExcessZerosModel, Gibbs

from ssvi.batches import DenseRows, Documents
from ssvi.estimators.components import ComponentsMixin
from ssvi.estimators.generic import ModelEstimator
from ssvi.families.gamma import Gamma
from ssvi.local_steps import PlainStep
from ssvi.local_steps.bernoulli_mixture.exact import Exact as CompiledExact
from ssvi.models import Block, Model
from ssvi.models.bernoulli_mixture import BernoulliMixture
from ssvi.report import write_report

TRUTH = {"absent": np.array([0.2, 0.5, 0.8]), "rate": np.array([1.0, 3.0, 8.0])}
SITES = ExcessZeros(3).simulate(np.random.default_rng(0), 1000, values=TRUTH)[1].values


@dataclass(frozen=True)
class Poisson(Model):
    """y_nd ~ Poisson(rate_d): the posterior is known."""

    n_features: int
    shape: float = 2.0
    rate: float = 1.0
    extra: list = field(default_factory=list)
    name = "poisson"

    def blocks(self):
        return {"rate": Block(Gamma(), np.array([self.shape, self.rate]), (self.n_features, 2))}

    def init(self, rng):
        return {"rate": np.ones((self.n_features, 2))}

    @classmethod
    def example(cls):
        return cls(2)

    def simulate(self, rng, n, *, values=None):
        raise NotImplementedError


@dataclass(frozen=True)
class Counts(PlainStep):
    name, model = "counts", "poisson"

    def group(self, model, views, group, rng):
        words, counts = group
        row = np.bincount(words, counts, model.n_features)
        return {"rate": np.stack([row, np.ones(model.n_features)], axis=-1)}, None, {}


class PoissonModel(ModelEstimator):
    name: str = "poisson"
    model_class = Poisson
    local_steps = (Counts,)
    batch_class = Documents


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.coo_matrix])
def test_a_conjugate_model_ends_at_its_posterior(make):
    rows = np.random.default_rng(0).poisson([1.0, 4.0], (50, 2))
    model = PoissonModel(global_step="mean_field", max_iter=3, shape=3.0).fit(make(rows))
    expected = np.stack([3.0 + rows.sum(axis=0), np.full(2, 51.0)], axis=-1)
    np.testing.assert_allclose(model.parameters_["rate"], expected)


def test_parameters_are_those_of_the_loop_and_the_models_fields():
    model = PoissonModel(shape=5.0)
    parameters = model.get_params()
    assert {"shape", "rate", "extra", "global_step", "max_iter", "n_jobs"} <= set(parameters)
    assert "n_features" not in parameters
    assert clone(model).shape == 5.0
    assert "shape : float" in PoissonModel.__doc__


def test_a_field_without_a_default_is_refused_when_the_class_is_made():
    @dataclass(frozen=True)
    class Bare:
        n_features: int
        shape: float

    with pytest.raises(TypeError, match="Bad: the field 'shape' of Bare needs a default"):
        type("Bad", (ModelEstimator,), {"name": "bad", "model_class": Bare, "local_steps": (Counts,)})


def test_score_and_transform_say_what_is_missing():
    model = PoissonModel(max_iter=1).fit([[1, 2], [0, 1]])
    with pytest.raises(ValueError, match="no local step of PoissonModel has a bound"):
        model.score([[1, 2]])
    with pytest.raises(ValueError, match="local_step 'counts' finds nothing"):
        model.transform([[1, 2]])


def test_score_is_the_log_probability_at_the_mean():
    model = ExcessZerosModel(max_iter=2, random_state=0).fit(SITES)
    pi = (lambda lam: lam[:, 0] / lam.sum(axis=1))(model.parameters_["absent"])
    rate = (lambda lam: lam[:, 0] / lam[:, 1])(model.parameters_["rate"])
    poisson = nbinom.pmf(SITES, 1e9, 1e9 / (1e9 + rate))  # whose limit it is
    expected = np.log(np.where(SITES == 0, pi, 0.0) + (1 - pi) * poisson).sum(axis=1).mean()
    assert model.score(SITES) == pytest.approx(expected, rel=1e-5)


def test_a_fit_finds_the_truth():
    """Deviations of the posterior are below 0.02 and 0.2 with 1,000 rows."""
    model = ExcessZerosModel(max_iter=10, random_state=0).fit(SITES)
    absent, rate = model.parameters_["absent"], model.parameters_["rate"]
    np.testing.assert_allclose(absent[:, 0] / absent.sum(axis=1), TRUTH["absent"], atol=0.1)
    np.testing.assert_allclose(rate[:, 0] / rate[:, 1], TRUTH["rate"], atol=0.6)


def test_what_a_row_gets_does_not_depend_on_its_neighbours():
    kind = type("Drawn", (ExcessZerosModel,), {"name": "drawn", "local_steps": (Gibbs, Exact)})
    model = kind(random_state=0, max_iter=2).fit(SITES)
    whole = model.transform(SITES[:50])
    np.testing.assert_array_equal(model.transform(SITES[20:30]), whole[20:30])
    assert set(np.unique(whole)) == {0.0, 1.0}
    assert model.score(SITES) < 0  # by the step that has a bound
    assert model.set_output(transform="pandas").transform(SITES[:2]).columns.tolist() == ["drawn0", "drawn1", "drawn2"]


def test_mistakes_are_met_with_one_sentence():
    for parameters, message in [
        ({"local_step": "gibbs"}, "local_step 'gibbs' is not known; the known ones are 'auto', 'exact'"),
        ({"local_step": Gibbs()}, r"local_step Gibbs\(\) is none of ExcessZerosModel's local steps"),
        ({"max_iter": 0}, "max_iter"),
    ]:
        model = ExcessZerosModel(**parameters)
        with pytest.raises(ValueError, match=message):
            model.fit(SITES)
        assert not hasattr(model, "n_features_in_")
    with pytest.raises(ValueError, match="counts must be 0 or more"):
        ExcessZerosModel().fit(-SITES)
    with pytest.raises(ValueError, match="NaN"):
        ExcessZerosModel().fit([[0.0, np.nan]])
    fitted = ExcessZerosModel(max_iter=1).fit(SITES)
    with pytest.raises(ValueError, match="rate_prior changed since this model was fitted"):
        fitted.set_params(rate_prior=(3.0, 1.0)).partial_fit(SITES)


def test_early_stopping_and_pipelines():
    model = ExcessZerosModel(early_stopping=True, max_iter=3, random_state=0)
    pipeline = make_pipeline(FunctionTransformer(), model).fit(SITES)
    assert len(pipeline[-1].scores_) == 3
    assert pipeline.transform(SITES).shape == SITES.shape


def test_missing_entries_are_for_those_who_allow_them():
    class Known(Exact):
        def group(self, model, views, group, rng):
            known = np.isfinite(group)
            statistics, bound, found = super().group(model, views, np.where(known, group, 1.0), rng)
            return {name: known[:, None] * value for name, value in statistics.items()}, bound, found

    kind = type("Missing", (ExcessZerosModel,), {"name": "m", "local_steps": (Known,), "allow_missing": True})
    rows = np.where(np.random.default_rng(0).random(SITES.shape) < 0.2, np.nan, SITES)
    model = kind(global_step="mean_field", max_iter=2).fit(rows)
    held = model.parameters_["absent"].sum(axis=1) - 2.0
    np.testing.assert_allclose(held, np.isfinite(rows).sum(axis=0))
    assert isinstance(model.to_batch(rows), DenseRows)


@dataclass(frozen=True)
class Clusters(BernoulliMixture):
    n_components: int = 3
    concentration: float = 1.0


class ClustersModel(ComponentsMixin, ModelEstimator):
    name = "clusters"
    model_class = Clusters
    local_steps = (CompiledExact,)
    batch_class = Documents

    def summarize_components(self):
        return self._model().summarize(self.parameters_)

    def components_in_use(self):
        return self.n_components

    def component_weights(self, X):
        return self.transform(X)


def test_a_model_with_components_has_reports(tmp_path):
    rows = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1]], 20, axis=0)
    model = ClustersModel(n_components=2, random_state=0).fit(rows)
    write_report(model, tmp_path / "page.html", data=rows)
    assert "clusters, 2 components" in (tmp_path / "page.html").read_text()
    assert set(model.component_weights(rows).argmax(axis=1)) == {0, 1}
    with pytest.raises(ValueError, match="PoissonModel has no components to show"):
        write_report(PoissonModel(max_iter=1).fit(rows), tmp_path / "page.html")

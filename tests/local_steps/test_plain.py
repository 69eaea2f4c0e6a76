from dataclasses import dataclass

import numpy as np
import pytest

from ssvi import engine
from ssvi.backends import Threads
from ssvi.batches import DenseRows, Documents
from ssvi.global_steps.mean_field import MeanField
from ssvi.local_steps import PlainStep
from ssvi.local_steps.base import Part
from ssvi.local_steps.bernoulli_mixture.exact import Exact
from ssvi.models.bernoulli_mixture import BernoulliMixture
from ssvi.models.lda import LDA
from ssvi.numerics.random import derive_keys
from ssvi.testing import check_local_step

MODEL = BernoulliMixture.example()


@dataclass(frozen=True)
class PlainExact(PlainStep):
    """What the compiled step of the mixture does, for one row."""

    name, model = "plain", "bernoulli_mixture"

    def group(self, model, views, group, rng):
        ones = np.zeros(model.n_features)
        ones[group[0]] = 1.0
        counts = np.stack([ones, 1.0 - ones], axis=-1)
        scores = views["weights"][0] + (views["components"] * counts).sum(axis=(1, 2))
        bound = np.logaddexp.reduce(scores)
        shares = np.exp(scores - bound)
        statistics = {"weights": shares[None], "components": shares[:, None, None] * counts}
        return statistics, bound, {"responsibilities": shares}


def test_it_agrees_with_a_compiled_step_of_the_same_mathematics():
    _, data = MODEL.simulate(np.random.default_rng(0), 300)
    lam = MODEL.init(np.random.default_rng(1))
    views = {name: block.family.mean_stats(lam[name]) for name, block in MODEL.blocks().items()}
    plain, compiled = (
        Threads().map_reduce(step, MODEL, views, data, derive_keys(0, 300)) for step in (PlainExact(), Exact())
    )
    assert plain.bound == pytest.approx(compiled.bound)
    for name in plain.eta_hat:
        np.testing.assert_allclose(plain.eta_hat[name], compiled.eta_hat[name], atol=1e-9)
    np.testing.assert_allclose(plain.local["responsibilities"], compiled.local["responsibilities"], atol=1e-12)


def test_it_passes_the_suite():
    check_local_step(PlainExact(), MODEL)


@dataclass(frozen=True)
class Words(PlainStep):
    """Each word to all topics alike; of the topics it sees the words of the minibatch only."""

    name, model = "words", "lda"
    partial_blocks = {"topics": "coordinates"}  # noqa: RUF012

    def touched(self, batch):
        return {"topics": np.unique(batch.tight().words)}

    def group(self, model, views, group, rng):
        part = views["topics"]
        assert isinstance(part, Part)
        statistics = np.zeros(part.stats.shape)
        statistics[np.searchsorted(part.chosen, group[0])] = group[1][:, None] / model.n_topics
        return {"topics": statistics}, None, {}


def test_a_part_of_a_block_is_enough():
    model = LDA(6, np.full(2, 0.5), 0.1)
    data = Documents.from_matrix([[1, 0, 0, 2, 0, 0], [0, 0, 4, 2, 0, 0]])
    problem = engine.Problem(model, Words(), MeanField(), lambda step: 1.0, population=2)
    state, _ = engine.step(problem, engine.init(model, 0), data)
    np.testing.assert_allclose(state.parameters["topics"], np.tile(0.1 + np.array([0.5, 0, 2, 2, 0, 0]), (2, 1)))


class Faulty(PlainExact):
    def __init__(self, change):
        object.__setattr__(self, "change", change)

    def group(self, model, views, group, rng):
        return self.change(*super().group(model, views, group, rng))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s, b, f: ({"weights": s["weights"]}, b, f), r"group\(\) returns no statistics of 'components'"),
        (lambda s, b, f: ({**s, "weights": s["weights"][0]}, b, f), r"of 'weights' of shape \(5,\), not \(1, 5\)"),
    ],
)
def test_statistics_of_another_shape_are_an_error(change, message):
    _, data = MODEL.simulate(np.random.default_rng(0), 3)
    views = {name: np.zeros(block.shape) for name, block in MODEL.blocks().items()}
    with pytest.raises(ValueError, match=message):
        Threads().map_reduce(Faulty(change), MODEL, views, data, derive_keys(0, 3))


def test_statistics_of_no_block_are_added_up_too():
    step = Faulty(lambda s, b, f: ({**s, "rows": 1.0}, None, {}))
    _, data = MODEL.simulate(np.random.default_rng(0), 300)
    views = {name: np.zeros(block.shape) for name, block in MODEL.blocks().items()}
    result = Threads().map_reduce(step, MODEL, views, data, derive_keys(0, 300))
    assert result.eta_hat["rows"] == 300.0
    assert (result.bound, result.local) == (None, {})


def test_each_group_has_its_own_stream_wherever_it_is():
    class Draw(PlainExact):
        def group(self, model, views, group, rng):
            statistics, _, _ = super().group(model, views, group, rng)
            return statistics, None, {"drawn": rng.random()}

    _, data = MODEL.simulate(np.random.default_rng(0), 20)
    views = {name: np.zeros(block.shape) for name, block in MODEL.blocks().items()}
    keys = derive_keys(0, 20)
    drawn = Threads().map_local(Draw(), MODEL, views, data, keys)["drawn"]
    assert len(set(drawn)) == 20
    part = Threads().map_local(Draw(), MODEL, views, data.slice(5, 9), keys[5:9])["drawn"]
    np.testing.assert_array_equal(part, drawn[5:9])
    assert isinstance(DenseRows(np.zeros((1, 2))).group(0), np.ndarray)

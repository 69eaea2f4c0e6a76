"""States that a model cannot go on from are refused before the first step, whatever way they came."""

from dataclasses import replace

import numpy as np
import pytest

from ssvi import engine
from ssvi.errors import FitError
from ssvi.families.dirichlet_columns import DirichletColumns
from ssvi.global_steps.mean_field import MeanField
from ssvi.global_steps.ssvi_a import SsviA
from ssvi.local_steps.bernoulli_mixture.exact import Exact
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.models.bernoulli_mixture import BernoulliMixture
from ssvi.models.lda import LDA

MODEL = LDA(40, np.full(5, 0.2), 0.05)
_, CORPUS = MODEL.simulate(np.random.default_rng(0), 30)
PROBLEM = engine.Problem(MODEL, Gibbs(), SsviA(), population=len(CORPUS))
START = engine.init(MODEL, 0)
OK = START.parameters["topics"]


def _with(value, place=(2, 7)):
    lam = OK.copy()
    lam[place] = value
    return {"topics": lam}


REFUSED = [
    (_with(-1.0), {}, r"block 'topics' of the state has -1\.0 at \(2, 7\), outside the domain of its Dirichlet"),
    (_with(0.0), {}, r"has 0\.0 at \(2, 7\)"),
    (_with(np.nan, (4, 39)), {}, r"has nan at \(4, 39\)"),
    (_with(np.inf), {}, r"has inf at \(2, 7\)"),
    ({"topics": OK[:4]}, {}, r"block 'topics' of the state must have the shape \(5, 40\), as the model has, not \(4,"),
    ({"topics": OK.astype(np.float32)}, {}, "must be an array of doubles, not an array of float32"),
    ({"topics": OK.tolist()}, {}, "must be an array of doubles, not a list"),
    ({}, {}, "the state has the blocks none, and the model 'topics'"),
    ({"topics": OK, "weights": OK}, {}, "the state has the blocks 'topics', 'weights', and the model 'topics'"),
    ({"topics": OK}, {"topics": np.ones(4)}, r"totals of block 'topics' of the state must have the shape \(5,\)"),
    ({"topics": OK}, {"topics": np.array([1, 1, -2, 1, 1.0])}, r"have -2\.0 at \(2,\), and sums of lambda are"),
    ({"topics": OK}, {"topics": np.array([1, np.nan, 1, 1, 1.0])}, r"have nan at \(1,\)"),
    ({"topics": OK}, {"others": np.ones(5)}, "the state has totals of 'others', and the model the blocks 'topics'"),
]


@pytest.mark.parametrize(("parameters", "totals", "fault"), REFUSED)
def test_a_state_given_by_hand_is_checked(parameters, totals, fault):
    state = replace(START, parameters=parameters, totals=totals)
    with pytest.raises(ValueError, match=fault):
        engine.Fit(PROBLEM, state)
    with pytest.raises(ValueError, match=fault):
        engine.step(PROBLEM, state, CORPUS)
    with pytest.raises(ValueError, match=fault):
        engine.run(PROBLEM, state, CORPUS, sweeps=1, batch_size=10)


def test_places_of_blocks_with_more_axes():
    model = BernoulliMixture.example()
    state = engine.init(model, 0)
    state.parameters["components"][3, 1, 1] = -0.5
    problem = engine.Problem(model, Exact(), MeanField(), population=10)
    with pytest.raises(ValueError, match=r"block 'components' of the state has -0\.5 at \(3, 1, 1\)"):
        engine.Fit(problem, state)


def test_a_draw_that_is_nan_stops_the_fit(monkeypatch):
    """As it would be if lambda left its domain during a fit."""
    draw = DirichletColumns.draw

    def spoilt(self, lam, keys):
        lam = lam.copy()
        lam[3, 2] = -1.0
        return draw(self, lam, keys)

    monkeypatch.setattr(DirichletColumns, "draw", spoilt)
    with pytest.raises(FitError, match="block 'topics' cannot be drawn from in step 1, because a value of"):
        engine.step(PROBLEM, START, CORPUS)

import numpy as np
import pytest

from ssvi.backends import Threads
from ssvi.experiments.hmm import ChainSetting, HiddenMarkov, _hmmlearn
from ssvi.experiments.state_spaces import SIMULATED, StateBench, StateTrial

SETTING = ChainSetting(sequences=4, length=30, test_sequences=3, states=2, iterations=5, starts=2, draws=400)


@pytest.fixture(scope="module")
def data():
    return HiddenMarkov().simulated(SETTING, 0)


@pytest.mark.parametrize("name", ["hmmlearn", "hmmlearn-vb"])
def test_the_score_of_hmmlearns_parameters_is_its_own(data, name):
    """Its own score is at a point. Draws from q are near that where q is narrow, as it is made here."""
    pytest.importorskip("hmmlearn")
    experiment, bench = HiddenMarkov(), StateBench(SETTING, Threads())
    model = _hmmlearn(name, 2, 5, 0).fit(data.train.values, data.train.costs())
    if name == "hmmlearn-vb":
        for attribute in ("startprob", "transmat", "beta", "dof", "scale"):
            setattr(model, f"{attribute}_posterior_", getattr(model, f"{attribute}_posterior_") * 1e6)
        model.startprob_ = model.startprob_posterior_ / model.startprob_posterior_.sum()
        model.transmat_ = model.transmat_posterior_ / model.transmat_posterior_.sum(axis=1, keepdims=True)
        point = _hmmlearn("hmmlearn", 2, 5, 0)
        point.startprob_, point.transmat_ = model.startprob_, model.transmat_
        point.means_, point.covars_ = model.means_posterior_, model.covars_
        wanted = point.score(data.test.values, data.test.costs())
    else:
        wanted = model.score(data.test.values, data.test.costs())
    found = experiment._score_of(model, data, StateTrial(SIMULATED, 0, name), bench)
    assert found == pytest.approx(wanted, abs=0.01)


def test_all_algorithms_of_a_data_set_begin_at_one_start(data):
    experiment, bench = HiddenMarkov(), StateBench(SETTING, Threads())
    first, again = (experiment.start(data, 0, bench).parameters for _ in range(2))
    for name, lam in first.items():
        np.testing.assert_array_equal(lam, again[name])

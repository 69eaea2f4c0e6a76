"""Small fitted models, and matplotlib without windows."""

import numpy as np
import pytest

from ssvi import BernoulliMixture, GammaProcessNMF, LatentDirichletAllocation

matplotlib = pytest.importorskip("matplotlib")
COUNTS = np.random.default_rng(0).poisson(0.8, (60, 16))
COUNTS[:30, :8] += 2


@pytest.fixture(scope="session")
def lda():
    return LatentDirichletAllocation(4, max_iter=3, random_state=1).fit(COUNTS)


@pytest.fixture(scope="session")
def mixture():
    return BernoulliMixture(8, max_iter=60, random_state=1).fit(COUNTS > 1)


@pytest.fixture(scope="session")
def nmf():
    return GammaProcessNMF(6, max_iter=60, random_state=1).fit(COUNTS)


@pytest.fixture(autouse=True)
def left_as_it_was():
    """Settings and backend are the user's; figures of a test are closed after it."""
    from matplotlib import pyplot

    pyplot.switch_backend("Agg")
    before = dict(matplotlib.rcParams)
    yield
    assert dict(matplotlib.rcParams) == before
    pyplot.close("all")

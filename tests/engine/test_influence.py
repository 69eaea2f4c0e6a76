"""What each step, and each document, counts in the lambda that a fit has come to."""

import numpy as np
import pytest

from ssvi import LatentDirichletAllocation
from ssvi.batches.minibatches import minibatches
from ssvi.engine.influence import influence_of_groups, shares_of_steps
from ssvi.global_steps.map import Map
from ssvi.global_steps.ssvi import Ssvi


def _walk(step_sizes, targets, averaging):
    """Return lambda and its average after the steps towards these targets, one after the other, from 0."""
    lam = average = np.zeros_like(targets[0])
    for number, (step_size, target) in enumerate(zip(step_sizes, targets, strict=True), 1):
        lam = (1.0 - step_size) * lam + step_size * target
        weight = (averaging + 1.0) / (number + averaging)
        average = average + weight * (lam - average)
    return average if averaging else lam


@pytest.mark.parametrize("averaging", [0.0, 1.0, 7.0])
@pytest.mark.parametrize("count", [1, 2, 40])
def test_the_shares_of_steps_are_those_of_a_walk_in_which_each_has_a_coordinate_of_its_own(averaging, count):
    step_sizes = (np.arange(1, count + 1) + 1.0) ** -0.25
    shares = shares_of_steps(step_sizes, Map(averaging=averaging))
    np.testing.assert_allclose(shares, _walk(step_sizes, np.eye(count), averaging), rtol=1e-12)
    assert shares.sum() <= 1.0 + 1e-12


@pytest.mark.parametrize("settings", [{}, {"global_step": "ssvi_a"}, {"learning_method": "batch"}], ids=str)
def test_with_one_topic_the_influence_of_a_document_is_what_lambda_has_of_its_word(settings):
    """Each document has a word of its own, so that lambda itself tells, whatever the engine does on its way there."""
    counts = np.diag(np.random.default_rng(1).integers(1, 9, 90))
    settings = {"global_step": "map", "batch_size": 20, "max_iter": 4, "random_state": 2} | settings
    model = LatentDirichletAllocation(1, topic_word_prior=0.01, **settings).fit(counts)
    plan = model._plan(90)
    influence = influence_of_groups(model.history_, plan.global_step, 90, plan.batch_size, model.random_state_)
    np.testing.assert_allclose((model.components_[0] - 0.01) / np.diag(counts), influence, atol=1e-3)
    assert influence.mean() > 0.9


def test_the_influence_of_documents_is_that_of_a_walk_in_which_each_has_a_coordinate_of_its_own():
    rule, documents = Ssvi(averaging=7.0), 95
    counts = np.random.default_rng(0).poisson(1.0, (documents, 12)) + 1
    model = LatentDirichletAllocation(3, global_step=rule, batch_size=20, max_iter=4, random_state=5).fit(counts)
    targets, history = [], iter(model.history_)
    for sweep in range(4):
        for rows in minibatches(documents, 20, 5, sweep):
            target = np.zeros(documents)
            target[rows] = next(history).population / len(rows)
            targets.append(target)
    wanted = _walk([info.step_size for info in model.history_], np.array(targets), 7.0)
    influence = influence_of_groups(model.history_, rule, documents, 20, 5)
    np.testing.assert_allclose(influence, wanted, rtol=1e-10)
    assert abs(influence.mean() - 1.0) < 0.05  # once each, but for what the first pass has left out
    assert influence.std() > 0.1

import numpy as np
import pytest

from ssvi.models.lda import LDA
from ssvi.models.new_words import taken_over, unseen

MODEL = LDA(6, np.full(3, 0.1), 0.05)


def test_an_unseen_word_is_as_probable_in_one_topic_as_in_another():
    lam = np.array([[30.0, 10.0], [1.0, 1.0], [5.0, 13.0]])
    new = unseen(lam, np.full((3, 4), 0.05))
    assert new.shape == (3, 4)
    shares = new / lam.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shares, 1 / 20)  # one count in a topic of mean size
    assert unseen(lam, np.full((3, 1), 0.4))[1, 0] == 0.4  # nowhere below eta: a tenth would be


def test_topics_are_taken_over_by_words():
    lam, start = np.array([[4.0, 8.0, 12.0], [1.0, 2.0, 3.0]]), np.full((3, 6), 7.0)
    places = np.array([2, -1, 0, -1, 1, -1])
    got = taken_over(lam, places, MODEL, start, n_tokens=1e6)
    np.testing.assert_array_equal(got[:2][:, [0, 2, 4]], lam[:, [2, 0, 1]])
    np.testing.assert_allclose(got[:2][:, [1, 3, 5]] / lam.sum(axis=1, keepdims=True), 1 / 15)
    np.testing.assert_array_equal(got[2], 7.0)  # there is no third topic to take over
    assert (start == 7.0).all()


def test_topics_of_much_data_count_no_more_than_the_data_at_hand():
    lam, start = np.array([[4e6, 8e6], [1e6, 3e6]]), np.ones((3, 6))
    got = taken_over(lam, np.array([0, 1, -1, -1, -1, -1]), MODEL, start, n_tokens=1_600)
    np.testing.assert_allclose(got[:2, :2], [[400, 800], [100, 300]])
    assert taken_over(lam, np.array([0, 1, -1, -1, -1, -1]), MODEL, start, n_tokens=0.0)[:2].min() == 0.05


def test_of_too_many_topics_the_largest_are_taken_in_their_order():
    lam = np.repeat([[1.0], [9.0], [2.0], [5.0], [8.0]], 6, axis=1)
    got = taken_over(lam, np.arange(6), MODEL, np.ones((3, 6)), n_tokens=1e9)
    np.testing.assert_array_equal(got[:, 0], [9.0, 5.0, 8.0])


def test_simulation_follows_a_prior_of_each_word_and_topic():
    """The mean of 400 draws of Dirichlet(eta_k) is eta_k / sum, within five deviations: a chance below 1e-5."""
    eta = np.array([[8.0, 1.0, 1.0], [1.0, 3.0, 6.0]])
    model, rng = LDA(3, np.full(2, 0.5), eta), np.random.default_rng(0)
    draws = np.array([model.simulate(rng, 0)[0]["topics"] for _ in range(400)])
    means = eta / eta.sum(axis=1, keepdims=True)
    deviations = np.sqrt(means * (1 - means) / (eta.sum(axis=1, keepdims=True) + 1) / 400)
    assert (np.abs(draws.mean(axis=0) - means) < 5 * deviations).all()


@pytest.mark.parametrize("eta", [0.3, np.linspace(0.1, 5.0, 6)])
def test_a_start_leans_only_where_topics_have_different_priors(eta):
    plain = MODEL.init(np.random.default_rng(0))["topics"]
    np.testing.assert_array_equal(LDA(6, np.full(3, 0.1), eta).init(np.random.default_rng(0))["topics"], plain)
    seeded = np.full((3, 6), 0.3)
    seeded[1, 2] += 40.0
    lean = LDA(6, np.full(3, 0.1), seeded).init(np.random.default_rng(0))["topics"] - plain
    assert lean[1, 2] == pytest.approx(40.0)
    assert np.count_nonzero(lean) == 1

"""The collapsed Gibbs sampler against enumerated posteriors, and Geweke's test of its joint distribution."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy import special

from ssvi.baselines import CollapsedGibbsBernoulliMixture, collapsed_gibbs
from ssvi.baselines.collapsed_gibbs import _statistics, sweep
from ssvi.batches.documents import Documents
from ssvi.numerics.random import derive_key

ROWS = np.array([[1, 0], [1, 1], [0, 1], [0, 1]])
PRIOR, ALPHA = (0.7, 1.2), 1.3


def _log_marginal(rows):
    """log p(rows in one component), probabilities integrated out."""
    ones, n = rows.sum(axis=0), len(rows)
    return (special.betaln(ones + PRIOR[0], n - ones + PRIOR[1]) - special.betaln(*PRIOR)).sum()


def _partition(labels):
    """Name a partition by the order in which its parts appear."""
    names = {}
    return tuple(names.setdefault(label, len(names)) for label in labels)


def _posterior(n_components):
    """The exact posterior over partitions of ROWS; None components for the Chinese restaurant process."""
    weights = Counter()
    for labels in product(range(n_components or len(ROWS)), repeat=len(ROWS)):
        if n_components is None and labels != _partition(labels):
            continue
        sizes = np.bincount(labels)
        if n_components is None:
            log_prior = len(sizes) * np.log(ALPHA) + special.gammaln(sizes).sum()
        else:
            full = np.bincount(labels, minlength=n_components)
            log_prior = special.gammaln(full + ALPHA / n_components).sum()
        parts = [ROWS[np.array(labels) == k] for k in range(len(sizes)) if sizes[k]]
        weights[_partition(labels)] += np.exp(log_prior + sum(map(_log_marginal, parts))) * 1e3
    total = sum(weights.values())
    return {partition: weight / total for partition, weight in weights.items()}


def _sweep_once(rows, n_components, labels, seed):
    """Return the labels after one sweep."""
    sampler = CollapsedGibbsBernoulliMixture(n_components, ALPHA, PRIOR)
    data, logs = Documents.from_matrix(rows), sampler._logs(len(rows))
    places, state, row = n_components or 1, np.uint64(derive_key(seed, "sweep")), 0
    while row < len(rows):
        labels, places = sampler._with_room(labels, places)
        sizes, ones = _statistics(data, labels, places)
        row, state = sweep(
            data.indptr, data.words, labels, sizes, ones, ALPHA, n_components is None, logs, row, np.uint64(state)
        )
    return labels


@pytest.mark.parametrize("n_components", [None, 3])
def test_partitions_have_their_posterior_probabilities(n_components):
    """6,000 sweeps over four rows, which forget within a few: shares of 15 partitions.

    With an autocorrelation time of at most 4 sweeps, 5 standard errors are 5 sqrt(4 p (1 - p) / 6,000); a chance of
    failing under 1e-5.
    """
    exact, n = _posterior(n_components), 6_000
    found, labels = Counter(), np.zeros(len(ROWS), np.int64)
    for number in range(n):
        labels = _sweep_once(ROWS, n_components, labels, number)
        found[_partition(labels)] += 1
    assert set(found) <= set(exact)
    for partition, chance in exact.items():
        assert abs(found[partition] / n - chance) < 5 * np.sqrt(4 * chance * (1 - chance) / n)


@pytest.mark.parametrize("n_components", [None, 4])
def test_geweke_joint_distribution(n_components, monkeypatch):
    """Alternate rows | labels and labels | rows: labels must keep the distribution of their prior.

    The number of components in use among 12 rows, and of pairs of rows that share one, over 6,000 rounds; an
    autocorrelation time of at most 10 rounds and 5 standard errors, a chance of failing under 2e-6. With one spare
    place, sweeps of the infinite form stop and go on many times.
    """
    monkeypatch.setattr(collapsed_gibbs, "_ROOM", 1)
    rng, n, rounds = np.random.default_rng(0), 12, 6_000
    labels, used, together = np.zeros(n, np.int64), [], []
    for number in range(rounds):
        probabilities = rng.beta(*PRIOR, (labels.max() + 1, 3))
        rows = (rng.random((n, 3)) < probabilities[labels]).astype(int)
        labels = _sweep_once(rows, n_components, labels, number)
        sizes = np.bincount(labels)
        used.append(np.count_nonzero(sizes))
        together.append((sizes * (sizes - 1)).sum() / (n * (n - 1)))
    share = 1 / (1 + ALPHA)  # that two rows of a Chinese restaurant sit together
    if n_components is None:
        expected = (ALPHA / (ALPHA + np.arange(n))).sum()
    else:
        each = ALPHA / n_components
        absent = np.exp(special.gammaln(ALPHA) - special.gammaln(ALPHA + n) + special.gammaln(ALPHA - each + n)
                        - special.gammaln(ALPHA - each))  # fmt: skip
        expected, share = n_components * (1 - absent), (1 + each) / (1 + ALPHA)
    for values, mean in ((np.array(used), expected), (np.array(together), share)):
        assert abs(values.mean() - mean) < 5 * values.std() * np.sqrt(10 / rounds)


def test_two_groups_are_found_and_predicted():
    rng = np.random.default_rng(1)
    truth = np.where(np.arange(10) < 5, [[0.9], [0.1]], [[0.1], [0.9]])
    rows = (rng.random((200, 10)) < truth[np.repeat([0, 1], 100)]).astype(int)
    for n_components in (None, 20):
        model = CollapsedGibbsBernoulliMixture(n_components, 1.0, sweeps=60, kept=20).fit(rows)
        assert len(model.history_) == 60
        assert abs(np.corrcoef(model.labels_ == model.labels_[0], np.repeat([1, 0], 100))[0, 1]) > 0.9
        everything = np.array(list(product((0, 1), repeat=10)))
        assert np.exp(model.score_samples(everything)).sum() == pytest.approx(1.0)


def test_bad_input_gets_a_clear_error():
    with pytest.raises(ValueError, match="needs zeros and ones"):
        CollapsedGibbsBernoulliMixture().fit(np.array([[2, 0]]))
    with pytest.raises(ValueError, match="kept must be from 1 to sweeps"):
        CollapsedGibbsBernoulliMixture(sweeps=5, kept=6).fit(ROWS)


def test_given_labels_are_where_it_starts():
    rows = np.repeat([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]], 30, axis=0)
    labels = np.repeat([3, 1], 30)
    for n_components in (5, None):
        sampler = CollapsedGibbsBernoulliMixture(n_components, 0.01, sweeps=1, kept=1).fit(rows, labels=labels)
        assert sampler.n_active_ == 2
    np.testing.assert_array_equal(labels, np.repeat([3, 1], 30))
    for bad in (labels[:5], labels - 2, labels + 2, labels + 0.5):
        with pytest.raises(ValueError, match="labels must be a whole number from 0 to 4 for each of 60 rows"):
            CollapsedGibbsBernoulliMixture(5).fit(rows, labels=bad)


def test_posterior_means_average_the_kept_sweeps():
    rows = np.random.default_rng(0).integers(0, 2, (50, 6))
    sampler = CollapsedGibbsBernoulliMixture(4, sweeps=12, kept=6).fit(rows)
    weights, means = sampler.posterior_means()
    assert weights.sum() == pytest.approx(1.0)
    assert means.shape == (4, 6)
    assert np.all((means > 0) & (means < 1))
    with pytest.raises(ValueError, match="their means have no average"):
        CollapsedGibbsBernoulliMixture(None, sweeps=2, kept=1).fit(rows).posterior_means()

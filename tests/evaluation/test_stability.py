import itertools

import numpy as np
import pytest

from ssvi.evaluation.stability import agreement, stability


def test_agreement_is_the_best_of_all_pairings():
    rng = np.random.default_rng(0)
    first, second = rng.gamma(0.3, size=(4, 9)), rng.gamma(0.3, size=(5, 9))

    def cosine(a, b):
        return a @ b / np.sqrt((a @ a) * (b @ b))

    best = max(
        sum(cosine(first[k], second[j]) for k, j in enumerate(order)) for order in itertools.permutations(range(5), 4)
    )
    assert agreement(first, second) == pytest.approx(best / 5)
    assert agreement(second, first) == pytest.approx(best / 5)
    assert agreement(first, 3.0 * first[[2, 0, 3, 1]]) == pytest.approx(1.0)
    assert agreement(np.zeros((2, 3)), np.ones((2, 3))) == 0.0


def test_stability_is_the_mean_over_pairs_of_fits():
    a, b = np.eye(2), np.array([[1.0, 0.0], [1.0, 0.0]])
    assert stability([a, a, b]) == pytest.approx((1.0 + 0.5 + 0.5) / 3)
    assert stability([a]) is None

import mpmath as mp
import numpy as np
import pytest

from ssvi.families.dirichlet import Dirichlet


@pytest.mark.parametrize(
    "lam",
    [[1e8, 1e-6], [1e4, 1e-8], [1e8, 1e6], [1e8, 1e-6, 1e-3, 5.0], [10.0, 0.9], [10.0, 1.1], [1e-6, 1e-6, 2e-6]],
    ids=str,
)
def test_fisher_solve_where_one_coordinate_holds_almost_everything(lam):
    """The plain Sherman-Morrison denominator loses all its digits here."""
    with mp.workdps(60):
        values = [mp.mpf(value) for value in lam]
        shared = mp.psi(1, sum(values))
        matrix = mp.matrix(len(lam), len(lam))
        for i, value in enumerate(values):
            for j in range(len(lam)):
                matrix[i, j] = (mp.psi(1, value) if i == j else 0) - shared
        x = [1.3, -0.7, 0.2, 0.9][: len(lam)]
        exact = [float(value) for value in mp.lu_solve(matrix, mp.matrix(x))]
    np.testing.assert_allclose(Dirichlet().fisher_solve(np.array([lam]), np.array([x]))[0], exact, rtol=1e-9)


def test_one_outcome_has_nothing_to_learn():
    lam, x = np.array([[2.5]]), np.array([[4.0]])
    draw = Dirichlet().draw(lam, np.array([1], dtype=np.uint64))
    assert draw.stats.tolist() == [[0.0]]
    assert Dirichlet().natural_correction(lam, draw, x).tolist() == [[0.0]]

"""What every estimator does with sparse data that is untidy, or not sound."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils import get_tags
from tests.batches.test_matrices import UNSOUND, made

from ssvi.estimators.registry import estimators

KINDS = [kind for kind in estimators().values() if get_tags(kind()).input_tags.sparse]
ROWS = np.random.default_rng(0).integers(0, 2, (30, 5))
METHODS = ("transform", "predict", "predict_proba", "score_samples", "score", "partial_fit", "perplexity")


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def estimator(request):
    return request.param(3, max_iter=2, random_state=0)


def _untidy(dense, dtype=float):
    """Return a CSR matrix with each row's columns backwards, and around each value v: v + 2, a zero, and -2."""
    data, indices, indptr = [], [], [0]
    for row in dense:
        for column in reversed(range(dense.shape[1])):
            data += [row[column] + 2, 0, -2]
            indices += [column] * 3
        indptr.append(len(data))
    return made(sparse.csr_matrix, data, indices, indptr, dense.shape, dtype)


def _results(estimator, rows):
    estimator.fit(rows)
    methods = [name for name in METHODS if hasattr(estimator, name) and name != "partial_fit"]
    return [np.asarray(getattr(estimator, name)(rows)) for name in methods]


@pytest.mark.parametrize("dtype", [float, np.int64])
def test_entries_of_one_place_add_up_before_anything_else(estimator, dtype):
    """Such as binarising: 1 + 1 is not two ones, and 2 - 2 is none."""
    matrix = _untidy(ROWS, dtype)
    before = [part.copy() for part in (matrix.data, matrix.indices, matrix.indptr)]
    for got, wanted in zip(_results(estimator, matrix), _results(estimator, ROWS), strict=True):
        np.testing.assert_array_equal(got, wanted)
    for old, new in zip(before, (matrix.data, matrix.indices, matrix.indptr), strict=True):
        np.testing.assert_array_equal(new, old)


def test_truths_of_one_place_are_one_truth(estimator):
    twice = made(sparse.csr_array, [True] * 4, [0, 0, 1, 2], [0, 2, 3, 4], (3, 3), bool)
    for got, wanted in zip(_results(estimator, twice), _results(estimator, np.eye(3, dtype=bool)), strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_a_matrix_that_is_not_sound_is_refused_by_every_method_and_changes_nothing(estimator):
    for matrix, message in UNSOUND.values():
        fresh, wanted = type(estimator)(3, max_iter=2), rf"^the sparse matrix has .*{message}[^.]*\.$"
        with pytest.raises(ValueError, match=wanted):
            fresh.fit(matrix)
        assert not hasattr(fresh, "n_features_in_")
        fitted = estimator.fit(np.ones((6, matrix.shape[1])))
        state = fitted._state
        for name in METHODS:
            if hasattr(fitted, name):
                with pytest.raises(ValueError, match=wanted):
                    getattr(fitted, name)(matrix)
        assert fitted._state is state

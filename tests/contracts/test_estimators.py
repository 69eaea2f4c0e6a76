"""Our contract and scikit-learn's own, for every estimator of the package."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

from ssvi.estimators.registry import estimators
from ssvi.estimators.sequences import SequenceEstimator
from ssvi.testing.estimators import CHECKS, Case


def _of(kind):
    """Return an estimator whose fits are short: few passes, and from one start."""
    cheap = {"max_iter": 2, "n_init": 1}
    return kind(**{name: cheap[name] for name in cheap.keys() & kind().get_params().keys()})


ESTIMATORS = [_of(kind) for kind in estimators().values()]
SPARSE = [estimator for estimator in ESTIMATORS if get_tags(estimator).input_tags.sparse]

# With sparse input, scikit-learn takes all that has `predict_proba` for a classifier of its four classes.
_FOR_CLASSIFIERS = dict.fromkeys(
    ("check_estimator_sparse_array", "check_estimator_sparse_matrix"), "asks for the probabilities of four classes"
)


_FOR_ROWS_ALONE = {
    "check_methods_sample_order_invariance": "rows are time points, whose order matters",
    "check_methods_subset_invariance": "what is said of a time point depends on the rest of its sequence",
}


def _with_targets(estimator):
    """Return an estimator of sequences whose second argument is y, as scikit-learn has it, and not the lengths."""
    kind = type(estimator)

    class WithTargets(kind):
        def fit(self, X, y=None):
            return super().fit(X)

        def partial_fit(self, X, y=None):
            return super().partial_fit(X)

        def score(self, X, y=None):
            return super().score(X)

    WithTargets.__name__ = WithTargets.__qualname__ = kind.__name__
    globals()[kind.__name__] = WithTargets  # where a pickle looks for it
    return WithTargets(**estimator.get_params(deep=False))


@pytest.fixture(scope="module", params=ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def case(request):
    return Case.of(request.param, None, 0)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("_check_"))
def test_estimator(case, check):
    check(case)


@pytest.mark.filterwarnings("ignore")  # the checks feed it things that scikit-learn itself warns of
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_check_estimator_passes_with_no_skipped_check(estimator):
    sparse_mixture = hasattr(estimator, "predict_proba") and not is_classifier(estimator)
    expected = dict(_FOR_CLASSIFIERS if sparse_mixture else {})
    if isinstance(estimator, SequenceEstimator):
        expected |= _FOR_ROWS_ALONE
        estimator = _with_targets(estimator)
    results = check_estimator(estimator, on_fail="raise", on_skip=None, expected_failed_checks=expected)
    assert len(results) >= 40  # one less where missing entries are accepted
    left_out = [result["check_name"] for result in results if result["status"] != "passed"]
    assert left_out == [name for name in left_out if name in expected]


@pytest.mark.parametrize("estimator", SPARSE, ids=lambda estimator: type(estimator).__name__)
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_every_form_of_sparse_data_gives_what_dense_data_gives(estimator, form):
    counts = np.random.default_rng(0).integers(0, 2, (40, 6))
    methods = [name for name in ("transform", "predict", "predict_proba", "score_samples") if hasattr(estimator, name)]
    dense = estimator.set_params(random_state=0).fit(counts)
    expected = [getattr(dense, name)(counts) for name in methods]
    for container in (sparse.csr_array, sparse.csr_matrix):
        matrix = container(counts).asformat(form)
        fitted = estimator.fit(matrix)
        for name, value in zip(methods, expected, strict=True):
            np.testing.assert_array_equal(getattr(fitted, name)(matrix), value)

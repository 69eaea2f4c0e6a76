"""scikit-learn's own contract, for every estimator of the package."""

import pytest
from sklearn.utils.estimator_checks import check_estimator

import ssvi

ESTIMATORS = [getattr(ssvi, name)(max_iter=2) for name in ssvi.__all__ if not name.startswith("_")]


@pytest.mark.filterwarnings("ignore")  # the checks feed it things that scikit-learn itself warns of
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_check_estimator_passes_with_no_skipped_check(estimator):
    results = check_estimator(estimator, on_fail="raise", on_skip=None)
    assert len(results) > 40
    assert [result["check_name"] for result in results if result["status"] != "passed"] == []

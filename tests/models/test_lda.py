import numpy as np
import pytest

from ssvi.models.lda import LARGEST_ALPHA, LDA, SMALLEST_ALPHA


@pytest.mark.parametrize("alpha", [[0.1, 1e-22], [1e39, 0.1], [0.1, np.nan], [0.0, 0.1], [[0.1, 0.1]], 0.1])
def test_a_prior_that_local_steps_cannot_work_with_is_refused_in_one_sentence(alpha):
    with pytest.raises(ValueError, match=r"alpha must be a number from 1e-10 to 1e\+10 for each topic, not "):
        LDA(3, np.array(alpha), 0.1)


def test_the_ends_of_the_range_are_in_it():
    assert LDA(3, np.array([SMALLEST_ALPHA, LARGEST_ALPHA]), 0.1).n_topics == 2

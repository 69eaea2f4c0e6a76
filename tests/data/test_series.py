import numpy as np

from ssvi.data.series import nile, sunspots


def test_the_series_are_whole():
    """Sums over all years, against the tables that come with R."""
    assert (len(nile()), nile().sum()) == (100, 91_935.0)
    assert len(sunspots()) == 289
    np.testing.assert_allclose(sunspots().sum(), 14_049.3)

import numpy as np
import pytest

from ssvi.experiments import spectra


def test_spectra_are_positive_of_mean_one_and_unlike_each_other():
    found = spectra.dictionary(np.random.default_rng(0), 12, 257, 0.5)
    assert found.shape == (12, 257)
    assert np.all(found > 0)
    np.testing.assert_allclose(found.mean(axis=1), 1.0)
    correlations = np.corrcoef(found) - np.eye(12)
    assert correlations.max() < 0.5


def test_a_spectrum_has_lines_at_the_multiples_of_its_pitch():
    """The autocorrelation of a spectrum has its first peak at the pitch, which is from 90 to 300 Hz."""
    for seed in range(5):
        levels = np.log(spectra.spectrum(np.random.default_rng(seed), 2_001))  # 4 Hz a place
        detail = levels - np.convolve(levels, np.ones(151) / 151, "same")
        shifted = np.correlate(detail, detail, "full")[len(detail) - 1 :]
        pitch = 4.0 * (15 + np.argmax(shifted[15:90]))
        expected = _pitch(seed)
        assert min(abs(pitch - multiple * expected) for multiple in (1, 2, 3)) < 12


def _pitch(seed):
    """The fourteenth number drawn: after a frequency and a width for each of five formants."""
    rng = np.random.default_rng(seed)
    previous = 0.0
    for low, high, _ in spectra._FORMANTS:
        previous = rng.uniform(max(low, previous + 200.0), high)
        rng.uniform(50.0, 100.0)
    return rng.uniform(90.0, 300.0)


def test_too_many_unlike_spectra_cannot_be_had(monkeypatch):
    monkeypatch.setattr(spectra, "_TRIES", 50)
    with pytest.raises(ValueError, match=r"among 50 spectra there were only \d+ with pair correlations below 0.1"):
        spectra.dictionary(np.random.default_rng(0), 40, 64, 0.1)

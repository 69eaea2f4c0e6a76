"""Merging components of the factorisation."""

import numpy as np

from ssvi.models.gamma_process_nmf import GammaProcessNMF

RNG = np.random.default_rng(0)
MODEL = GammaProcessNMF(30, 5, 0.25, 0.2, 1.0, 1.0)


def _parameters():
    """Components 0 and 3 are alike but for noise, 1 and 2 are not, and 4 is a copy of 1 that holds nothing."""
    spectra = RNG.gamma(0.5, 2.0, (5, 30)) + 0.01
    spectra[3] = spectra[0] * RNG.uniform(0.97, 1.03, 30)
    spectra[4] = spectra[1]
    strength = np.array([300.0, 200.0, 400.0, 100.0, 0.02])
    weights = np.stack([strength, strength / np.array([0.3, 0.2, 0.4, 0.1, 1e-3])], axis=-1)
    return {"weights": weights, "dictionary": np.stack([50.0 * spectra, np.full((5, 30), 50.0)], axis=-1)}


def test_components_that_are_alike_become_one_and_the_total_stays():
    before = _parameters()
    after = MODEL.merged(before, 0.9, 1e-3)
    weights, old = MODEL.mean_weights(after), MODEL.mean_weights(before)
    np.testing.assert_allclose(weights[0], old[0] + old[3])
    spectra, originals = MODEL.mean_dictionary(after), MODEL.mean_dictionary(before)
    np.testing.assert_allclose(spectra[0], 0.75 * originals[0] + 0.25 * originals[3])
    assert after["weights"][0, 0] == 300.0 + 100.0 - 0.2
    np.testing.assert_array_equal(after["weights"][3], [0.2, 1.0])
    np.testing.assert_array_equal(after["dictionary"][3], np.full((30, 2), 0.25))
    for untouched in (1, 2, 4):
        for name in before:
            np.testing.assert_array_equal(after[name][untouched], before[name][untouched])


def test_nothing_alike_nothing_done():
    before = _parameters()
    after = MODEL.merged(before, 0.9999, 1e-3)
    for name in before:
        np.testing.assert_array_equal(after[name], before[name])


def test_flat_spectra_and_a_single_component_are_no_trouble():
    model = GammaProcessNMF(1, 3)
    start = model.init(np.random.default_rng(0))
    np.testing.assert_array_equal(model.merged(start, 0.9, 0.0)["weights"], start["weights"])
    single = GammaProcessNMF(4, 1)
    start = single.init(np.random.default_rng(0))
    np.testing.assert_array_equal(single.merged(start, 0.9, 0.0)["weights"], start["weights"])

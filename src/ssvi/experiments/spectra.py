"""Synthetic magnitude spectra that resemble speech sounds, by the source-filter model."""

from __future__ import annotations

import numpy as np

from ssvi.typing import Array

_RATE = 16_000.0  # samples a second: the last of the frequencies is half of it
_LINE_WIDTH = 25.0  # Hz, of a harmonic seen through the window of a short-time spectrum
_VALLEY = 0.03  # the level between harmonics
_FLOOR = 1e-3  # the background, relative to the peak
_TRIES = 100_000
# The range of each formant's frequency in Hz, and the factor of its bandwidth.
_FORMANTS = ((250, 900, 1.0), (800, 2_500, 1.5), (2_200, 3_400, 2.0), (3_500, 4_500, 2.5), (4_700, 6_500, 3.0))


def dictionary(rng: np.random.Generator, sounds: int, frequencies: int, most_alike: float) -> Array:
    """Return spectra (sounds x frequencies) of mean 1, no two of which have a correlation of `most_alike` or more."""
    found: list[Array] = []
    for _ in range(_TRIES):
        candidate = spectrum(rng, frequencies)
        if all(np.corrcoef(candidate, other)[0, 1] < most_alike for other in found):
            found.append(candidate)
        if len(found) == sounds:
            return np.array(found)
    raise ValueError(
        f"among {_TRIES} spectra there were only {len(found)} with pair correlations below {most_alike}, and {sounds} "
        "were wanted: allow higher correlations, or want fewer."
    )


def spectrum(rng: np.random.Generator, frequencies: int) -> Array:
    """Return the magnitude spectrum of a voiced sound: the harmonics of a pitch, filtered by five formants in a row."""
    hertz = np.maximum(np.linspace(0.0, _RATE / 2, frequencies), 1.0)
    gain = np.minimum(1.0, hertz / 300.0) * np.sqrt(1.0 + (hertz / 6_500.0) ** 4)  # lips; resonances beyond the range
    previous = 0.0
    for low, high, factor in _FORMANTS:
        previous = rng.uniform(max(low, previous + 200.0), high)
        gain = gain * _resonance(hertz, previous, factor * rng.uniform(50.0, 100.0))
    pitch = rng.uniform(90.0, 300.0)
    harmonics = pitch * np.arange(1, int(_RATE / 2 / pitch) + 1)
    lines = np.exp(-0.5 * ((hertz[:, None] - harmonics) / _LINE_WIDTH) ** 2).sum(axis=1)
    shape = gain * (lines + _VALLEY)
    shape = np.maximum(shape, _FLOOR * shape.max())
    result: Array = shape / shape.mean()
    return result


def _resonance(hertz: Array, centre: float, width: float) -> Array:
    """Return the gain of a second-order filter."""
    ratio = hertz / centre
    gain: Array = 1.0 / np.sqrt((1.0 - ratio**2) ** 2 + (ratio * width / centre) ** 2)
    return gain

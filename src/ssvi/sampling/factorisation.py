"""A Gibbs sampler of Gamma-process factorisations, in plain NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ssvi.batches.frames import Frames
from ssvi.models.gamma_process_nmf import GammaProcessNMF
from ssvi.numerics.random import derive_key
from ssvi.sampling.chains import Chain
from ssvi.typing import Array

_SMALLEST = 1e-300  # of gamma variables that may have underflowed


def check_frames(data: Frames) -> None:
    """Raise one clear sentence unless all entries are counts, which is what a sampler divides among components."""
    counts = data.values.tight().counts
    if not np.all(counts == np.floor(counts)):
        raise ValueError(
            "a factorisation can be sampled for counts only, since each is divided among components, and X has "
            "numbers that are not whole: posterior_draws() has draws of q for them."
        )


def sample_factorisation(
    model: GammaProcessNMF,
    data: Frames,
    start: Mapping[str, Array],
    chain: Chain,
    seed: int,
    after_sweep: Callable[[], None],
) -> dict[str, Array]:
    """Draw the split of each count, activations, weights and dictionary in turn, each given all others, and scales."""
    check_frames(data)
    rng = np.random.default_rng(derive_key(seed, "factorisation"))
    counts, missing = data.values.to_matrix().tocoo(), data.missing.to_matrix()
    rows, columns, entries = counts.row, counts.col, counts.data.astype(np.int64)
    a, b = model.dictionary_shape, model.activation_shape
    share, rate = model.concentration / model.n_components, model.concentration * model.inverse_scale
    weights, dictionary = (np.maximum(start[name], _SMALLEST) for name in ("weights", "dictionary"))
    activations = rng.gamma(b, 1.0 / b, (len(data), model.n_components)) + _SMALLEST
    kept: dict[str, list[Array]] = {"weights": [], "dictionary": []}
    for sweep in range(1, chain.sweeps + 1):
        means = weights * activations[rows] * dictionary[:, columns].T
        splits = rng.multinomial(entries, means / means.sum(axis=1, keepdims=True))
        of_frames, of_features = np.zeros(activations.shape), np.zeros(dictionary.T.shape)
        np.add.at(of_frames, rows, splits)
        np.add.at(of_features, columns, splits)
        # What is missing has no part in the means: frames see a part of the dictionary, features a part of the frames.
        seen = dictionary.sum(axis=1) - missing @ dictionary.T
        activations = _gamma(rng, b + of_frames, b + weights * seen)
        exposure = (activations * seen).sum(axis=0)
        weights = _gamma(rng, share + of_frames.sum(axis=0), rate + exposure)
        exposed = activations.sum(axis=0)[:, None] - (missing.T @ activations).T
        dictionary = _gamma(rng, a + of_features.T, a + weights[:, None] * exposed)
        # Only products are seen in the data, so that scales would move by small steps.
        shift = _rescaling(rng, (share, rate * weights), (a * dictionary.shape[1], a * dictionary.sum(axis=1)))
        weights, dictionary = weights * shift, dictionary / shift[:, None]
        shift = _rescaling(rng, (share, rate * weights), (b * len(data), b * activations.sum(axis=0)))
        weights, activations = weights * shift, activations / shift
        if chain.keeps(sweep):
            kept["weights"].append(weights)
            kept["dictionary"].append(dictionary)
        after_sweep()
    return {name: np.stack(draws) for name, draws in kept.items()}


def _rescaling(rng: np.random.Generator, up: tuple[float, Array], down: tuple[float, Array]) -> Array:
    """Return a factor c for each component, by a Metropolis step from c = 1.

    One gamma variable of each component is multiplied by c and some others are divided by it, so that their product
    stays. Each side is given by the sum of its shapes and that of its rates times values.
    """
    step = rng.normal(size=up[1].shape) * 2.0 / np.sqrt(up[0] + down[0])
    c = np.exp(step)
    log_ratio = (up[0] - down[0]) * step - up[1] * (c - 1.0) - down[1] * (1.0 / c - 1.0)
    return np.where(np.log(rng.random(step.shape)) < log_ratio, c, 1.0)


def _gamma(rng: np.random.Generator, shape: Array, rate: Array) -> Array:
    """Draw gamma variables."""
    return np.asarray(np.maximum(rng.gamma(shape) / rate, _SMALLEST))

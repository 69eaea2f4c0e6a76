"""Poisson factorisation with a gamma process prior of the components' weights (GaP-KL-NMF; Nakano et al. 2011)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ssvi.batches.frames import Frames
from ssvi.families.gamma import Gamma
from ssvi.families.learned import Usual
from ssvi.local_steps.base import LocalResult, Part
from ssvi.models.base import Block, Model, check_learned
from ssvi.models.merging import near_copies
from ssvi.models.quantities import Quantities, Quantity
from ssvi.typing import Array

SMALLEST_SHAPE, LARGEST_SHAPE = 1e-3, 1e3  # of an activation shape that is learned


@dataclass(frozen=True)
class GammaProcessNMF(Model):
    """W_kf ~ Gamma(a, a), H_nk ~ Gamma(b, b), theta_k ~ Gamma(alpha / K, alpha c), Y_nf ~ Poisson(sum theta W H).

    Blocks: `weights` (K x 2, theta) and `dictionary` (K x F x 2, W). A frame n is a row of Y, its activations H_n are
    local. With alpha fixed and K large, theta approaches a gamma process: a few weights matter, all others are near 0.
    The two blocks are conjugate each given the other, so each one's statistics are formed at the other's view.

    Attributes
    ----------
    n_features : int
        F.
    n_components : int
        K.
    dictionary_shape : float
        a.
    activation_shape : float
        b.
    concentration : float
        alpha.
    inverse_scale : float
        c: under the prior an entry of Y has mean 1 / c.
    start_shape : float
        The dictionary starts at gamma draws of this shape and mean 1.
    learned : names among those of the four hyperparameters
        What a fit learns; the values given are where it starts.

    """

    n_features: int
    n_components: int
    dictionary_shape: float = 0.25
    activation_shape: float = 0.2
    concentration: float = 1.0
    inverse_scale: float = 1.0
    start_shape: float = 100.0
    learned: tuple[str, ...] = ()

    name = "gamma_process_nmf"
    learnable = ("activation_shape",)

    def __post_init__(self) -> None:
        check_learned(self)

    def blocks(self) -> Mapping[str, Block]:
        """Return the weights and the dictionary."""
        a, alpha = self.dictionary_shape, self.concentration
        weights = np.array([alpha / self.n_components, alpha * self.inverse_scale])
        return {
            "weights": Block(Gamma(), weights, (self.n_components, 2)),
            "dictionary": Block(Gamma(), np.array([a, a]), (self.n_components, self.n_features, 2)),
        }

    def learn(
        self, views: Mapping[str, Array | Part], result: LocalResult, step_size: float, sweeps: float = np.inf
    ) -> dict[str, Array]:
        """Return b, if it is learned, moved by a share rho^0.5 towards what the frames of a minibatch say of it.

        For any b' the log probability of a frame is at least const + T log b' - b' S, with T and S at b in the
        statistics `tables`; so b' = T / S makes it grow.
        """
        if "activation_shape" not in self.learned:
            return {}
        tables, slopes = result.eta_hat["tables"]
        b = self.activation_shape
        if slopes > 0 and tables > 0 and sweeps >= 1.0:
            b = min(max(b + step_size**0.5 * (tables / slopes - b), SMALLEST_SHAPE), LARGEST_SHAPE)
        return {"activation_shape": np.array(float(b))}

    def usual_numbers(self) -> Mapping[str, Usual]:
        """Return a, alpha and c."""
        return {"dictionary_shape": Usual(1.0), "concentration": Usual(1.0), "inverse_scale": Usual()}

    def init(self, rng: np.random.Generator) -> dict[str, Array]:
        """Return lambda at random: all weights alike, all spectra flat but for noise, as if of a hundred counts."""
        level = rng.gamma(self.start_shape, 1.0 / self.start_shape, (self.n_components, self.n_features))
        strength = 100.0
        shape = np.full(self.n_components, strength)
        return {
            "weights": np.stack([shape, shape * self.n_components * self.inverse_scale], axis=-1),
            "dictionary": np.stack([strength * np.maximum(level, 1e-3), np.full_like(level, strength)], axis=-1),
        }

    def mean_weights(self, parameters: Mapping[str, Array]) -> Array:
        """Return E_q[theta]."""
        lam = parameters["weights"]
        weights: Array = lam[..., 0] / lam[..., 1]
        return weights

    def mean_dictionary(self, parameters: Mapping[str, Array]) -> Array:
        """Return E_q[W], components x features."""
        lam = parameters["dictionary"]
        dictionary: Array = lam[..., 0] / lam[..., 1]
        return dictionary

    def counts_held(self, parameters: Mapping[str, Array]) -> Array:
        """Return how much of the data's total each component accounts for, as far as q's weights tell."""
        held: Array = np.maximum(parameters["weights"][:, 0] - self.concentration / self.n_components, 0.0)
        return held

    def summarize(self, parameters: Mapping[str, Array]) -> tuple[Array, Array, Array]:
        """Return each component's share of the total, its spectrum with a sum of 1, and its deviations under q."""
        held, rows = self.counts_held(parameters), self.mean_dictionary(parameters)
        sums = np.maximum(rows.sum(axis=1, keepdims=True), 1e-300)
        return held / held.sum(), rows / sums, Gamma().deviations(parameters["dictionary"]) / sums

    def merged(self, parameters: Mapping[str, Array], alike: float, share: float) -> dict[str, Array]:
        """Return lambda with one component for all whose spectra have a correlation of `alike` or more.

        Draws can split a component into two that are the same but for noise, and then nothing pulls these together:
        each frame is divided between them by chance. The larger takes over the counts of the other, which goes back to
        the prior. Components with less than a share `share` of all counts are left alone.
        """
        new = {name: value.copy() for name, value in parameters.items()}
        held, means = self.counts_held(parameters), self.mean_dictionary(parameters)
        order = [int(k) for k in np.argsort(-held) if held[k] >= share * held.sum() and means[k].std() > 0]
        if order:
            likeness = np.atleast_2d(np.corrcoef(means[order]))
            for into, other in near_copies(likeness, range(len(order)), alike):
                self._merge(new, order[into], order[other])
        return new

    def _merge(self, parameters: dict[str, Array], into: int, other: int) -> None:
        """Give a component the counts of another, in place: shapes add up, and so do the components' means."""
        shapes = parameters["weights"][:, 0]
        share = shapes[into] / (shapes[into] + shapes[other])
        parts = {"weights": (1.0, 1.0), "dictionary": (share, 1.0 - share)}
        for name, block in self.blocks().items():
            lam = parameters[name]
            shape = lam[into, ..., 0] + lam[other, ..., 0] - block.prior[0]
            first, second = (lam[k, ..., 0] / lam[k, ..., 1] for k in (into, other))
            mean = parts[name][0] * first + parts[name][1] * second
            lam[into] = np.stack([shape, shape / mean], axis=-1)
            lam[other] = block.prior

    def statistics(self, weights: Array, dictionary: Array) -> dict[str, Array]:
        """Return t of some weights and spectra, each in the shape of its block."""
        with np.errstate(divide="ignore"):
            return {
                "weights": np.stack([np.log(weights), -weights], axis=-1),
                "dictionary": np.stack([np.log(dictionary), -dictionary], axis=-1),
            }

    def quantities(self, values: Mapping[str, Array]) -> Quantities:
        """Return the weights and the dictionary."""
        return {
            "weights": Quantity(values["weights"], ("component",)),
            "components": Quantity(values["dictionary"], ("component", "feature")),
        }

    @classmethod
    def example(cls) -> GammaProcessNMF:
        """Return four components over nine features."""
        return cls(9, 4, 0.5, 0.6, 2.0, 0.1)

    def simulate(
        self, rng: np.random.Generator, n: int, *, values: Mapping[str, Array] | None = None
    ) -> tuple[dict[str, Array], Frames]:
        """Draw weights and dictionary, then n frames."""
        a, b, alpha, size = self.dictionary_shape, self.activation_shape, self.concentration, self.n_components
        if values is None:
            weights = rng.gamma(alpha / size, 1.0 / (alpha * self.inverse_scale), size)
            values = {"weights": weights, "dictionary": rng.gamma(a, 1.0 / a, (size, self.n_features))}
        activations = rng.gamma(b, 1.0 / b, (n, size))
        counts = rng.poisson((activations * values["weights"]) @ values["dictionary"])
        return dict(values), Frames.from_matrix(counts)

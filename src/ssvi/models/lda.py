"""Latent Dirichlet allocation: the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ssvi.batches.documents import Documents
from ssvi.families.dirichlet import Dirichlet
from ssvi.local_steps.base import LocalResult, Part
from ssvi.models.base import Block, Model
from ssvi.typing import Array

# Local steps are in single precision, and floors on the weights of words must stay below what alpha brings
# (docs/design.md): from here to there they do as they should.
SMALLEST_ALPHA, LARGEST_ALPHA = 1e-10, 1e10


def is_usable_alpha(alpha: Array) -> bool:
    """Tell whether every alpha is in the range that local steps can work with."""
    return bool(((alpha >= SMALLEST_ALPHA) & (alpha <= LARGEST_ALPHA)).all())


def usual_alpha(n_topics: int) -> float:
    """Return the alpha that predicts well on text of many kinds, for so many topics.

    The best one falls with the number of topics, but more slowly than 1 / K.
    """
    return float(0.1 * (50.0 / n_topics) ** 0.5)


@dataclass(frozen=True)
class LDA(Model):
    """beta_k ~ Dirichlet(eta), theta_d ~ Dirichlet(alpha), z ~ theta_d, w ~ beta_z.

    The one global block is `topics` (K x V); eta_n(w, z) counts how often each word has each topic.

    Attributes
    ----------
    n_words : int
        V.
    alpha : (K,)
        The prior of topic weights, or the start of it.
    eta : float, (V,) or (K, V)
        The prior of word probabilities: one number, or one for each word, or for each word in each topic.
    alpha_rule : {None, "shape", "symmetric", "asymmetric"}
        How alpha is learned: not at all; its shape, half way, with its sum kept (`learn`); or by maximum likelihood,
        equal for all topics or not (Minka's fixed point).

    """

    n_words: int
    alpha: Array
    eta: float | Array
    alpha_rule: str | None = None

    name = "lda"

    def __post_init__(self) -> None:
        alpha = np.asarray(self.alpha)
        if alpha.ndim != 1 or not is_usable_alpha(alpha):
            raise ValueError(
                f"alpha must be a number from {SMALLEST_ALPHA:g} to {LARGEST_ALPHA:g} for each topic, "
                f"not {self.alpha!r}."
            )

    @property
    def n_topics(self) -> int:
        """K."""
        return len(self.alpha)

    def hyperparameters(self) -> Mapping[str, Array]:
        """Return alpha, if it is learned."""
        return {} if self.alpha_rule is None else {"alpha": np.asarray(self.alpha, dtype=float)}

    def at(self, hyperparameters: Mapping[str, Array]) -> LDA:
        """Return the model with a learned alpha."""
        return replace(self, alpha=hyperparameters["alpha"]) if hyperparameters else self

    def learn(
        self, views: Mapping[str, Array | Part], result: LocalResult, step_size: float
    ) -> Mapping[str, Array] | None:
        """Return alpha, moved by a share rho towards what the documents of a minibatch say of it.

        Their expected numbers of tables T_k, and L, the sum of psi(n_d + sum alpha) - psi(sum alpha) over documents,
        make Minka's fixed point alpha_k = T_k / L. What predicts best is another alpha than the most probable one: that
        is small, and lets rare topics die. "shape" keeps the sum, and goes half way from equal weights to T's.
        """
        if self.alpha_rule is None:
            return None
        *tables, lengths = result.eta_hat["tables"]
        if not lengths > 0:  # a minibatch of empty documents
            return None
        target, alpha = np.array(tables) / lengths, np.asarray(self.alpha, dtype=float)
        if self.alpha_rule == "symmetric":
            target = np.full_like(alpha, target.mean())
        elif self.alpha_rule == "shape":
            target = alpha.sum() * (0.5 * target / target.sum() + 0.5 / len(alpha))
        return {"alpha": np.clip(alpha + step_size * (target - alpha), SMALLEST_ALPHA, LARGEST_ALPHA)}

    def blocks(self) -> Mapping[str, Block]:
        """Return the topics."""
        return {"topics": Block(Dirichlet(), self._prior, (self.n_topics, self.n_words))}

    @property
    def _prior(self) -> Array:
        """Eta, in a shape that broadcasts to topics x words."""
        return np.atleast_2d(np.asarray(self.eta, dtype=float))

    def init(self, rng: np.random.Generator) -> dict[str, Array]:
        """Return lambda near 1, a little different everywhere (Hoffman et al. 2010); more where a topic has more eta.

        Without that, topics would begin where chance has them, whatever their priors say.
        """
        lean = self._prior - self._prior.min(axis=0)
        return {"topics": rng.gamma(100.0, 0.01, (self.n_topics, self.n_words)) + lean}

    def mean_topics(self, parameters: Mapping[str, Array]) -> Array:
        """Return E_q[beta], topics x words; rows sum to 1."""
        lam = parameters["topics"]
        topics: Array = lam / lam.sum(axis=1, keepdims=True)
        return topics

    def summarize(self, parameters: Mapping[str, Array]) -> tuple[Array, Array, Array]:
        """Return each topic's share of the words, its word probabilities, and their standard deviations under q."""
        lam = parameters["topics"]
        return lam.sum(axis=1) / lam.sum(), self.mean_topics(parameters), Dirichlet().deviations(lam)

    @classmethod
    def example(cls) -> LDA:
        """Return four topics over thirty words."""
        return cls(30, np.full(4, 0.3), 0.1)

    def simulate(
        self, rng: np.random.Generator, n: int, length: float = 50.0, *, values: Mapping[str, Array] | None = None
    ) -> tuple[dict[str, Array], Documents]:
        """Draw topics, then n documents of Poisson(length) words each."""
        if values:
            topics = values["topics"]
        else:
            rows = np.broadcast_to(self._prior, (self.n_topics, self.n_words))
            topics = np.array([rng.dirichlet(row) for row in rows])
        counts = np.zeros((n, self.n_words), dtype=np.int64)
        for d in range(n):
            mixture = rng.dirichlet(self.alpha) @ topics
            counts[d] = rng.multinomial(rng.poisson(length), mixture / mixture.sum())
        return {"topics": topics}, Documents.from_matrix(counts)

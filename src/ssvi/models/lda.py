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

SMALLEST_ETA, LARGEST_ETA = 1e-6, 1e6  # of one that is learned
_LEAST_CURVATURE = 0.02  # of the likelihood of log eta, for each table: a minibatch may by chance have none

# Local steps are in single precision, and floors on the weights of words must stay below what alpha brings
# (docs/design.md): from here to there they do as they should.
SMALLEST_ALPHA, LARGEST_ALPHA = 1e-10, 1e10


def starting_alpha(n_topics: int) -> float:
    """Return where an alpha that is learned starts: high, since topics that are merged early are seldom parted."""
    return max(10.0 / n_topics, usual_alpha(n_topics))


USUAL_ALPHA_RULE = "symmetric"
"""What it means to learn alpha, where nobody says how."""


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
    eta : float
        The prior of word probabilities, or the start of it.
    alpha_rule : {None, "shape", "symmetric", "asymmetric"}
        How alpha is learned: not at all; its shape, half way, with its sum kept (`learn`); or by maximum likelihood,
        equal for all topics or not (Minka's fixed point).
    learns_eta : bool
        Whether eta is learned, by maximum likelihood.

    """

    n_words: int
    alpha: Array
    eta: float
    alpha_rule: str | None = None
    learns_eta: bool = False

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
        """Return alpha and eta, those of them that are learned."""
        learned = {} if self.alpha_rule is None else {"alpha": np.asarray(self.alpha, dtype=float)}
        return learned | {"eta": np.array(float(self.eta))} if self.learns_eta else learned

    def at(self, hyperparameters: Mapping[str, Array]) -> LDA:
        """Return the model with a learned alpha and eta."""
        eta = float(hyperparameters["eta"]) if "eta" in hyperparameters else self.eta
        return replace(self, alpha=hyperparameters.get("alpha", self.alpha), eta=eta) if hyperparameters else self

    def learn(
        self, views: Mapping[str, Array | Part], result: LocalResult, step_size: float, sweeps: float = 1.0
    ) -> Mapping[str, Array]:
        """Return alpha and eta, those of them that are learned.

        Their steps are of size rho^0.5, ahead of lambda's: a minibatch says much of a few numbers. eta waits for the
        end of the first sweep: until then topics are too alike to tell.
        """
        step_size = step_size if self.alpha_rule == "shape" else step_size**0.5
        learned = {} if self.alpha_rule is None else {"alpha": self._next_alpha(result, step_size)}
        if not self.learns_eta:
            return learned
        eta = self.eta if sweeps < 1.0 else self._next_eta(result, step_size)
        return learned | {"eta": np.array(float(eta))}

    def _next_eta(self, result: LocalResult, step_size: float) -> float:
        """Return eta after a share of Newton's step in log eta.

        Tokens of a topic come in tables, all of one word, as of a Polya urn: tables less their expected number are the
        slope of the likelihood of a minibatch's words given their topics (see `count_word_tables` for the four sums).
        """
        tables, squares, expected, expected_squares = result.eta_hat["word_tables"] * result.scale
        curvature = (expected - expected_squares) - (tables - squares)
        if not expected > 0:  # a minibatch of empty documents
            return self.eta
        step = np.clip((tables - expected) / max(curvature, _LEAST_CURVATURE * expected), -1.0, 1.0)
        return float(np.clip(self.eta * np.exp(step_size * step), SMALLEST_ETA, LARGEST_ETA))

    def _next_alpha(self, result: LocalResult, step_size: float) -> Array:
        """Return alpha, moved by a share towards what the documents of a minibatch say of it.

        Their expected numbers of tables T_k, and L, the sum of psi(n_d + sum alpha) - psi(sum alpha) over documents,
        make Minka's fixed point alpha_k = T_k / L. What predicts best is another alpha than the most probable one: that
        is small, and lets rare topics die. "shape" keeps the sum, and goes half way from equal weights to T's.
        """
        *tables, lengths = result.eta_hat["tables"]
        alpha = np.asarray(self.alpha, dtype=float)
        if not lengths > 0:  # a minibatch of empty documents
            return alpha
        target = np.array(tables) / lengths
        if self.alpha_rule == "symmetric":
            target = np.full_like(alpha, target.mean())
        elif self.alpha_rule == "shape":
            target = alpha.sum() * (0.5 * target / target.sum() + 0.5 / len(alpha))
        moved: Array = np.clip(alpha + step_size * (target - alpha), SMALLEST_ALPHA, LARGEST_ALPHA)
        return moved

    def blocks(self) -> Mapping[str, Block]:
        """Return the topics."""
        return {"topics": Block(Dirichlet(), np.full((1, 1), self.eta), (self.n_topics, self.n_words))}

    def init(self, rng: np.random.Generator) -> dict[str, Array]:
        """Return lambda near 1, a little different everywhere (Hoffman et al. 2010)."""
        return {"topics": rng.gamma(100.0, 0.01, (self.n_topics, self.n_words))}

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
        topics = values["topics"] if values else rng.dirichlet(np.full(self.n_words, self.eta), self.n_topics)
        counts = np.zeros((n, self.n_words), dtype=np.int64)
        for d in range(n):
            mixture = rng.dirichlet(self.alpha) @ topics
            counts[d] = rng.multinomial(rng.poisson(length), mixture / mixture.sum())
        return {"topics": topics}, Documents.from_matrix(counts)

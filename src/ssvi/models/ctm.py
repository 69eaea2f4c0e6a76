"""The correlated topic model (Blei and Lafferty 2007): topics that occur together, or keep apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import special

from ssvi.batches.documents import Documents
from ssvi.families.normal_wishart import NormalWishart
from ssvi.families.symmetric import pack, unpack
from ssvi.local_steps.base import LocalResult, Part
from ssvi.models.base import Block, Model, check_learned
from ssvi.models.lda import LDA
from ssvi.models.quantities import Quantities, Quantity, correlations_of
from ssvi.typing import Array

_FIRST_DOCUMENTS = 50.0  # that the start of mu and Sigma is worth
_FIRST_VARIANCE = 1.0  # of log weights at the start: topics form better before documents have made up their minds


@dataclass(frozen=True)
class CTM(Model):
    """beta_k ~ Dirichlet(eta), (mu, Lambda) ~ normal-Wishart, x_d ~ N(mu, Lambda^-1), z ~ softmax(x_d), w ~ beta_z.

    Blocks: `topics` (K x V) and `weights` (one normal-Wishart of K coordinates). A document's log weights x_d are
    local, and their conditional is of no known family: only the global parameters are conjugate.

    Adding a number to all log weights of a document changes nothing, so that Sigma = Lambda^-1 is known from data
    but for that. `covariance` and `correlations` are of what data tell: log weights less their mean over topics.

    Attributes
    ----------
    n_words : int
        V.
    n_topics : int
        K.
    eta : float, (V,) or (K, V)
        The prior of word probabilities, as LDA has it.
    variance : float
        E[Sigma] of the prior is this times the identity.
    mean_strength : float
        kappa of the prior: how many documents the prior mean, 0, of mu is worth.
    degrees : float or None
        nu of the prior; K + 2 by default, the fewest whole ones with which Sigma has a mean.
    learned : () or ("eta",)
        What a fit learns; the value given is where it starts.

    """

    n_words: int
    n_topics: int
    eta: float | Array
    variance: float = 1.0
    mean_strength: float = 1.0
    degrees: float | None = None
    learned: tuple[str, ...] = ()

    name = "ctm"
    learnable = ("eta",)

    def __post_init__(self) -> None:
        check_learned(self)
        _ = self._lda()  # which says what is wrong with eta
        if self.degrees is not None and not self.degrees > self.n_topics + 1:
            raise ValueError(
                f"degrees must be more than the number of topics + 1 = {self.n_topics + 1}, not {self.degrees!r}."
            )

    @property
    def family(self) -> NormalWishart:
        """The family of (mu, Lambda)."""
        return NormalWishart(self.n_topics)

    def blocks(self) -> Mapping[str, Block]:
        """Return the topics and the weights."""
        prior = self._weights_prior()[None]
        return {**self._lda().blocks(), "weights": Block(self.family, prior, prior.shape)}

    def _lda(self) -> LDA:
        """Return what this model has in common with LDA: its topics. Its alpha does not matter."""
        return LDA(self.n_words, np.ones(self.n_topics), self.eta, learns_eta=self.learns_eta)

    @property
    def learns_eta(self) -> bool:
        """Whether eta is learned."""
        return "eta" in self.learned

    def learn(
        self, views: Mapping[str, Array | Part], result: LocalResult, step_size: float, sweeps: float = np.inf
    ) -> Mapping[str, Array]:
        """Return eta, if it is learned, as LDA learns it."""
        return self._lda().learn(views, result, step_size, sweeps)

    def _weights_prior(self) -> Array:
        size = self.n_topics
        degrees = size + 2.0 if self.degrees is None else self.degrees
        scatter = (degrees - size - 1.0) * self.variance * np.eye(size)
        return self.family.natural(np.zeros(size), np.array(self.mean_strength), scatter, np.array(degrees))

    def init(self, rng: np.random.Generator) -> dict[str, Array]:
        """Return topics as LDA's, and weights as if some documents had log weights of the variance 1 around 0."""
        observed = self.said_of_weights(
            np.zeros(self.n_topics), _FIRST_VARIANCE * _FIRST_DOCUMENTS * np.eye(self.n_topics), _FIRST_DOCUMENTS
        )
        return {**self._lda().init(rng), "weights": (self._weights_prior() + observed)[None]}

    @staticmethod
    def said_of_weights(total: Array, squares: Array, documents: float) -> Array:
        """Return eta-hat of `weights`, from the sums of x_d and of x_d x_d^T over so many documents."""
        return np.concatenate([total, [documents], pack(squares), [documents]])

    def mean_topics(self, parameters: Mapping[str, Array]) -> Array:
        """Return E_q[beta], topics x words; rows sum to 1."""
        return self._lda().mean_topics(parameters)

    def moments(self, parameters: Mapping[str, Array]) -> tuple[Array, Array]:
        """Return the means of mu and of Sigma under q."""
        mean, _, scatter, degrees = self.family.standard(parameters["weights"][0])
        return mean, scatter / (degrees - self.n_topics - 1.0)

    def covariance(self, parameters: Mapping[str, Array]) -> Array:
        """Return the covariance of log weights less their mean over topics."""
        return self._centred(self.moments(parameters)[1])

    def centred_mean(self, parameters: Mapping[str, Array]) -> Array:
        """Return the mean of log weights less their mean over topics."""
        mean = self.moments(parameters)[0]
        result: Array = mean - mean.mean()
        return result

    @staticmethod
    def _centred(covariance: Array) -> Array:
        """Return the covariances of coordinates less their mean over coordinates."""
        over_rows = covariance.mean(axis=-1, keepdims=True)
        result: Array = covariance - over_rows - np.swapaxes(over_rows, -1, -2) + over_rows.mean(axis=-2, keepdims=True)
        return result

    def correlations(self, parameters: Mapping[str, Array]) -> Array:
        """Return the correlations of log weights less their mean over topics."""
        return correlations_of(self.covariance(parameters))

    def point_views(self, parameters: Mapping[str, Array]) -> dict[str, Array]:
        """Return t at the means of the topics, of mu and of Sigma under q."""
        mean, covariance = self.moments(parameters)
        values = np.concatenate([mean, pack(np.asarray(np.linalg.inv(covariance), dtype=float))])
        return {"topics": np.log(self.mean_topics(parameters)), "weights": self.family.statistics(values)[None]}

    def quantities(self, values: Mapping[str, Array]) -> Quantities:
        """Return the topics, and mean, covariance and correlations of log weights less their mean over topics."""
        found = self.family.named(values["weights"][:, 0])
        mean, covariance = found["mean"], self._centred(found["covariance"])
        square = ("topic", "other_topic")
        return {
            "topic_word": Quantity(values["topics"], ("topic", "word")),
            "topic_means": Quantity(mean - mean.mean(axis=-1, keepdims=True), ("topic",)),
            "topic_covariance": Quantity(covariance, square),
            "topic_correlations": Quantity(correlations_of(covariance), square),
        }

    @classmethod
    def example(cls) -> CTM:
        """Return three topics over twenty words."""
        return cls(20, 3, 0.3, degrees=12.0)

    @classmethod
    def identifiable(cls) -> CTM:
        """Return three topics that share few words."""
        return cls(30, 3, 0.05, degrees=12.0)

    def simulate(
        self, rng: np.random.Generator, n: int, length: float = 50.0, *, values: Mapping[str, Array] | None = None
    ) -> tuple[dict[str, Array], Documents]:
        """Draw topics, mu and Lambda, then n documents of Poisson(length) words each."""
        size = self.n_topics
        if values:
            topics, weights = values["topics"], values["weights"]
        else:
            rows = np.broadcast_to(self._lda().blocks()["topics"].prior, (size, self.n_words))
            topics = np.array([rng.dirichlet(row) for row in rows])
            keys = rng.integers(2**64, size=1, dtype=np.uint64)
            weights = self.family.values(self.family.draw(self._weights_prior()[None], keys).stats)
        mean, covariance = weights[0, :size], np.linalg.inv(unpack(weights[0, size:], size))
        mixtures = special.softmax(rng.multivariate_normal(mean, covariance, n), axis=1) @ topics
        lengths = rng.poisson(length, n)
        counts = np.array([rng.multinomial(m, p / p.sum()) for m, p in zip(lengths, mixtures, strict=True)])
        return {"topics": topics, "weights": weights}, Documents.from_matrix(counts)

"""Topics of documents under a hierarchical Dirichlet process: as many topics as the documents need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ssvi.batches.documents import Documents
from ssvi.families.dirichlet import Dirichlet
from ssvi.local_steps.base import LocalResult, Part
from ssvi.models.base import Block, Model, check_learned
from ssvi.models.growth import likeliest_growth
from ssvi.models.lda import LARGEST_ALPHA, LDA, SMALLEST_ALPHA, usual_alpha
from ssvi.models.quantities import Quantities, Quantity
from ssvi.models.rearranging import Look, Rearrangement
from ssvi.typing import Array

_FIRST_TABLES = 100.0  # of each topic, at the start: all weights are about alike
_SMALLEST, _LARGEST = 1e-3, 1e4  # what alpha and gamma may be learned to be

# Evenness at shares of the time that it takes to fall to 0. Topics form while it is high. While it is low but not 0,
# rare ones that documents have a use for grow; at the end those that none has a use for fade away (docs/hdp.md).
_TIMES = np.array([0.0, 0.53, 0.87, 1.0])
_EVENNESS = np.array([1.0, 0.3, 0.2, 0.0])


def usual_concentrations(n_topics: int) -> tuple[float, float]:
    """Return the alpha and gamma that a fit which learns them starts with: LDA's alpha, and weights that are even."""
    return n_topics * usual_alpha(n_topics), float(n_topics)


def later_evenness(evenness: float, share: float) -> float:
    """Return what evenness is a share later of the time that it takes to fall from 1 to 0.

    >>> round(later_evenness(1.0, 0.53), 9), later_evenness(0.2, 0.5)
    (0.3, 0.0)
    """
    now = np.interp(evenness, _EVENNESS[::-1], _TIMES[::-1])
    return float(np.interp(now + share, _TIMES, _EVENNESS))


@dataclass(frozen=True)
class HDP(Model):
    """pi ~ Dirichlet(gamma / T), beta_k ~ Dirichlet(eta), theta_d ~ Dirichlet(alpha pi), z ~ theta_d, w ~ beta_z.

    Blocks: `weights` (1 x T, pi) and `topics` (T x V). With gamma fixed and T large, pi has the weights of a Dirichlet
    process, and the model is the hierarchical Dirichlet process of Teh et al. (2006).

    Given pi, a document is one of LDA. What it says of pi is conjugate to pi's prior once the tables of its words are
    among the hidden variables: the n_dk words of a topic sit at m_dk tables, each of which began with probability
    alpha pi_k / (alpha pi_k + words before). Then log p has m_dk log pi_k, and eta-hat is E[m_dk].

    Attributes
    ----------
    n_words : int
        V.
    n_topics : int
        T, the most topics there can be.
    concentration : float
        alpha: the larger, the more topics a document has.
    growth : float
        gamma: the larger, the more topics there are.
    eta : float, (V,) or (T, V)
        The prior of word probabilities, as LDA has it.
    learned : tuple of str
        Which of "concentration", "growth" and "eta" are learned, those given being the start.
    evenness : float
        How far documents still take all topics for alike, from 1 (LDA) to 0 (this model): their alpha is
        alpha ((1 - evenness) pi + evenness / T). Before topics have formed, what is larger by chance would take what
        there is to take, and rare topics would never be found.
    even_for : float
        The sum of step sizes after which evenness, 1 at first, is 0 (`later_evenness`).
    half_way : bool
        Whether alpha and eta are learned half way only, to the geometric mean of the most probable one and the one that
        LDA has by default: on text, the most probable alpha is smaller and the most probable eta is larger than what
        predicts best.

    """

    n_words: int
    n_topics: int
    concentration: float
    growth: float
    eta: float | Array
    learned: tuple[str, ...] = ()
    evenness: float = 0.0
    even_for: float = 12.0
    half_way: bool = False

    name = "hdp"
    learnable = ("concentration", "growth", "eta")

    def __post_init__(self) -> None:
        check_learned(self)

    def blocks(self) -> Mapping[str, Block]:
        """Return the weights and the topics."""
        weights = np.full((1, 1), self.growth / self.n_topics)
        return {
            "weights": Block(Dirichlet(), weights, (1, self.n_topics)),
            **self.given(np.zeros(self.n_topics)).blocks(),
        }

    def given(self, log_weights: Array) -> LDA:
        """Return LDA at t(pi), whose alpha is alpha pi unless it is evened out. Its local steps count tables."""
        weights = (1.0 - self.evenness) * np.exp(np.ravel(log_weights)) + self.evenness / self.n_topics
        alpha = self.concentration * weights
        alpha = np.clip(alpha, SMALLEST_ALPHA, LARGEST_ALPHA)
        usual_eta = 1.0 / self.n_topics if self.half_way else None
        return LDA(self.n_words, alpha, self.eta, "asymmetric", "eta" in self.learned, usual_eta)

    def at_mean(self, parameters: Mapping[str, Array]) -> LDA:
        """Return LDA at E_q[pi]."""
        return self.given(np.log(self.mean_weights(parameters)))

    def init(self, rng: np.random.Generator) -> dict[str, Array]:
        """Return weights that are all alike, and topics as LDA's."""
        weights = np.full((1, self.n_topics), _FIRST_TABLES)
        return {"weights": weights, **self.given(np.zeros(self.n_topics)).init(rng)}

    def hyperparameters(self) -> Mapping[str, Array]:
        """Return what is learned, and the evenness."""
        return {**super().hyperparameters(), "evenness": np.array(self.evenness)}

    def learn(
        self, views: Mapping[str, Array | Part], result: LocalResult, step_size: float, sweeps: float = np.inf
    ) -> Mapping[str, Array]:
        """Return alpha and gamma, moved by a share rho towards what the tables of a minibatch say of them.

        Both are Minka's fixed point. For alpha: the number of tables over L, the sum of psi(n_d + alpha) - psi(alpha)
        over documents. For gamma, with pi integrated out, the same a level higher (`likeliest_growth`). eta is learned
        as LDA's.
        """
        tables = result.eta_hat["weights"][0] * result.scale
        lengths = float(result.eta_hat["lengths"][0] * result.scale)
        if not lengths > 0:  # a minibatch of empty documents
            return {}
        alpha = tables.sum() / lengths
        wanted = {
            "concentration": np.sqrt(alpha * usual_concentrations(self.n_topics)[0]) if self.half_way else alpha,
            "growth": likeliest_growth(self.growth, tables),
        }
        # While all topics are taken for alike, tables say little of what the weights will be.
        pace = (1.0 - self.evenness) * step_size
        found = {name: self._moved(name, wanted[name], pace) for name in self.learned if name in wanted}
        topics = replace(self.given(np.zeros(self.n_topics)), alpha_rule=None)
        found |= topics.learn(views, result, step_size, sweeps)
        return {**found, "evenness": np.array(later_evenness(self.evenness, step_size / self.even_for))}

    def _moved(self, name: str, wanted: float, step_size: float) -> Array:
        """Return a hyperparameter after a step towards where it is wanted."""
        now = getattr(self, name)
        return np.array(min(max(now + step_size * (wanted - now), _SMALLEST), _LARGEST))

    def mean_weights(self, parameters: Mapping[str, Array]) -> Array:
        """Return E_q[pi]."""
        lam = parameters["weights"][0]
        weights: Array = lam / lam.sum()
        return weights

    def words_held(self, parameters: Mapping[str, Array]) -> Array:
        """Return how many words of all documents each topic holds, as far as q's topics tell."""
        lam, prior = parameters["topics"], np.broadcast_to(self.blocks()["topics"].prior, parameters["topics"].shape)
        held: Array = np.maximum((lam - prior).sum(axis=1), 0.0)
        return held

    def rearrangement(self, lam: Callable[[str], Array], look: Look | None = None) -> Rearrangement | None:
        """Merge topics that are near-copies; their places stay empty, as there are to be no more than are needed."""
        parameters = {name: lam(name) for name in self.blocks()}
        pairs = self.given(np.zeros(self.n_topics)).copies(parameters, empty=False)
        fresh = {"weights": np.zeros((len(pairs), 1)), "topics": np.zeros((len(pairs), self.n_words))}
        return Rearrangement(tuple(pairs), fresh) if pairs else None

    def quantities(self, values: Mapping[str, Array]) -> Quantities:
        """Return the weights and the topics."""
        return {
            "weights": Quantity(values["weights"][:, 0], ("topic",)),
            "topic_word": Quantity(values["topics"], ("topic", "word")),
        }

    @classmethod
    def example(cls) -> HDP:
        """Return up to five topics over thirty words."""
        return cls(30, 5, 1.5, 4.0, 0.1)

    @classmethod
    def identifiable(cls) -> HDP:
        """Return topics that have few words in common, none of them hardly at all, in documents of few topics each."""
        return cls(30, 4, 0.4, 8.0, 0.5)

    def simulate(
        self, rng: np.random.Generator, n: int, length: float = 50.0, *, values: Mapping[str, Array] | None = None
    ) -> tuple[dict[str, Array], Documents]:
        """Draw weights and topics, then n documents of Poisson(length) words each."""
        prior = np.full(self.n_topics, self.growth / self.n_topics)
        weights = values["weights"] if values else rng.dirichlet(prior, 1)
        with np.errstate(divide="ignore"):  # a weight may be too small for a number
            topics, documents = self.given(np.log(weights)).simulate(rng, n, length, values=values)
        return {"weights": weights, **topics}, documents

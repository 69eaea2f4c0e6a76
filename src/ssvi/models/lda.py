"""Latent Dirichlet allocation: the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ssvi.batches.documents import Documents
from ssvi.families.dirichlet import Dirichlet
from ssvi.local_steps.base import LocalResult, Part
from ssvi.models.base import Block, Model
from ssvi.models.merging import ALIKE, cosines, distinct_shares, near_copies
from ssvi.models.quantities import Quantities, Quantity
from ssvi.models.rearranging import Look, Rearrangement, fewest_neighbours, surprising_words
from ssvi.typing import Array

SMALLEST_ETA, LARGEST_ETA = 1e-6, 1e6  # of one that is learned
_LEAST_CURVATURE = 0.02  # of the likelihood of log eta, for each table: a minibatch may by chance have none

# Local steps are in single precision, and floors on the weights of words must stay below what alpha brings
# (docs/design.md): from here to there they do as they should.
SMALLEST_ALPHA, LARGEST_ALPHA = 1e-10, 1e10


ALPHA_RULES = ("auto", "symmetric", "asymmetric")
_LEAST_WORDS = 0.5  # of a topic that is one
_SOON_ALIKE = 0.895  # the cosine of topics that are mended in a fit, a little below that of copies
_ALPHA_WAITS = 3.0  # sweeps, before "auto" begins to learn: topics form better under the usual alpha
_OF_THE_WAY = 0.75  # from the usual alpha to the most probable one, to which "auto" goes
_SHAPE_WAITS = 5.0  # sweeps in which "asymmetric" is equal for all topics: before they have formed, rare ones would die


def is_usable_alpha(alpha: Array) -> bool:
    """Tell whether every alpha is in the range that local steps can work with."""
    return bool(((alpha >= SMALLEST_ALPHA) & (alpha <= LARGEST_ALPHA)).all())


def usual_alpha(n_topics: int) -> float:
    """Return the alpha that predicts well on text of many kinds, for so many topics.

    The best one falls with the number of topics, but more slowly than 1 / K.
    """
    return float(0.1 * (50.0 / n_topics) ** 0.5)


def starting_alpha(n_topics: int, rule: str | None) -> float:
    """Return where alpha starts, and stays unless there is a rule to learn it by.

    The usual one; and high for an alpha that is to be the most probable: topics that are merged early are seldom
    parted.
    """
    usual = usual_alpha(n_topics)
    return max(10.0 / n_topics, usual) if rule in ("symmetric", "asymmetric") else usual


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
        The prior of word probabilities: one number, or one for each word, or for each word in each topic; or the start
        of one that is learned.
    alpha_rule : {None, "auto", "symmetric", "asymmetric"}
        How alpha is learned: not at all; not all the way, and late (`_wanted_alpha`); or by maximum likelihood, equal
        for all topics or, after the first five sweeps, not. In a stream of unknown length "auto" does not learn, and
        "asymmetric" does not wait.
    learns_eta : bool
        Whether eta is learned, by maximum likelihood.
    usual_eta : float, optional
        An eta that is learned goes half way only: to the geometric mean of this one and the most probable one.

    """

    n_words: int
    alpha: Array
    eta: float | Array
    alpha_rule: str | None = None
    learns_eta: bool = False
    usual_eta: float | None = None

    name = "lda"

    def __post_init__(self) -> None:
        alpha = np.asarray(self.alpha)
        if alpha.ndim != 1 or not is_usable_alpha(alpha):
            raise ValueError(
                f"alpha must be a number from {SMALLEST_ALPHA:g} to {LARGEST_ALPHA:g} for each topic, "
                f"not {self.alpha!r}."
            )
        if self.learns_eta and np.ndim(self.eta):
            raise ValueError("eta can be learned as one number only, not for each word: give a number, or leave it.")

    @property
    def n_topics(self) -> int:
        """K."""
        return len(self.alpha)

    def hyperparameters(self) -> Mapping[str, Array]:
        """Return alpha and eta, those of them that are learned."""
        learned = {} if self.alpha_rule is None else {"alpha": np.asarray(self.alpha, dtype=float)}
        return learned | {"eta": np.array(self.eta, dtype=float)} if self.learns_eta else learned

    def settled(self) -> LDA:
        """Return the model with alpha and eta as they are."""
        return replace(self, alpha_rule=None, learns_eta=False)

    def at(self, hyperparameters: Mapping[str, Array]) -> LDA:
        """Return the model with a learned alpha and eta."""
        eta = float(hyperparameters["eta"]) if "eta" in hyperparameters else self.eta
        return replace(self, alpha=hyperparameters.get("alpha", self.alpha), eta=eta) if hyperparameters else self

    def learn(
        self, views: Mapping[str, Array | Part], result: LocalResult, step_size: float, sweeps: float = np.inf
    ) -> Mapping[str, Array]:
        """Return alpha and eta, those of them that are learned.

        Steps to the most probable ones are of size rho^0.5, ahead of lambda's: a minibatch says much of a few numbers.
        eta waits for the end of the first sweep: until then topics are too alike to tell.
        """
        learned = {} if self.alpha_rule is None else {"alpha": self._next_alpha(result, step_size, sweeps)}
        if not self.learns_eta:
            return learned
        eta = self.eta if sweeps < 1.0 else self._next_eta(result, step_size**0.5)
        return learned | {"eta": np.array(eta, dtype=float)}

    def _next_eta(self, result: LocalResult, step_size: float) -> float:
        """Return eta after a share of Newton's step in log eta.

        Tokens of a topic come in tables, all of one word, as of a Polya urn: tables less their expected number are the
        slope of the likelihood of a minibatch's words given their topics (see `count_word_tables` for the four sums).
        """
        tables, squares, expected, expected_squares = result.eta_hat["word_tables"] * result.scale
        curvature = (expected - expected_squares) - (tables - squares)
        eta = float(np.asarray(self.eta))
        if not expected > 0:  # a minibatch of empty documents
            return eta
        step = np.clip((tables - expected) / max(curvature, _LEAST_CURVATURE * expected), -1.0, 1.0)
        if self.usual_eta is not None:
            step += np.log(self.usual_eta / eta)
        return float(np.clip(eta * np.exp(step_size * step), SMALLEST_ETA, LARGEST_ETA))

    def _next_alpha(self, result: LocalResult, step_size: float, sweeps: float) -> Array:
        """Return alpha, moved by a share towards what the documents of a minibatch say of it.

        Their expected numbers of tables T_k, and L, the sum of psi(n_d + sum alpha) - psi(sum alpha) over documents,
        make Minka's fixed point alpha_k = T_k / L.
        """
        *tables, lengths = result.eta_hat["tables"]
        alpha = np.asarray(self.alpha, dtype=float)
        # A stream of unknown length has no sweeps to wait for: "auto" keeps the usual alpha in it.
        waits = self.alpha_rule == "auto" and not _ALPHA_WAITS < sweeps < np.inf
        if waits or not lengths > 0:  # `not`: all may be empty
            return alpha
        wanted = self._wanted_alpha(np.array(tables) / lengths, is_forming=sweeps <= _SHAPE_WAITS)
        share = step_size if self.alpha_rule == "auto" else step_size**0.5
        moved: Array = np.clip(alpha + share * (wanted - alpha), SMALLEST_ALPHA, LARGEST_ALPHA)
        return moved

    def _wanted_alpha(self, most_probable: Array, is_forming: bool = False) -> Array:
        """Return where alpha is to go, given the most probable one for documents and topics as they are.

        "auto" does not go all the way, since what predicts best is another alpha than the most probable one. That one
        is small, which makes topics narrow and copies of each other, and then smaller still. So the mean of "auto" goes
        three quarters of the way from the usual alpha to the most probable one, in logarithms. Topics that are more
        frequent than most are let be so (they hold what all documents have); rare ones lose half as much as they would,
        or they would die out.
        """
        mean = most_probable.mean()
        if self.alpha_rule == "symmetric" or (self.alpha_rule == "asymmetric" and is_forming):
            return np.full_like(most_probable, mean)
        if self.alpha_rule == "asymmetric":
            return most_probable
        relative = most_probable / mean
        shape = np.maximum(relative, 0.5 * (1.0 + relative))
        wanted: Array = mean**_OF_THE_WAY * usual_alpha(self.n_topics) ** (1.0 - _OF_THE_WAY) * shape / shape.mean()
        return wanted

    def copies(
        self, parameters: Mapping[str, Array], alike: float = ALIKE, *, empty: bool = True
    ) -> list[tuple[int, int]]:
        """Return pairs (topic, near-copy of it) whose words have such a cosine, and `empty` topics, if wanted.

        Of two, the one with more prior stays (it was seeded), else the larger. Words are counted without their prior:
        where that is large, all topics are alike.
        """
        prior = np.broadcast_to(self._prior, parameters["topics"].shape)
        seen = Dirichlet().seen(parameters["topics"], prior)
        sizes = seen.sum(axis=1)
        order = np.lexsort((-sizes, -prior.sum(axis=1)))
        pairs = near_copies(cosines(seen), [k for k in order if sizes[k] >= _LEAST_WORDS], alike)
        without = [int(k) for k in order if sizes[k] < _LEAST_WORDS] if empty else []
        return pairs + [(int(sizes.argmax()), k) for k in without]

    def _part(self, lam: Array, most: int) -> tuple[list[tuple[int, int]], Array]:
        """Return pairs (topic, near-copy of it) to part, one after the other, until no copies are left.

        Also the share of its counts that each copy keeps, word by word. A topic may become a copy by what it takes in.
        At most `most` copies keep nothing, since no more places can be filled.
        """
        parted, prior = np.array(lam), np.broadcast_to(self._prior, lam.shape)
        pairs, kept = list[tuple[int, int]](), list[Array]()
        while len(pairs) < 2 * self.n_topics:
            found = self.copies({"topics": parted}, _SOON_ALIKE, empty=not pairs)
            for topic, copy in found:
                rows = [topic, copy]
                own, its = Dirichlet().seen(parted[rows], prior[rows])
                share = distinct_shares(its, own)
                most -= int(not share.any())
                if most < 0:
                    break
                parted[topic] += (1.0 - share) * its
                parted[copy] = prior[copy] + share * its
                pairs.append((topic, copy))
                kept.append(share)
            if not found or most < 0:
                break
        return pairs, np.array(kept)

    def rearrangement(self, lam: Callable[[str], Array], look: Look) -> Rearrangement | None:
        """Let one of near-copies have all that they share; the other has its own words only.

        Text with stop words makes different topics look alike, as each has its share of these words, and nothing moves
        them. Topics may also be the same but for noise, and nothing pulls them apart, as each document has either.
        Such topics become one, and the free place goes to what documents have and no topic explains.
        """
        parameters = {"topics": lam("topics")}
        pairs, kept = self._part(parameters["topics"], max(1, len(look.groups) // fewest_neighbours(look.groups)))
        if not pairs:
            return None
        fresh, gone = np.zeros(kept.shape), np.flatnonzero(~kept.any(axis=1))
        if len(gone):
            words = surprising_words(look.groups, look.local()["weights"], self.mean_topics(parameters), len(gone))
            fresh[gone] = np.median(parameters["topics"].sum(axis=1)) * words
        alpha = np.array(self.alpha, dtype=float)
        for _, copy in pairs:  # alpha of a topic that has died would keep what is new from being found
            alpha[copy] = max(alpha[copy], np.median(self.alpha))
        learned = {} if self.alpha_rule is None else {"alpha": alpha}
        return Rearrangement(tuple(pairs), {"topics": fresh}, learned, {"topics": kept})

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

    def quantities(self, values: Mapping[str, Array]) -> Quantities:
        """Return the topics."""
        return {"topic_word": Quantity(values["topics"], ("topic", "word"))}

    @classmethod
    def example(cls) -> LDA:
        """Return four topics over thirty words."""
        return cls(30, np.full(4, 0.3), 0.1)

    @classmethod
    def identifiable(cls) -> LDA:
        """Return topics that have few words in common, none of them hardly at all, in documents of few topics each."""
        return cls(30, np.full(4, 0.1), 0.5)

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

"""The libraries that people fit topics with, each behind the same few calls. Needs the `bench` extra.

All get the same documents, number of topics, priors and threads, and otherwise their own defaults. Their topics are
scored by the same evaluator as ours; time that they take to read documents into their own form is not counted.
"""

from __future__ import annotations

import logging
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from benchmarks.common import ALPHA, ETA
from ssvi.batches.documents import Documents
from ssvi.typing import Array


class Peer(ABC):
    """A library's LDA."""

    name: ClassVar[str]

    def __init__(self, n_topics: int, threads: int, alpha: float = ALPHA, eta: float = ETA, seed: int = 0) -> None:
        self.n_topics, self.threads, self.alpha, self.eta, self.seed = n_topics, threads, alpha, eta, seed

    @abstractmethod
    def fit(self, documents: Documents, stops: Sequence[int]) -> Iterator[tuple[int, float, Array]]:
        """Fit; yield the number of passes, the seconds so far and the topics at the given numbers of passes."""

    @abstractmethod
    def infer(self, documents: Documents) -> tuple[float, Array]:
        """Return the seconds that new documents take after a fit, and their topic weights."""


class ScikitLearn(Peer):
    """sklearn.decomposition.LatentDirichletAllocation, learning_method="online"."""

    name = "scikit-learn"

    def fit(self, documents: Documents, stops: Sequence[int]) -> Iterator[tuple[int, float, Array]]:
        """Fit afresh for each number of passes: the class has no way to go on that counts passes."""
        from sklearn.decomposition import LatentDirichletAllocation

        matrix = documents.to_matrix()
        for passes in stops:
            self.model = LatentDirichletAllocation(
                self.n_topics,
                doc_topic_prior=self.alpha,
                topic_word_prior=self.eta,
                learning_method="online",
                learning_offset=10.0,
                batch_size=1_000,
                max_iter=passes,
                total_samples=len(documents),
                n_jobs=self.threads,
                random_state=self.seed,
            )
            started = time.perf_counter()
            self.model.fit(matrix)
            yield passes, time.perf_counter() - started, _normalised(self.model.components_)

    def infer(self, documents: Documents) -> tuple[float, Array]:
        """Return the time of `transform`."""
        matrix = documents.to_matrix()
        started = time.perf_counter()
        theta = self.model.transform(matrix)
        return time.perf_counter() - started, theta


class Gensim(Peer):
    """gensim.models.LdaModel, which has one worker."""

    name = "gensim LdaModel"

    def fit(self, documents: Documents, stops: Sequence[int]) -> Iterator[tuple[int, float, Array]]:
        """Fit afresh for each number of passes."""
        corpus, words = _bags(documents), {i: str(i) for i in range(documents.n_words)}
        logging.getLogger("gensim").setLevel(logging.ERROR)
        for passes in stops:
            started = time.perf_counter()
            self.model = self._train(corpus, words, passes)
            yield passes, time.perf_counter() - started, _normalised(self.model.get_topics().astype(float))

    def _train(self, corpus: Any, words: Any, passes: int) -> Any:
        from gensim.models import LdaModel

        return LdaModel(corpus, id2word=words, passes=passes, **self._settings())

    def _settings(self) -> dict[str, Any]:
        return {
            "num_topics": self.n_topics,
            "alpha": np.full(self.n_topics, self.alpha),
            "eta": self.eta,
            "eval_every": None,
            "random_state": self.seed,
        }

    def infer(self, documents: Documents) -> tuple[float, Array]:
        """Return the time of `inference`, its quickest call for many documents."""
        corpus = _bags(documents)
        started = time.perf_counter()
        gamma, _ = self.model.inference(corpus)
        return time.perf_counter() - started, gamma / gamma.sum(axis=1, keepdims=True)


class GensimMulticore(Gensim):
    """gensim.models.LdaMulticore: `workers` processes besides its own."""

    name = "gensim LdaMulticore"

    def _train(self, corpus: Any, words: Any, passes: int) -> Any:
        from gensim.models import LdaMulticore

        return LdaMulticore(corpus, id2word=words, passes=passes, workers=self.threads, **self._settings())


class Tomotopy(Peer):
    """tomotopy.LDAModel, collapsed Gibbs sampling."""

    name = "tomotopy"
    _iterations = 50

    def fit(self, documents: Documents, stops: Sequence[int]) -> Iterator[tuple[int, float, Array]]:
        """Go on from stop to stop; alpha stays what it is, as for everybody else."""
        import tomotopy

        warnings.filterwarnings("ignore", message="The training result may differ")
        self.model = tomotopy.LDAModel(k=self.n_topics, alpha=self.alpha, eta=self.eta, seed=1 + self.seed)
        self.model.optim_interval = 0
        for words in words_of(documents):
            self.model.add_doc(words)
        self.model.train(0, workers=self.threads)
        done, seconds = 0, 0.0
        for stop in stops:
            started = time.perf_counter()
            self.model.train(stop - done, workers=self.threads, show_progress=False)
            seconds, done = seconds + time.perf_counter() - started, stop
            yield stop, seconds, topics_of_tomotopy(self.model, documents.n_words)

    def infer(self, documents: Documents) -> tuple[float, Array]:
        """Return the time of `infer`, with half of its default iterations."""
        made = [self.model.make_doc(words) for words in words_of(documents)]
        started = time.perf_counter()
        theta, _ = self.model.infer(made, iterations=self._iterations, workers=self.threads)
        return time.perf_counter() - started, np.array(theta, dtype=float)


PEERS: tuple[type[Peer], ...] = (ScikitLearn, Gensim, GensimMulticore, Tomotopy)


def _bags(documents: Documents) -> list[list[tuple[int, int]]]:
    """Return documents as gensim has them."""
    pairs = list(zip(documents.words.tolist(), documents.counts.tolist(), strict=True))
    return [pairs[start:stop] for start, stop in zip(documents.indptr[:-1], documents.indptr[1:], strict=True)]


def words_of(documents: Documents) -> Iterator[list[str]]:
    """Return documents as lists of words, which are their numbers."""
    names = np.array([str(i) for i in range(documents.n_words)])
    for start, stop in zip(documents.indptr[:-1], documents.indptr[1:], strict=True):
        yield names[np.repeat(documents.words[start:stop], documents.counts[start:stop])].tolist()


def topics_of_tomotopy(model: Any, n_words: int) -> Array:
    """Return the topics of a model of tomotopy whose words are numbers of columns; rows sum to 1."""
    topics = np.full((model.k, n_words), 1e-12)  # words that it has never seen
    columns = np.array([int(word) for word in model.used_vocabs])
    for k in range(model.k):
        topics[k, columns] = model.get_topic_word_dist(k)
    return _normalised(topics)


def _normalised(topics: Array) -> Array:
    result: Array = topics / topics.sum(axis=1, keepdims=True)
    return result

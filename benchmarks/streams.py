"""Streams that change: where lambda of new words is to begin, what a memory is worth, how strong seeds are to be.

Scores are document completion on simulated documents that were not fitted; higher is better. Seeds are tried on real
text, where they go astray more easily.

    python -m benchmarks.streams
    python -m benchmarks.streams --corpus ../shared/data/wikipedia
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from ssvi import LatentDirichletAllocation
from ssvi.data.readers import read_corpus
from ssvi.models.lda import LDA
from ssvi.models.new_words import unseen
from ssvi.typing import Array

SEEDS = (0, 1, 2)
SEED_WORDS = [["team", "league"], ["song", "band"], ["church"], ["river", "mountain"], ["army", "battle", "war"]]
STARTS: dict[str, Callable[[Array, Array], Array]] = {
    "eta": lambda lam, prior: np.array(prior),
    "a tenth of a count": lambda lam, prior: np.maximum(0.1 * unseen(lam, 0.0 * prior), prior),
    "a count": unseen,
    "ten counts": lambda lam, prior: np.maximum(10.0 * unseen(lam, 0.0 * prior), prior),
}


def new_words() -> None:
    """Print scores after words have come late: after five minibatches with them, and after forty."""
    print("a third of 600 words comes after 4,000 of 12,000 documents; score 1,000 and 8,000 documents later")
    for eta in (0.05, 0.01):
        for step in ("ssvi", "ssvi_a", "map"):
            settings = {"global_step": step, "doc_topic_prior": 0.1, "topic_word_prior": eta, "batch_size": 200}
            for name, start in STARTS.items():
                with mock.patch("ssvi.estimators.words.unseen", start):
                    scores = [_late(seed, 400, settings) for seed in SEEDS]
                print(f"  eta {eta}, {step:7} new words begin with {name:19}", *_means(scores))
            print(
                f"  eta {eta}, {step:7} all words from the first {'':19}",
                *_means([_late(s, 600, settings) for s in SEEDS]),
            )


def _late(seed: int, known: int, settings: dict[str, Any]) -> list[float]:
    _, documents = LDA(600, np.full(10, 0.1), 0.05).simulate(np.random.default_rng(seed), 13_000, 60.0)
    counts = documents.to_matrix()
    fit = LatentDirichletAllocation(10, random_state=seed, grow_vocabulary=True, verbose=0, **settings)
    fit.partial_fit(counts[:4_000, :known])
    return [
        fit.partial_fit(counts[rows]).score(counts[12_000:]) for rows in (slice(4_000, 5_000), slice(5_000, 12_000))
    ]


def memories() -> None:
    """Print scores of a stream before and after all its topics have changed."""
    print("20,000 documents of 5 topics, then of 5 others; score before, and 500, 1,000, 2,000, 4,000 documents after")
    for step in ("ssvi", "map"):
        for memory in (None, 500, 1_000, 2_000, 4_000):
            scores = [_changed(seed, step, memory) for seed in SEEDS]
            print(f"  {step:5} memory {memory!s:5}", *_means(scores))


def _changed(seed: int, step: str, memory: int | None) -> list[float]:
    model, rng = LDA(100, np.full(5, 0.2), 0.1), np.random.default_rng(seed)
    before, after = (model.simulate(rng, 22_000, 40.0)[1].to_matrix() for _ in range(2))
    settings: dict[str, Any] = {"doc_topic_prior": 0.2, "topic_word_prior": 0.1, "batch_size": 20, "verbose": 0}
    fit = LatentDirichletAllocation(5, random_state=seed, memory=memory, global_step=step, **settings)
    scores, done = [fit.partial_fit(before[:20_000]).score(before[20_000:])], 0
    for until in (500, 1_000, 2_000, 4_000):
        scores.append(fit.partial_fit(after[done:until]).score(after[20_000:]))
        done = until
    return scores


def seeds(path: Path) -> None:
    """Print the words of seeded topics, and how many of their seed words have their largest probability there."""
    corpus = read_corpus(path)
    counts = corpus.documents.slice(200, 5_200).to_matrix()
    counts, words = counts[:, counts.sum(axis=0) > 0], np.array(corpus.vocabulary)[counts.sum(axis=0) > 0]
    print("30 topics of 5,000 documents, three passes; seed words in their place, and the topics' words")
    for strength in (10.0, 100.0, 1_000.0):
        fit = LatentDirichletAllocation(
            30, max_iter=3, random_state=0, seed_words=SEED_WORDS, seed_strength=strength, verbose=0
        ).fit(counts, vocabulary=words)
        for k, own in enumerate(SEED_WORDS):
            there = sum(int(fit.topic_word_[:, list(words).index(word)].argmax()) == k for word in own)
            top = words[fit.topic_word_[k].argsort()[:-9:-1]]
            print(f"  strength {strength:6g}: {there} of {len(own)} of {', '.join(own)}:", *top)


def _means(scores: list[list[float]]) -> list[str]:
    return [f"{score:7.3f}" for score in np.mean(scores, axis=0)]


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, help="Try seeds on it, and nothing else.")
    corpus = parser.parse_args().corpus
    if corpus is not None:
        seeds(corpus)
    else:
        new_words()
        memories()


if __name__ == "__main__":
    main()

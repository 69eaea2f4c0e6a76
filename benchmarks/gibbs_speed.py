"""Token-sweeps per second of the Gibbs kernel, on one thread and on two.

A token-sweep is one new draw of one token's topic. The topics are those of one pass over the corpus, so that documents
use as many topics as they do in a real run, and the documents timed are a random sample of the corpus.

    python benchmarks/gibbs_speed.py --topics 100
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ssvi import engine
from ssvi.backends import Threads
from ssvi.data import minibatches
from ssvi.experiments import corpora
from ssvi.families.dirichlet import Dirichlet
from ssvi.global_steps.ssvi_a import SsviA
from ssvi.local_steps.base import LocalResult
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.models.lda import LDA
from ssvi.numerics.random import derive_keys


def main() -> None:
    """Fit for a while, then time the kernel on fresh minibatches."""
    options = _options()
    corpus = corpora.load(options.corpus)
    model = LDA(corpus.train.n_words, np.full(options.topics, 0.1), 0.01)
    step = Gibbs()
    with Threads(2) as backend:
        problem = engine.Problem(model, step, SsviA(), population=len(corpus.train), backend=backend)
        state = engine.run(problem, engine.init(model, 0), corpus.train, sweeps=1, batch_size=1_000)
        sample = minibatches(len(corpus.train), options.documents, seed=0, sweep=1)[0]
        views = {"topics": SsviA().view(Dirichlet(), state.parameters["topics"], derive_keys(0, options.topics)).stats}
        rates: dict[int, list[float]] = {1: [], 2: []}
        prepared = step.prepare(model, views, corpus.train.take(sample))
        documents = prepared.documents
        keys = derive_keys(1, len(documents))
        work = documents.lengths().sum() * step.sweeps
        for n_threads, pool in ((1, Threads(1)), (2, backend)) * options.repeats:
            results = pool.run_shards(step, model, prepared, documents, keys)
            rates[n_threads].append(work / _seconds(results))
    single, double = (np.median(rates[n]) for n in (1, 2))
    print(f"{corpus.name}, K = {options.topics}: {documents.lengths().sum():,.0f} tokens, {step.sweeps} sweeps")
    print(f"1 thread : {single / 1e6:6.1f} million token-sweeps/s (best {max(rates[1]) / 1e6:.1f})")
    print(f"2 threads: {double / 1e6:6.1f} million token-sweeps/s (best {max(rates[2]) / 1e6:.1f})")
    print(f"ratio    : {double / single:6.2f}")


def _seconds(results: Iterator[LocalResult]) -> float:
    """Return how long it takes until all results are there."""
    started = time.perf_counter()
    for _ in results:
        pass
    return time.perf_counter() - started


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=corpora.default_corpus(), help="folder with bow.npz")
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--documents", type=int, default=4_000, help="documents timed at once")
    parser.add_argument("--repeats", type=int, default=9)
    return parser.parse_args()


if __name__ == "__main__":
    main()

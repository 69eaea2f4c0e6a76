"""Seconds that each held-out estimator takes on 1,000 documents at 100 topics, and what it says.

Topics come from one pass of SSVI-A over 20,000 training documents. Processor seconds are those of all threads together:
other work on the machine does not change them much.

    python benchmarks/heldout_speed.py --jobs 2
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from ssvi import engine
from ssvi.backends import Threads
from ssvi.evaluation import HeldOut, chib_style, document_completion, left_to_right
from ssvi.experiments import corpora
from ssvi.experiments.algorithms import lda_algorithm
from ssvi.models.lda import LDA
from ssvi.schedules import PowerSchedule

ESTIMATORS: dict[str, Callable[..., HeldOut]] = {
    "document completion": document_completion,
    "Chib-style, 200 states": partial(chib_style, samples=200),
    "left-to-right, 20 particles": partial(left_to_right, particles=20),
}


def main() -> None:
    """Fit, then time each estimator once it is compiled."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=corpora.default_corpus(), help="folder with bow.npz")
    parser.add_argument("--documents", type=int, default=1_000)
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=-1)
    options = parser.parse_args()
    corpus = corpora.load(options.corpus, held_out=options.documents, documents=20_000)
    model = LDA(corpus.train.n_words, np.full(options.topics, 0.1), 0.01)
    with Threads(options.jobs) as backend:
        algorithm = lda_algorithm("ssvi_a:gibbs", model, len(corpus.train), PowerSchedule(), backend)
        state = engine.run(algorithm.steps, algorithm.start(0), corpus.train, sweeps=1, batch_size=1_000)
        topics = algorithm.topics(state)
        words = int(corpus.test.lengths().sum())
        print(f"{corpus.name}: {len(corpus.test):,} documents, {words:,} words, {options.topics} topics")
        print(f"{'':30}{'score':>9}{'+-':>8}{'seconds':>9}{'processor':>11}")
        for name, function in ESTIMATORS.items():
            function(topics, model.alpha, corpus.test.slice(0, 5), backend=backend)
            started, processor = time.perf_counter(), time.process_time()
            score = function(topics, model.alpha, corpus.test, backend=backend)
            seconds, processor = time.perf_counter() - started, time.process_time() - processor
            figures = f"{score.mean:9.3f}{score.standard_error:8.3f}{seconds:9.1f}{processor:11.1f}"
            print(f"{name:30}{figures}", flush=True)


if __name__ == "__main__":
    main()

"""Held-out scores of LDA after a pass over a corpus, for pairs of a global and a local step.

By default: English Wikipedia (219,140 training and 5,000 test documents, 7,702 words), 100 topics, alpha = 0.1,
eta = 0.01 and 0.1, minibatches of 1,000, rho_t = (t + 10)^-0.6, the population ramp, one pass. Scores are mean log
probabilities per word by document completion at E_q[beta]: higher is better.

    python benchmarks/lda_heldout.py --pairs ssvi_a:gibbs mean_field:gibbs --seeds 3
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from ssvi import engine
from ssvi.backends import Threads
from ssvi.estimators.common import make_global_step, make_local_step
from ssvi.evaluation import HeldOut, document_completion
from ssvi.experiments import corpora
from ssvi.global_steps import GlobalStep
from ssvi.global_steps.ssvi import Ssvi
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.models.lda import LDA
from ssvi.schedules import PowerSchedule

VARIANTS = {
    "ssvi_cv": Ssvi(control_variate=True),
    "ssvi_plain": Ssvi(correction_sweeps=0),
    "ssvi_ramp": Ssvi(softening=0, correction_sweeps=4),
}


def main() -> None:
    """Run every combination asked for and print a table."""
    options = _options()
    corpus = corpora.load(options.corpus, documents=options.documents)
    print(
        f"{corpus.name}: {len(corpus.train):,} training and {len(corpus.test):,} test documents, K = {options.topics}"
    )
    print(f"{'global:local':24}{'eta':>6}{'seed':>6}{'score':>9}{'+-':>7}{'seconds':>9}{'guarded':>10}")
    with Threads(options.jobs) as backend:
        for eta in options.eta:
            for pair in options.pairs:
                scores = [_fit(options, corpus, backend, pair, eta, seed) for seed in range(options.seeds)]
                if len(scores) > 1:
                    print(f"{pair:24}{eta:6g}  mean{np.mean(scores):9.4f}{np.std(scores, ddof=1):7.4f}  (over seeds)")


def _fit(
    options: argparse.Namespace, corpus: corpora.Corpus, backend: Threads, pair: str, eta: float, seed: int
) -> float:
    model = LDA(corpus.train.n_words, np.full(options.topics, options.alpha), eta)
    global_name, local_name = pair.split(":")
    problem = engine.Problem(
        model,
        make_local_step(local_name, "lda", sweeps=options.gibbs_sweeps, kept=options.gibbs_kept),
        _global_step(global_name),
        PowerSchedule(options.decay, options.offset),
        population=len(corpus.train),
        ramp=not options.no_ramp,
        backend=backend,
    )
    guarded: list[int] = []
    started = time.perf_counter()
    state = engine.run(
        problem,
        engine.init(model, seed),
        corpus.train,
        sweeps=options.passes,
        batch_size=options.batch_size,
        callbacks=[lambda state, info: guarded.append(info.guarded)],
    )
    seconds = time.perf_counter() - started
    score = _score(state, model, corpus, backend)
    print(
        f"{pair:24}{eta:6g}{seed:6}{score.mean:9.4f}{score.standard_error:7.4f}{seconds:9.1f}{sum(guarded):10}",
        flush=True,
    )
    return score.mean


def _global_step(name: str) -> GlobalStep:
    return VARIANTS[name] if name in VARIANTS else make_global_step(name)


def _score(state: engine.State, model: LDA, corpus: corpora.Corpus, backend: Threads) -> HeldOut:
    return document_completion(model.mean_topics(state.parameters), model.alpha, corpus.test, backend=backend)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=corpora.default_corpus(), help="folder with bow.npz")
    parser.add_argument("--documents", type=int, help="at most so many training documents")
    parser.add_argument("--pairs", nargs="+", default=["mean_field:gibbs", "ssvi_a:gibbs", "ssvi:gibbs"])
    parser.add_argument("--eta", nargs="+", type=float, default=[0.01, 0.1])
    parser.add_argument("--alpha", type=float, default=0.1)
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--batch-size", type=int, default=1_000)
    parser.add_argument("--passes", type=int, default=1)
    parser.add_argument("--decay", type=float, default=0.6)
    parser.add_argument("--offset", type=float, default=10.0)
    parser.add_argument("--gibbs-sweeps", type=int, default=Gibbs.sweeps)
    parser.add_argument("--gibbs-kept", type=int, default=Gibbs.kept)
    parser.add_argument("--no-ramp", action="store_true")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=-1)
    return parser.parse_args()


if __name__ == "__main__":
    main()

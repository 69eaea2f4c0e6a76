"""New documents a second, given topics, against scikit-learn, gensim and tomotopy.

The mean-field step is compared with scikit-learn and gensim, which do the same, and Gibbs sampling with tomotopy. Each
library uses its own topics, fitted to the same documents. `distance` is the mean absolute difference of topic
weights from those of the same step run to convergence (for Gibbs sampling, of a chain of 1,000 sweeps). All take turns.

    python -m benchmarks.inference_speed
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import numpy as np

from benchmarks.common import ALPHA, ETA, Report, arguments, load, seconds
from benchmarks.peers import Gensim, ScikitLearn, Tomotopy
from ssvi import LatentDirichletAllocation
from ssvi.batches.documents import Documents
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.local_steps.lda.mean_field import MeanField


def main() -> None:
    """Fit briefly, then time documents that no fit has seen."""
    options = _options()
    split, report = load(options), Report(options, "inference_speed")
    new, peers = split.test.to_matrix(), []
    for kind, passes in ((ScikitLearn, 1), (Gensim, 1), (Tomotopy, 20)):
        peers.append(kind(options.topics, options.threads))
        for _ in peers[-1].fit(split.train, [passes]):
            pass
    lda = _fit(split.train, options)
    steps: list[tuple[Any, Any]] = [
        (MeanField(), MeanField(max_rounds=5_000, tolerance=1e-7, precision="float64")),
        (Gibbs(sweeps=30, kept=25), Gibbs(sweeps=1_000, kept=950)),
    ]

    def transform(step: Any) -> Any:
        return lda.set_params(local_step=step).transform(new)

    distances = [float(np.abs(transform(step) - transform(thorough)).mean()) for step, thorough in steps]
    times = [
        [*(peer.infer(split.test)[0] for peer in peers), *(seconds(partial(transform, step)) for step, _ in steps)]
        for _ in range(options.repeats)
    ]
    rates = len(split.test) / np.median(times, axis=0)
    for peer, rate in zip(peers, rates, strict=False):
        report.add(method=peer.name, documents_a_second=float(rate), distance=float("nan"), ratio=1.0)
    others = [max(rates[0], rates[1]), rates[2]]
    for (step, _), distance, rate, other in zip(steps, distances, rates[3:], others, strict=True):
        report.add(
            method=f"ours, {step.name}", documents_a_second=float(rate), distance=distance, ratio=float(rate / other)
        )
    report.show()
    print("ratio: to the faster of scikit-learn and gensim (mean_field), to tomotopy with 50 iterations (gibbs)")


def _fit(documents: Documents, options: argparse.Namespace) -> LatentDirichletAllocation:
    lda = LatentDirichletAllocation(
        options.topics,
        doc_topic_prior=ALPHA,
        topic_word_prior=ETA,
        max_iter=2,
        n_jobs=options.threads,
        random_state=0,
    )
    return lda.fit(documents.to_matrix())


def _options() -> argparse.Namespace:
    parser = arguments(__doc__, documents=20_000)
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    return parser.parse_args()


if __name__ == "__main__":
    main()

"""New documents a second, given topics, against scikit-learn, gensim and tomotopy.

The mean-field step is compared with scikit-learn and gensim, which do the same, and Gibbs sampling with tomotopy. Each
library uses its own topics, fitted to the same documents. `distance` is the mean absolute difference of topic
weights from those of the same step run to convergence (for Gibbs sampling, of a chain of 1,000 sweeps).

    python -m benchmarks.inference_speed
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from benchmarks.common import ALPHA, ETA, Report, arguments, in_turns, load
from benchmarks.peers import Gensim, ScikitLearn, Tomotopy, as_matrix
from ssvi import LatentDirichletAllocation
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.local_steps.lda.mean_field import MeanField


def main() -> None:
    """Fit briefly, then time documents that no fit has seen."""
    options = _options()
    split, report = load(options), Report(options, "inference_speed")
    new = as_matrix(split.test)
    rates = {}
    for kind, passes in ((ScikitLearn, 1), (Gensim, 1), (Tomotopy, 20)):
        peer = kind(options.topics, options.threads)
        for _ in peer.fit(split.train, [passes]):
            pass
        times = [peer.infer(split.test)[0] for _ in range(options.repeats)]
        rates[kind.name] = len(split.test) / float(np.median(times))
        report.add(method=kind.name, documents_a_second=rates[kind.name], distance=float("nan"), ratio=1.0)
    lda = LatentDirichletAllocation(
        options.topics,
        doc_topic_prior=ALPHA,
        topic_word_prior=ETA,
        max_iter=2,
        n_jobs=options.threads,
        random_state=0,
    ).fit(as_matrix(split.train))
    mean_field = max(rates[ScikitLearn.name], rates[Gensim.name])
    pairs: list[tuple[Any, Any, float]] = [
        (MeanField(), MeanField(max_rounds=5_000, tolerance=1e-7, precision="float64"), mean_field),
        (Gibbs(sweeps=30, kept=25), Gibbs(sweeps=1_000, kept=950), rates[Tomotopy.name]),
    ]
    for step, thorough, other in pairs:
        lda.local_step = thorough
        exact = lda.transform(new)
        lda.local_step = step
        distance = float(np.abs(lda.transform(new) - exact).mean())
        rate = len(split.test) / in_turns([lambda: lda.transform(new)], options.repeats)[0]
        report.add(method=f"ours, {step.name}", documents_a_second=rate, distance=distance, ratio=rate / other)
    report.show()
    print("ratio: to the faster of scikit-learn and gensim (mean_field), to tomotopy with 50 iterations (gibbs)")


def _options() -> argparse.Namespace:
    parser = arguments(__doc__, documents=20_000)
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    return parser.parse_args()


if __name__ == "__main__":
    main()

"""The cost of a step of each global step, by the size of the topics, with minibatches of 1,000 documents.

Documents are Wikipedia's (for its own vocabulary) and drawn ones whose words follow Zipf's law (for larger ones). The
local step is Gibbs sampling.

    python -m benchmarks.global_speed
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.common import ALPHA, ETA, Report, arguments, in_turns, load
from ssvi import engine
from ssvi.backends import Threads
from ssvi.batches.documents import Documents
from ssvi.global_steps.base import GlobalStep
from ssvi.global_steps.mean_field import MeanField
from ssvi.global_steps.ssvi import Ssvi
from ssvi.global_steps.ssvi_a import SsviA
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.models.lda import LDA
from ssvi.schedules import ConstantSchedule

_STEPS: dict[str, GlobalStep] = {
    "mean_field": MeanField(),
    "ssvi_a": SsviA(),
    "ssvi": Ssvi(correction_sweeps=0.0),
    "ssvi_softened": Ssvi(correction_sweeps=0.0, draw_softening=1.0),  # as topic models have it
}


def main() -> None:
    """Measure all sizes; print milliseconds a step and ratios to SSVI-A."""
    options = _options()
    split, report = load(options), Report(options, "global_speed")
    corpora = [("wikipedia" if split.name == "wikipedia" else split.name, split.train)]
    corpora += [("drawn", _drawn(n_words)) for n_words in options.words]
    for name, documents in corpora:
        for n_topics in options.topics:
            if n_topics * documents.n_words > options.largest:
                continue
            times = dict(zip(_STEPS, _times(documents, n_topics, options), strict=True))
            report.add(
                corpus=name,
                words=documents.n_words,
                topics=n_topics,
                size=n_topics * documents.n_words,
                **{f"{name}_ms": 1e3 * value for name, value in times.items()},
                ssvi_ratio=times["ssvi"] / times["ssvi_a"],
                softened_ratio=times["ssvi_softened"] / times["ssvi_a"],
            )
    report.show()


def _times(documents: Documents, n_topics: int, options: argparse.Namespace) -> list[float]:
    """Return the seconds of one step of each kind, in the middle of a fit."""
    model = LDA(documents.n_words, np.full(n_topics, ALPHA), ETA)
    rng = np.random.default_rng(0)
    batches = [documents.take(rng.choice(len(documents), 1_000, replace=False)) for _ in range(4)]
    backend = Threads(options.threads)
    warm = engine.Problem(model, Gibbs(), SsviA(), population=len(documents), backend=backend)
    state = engine.follow(warm, engine.init(model, 0), batches * 5)
    calls: list[Callable[[], Any]] = []
    for step in _STEPS.values():
        problem = engine.Problem(model, Gibbs(), step, ConstantSchedule(0.05), len(documents), backend=backend)
        fit = engine.Fit(problem, state)
        calls.append(lambda fit=fit: [fit.step(batch) for batch in batches])  # type: ignore[misc]
    return [value / len(batches) for value in in_turns(calls, options.repeats)]


def _drawn(n_words: int, n_documents: int = 4_000, length: int = 100) -> Documents:
    """Return documents whose words follow Zipf's law over a vocabulary."""
    rng = np.random.default_rng(0)
    chances = 1.0 / np.arange(1, n_words + 1)
    words = rng.choice(n_words, size=n_documents * length, p=chances / chances.sum())
    rows = np.repeat(np.arange(n_documents), length)
    counts = sparse.coo_array((np.ones(len(words), dtype=np.int32), (rows, words)), shape=(n_documents, n_words))
    return Documents.from_matrix(counts.tocsr())


def _options() -> argparse.Namespace:
    parser = arguments(__doc__, documents=20_000)
    parser.add_argument("--topics", type=int, nargs="+", default=[20, 100])
    parser.add_argument("--words", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--largest", type=int, default=100_000_000, help="topics x words")
    parser.add_argument("--repeats", type=int, default=7)
    return parser.parse_args()


if __name__ == "__main__":
    main()

"""Token-sweeps a second of the Gibbs kernels and of whole fits, against tomotopy, by number of topics and of threads.

A token-sweep is one new draw of one token's topic. `kernel` times the local step alone on a minibatch, with topics from
two passes over the training documents: what a fit does for a minibatch, less the global step. `fit` is a pass of
SSVI-A, global step and all. tomotopy trains on the same documents.

    python -m benchmarks.token_speed
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.common import ALPHA, ETA, Report, arguments, in_turns, load
from benchmarks.peers import Tomotopy
from ssvi import engine
from ssvi.backends import Threads
from ssvi.data.documents import Documents
from ssvi.families.dirichlet import Dirichlet
from ssvi.global_steps.ssvi_a import SsviA
from ssvi.local_steps.base import Part
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.models.lda import LDA
from ssvi.numerics.random import derive_keys

_BATCH = 4_000


def main() -> None:
    """Measure each number of topics; print rates and ratios."""
    options = _options()
    split, report = load(options), Report(options, "token_speed")
    first = 0.0
    for n_topics in options.topics:
        one, two, fit = _ours(split.train, n_topics, options)
        row: dict[str, Any] = {"topics": n_topics, "kernel_1": one, "kernel_2": two, "threads_ratio": two / one}
        row |= {"fit_2": fit}
        if not options.alone:
            peer = _tomotopy(split.train, n_topics, options)
            row |= {"tomotopy_2": peer, "kernel_ratio": two / peer, "fit_ratio": fit / peer}
        first = first or two
        report.add(**row, cost_growth=first / two)
    report.show()
    print("rates in million token-sweeps a second; cost_growth is a token's cost relative to the fewest topics")


def _ours(documents: Documents, n_topics: int, options: argparse.Namespace) -> tuple[float, float, float]:
    """Return the kernel's rates on one thread and two, and that of a pass of a fit on two, in millions."""
    model, step = LDA(documents.n_words, np.full(n_topics, ALPHA), ETA), Gibbs()
    pools = [Threads(1), Threads(2)]
    problem = engine.Problem(model, step, SsviA(), population=len(documents), backend=pools[1])
    state = engine.run(problem, engine.init(model, 0), documents, sweeps=2, batch_size=_BATCH)
    topics = state.parameters["topics"]
    sample = documents.take(np.random.default_rng(0).permutation(len(documents))[:_BATCH])
    draw = SsviA().view(Dirichlet(), topics, derive_keys(0, n_topics)).stats
    view, keys = {"topics": Part.of(draw, step.columns(sample))}, derive_keys(1, len(sample))
    calls: list[Callable[[], Any]] = [
        lambda pool=pool: pool.map_reduce(step, model, view, sample, keys, want_local=False)  # type: ignore[misc]
        for pool in pools
    ]
    times = in_turns(calls, options.repeats)
    fit = in_turns([lambda: engine.run(problem, state, documents, sweeps=3, batch_size=_BATCH)], 1)[0]
    work = step.sweeps * sample.lengths().sum() / 1e6
    return work / times[0], work / times[1], step.sweeps * documents.lengths().sum() / 1e6 / fit


def _tomotopy(documents: Documents, n_topics: int, options: argparse.Namespace) -> float:
    """Return the rate of its training, after two iterations, in millions."""
    stops = list(Tomotopy(n_topics, options.threads).fit(documents, [2, 2 + options.iterations]))
    work = float(options.iterations * documents.lengths().sum()) / 1e6
    return work / (stops[1][1] - stops[0][1])


def _options() -> argparse.Namespace:
    parser = arguments(__doc__, documents=20_000)
    parser.add_argument("--topics", type=int, nargs="+", default=[100, 300, 1_000])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--iterations", type=int, default=10, help="of tomotopy")
    parser.add_argument("--alone", action="store_true", help="without tomotopy")
    return parser.parse_args()


if __name__ == "__main__":
    main()

"""Token-sweeps a second of the Gibbs kernels and of whole fits, against tomotopy, by number of topics and of threads.

A token-sweep is one new draw of one token's topic. `local` times the local step alone on a minibatch, with topics from
two passes over the training documents: what a fit does for a minibatch, less the global step. `fit` is three passes
of SSVI-A, global step and all. tomotopy trains on the same documents, and all take turns.

alpha is 0.1, and for more than 100 topics also 10 / K: with 0.1 for each of 1,000 topics the prior alone weighs as
much as a document of 100 words. `machine` is what a second thread is worth on this machine: how much sooner two loops
that touch no memory end side by side than one after the other.

    python -m benchmarks.token_speed
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.common import ALPHA, ETA, Report, arguments, in_turns, load
from benchmarks.peers import Tomotopy
from ssvi import engine
from ssvi.backends import Threads
from ssvi.batches.documents import Documents
from ssvi.families.dirichlet import Dirichlet
from ssvi.global_steps.ssvi_a import SsviA
from ssvi.local_steps.base import Part
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.models.lda import LDA
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import derive_keys

_BATCH, _PASSES = 4_000, 3


def main() -> None:
    """Measure each number of topics; print rates and ratios."""
    options = _options()
    split, report = load(options), Report(options, "token_speed")
    first = 0.0
    for n_topics in options.topics:
        for alpha in sorted({ALPHA, min(ALPHA, 10.0 / n_topics)}, reverse=True):
            row = _measure(split.train, n_topics, alpha, options)
            first = first or row["local_2"]
            report.add(topics=n_topics, alpha=alpha, **row, cost_growth=first / row["local_2"])
    report.show()
    print("rates in million token-sweeps a second; cost_growth is a token's cost relative to the fewest topics")


def _measure(documents: Documents, n_topics: int, alpha: float, options: argparse.Namespace) -> dict[str, float]:
    """Return rates of the local step on one thread and two, of a fit and of tomotopy, in millions, and ratios."""
    model, step = LDA(documents.n_words, np.full(n_topics, alpha), ETA), Gibbs()  # as the estimator has it
    pools = [Threads(1), Threads(2)]
    problem = engine.Problem(model, step, SsviA(), population=len(documents), backend=pools[1])
    state = engine.run(problem, engine.init(model, 0), documents, sweeps=2, batch_size=_BATCH)
    sample = documents.take(np.random.default_rng(0).permutation(len(documents))[:_BATCH])
    draw = SsviA().view(Dirichlet(), state.parameters["topics"], derive_keys(0, n_topics)).stats
    view, keys = {"topics": Part.of(draw, step.touched(sample)["topics"])}, derive_keys(1, len(sample))
    calls: list[Callable[[], Any]] = [
        *(partial(pool.map_reduce, step, model, view, sample, keys, want_local=False) for pool in pools),
        *(partial(pool.workers.each, _spin, [1, 2]) for pool in pools),
        lambda: engine.run(problem, state, documents, sweeps=2 + _PASSES, batch_size=_BATCH),
    ]
    if not options.alone:
        stops = [options.iterations * turn for turn in range(1, options.repeats + 2)]
        chain, clock = Tomotopy(n_topics, options.threads, alpha).fit(documents, stops), [0.0]
        calls.append(lambda: clock.append(next(chain)[1]))
    one, two, alone, side_by_side, fit, *_ = in_turns(calls, options.repeats)
    work, all_work = (step.sweeps * bags.lengths().sum() / 1e6 for bags in (sample, documents))
    row = {"local_1": work / one, "local_2": work / two, "threads": one / two, "machine": alone / side_by_side}
    row["fit_2"] = _PASSES * all_work / fit
    if not options.alone:  # by its own clock, which stands still while topics are read; the first turn warms up
        each = float(np.median(np.diff(clock)[1:]))
        row["tomotopy_2"] = all_work / step.sweeps * options.iterations / each
        row |= {"local_ratio": row["local_2"] / row["tomotopy_2"], "fit_ratio": row["fit_2"] / row["tomotopy_2"]}
    return row


@kernel
def _spin(seed: int) -> int:
    """Keep a processor busy in its registers for a tenth of a second or so."""
    state = seed
    for _ in range(50_000_000):
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
    return state


def _options() -> argparse.Namespace:
    parser = arguments(__doc__, documents=20_000)
    parser.add_argument("--topics", type=int, nargs="+", default=[100, 300, 1_000])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--iterations", type=int, default=2, help="of tomotopy, each time it is its turn")
    parser.add_argument("--alone", action="store_true", help="without tomotopy")
    return parser.parse_args()


if __name__ == "__main__":
    main()

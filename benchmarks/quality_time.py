"""Held-out score against seconds: ours and the libraries that people use, in one run.

Every library gets the same documents, topics, priors and threads, and its topics are scored by the same evaluator
(document completion on the corpus' last documents). For ours and tomotopy all points are of one fit that is looked at
on its way; for scikit-learn and gensim each is a fit of its own. On a machine that others use as well, speed comes and
goes. So the fits take turns: it is always the one that has had the least time that goes on to its next point.

    python -m benchmarks.quality_time
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.common import ALPHA, ETA, Report, Split, arguments, load
from benchmarks.peers import Gensim, GensimMulticore, Peer, ScikitLearn, Tomotopy
from benchmarks.turns import Stop, stops_of, take_turns, watch_estimator
from ssvi import LatentDirichletAllocation
from ssvi.backends import Threads
from ssvi.evaluation import document_completion
from ssvi.experiments.figures import panels
from ssvi.experiments.table import distinct, select
from ssvi.typing import Array

_OURS: dict[str, dict[str, Any]] = {
    "SSVI": {},
    "MAP with Gibbs": {"global_step": "map"},
    "SSVI-A": {"global_step": "ssvi_a"},
    "mean-field": {"global_step": "mean_field", "local_step": "mean_field"},
}
_MAIN = ("SSVI", "MAP with Gibbs")
_PASSES = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 25, 30, 40, 50, 60]
_GOALS = (100, 200, 500)  # iterations of tomotopy whose scores are to be reached


def main() -> None:
    """Measure everything, print the ratios, draw the figure."""
    options = _options()
    split, report = load(options), Report(options, "quality_time")
    print(
        f"{split.name}: {len(split.train):,} documents, {split.train.lengths().sum():,.0f} tokens, K = {options.topics}"
    )
    backend = Threads(options.threads)

    def score(topics: Array) -> float:
        return document_completion(topics, np.full(len(topics), ALPHA), split.test, backend=backend).mean

    _warm_up(split, options)
    for name, stop in take_turns(_fits(split, options)):
        report.add(method=name, passes=stop.passes, seconds=stop.seconds, score=score(stop.topics))
    report.show()
    _ratios(report)
    _draw(report, options)


def _fits(split: Split, options: argparse.Namespace) -> dict[str, Iterator[Stop]]:
    """Return all fits by name."""
    fits, matrix = dict[str, Iterator[Stop]](), split.train.to_matrix()
    for name, parameters in _OURS.items():
        stops = options.passes if name in _MAIN else options.fewer_passes
        model = _model(options, max_iter=max(stops), verbose=0, **parameters)
        fits[name] = watch_estimator(model, matrix, stops)
    stops = [stop for stop in (10, 20, 30, 60, 100, 150, 200, 300, 400, 500) if stop <= options.iterations]
    peers: dict[type[Peer], Sequence[int]] = {ScikitLearn: [1], Gensim: [1], GensimMulticore: [1], Tomotopy: stops}
    for kind, own in peers.items():
        fits[kind.name] = stops_of(kind(options.topics, options.threads).fit(split.train, own))
    return fits


def _model(options: argparse.Namespace, **parameters: Any) -> LatentDirichletAllocation:
    return LatentDirichletAllocation(
        options.topics,
        doc_topic_prior=ALPHA,
        topic_word_prior=ETA,
        n_jobs=options.threads,
        random_state=options.seed,
        **parameters,
    )


def _warm_up(split: Split, options: argparse.Namespace) -> None:
    """Load or compile every kernel."""
    few = split.train.slice(0, 300).tight().to_matrix()
    for parameters in _OURS.values():
        _model(options, max_iter=1, batch_size=100, verbose=0, **parameters).fit(few)


def _ratios(report: Report) -> None:
    """Print how long ours take to the scores of others, as a share of their time."""
    rows = report.table.rows
    once = [row for name in (ScikitLearn.name, Gensim.name, GensimMulticore.name) for row in select(rows, method=name)]
    goals = {f"tomotopy, {stop} iterations": select(rows, method=Tomotopy.name, passes=stop) for stop in _GOALS}
    goals["one pass of scikit-learn or gensim"] = select(once, passes=1)
    for goal, others in goals.items():
        if not others:
            continue
        best = max(others, key=lambda row: float(row["score"]))
        print(f"{goal}: {best['score']:.4f} in {best['seconds']:.1f} s")
        for name in _OURS:
            reached = [row for row in select(rows, method=name) if row["score"] >= best["score"]]
            if reached:
                row = min(reached, key=lambda row: float(row["seconds"]))
                share = row["seconds"] / best["seconds"]
                print(f"    {name}: {row['seconds']:.1f} s ({row['passes']} passes), {share:.3f} of it")


def _draw(report: Report, options: argparse.Namespace) -> None:
    path = options.output / "quality_time.png"
    with panels(path, 1, 1, "seconds", "log probability per held-out word", width=7.0) as axes:
        panel = axes[0][0]
        for method in distinct(report.table.rows, "method"):
            own = select(report.table.rows, method=method)
            style = "o-" if method in _OURS else "s--"
            panel.plot([row["seconds"] for row in own], [row["score"] for row in own], style, label=method, ms=4)
        panel.set_xscale("log")
    print(f"drawn in {path}")


def _options() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--passes", type=int, nargs="+", default=_PASSES)
    parser.add_argument("--fewer-passes", type=int, nargs="+", default=[1, 2, 4, 8], help="of our other pairs")
    parser.add_argument("--iterations", type=int, default=500, help="of tomotopy")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    main()

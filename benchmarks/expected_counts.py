"""Tokens counted by their probabilities against tokens counted by the topics drawn, sweep for sweep.

Fits by the estimator's defaults that differ in the local step alone: how many Gibbs sweeps each document has in a pass,
how many of them count, and how. Scores are document completion after some passes, means over seeds; seconds are of the
processors, for all passes.

    python -m benchmarks.expected_counts --corpora ../shared/data/nips docstrings --seeds 0 1 2
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from benchmarks import texts
from benchmarks.common import Report, arguments
from benchmarks.topic_defaults import warm_up
from benchmarks.turns import watch_estimator
from ssvi import LatentDirichletAllocation
from ssvi.evaluation.document_completion import document_completion
from ssvi.experiments import corpora
from ssvi.experiments.table import markdown, select
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.models.lda import usual_alpha

_FORMS = {
    "drawn, 10 sweeps of which 8 count": Gibbs(sweeps=10, kept=8, statistics="drawn"),
    "drawn, 8 sweeps of which 1 counts": Gibbs(sweeps=8, kept=1, statistics="drawn"),
    "expected, 6 sweeps of which 1 counts": Gibbs(sweeps=6),
    "expected, 8 sweeps of which 1 counts": Gibbs(),
    "expected, 8 sweeps of which 4 count": Gibbs(kept=4),
    "expected, 10 sweeps of which 1 counts": Gibbs(sweeps=10),
}


def main() -> None:
    """Fit every form to every corpus with every seed; print the means."""
    options = _options()
    report = Report(options, "expected_counts")
    warm_up(options)
    for place in options.corpora:
        corpus = texts.load_any(place, options)
        for form in _FORMS:
            for seed in options.seeds:
                _measure(report, corpus, form, seed, options)
    _show(report, options)


def _measure(report: Report, corpus: corpora.Corpus, form: str, seed: int, options: argparse.Namespace) -> None:
    alpha = usual_alpha(options.topics)
    model = LatentDirichletAllocation(
        options.topics, doc_topic_prior=alpha, local_step=_FORMS[form], max_iter=int(max(options.passes)),
        n_jobs=options.threads, random_state=seed, verbose=0,
    )  # fmt: skip
    spent, since = 0.0, time.process_time()
    for stop in watch_estimator(model, corpus.train.to_matrix(), options.passes):
        spent += time.process_time() - since
        score = document_completion(stop.topics, np.full(options.topics, alpha), corpus.test).mean
        report.add(corpus=corpus.name, form=form, seed=seed, passes=stop.passes, score=score, processor_seconds=spent)
        since = time.process_time()


def _show(report: Report, options: argparse.Namespace) -> None:
    rows, lines = report.table.rows, []
    for corpus, form in dict.fromkeys((row["corpus"], row["form"]) for row in rows):
        own = [select(rows, corpus=corpus, form=form, passes=passes) for passes in options.passes]
        spent = np.mean([row["processor_seconds"] for row in own[-1]])
        scores = (f"{np.mean([row['score'] for row in part]):.4f}" for part in own)
        lines.append([corpus, form, *scores, f"{spent:.1f}"])
    print()
    print(markdown(["corpus", "counts", *(f"{passes:g} passes" for passes in options.passes), "s"], lines))


def _options() -> argparse.Namespace:
    parser = arguments(__doc__, documents=10_000)
    parser.set_defaults(held_out=1_000)
    shared = corpora.WIKIPEDIA.parent
    parser.add_argument("--corpora", nargs="+", default=[str(shared / n) for n in ("wikipedia", "arxiv", "nips")])
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--passes", type=float, nargs="+", default=[1, 2, 4, 8], help="to look at scores after")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    return parser.parse_args()


if __name__ == "__main__":
    main()

"""What somebody gets who sets nothing but the number of topics, on corpora of several kinds, and how alpha matters.

Scores are document completion, each fit's with its own alpha; higher is better. "twins" are topics with a cosine above
0.9 to another topic. tomotopy learns an asymmetric alpha by default, and is given 200 iterations.

    python -m benchmarks.topic_defaults --corpora ../shared/data/nips ../shared/data/wikipedia
    python -m benchmarks.topic_defaults --settings default --corpora docstrings dict:foldoc dict:gcide+stop

`--corpora` are folders with bow.npz, .npz or LDA-C files, or kinds of text that is installed (`benchmarks.texts`).
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np

from benchmarks import texts
from benchmarks.common import Report, arguments
from benchmarks.peers import topics_of_tomotopy, words_of
from ssvi import LatentDirichletAllocation
from ssvi.batches.documents import Documents
from ssvi.evaluation.document_completion import document_completion
from ssvi.experiments import corpora
from ssvi.models.lda import usual_alpha
from ssvi.typing import Array

Seconds = tuple[float, float]
"""Of the clock, and of the processors."""


def main() -> None:
    """Fit every setting to every corpus; print scores, twins and seconds."""
    options = _options()
    report = Report(options, "topic_defaults")
    settings: dict[str, Any] = {"default": None, "fixed": usual_alpha(options.topics), "1/K": 1.0 / options.topics}
    settings |= {name: name for name in ("symmetric", "asymmetric")}
    warm_up(options)
    for place in options.corpora:
        corpus = texts.load_any(place, options)
        for name in options.settings:
            alpha = settings[name]
            fit = LatentDirichletAllocation(
                options.topics, doc_topic_prior=alpha, max_iter=options.passes, n_jobs=options.threads, random_state=0
            )
            started, spent = time.perf_counter(), time.process_time()
            fit.fit(corpus.train.to_matrix())
            seconds = time.perf_counter() - started, time.process_time() - spent
            _add(report, corpus, f"ssvi, alpha {name}", fit.topic_word_, fit.doc_topic_prior_, seconds)
        if not options.alone:
            _add(report, corpus, "tomotopy", *_tomotopy(corpus.train, options))
    report.show()


def warm_up(options: argparse.Namespace) -> None:
    """Compile, or load what was compiled, before anything is timed."""
    few = np.random.default_rng(0).poisson(0.5, (400, 60))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        LatentDirichletAllocation(8, max_iter=6, n_jobs=options.threads, random_state=0).fit(few)


def _tomotopy(documents: Documents, options: argparse.Namespace) -> tuple[Array, Array, Seconds]:
    """Return topics, alpha and seconds of tomotopy's defaults."""
    import tomotopy

    warnings.filterwarnings("ignore", message="The training result may differ")
    model = tomotopy.LDAModel(k=options.topics, seed=1)
    for words in words_of(documents):
        model.add_doc(words)
    started, spent = time.perf_counter(), time.process_time()
    model.train(200, workers=options.threads, show_progress=False)
    seconds = time.perf_counter() - started, time.process_time() - spent
    return topics_of_tomotopy(model, documents.n_words), np.array(model.alpha, dtype=float), seconds


def _add(report: Report, corpus: corpora.Corpus, name: str, topics: Array, alpha: Array, seconds: Seconds) -> None:
    report.add(
        corpus=corpus.name,
        fit=name,
        score=document_completion(topics, alpha, corpus.test).mean,
        twins=twins(topics),
        alpha_sum=float(alpha.sum()),
        seconds=seconds[0],
        processor_seconds=seconds[1],
    )


def twins(topics: Array) -> int:
    """Return how many topics have a cosine above 0.9 to another."""
    rows = topics / np.linalg.norm(topics, axis=1, keepdims=True)
    cosines = rows @ rows.T
    np.fill_diagonal(cosines, 0.0)
    return int(np.count_nonzero(cosines.max(axis=1) > 0.9))


def _options() -> argparse.Namespace:
    parser = arguments(__doc__, documents=30_000)
    parser.set_defaults(held_out=1_000)
    parser.add_argument("--corpora", nargs="+", default=[str(corpora.default_corpus() or "docstrings")])
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--passes", type=int, default=LatentDirichletAllocation().max_iter)
    parser.add_argument(
        "--settings", nargs="+", default=["default", "fixed", "1/K"], help="of alpha; also symmetric, asymmetric"
    )
    parser.add_argument("--alone", action="store_true", help="without tomotopy")
    return parser.parse_args()


if __name__ == "__main__":
    main()

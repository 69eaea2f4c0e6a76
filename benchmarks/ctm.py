"""The correlated topic model: documents a second of its local steps, and its held-out score beside LDA's.

Scores are document completion on the same halves of the same documents; LDA has as many passes as the correlated topic
model and the LDA that it begins with have together. Speed is of the local step alone, on a minibatch of the corpus with
a fitted model's view, for each step and number of threads; the first call, which compiles, does not count.

    python -m benchmarks.ctm speed --corpus ../shared/data/ap/ap.dat
    python -m benchmarks.ctm scores --corpus ../shared/data/nips --topics 50 --seeds 2
"""

from __future__ import annotations

import argparse
import warnings
from functools import partial

from benchmarks.common import Report, arguments, in_turns, with_known_words
from ssvi import CorrelatedTopicModel, LatentDirichletAllocation
from ssvi.backends import Threads
from ssvi.experiments import corpora
from ssvi.local_steps.base import LocalStep
from ssvi.numerics.random import derive_keys
from ssvi.registry import lookup


def main() -> None:
    """Measure what is asked for."""
    options = _options()
    corpus = with_known_words(corpora.load(options.corpus, held_out=options.held_out, shuffled=True))
    report = Report(options, f"ctm-{options.what}")
    warnings.simplefilter("ignore")  # that short fits have not converged
    (_speed if options.what == "speed" else _scores)(options, corpus, report)
    report.show()


def _fitted(options: argparse.Namespace, corpus: corpora.Corpus, seed: int) -> CorrelatedTopicModel:
    model = CorrelatedTopicModel(options.topics, max_iter=options.passes, n_jobs=options.threads, random_state=seed)
    return model.fit(corpus.train.to_matrix())


def _speed(options: argparse.Namespace, corpus: corpora.Corpus, report: Report) -> None:
    fit = _fitted(options, corpus, 0)
    batch = corpus.train.slice(0, min(options.batch, len(corpus.train))).tight()
    keys, views = derive_keys(0, len(batch)), fit._views()
    for name in options.steps:
        step = lookup("ssvi.local_steps.ctm", LocalStep, name, "local step")()
        for threads in sorted({1, options.threads}):
            with Threads(threads) as backend:
                run = partial(backend.map_reduce, step, fit._ctm(), views, batch, keys)
                (seconds,) = in_turns([run], 3)
            words = float(batch.tight().counts.size) / len(batch)
            report.add(corpus=corpus.name, topics=options.topics, words=words, step=name, threads=threads,
                       documents_per_second=len(batch) / seconds)  # fmt: skip


def _scores(options: argparse.Namespace, corpus: corpora.Corpus, report: Report) -> None:
    train, test = corpus.train.to_matrix(), corpus.test.to_matrix()
    begun = LatentDirichletAllocation(options.topics).get_params()["max_iter"]
    for seed in range(options.seeds):
        passes = begun + options.passes
        lda = LatentDirichletAllocation(options.topics, max_iter=passes, n_jobs=options.threads, random_state=seed)
        lda.fit(train)
        ctm = _fitted(options, corpus, seed)
        report.add(corpus=corpus.name, topics=options.topics, seed=seed, passes=passes, lda=float(lda.score(test)),
                   ctm=float(ctm.score(test)))  # fmt: skip


def _options() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("what", choices=("speed", "scores"))
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--passes", type=int, default=8, help="of the correlated topic model, after LDA's")
    parser.add_argument("--batch", type=int, default=1_000, help="documents of the minibatch that is timed")
    parser.add_argument("--steps", nargs="+", default=["metropolis", "laplace"])
    parser.add_argument("--seeds", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()

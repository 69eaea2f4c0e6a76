"""Where fits of topics with `max_iter="auto"` end, and where the held-out score stops growing, on text of many kinds.

Each fit goes on for `--passes` passes, with defaults; the mean score of all seeds says where it stops growing by 0.001
a pass (as `ssvi reproduce convergence` has it), and each fit notes where "auto" would have ended.

    python -m benchmarks.when_to_stop --corpora ../shared/data/nips man dict:foldoc --seeds 0 1 2

`--corpora` are those of `benchmarks.topic_defaults`.
"""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks import texts
from benchmarks.common import Report, arguments
from ssvi.backends import Threads
from ssvi.experiments import corpora
from ssvi.experiments.convergence import FIRST, EndlessTopics, stops_growing


def main() -> None:
    """Fit every corpus with every seed; print both ends, and the scores there."""
    options = _options()
    report = Report(options, "when_to_stop")
    for place in options.corpora:
        corpus = texts.load_any(place, options)
        held_out, ends = zip(*(_scores(corpus, seed, options) for seed in options.seeds), strict=True)
        mean = np.mean(held_out, axis=0)
        right = stops_growing(range(FIRST, options.passes + 1), mean[FIRST - 1 :])
        there = [scores[end - 1] for scores, end in zip(held_out, ends, strict=True)]
        report.add(
            corpus=corpus.name,
            words_a_document=float(corpus.train.lengths().mean()),
            stops_growing_at=right if right is not None else float("nan"),
            auto_ends_at=float(np.mean(ends)),
            ratio=float(np.mean(ends)) / right if right else float("nan"),
            score_there=float(np.mean(there)),
            score_at_last=float(mean[-1]),
        )
    report.show()


def _scores(corpus: corpora.Corpus, seed: int, options: argparse.Namespace) -> tuple[list[float], int]:
    """Return the held-out score after every pass of a fit, and the pass at which "auto" would have ended it."""
    last = options.passes * len(corpus.train)
    fit = EndlessTopics(
        options.topics,
        max_iter="auto",
        callbacks=[lambda _, info: info.documents_seen >= last],
        backend=Threads(options.threads),
        random_state=seed,
    )
    fit.fit(corpus.train.to_matrix(), X_val=corpus.test.to_matrix())
    return [score for _, score in fit.scores_], fit.end_


def _options() -> argparse.Namespace:
    parser = arguments(__doc__, documents=4_500)
    parser.set_defaults(held_out=1_000)
    parser.add_argument("--corpora", nargs="+", default=[str(corpora.default_corpus() or "docstrings")])
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--passes", type=int, default=36)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    return parser.parse_args()


if __name__ == "__main__":
    main()

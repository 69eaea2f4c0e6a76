"""What SSVI's correction does to words that a minibatch does not have, and how much of it could be left out.

The correction moves every word of the vocabulary in every step (docs/design.md, "Words of a minibatch, and all
others"). Fits leave that out for every word and topic whose lambda is below a limit, as if these were put off as SSVI-A
does. `heavier` is the share of words x topics above the limit, which would still have to be moved in every step,
`dropped` the largest part of a target that is left out, and `bound` what it cannot exceed.

    python -m benchmarks.large_vocabulary
"""

from __future__ import annotations

import argparse
import threading
from typing import Any

import numpy as np
from scipy import sparse

from ssvi import engine
from ssvi.backends import Threads
from ssvi.batches.documents import Documents
from ssvi.evaluation.document_completion import document_completion
from ssvi.experiments.table import markdown
from ssvi.families import dirichlet_correction
from ssvi.global_steps.ssvi import Ssvi
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.models.lda import LDA
from ssvi.schedules import PowerSchedule

_exact: Any = dirichlet_correction._complete_others
_SOFTENING = Ssvi().softening


class _Limited:
    """The correction of words left out, but for those whose lambda is below a limit; notes what it leaves out."""

    def __init__(self, limit: float) -> None:
        self._lock = threading.Lock()
        self.limit, self.dropped, self.largest, self.heavy, self.all = limit, 0.0, 0.0, 0, 0

    def __call__(self, lam: Any, common: Any, ramp: float, *rest: Any) -> None:
        """Fill the last of the arguments with k V x of some words."""
        out = rest[-1]
        _exact(lam, common, ramp, *rest)
        light = lam <= self.limit
        with self._lock:
            self.dropped = max(self.dropped, float(np.abs(out[light]).max(initial=0.0)))
            self.largest = max(self.largest, ramp * float(np.abs(common).max()))
            self.heavy, self.all = self.heavy + int((~light).sum()), self.all + light.size
        out[light] = 0.0

    def bound(self) -> float:
        """Return what no part that was left out can exceed, with 1 / psi'(lambda) < lambda^2."""
        return self.largest * self.limit**3 / (self.limit + _SOFTENING)


def main() -> None:
    """Fit with every limit; print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=100_000)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--limits", type=float, nargs="+", default=[0.0, 0.02, 0.05, 0.1, 0.2])
    options = parser.parse_args()
    documents = _drawn(options.words, options.topics)
    lines = []
    for limit in options.limits:
        correction = _Limited(limit)
        score = _fit(documents, options, correction)
        row = (
            limit,
            correction.heavy / correction.all,
            correction.largest,
            correction.dropped,
            correction.bound(),
            score,
        )
        lines.append([f"{value:.4g}" for value in row])
        print("  ".join(lines[-1]), flush=True)
    print(markdown(["limit", "heavier", "largest c", "dropped", "bound", "score"], lines))


def _drawn(n_words: int, n_topics: int, n_documents: int = 10_000, length: int = 100) -> Documents:
    """Return documents of topics whose words follow Zipf's law, each topic's with its own favourites."""
    rng, chances = np.random.default_rng(0), 1.0 / np.arange(1, n_words + 1)
    topics = np.cumsum(rng.gamma(5_000 * chances / chances.sum(), size=(n_topics, n_words)), axis=1)
    shares = rng.dirichlet(np.full(n_topics, 0.1), n_documents)
    words = np.empty((n_documents, length), np.int64)
    for row in range(n_documents):
        chosen = rng.choice(n_topics, length, p=shares[row])
        for k in np.unique(chosen):
            here = chosen == k
            words[row, here] = np.searchsorted(topics[k], rng.random(int(here.sum())) * topics[k, -1])
    rows = np.repeat(np.arange(n_documents), length)
    ones = np.ones(words.size, dtype=np.int32)
    return Documents.from_matrix(sparse.coo_array((ones, (rows, words.ravel())), shape=(n_documents, n_words)).tocsr())


def _fit(documents: Documents, options: argparse.Namespace, correction: _Limited) -> float:
    """Return the held-out score of a fit whose second half is under the limit, as lambda forgets its start first."""
    model = LDA(documents.n_words, np.full(options.topics, 0.1), 0.01)
    train, test = documents.slice(0, len(documents) - 500), documents.slice(len(documents) - 500, len(documents))
    with Threads(2) as backend:
        problem = engine.Problem(model, Gibbs(), Ssvi(), PowerSchedule(0.5, 1.0), len(train), backend=backend)

        def watch(state: engine.State, info: engine.Info) -> bool:
            if info.step == options.steps // 2:
                vars(dirichlet_correction)["_complete_others"] = correction
            return bool(info.step >= options.steps)

        dirichlet_correction._complete_others = _exact
        state = engine.init(model, 0)
        state = engine.run(problem, state, train.tight(), sweeps=99, batch_size=1_000, callbacks=[watch])
        dirichlet_correction._complete_others = _exact
        lam = state.parameters["topics"]
        topics = lam / lam.sum(axis=1, keepdims=True)
        score: Any = document_completion(topics, model.alpha, test.tight(), backend=backend)
    return float(getattr(score, "mean", score))


if __name__ == "__main__":
    main()

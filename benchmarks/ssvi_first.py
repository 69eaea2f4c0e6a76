"""SSVI by default against everything else at equal time: scores after the seconds that so many passes of SSVI take.

On each corpus, for each eta and seed, all methods get the same documents, topics, priors, threads and evaluator
(document completion). They take turns, and each goes on until it has had the time of SSVI's passes. A score at a moment
lies on lines between the points at which a fit was looked at. Positive differences are SSVI's lead; tables have medians
over seeds. Runs are long: what is in the CSV of an earlier run with the same sizes is not measured again, so that one
that was stopped goes on with the next seed. (A comparison that was not complete is measured anew as a whole, side by
side.) A new version wants a new `--output`.

    python -m benchmarks.ssvi_first
    python -m benchmarks.ssvi_first --corpora ../shared/data/nips --etas 0.1 --seeds 0 --topics 20 --documents 5000
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import ALPHA, Report, arguments, with_known_words
from benchmarks.peers import Tomotopy
from benchmarks.turns import Stop, stops_of, take_turns, watch, watch_estimator
from ssvi import LatentDirichletAllocation, engine
from ssvi.backends import Threads
from ssvi.baselines import Goem, Sgrld
from ssvi.baselines.sgrld import langevin_schedule
from ssvi.evaluation import document_completion
from ssvi.experiments import corpora
from ssvi.experiments.curves import Curve, score_at, seconds_to
from ssvi.experiments.table import markdown, select
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.models.lda import LDA

_SSVI, _TOMOTOPY = "SSVI", Tomotopy.name
_ESTIMATORS: dict[str, dict[str, Any]] = {
    _SSVI: {},
    "MAP": {"global_step": "map"},
    "SSVI-A": {"global_step": "ssvi_a"},
    "mean-field": {"global_step": "mean_field", "local_step": "mean_field"},
}


@dataclass(frozen=True)
class Sampler:
    """A setting of SGRLD or G-OEM, and the documents of its minibatches (None: as estimators have it)."""

    make: Callable[[LDA, int, Threads], Sgrld | Goem]
    minibatch: int | None = None


def _sgrld(first: float) -> Sampler:
    """Return SGRLD with steps that begin with this size."""
    return Sampler(lambda model, n, backend: Sgrld(model, n, langevin_schedule(first), backend=backend))


def _goem(minibatch: int | None = None, **settings: Any) -> Sampler:
    """Return G-OEM, with an average that did better than weights in proportion to t in trials on Wikipedia."""
    return Sampler(lambda model, n, backend: Goem(model, n, averaging=4.0, backend=backend, **settings), minibatch)


# From trials with one seed on up to 5,000 documents and 20 topics, scored on test documents, which favours these
# methods. None was best everywhere: SGRLD mostly wanted larger steps with larger eta (0.3 was ahead of 0.1 only in
# the first passes over NIPS with eta = 0.5, and 0.001 far behind). The boosted form was not tuned.
_SAMPLERS = {
    "SGRLD, steps 0.01": _sgrld(0.01),
    "SGRLD, steps 0.03": _sgrld(0.03),
    "SGRLD, steps 0.1": _sgrld(0.1),
    "G-OEM": _goem(100),
    "G-OEM, 10 sweeps": _goem(local_step=Gibbs(sweeps=10, kept=5, statistics="drawn")),
    "G-OEM, our counts": _goem(local_step=Gibbs(sweeps=8)),  # by probabilities, which its authors do not have
    "G-OEM, boosted": _goem(boosted=True),
}
_METHODS = (*_ESTIMATORS, *_SAMPLERS, _TOMOTOPY)
_STOPS = (0.5, 1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 25, 30, 40, 50, 60, 80, 100)  # as far as there is time
_LONGER = 1.5  # times SSVI's passes, that other estimators make at most in its time
_WARM_PASSES = 8
_ITERATIONS = (5, 10, 20, 30, 40, 60, 80, 100, 150, 200, 300, 400, 600, 800, 1000)  # of tomotopy


@dataclass(frozen=True)
class Comparison:
    """All methods on one corpus with one eta and one seed."""

    corpus: corpora.Corpus
    eta: float
    seed: int
    options: argparse.Namespace

    @property
    def key(self) -> dict[str, Any]:
        """What its rows have in common."""
        sizes = {"documents": len(self.corpus.train), "topics": self.options.topics, "threads": self.options.threads}
        return {"corpus": self.corpus.name, **sizes, "eta": self.eta, "seed": self.seed}

    def fit(self, name: str) -> Iterator[Stop]:
        """Return the fit of a method."""
        if name == _TOMOTOPY:
            peer = Tomotopy(self.options.topics, self.options.threads, ALPHA, self.eta, self.seed)
            return stops_of(peer.fit(self.corpus.train, [int(stop) for stop in self.stops(name)]))
        if name in _SAMPLERS:
            return self._sampler(name)
        stops = self.stops(name)
        return watch_estimator(self.estimator(name, max(stops)), self.corpus.train.to_matrix(), stops)

    def estimator(self, name: str, passes: float) -> LatentDirichletAllocation:
        """Return an estimator that makes so many passes."""
        return LatentDirichletAllocation(
            self.options.topics,
            doc_topic_prior=ALPHA,
            topic_word_prior=self.eta,
            max_iter=int(np.ceil(passes)),
            n_jobs=self.options.threads,
            random_state=self.seed,
            verbose=0,
            **_ESTIMATORS[name],
        )

    def _sampler(self, name: str) -> Iterator[Stop]:
        documents = self.corpus.train
        model = LDA(documents.n_words, np.full(self.options.topics, ALPHA), self.eta)
        backend = Threads(self.options.threads)
        sampler = _SAMPLERS[name]
        steps = sampler.make(model, len(documents), backend)
        size = min(sampler.minibatch or min(max(len(documents) // 20, 128), 1_000), len(documents))

        def fit(callback: engine.Callback) -> None:
            start, passes = steps.init(self.seed), int(max(_STOPS))
            with backend:
                engine.run(steps, start, documents, sweeps=passes, batch_size=size, callbacks=[callback])

        return watch(fit, len(documents), self.stops(name), steps.mean_topics)

    def stops(self, name: str) -> list[float]:
        """Return the passes after which a method is looked at, tomotopy's after so many iterations.

        Estimators merge copies by default, in a part of a fit that goes by its passes: so all of them are to make about
        as many.
        """
        if name == _TOMOTOPY:
            return [stop for stop in _ITERATIONS if stop <= max(self.options.goals)]
        last = max(_STOPS) if self.options.long else max(self.options.passes)
        if name == _SSVI:
            return sorted({*self.options.passes, *(stop for stop in _STOPS if stop <= last)})
        return [stop for stop in _STOPS if name in _SAMPLERS or stop <= _LONGER * last]


def main() -> None:
    """Measure what is missing, and print the tables."""
    options = _options()
    report = Report(options, "ssvi_first", go_on=True)
    comparisons = []
    for path in options.corpora:
        corpus = with_known_words(corpora.load(path, held_out=options.held_out, documents=options.documents))
        comparisons += [Comparison(corpus, eta, seed, options) for seed in options.seeds for eta in options.etas]
    warm = False
    for comparison in comparisons:
        if _is_complete(comparison, report):
            continue
        if not warm:
            _warm_up(comparison)
            warm = True
        _measure(comparison, report)
    _show_leads(comparisons, report)
    _show_ratios(comparisons, report)
    print(f"written to {report.table.path}")


def _measure(comparison: Comparison, report: Report) -> None:
    """Run all methods in turns, in place of rows that there are already."""
    key, options = comparison.key, comparison.options
    old = select(report.table.rows, **key)
    report.table.rows = [row for row in report.table.rows if row not in old]
    backend, alpha, end = Threads(options.threads), np.full(options.topics, ALPHA), np.inf

    def is_over(name: str, seconds: float) -> bool:
        return name not in (_SSVI, _TOMOTOPY) and seconds >= end

    for name, stop in take_turns({name: comparison.fit(name) for name in options.methods}, is_over):
        if name == _SSVI and stop.passes == max(options.passes):
            end = stop.seconds
        score = document_completion(stop.topics, alpha, comparison.corpus.test, backend=backend).mean
        report.add(**key, method=name, passes=stop.passes, seconds=stop.seconds, score=score)


def _is_complete(comparison: Comparison, report: Report) -> bool:
    """Tell whether all that is asked for is in the table."""
    options, rows = comparison.options, select(report.table.rows, **comparison.key)
    reached = {row["passes"] for row in select(rows, method=_SSVI)}
    if not reached.issuperset(comparison.stops(_SSVI)):
        return False
    end = select(rows, method=_SSVI, passes=max(options.passes))[0]["seconds"]
    for name in options.methods:
        own = select(rows, method=name)
        last = max((row["passes"] for row in own), default=0)
        if last < max(comparison.stops(name)) and (name == _TOMOTOPY or not any(row["seconds"] >= end for row in own)):
            return False
    return True


def _warm_up(comparison: Comparison) -> None:
    """Load or compile every kernel: SSVI's draws come after its first passes, which are MAP's."""
    few = comparison.corpus.train.slice(0, 300).tight()
    small = Comparison(corpora.Corpus("few", few, few), comparison.eta, comparison.seed, comparison.options)
    for name in comparison.options.methods:
        for stop in small.fit(name):
            if stop.passes >= _WARM_PASSES:
                break


def _curve(rows: Sequence[Mapping[str, Any]], method: str) -> Curve:
    return [(row["seconds"], row["score"]) for row in select(rows, method=method)]


def _show_leads(comparisons: Sequence[Comparison], report: Report) -> None:
    """Print SSVI's score less each other's at the times of SSVI's passes, and SSVI's score itself."""
    options, lines = comparisons[0].options, []
    for corpus, eta, units in _grouped(comparisons):
        for method in options.methods:
            cells = []
            for passes in options.passes:
                leads = [_lead(select(report.table.rows, **unit.key), method, passes) for unit in units]
                cells.append(_median(leads, "-" if method == _SSVI else "+"))
            lines.append([corpus, f"{eta:g}", method, *cells])
    print("\nSSVI's score less the other's, at the time of so many passes of SSVI (first line: SSVI's score)")
    print(markdown(["corpus", "eta", "method", *(f"{passes:g}" for passes in options.passes)], lines))


def _lead(rows: Sequence[Mapping[str, Any]], method: str, passes: float) -> float:
    own = select(rows, method=_SSVI, passes=passes)[0]
    return float(own["score"] if method == _SSVI else own["score"] - score_at(_curve(rows, method), own["seconds"]))


def _show_ratios(comparisons: Sequence[Comparison], report: Report) -> None:
    """Print the time to tomotopy's scores as a share of its own."""
    options, lines = comparisons[0].options, []
    if _TOMOTOPY not in options.methods:
        return
    for corpus, eta, units in _grouped(comparisons):
        for method in options.methods:
            cells = []
            for goal in options.goals:
                shares = [_share(select(report.table.rows, **unit.key), method, goal) for unit in units]
                cells.append(_median(shares, "-"))
            lines.append([corpus, f"{eta:g}", method, *cells])
    print("\nSeconds to tomotopy's score after so many iterations, as a share of tomotopy's (inf: not reached)")
    print(markdown(["corpus", "eta", "method", *map(str, options.goals)], lines))


def _share(rows: Sequence[Mapping[str, Any]], method: str, goal: int) -> float:
    theirs = select(rows, method=_TOMOTOPY, passes=goal)[0]
    return float(seconds_to(_curve(rows, method), theirs["score"]) / theirs["seconds"])


def _grouped(comparisons: Sequence[Comparison]) -> Iterator[tuple[str, float, list[Comparison]]]:
    """Yield the seeds of each corpus and eta."""
    keys = dict.fromkeys((unit.corpus.name, unit.eta) for unit in comparisons)
    for name, eta in keys:
        yield name, eta, [unit for unit in comparisons if (unit.corpus.name, unit.eta) == (name, eta)]


def _median(values: Sequence[float], sign: str) -> str:
    return format(float(np.median(values)), f"{sign}.4f")


def _options() -> argparse.Namespace:
    parser = arguments(__doc__, documents=20_000)
    shared = corpora.WIKIPEDIA.parent
    parser.add_argument("--corpora", type=Path, nargs="+", default=[shared / n for n in ("wikipedia", "arxiv", "nips")])
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--etas", type=float, nargs="+", default=[0.01, 0.1, 0.5])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--passes", type=float, nargs="+", default=[2, 4, 8, 12, 20], help="of SSVI, to compare at")
    parser.add_argument("--methods", nargs="+", choices=_METHODS, default=list(_METHODS), help="SSVI is always there")
    parser.add_argument("--long", action="store_true", help="with 1,000 iterations of tomotopy and 100 passes of SSVI")
    options = parser.parse_args()
    options.methods = [name for name in _METHODS if name in (_SSVI, *options.methods)]
    options.goals = (100, 200, 1000) if options.long else (100, 200)
    return options


if __name__ == "__main__":
    main()

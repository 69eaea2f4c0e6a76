"""What the speed benchmarks share: documents, a table that is printed and written, and repeated timing."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ssvi.batches.documents import Documents
from ssvi.experiments import corpora
from ssvi.experiments.table import Table, markdown

ALPHA, ETA = 0.1, 0.01
"""The priors that every library gets."""


@dataclass(frozen=True)
class Split:
    """Documents to fit, to choose settings by, and to report on."""

    name: str
    train: Documents
    validation: Documents
    test: Documents


def load(options: argparse.Namespace) -> Split:
    """Return the documents: the first ones for training, the next for validation, the corpus' last ones for testing."""
    corpus = corpora.load(options.corpus, held_out=options.held_out)
    spare = min(options.held_out, len(corpus.train) // 10)
    train = min(options.documents, len(corpus.train) - spare)
    validation = corpus.train.slice(train, train + spare).tight()
    return Split(corpus.name, corpus.train.slice(0, train).tight(), validation, corpus.test)


def with_known_words(corpus: corpora.Corpus) -> corpora.Corpus:
    """Return the corpus without words that no training document has, of which everybody would have to guess."""
    known = corpus.train.column_sums() > 0
    train, test = (Documents.from_matrix(part.to_matrix()[:, known]) for part in (corpus.train, corpus.test))
    return corpora.Corpus(corpus.name, train, test)


def arguments(description: str | None, *, documents: int = 95_000) -> argparse.ArgumentParser:
    """Return a parser with the options that all have."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=corpora.default_corpus(), help="folder with bow.npz")
    parser.add_argument("--documents", type=int, default=documents, help="documents to train on")
    parser.add_argument("--held-out", type=int, default=5_000, help="documents to test on")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--output", type=Path, default=Path("results") / "bench", help="where tables and figures go")
    return parser


class Report:
    """Rows of one benchmark: printed as they come, written as CSV, and at last shown as a table.

    With `go_on`, rows that an earlier run has written stay.
    """

    def __init__(self, options: argparse.Namespace, name: str, *, go_on: bool = False) -> None:
        options.output.mkdir(parents=True, exist_ok=True)
        path = options.output / f"{name}.csv"
        if not go_on:
            path.unlink(missing_ok=True)
        self.table = Table.open(path)

    def add(self, **row: Any) -> None:
        """Write down a measurement."""
        self.table.append(row)
        print("  ".join(f"{name} {_show(value)}" for name, value in row.items()), flush=True)

    def show(self) -> None:
        """Print everything as a table."""
        rows = self.table.rows
        print()
        print(markdown(list(rows[0]), [[_show(value) for value in row.values()] for row in rows]))
        print(f"written to {self.table.path}")


def seconds(function: Callable[[], Any]) -> float:
    """Return how long a call takes."""
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def in_turns(functions: Sequence[Callable[[], Any]], repeats: int) -> list[float]:
    """Return the median seconds of each function, after a first call, all of them in turns.

    On a machine that others use as well, what is compared must be measured side by side.
    """
    for function in functions:
        function()
    times = [[seconds(function) for function in functions] for _ in range(repeats)]
    return [float(value) for value in np.median(times, axis=0)]


def _show(value: Any) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)

"""A demonstration on real text that is on every machine: `ssvi demo`.

It gathers docstrings, fits topics to nine tenths of them by five algorithms, and scores each on the rest.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from ssvi.data.docstrings import default_folders, docstring_corpus, python_files
from ssvi.estimators.lda import LatentDirichletAllocation
from ssvi.evaluation.held_out import HeldOut

PAIRS = [
    ("mean-field", "mean_field", "mean_field"),
    ("MAP, CVB0", "map", "cvb0"),
    ("mean-field, Gibbs", "mean_field", "gibbs"),
    ("SSVI-A, Gibbs", "ssvi_a", "gibbs"),
    ("SSVI, Gibbs", "ssvi", "gibbs"),
]


@dataclass(frozen=True)
class Text:
    """Counts of words, split into training and test documents."""

    train: sparse.csr_matrix
    test: sparse.csr_matrix
    words: np.ndarray


@dataclass(frozen=True)
class Outcome:
    """One algorithm's fit."""

    label: str
    model: LatentDirichletAllocation
    held_out: HeldOut
    seconds: float


def gather(most_files: int | None = None, stream: TextIO = sys.stderr) -> Text:
    """Read the docstrings of this machine and count their words."""
    counts, words = count_docstrings(most_files, stream)
    rows = np.random.default_rng(0).permutation(counts.shape[0])
    n_test = len(rows) // 10
    return Text(counts[rows[n_test:]], counts[rows[:n_test]], words)


def count_docstrings(
    most_files: int | None = None, stream: TextIO = sys.stderr
) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Return the documents x words counts of this machine's docstrings, and the words."""
    files = python_files(default_folders(), most_files)
    texts = docstring_corpus(files, report=_file_counter(len(files), stream))
    vectorizer = CountVectorizer(stop_words="english", min_df=5, max_df=0.1, token_pattern=r"(?u)\b[a-z]{3,}\b")
    return vectorizer.fit_transform(texts), vectorizer.get_feature_names_out()


def fit_all(text: Text, topics: int, passes: int) -> list[Outcome]:
    """Fit every pair of steps to the training documents and score it on the test documents."""
    outcomes = []
    for label, global_step, local_step in PAIRS:
        model = LatentDirichletAllocation(
            topics,
            doc_topic_prior=0.1,
            topic_word_prior=0.01,
            global_step=global_step,
            local_step=local_step,
            batch_size=500,
            max_iter=passes,
            n_jobs=-1,
            random_state=0,
            verbose=1,
        )
        print(f"fitting {label} ...", file=sys.stderr)
        started = time.perf_counter()
        model.fit(text.train)
        outcomes.append(Outcome(label, model, model.held_out(text.test), time.perf_counter() - started))
    return outcomes


def describe(outcomes: list[Outcome], words: np.ndarray) -> str:
    """Return the best fit's topics and the table of scores."""
    best = max(outcomes, key=lambda outcome: outcome.held_out.mean)
    prevalence = best.model.components_.sum(axis=1)
    lines = [f"Topics found by {best.label} (share of words, then the most probable words):"]
    for k in np.argsort(-prevalence):
        top = words[np.argsort(-best.model.topic_word_[k])[:9]]
        lines.append(f"{prevalence[k] / prevalence.sum():6.1%}  {' '.join(top)}")
    lines += [
        "",
        "Mean log probability per held-out word (half of each test document, given the other half; higher is better):",
        f"{'':20}{'score':>9}{'+-':>8}{'perplexity':>12}{'seconds':>9}",
    ]
    for outcome in outcomes:
        score = outcome.held_out
        lines.append(
            f"{outcome.label:20}{score.mean:9.3f}{score.standard_error:8.3f}{np.exp(-score.mean):12.0f}"
            f"{outcome.seconds:9.1f}"
        )
    lines.append("(seconds include compiling a kernel the first time it is used; +- is the error over documents)")
    return "\n".join(lines)


def _file_counter(total: int, stream: TextIO) -> Callable[[int], None]:
    """Return a function that shows how many files have been read."""

    def report(done: int) -> None:
        if stream.isatty() and (done % 50 == 0 or done == total):
            stream.write(f"\r\x1b[Kreading docstrings: {done:,} of {total:,} files" + ("\n" if done == total else ""))
            stream.flush()

    return report


def run(topics: int = 30, passes: int = 12, files: int | None = None) -> None:
    """Run the demonstration; `files` is how many Python files to read at the most."""
    started = time.perf_counter()
    print("reading the docstrings of the standard library and installed packages ...", file=sys.stderr)
    text = gather(files)
    print(
        f"{text.train.shape[0]:,} documents to fit and {text.test.shape[0]:,} to predict, "
        f"{int(text.train.sum()):,} words, {len(text.words):,} of them distinct"
    )
    outcomes = fit_all(text, topics, passes)
    print()
    print(describe(outcomes, text.words))
    print(f"{time.perf_counter() - started:.0f} seconds in all")

"""What `ssvi fit` does once its options are known: read, fit, write and tell."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ssvi.batches.sources import Source
from ssvi.cli import inputs, parameters, sequences
from ssvi.cli.display import say_notes
from ssvi.cli.numbers import check_numbers
from ssvi.cli.reading import Reading
from ssvi.cli.seen import keep_seen, notes_on_copies_set_aside
from ssvi.cli.summary import in_lines, next_steps, notes_before, summarize
from ssvi.cli.training import Training, TrainingDisplay
from ssvi.files.checkpoints import Checkpoints
from ssvi.files.models import describe

_OTHER_KINDS = (
    ".csv", ".tsv", ".txt", ".json", ".jsonl", ".parquet", ".arrow", ".npz", ".npy", ".mtx", ".h5ad", ".html", ".htm",
    ".png", ".svg", ".pdf", ".pkl", ".gz", ".zip",
)  # fmt: skip
_MOST_HELD_OUT = 1_000


def fit_documents(
    estimator: Any,
    reading: Reading,
    held_out: float,
    training: Training,
    beginning: dict[str, Any],
    compiled: Callable[[], None],
) -> None:
    """Fit a model of documents or rows.

    `beginning` is what it starts from, by the names of its words; `compiled` waits for the kernels.
    """
    corpus = reading.by(estimator).read(quiet=training.silent)
    check_kind(estimator, corpus, reading.where)
    parameters.check_memory(estimator, corpus.documents.n_words)
    say_notes(notes_before(estimator, corpus), quiet=training.silent)
    train, test = split_off(corpus.documents, held_out, int(estimator.random_state))
    say_notes(notes_on_copies_set_aside(train, test, is_text=corpus.text is not None), quiet=training.silent)
    compiled()
    names = {"vocabulary": corpus.vocabulary, **beginning} if beginning else {}
    display = _fit(estimator, (train,), {"X_val": test, **names}, training)
    keep_words(estimator, corpus)
    keep_seen(estimator, train)
    output = training.save(estimator, display)
    score = None if test is None else estimator.score(test)
    following = next_steps(output, reading)
    facts = summarize(estimator, corpus, output, score, display.seconds, following, stopped=display.stopped)
    training.tell(display, facts, lambda: in_lines(facts, estimator))


def check_kind(estimator: Any, corpus: Any, where: str) -> None:
    """Refuse what a model cannot be fitted to: one of numbers text, others numbers that they cannot take."""
    if corpus.text is not None and getattr(estimator, "rows_are_means", False):
        raise ValueError(
            f"{estimator.name} is for tables of numbers, and {where} was read as text: for text there are lda, hdp and "
            "ctm; numbers are read from .csv, .tsv, .parquet, .npz, .mtx and .h5ad files, say."
        )
    if corpus.is_table:
        check_numbers(estimator, corpus, where)


def fit_sequences(estimator: Any, reading: Reading, held_out: float, training: Training) -> None:
    """Fit a model of sequences."""
    data = sequences.read(reading, estimator, quiet=training.silent)
    if data.symbols is not None:
        estimator.set_params(emission="categorical", n_symbols=len(data.symbols))
    train, test = sequences.split_off(data, held_out, int(estimator.random_state))
    names = {} if test is None else {"X_val": test.values, "lengths_val": test.lengths}
    display = _fit(estimator, (train.values, train.lengths), names, training)
    sequences.keep_names(estimator, data, reading)
    output = training.save(estimator, display)
    score = None if test is None else estimator.score(test.values, test.lengths)
    facts = sequences.summarize(estimator, train, output, score, display.seconds, reading, stopped=display.stopped)
    training.tell(display, facts, lambda: sequences.in_lines(facts, estimator))


def _fit(estimator: Any, data: tuple[Any, ...], names: dict[str, Any], training: Training) -> TrainingDisplay:
    """Fit with a bar and checkpoints; `data` and `names` are what `fit` is called with."""
    rows = len(data[0]) if isinstance(data[0], Source) else data[0].shape[0]
    with warnings.catch_warnings():
        # The summary says whether the score still climbs and which topics are copies, once and with what to do.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return training.watch(estimator, lambda: estimator.fit(*data, **names), rows)


def keep_words(estimator: Any, corpus: Any) -> None:
    """Give a model the words of its columns, how text became words, and what else later readings go by."""
    made_by = corpus.text or corpus.text_before
    if made_by is not None:
        estimator.text_options_ = made_by.kept()
    if corpus.text is not None:
        estimator.known_words_ = float(corpus.known)
    if corpus.vocabulary is not None:
        estimator.vocabulary_ = corpus.vocabulary
    if corpus.asked:
        estimator.reading_options_ = dict(corpus.asked)


def check_model(output: Path) -> None:
    """Refuse to replace anything but a model, and a new name that says it is something else."""
    if not output.exists() and output.suffix.lower() in _OTHER_KINDS:
        raise ValueError(
            f"{output.name} sounds like a file of another kind, and this is a model: call it {output.stem}.ssvi."
        )
    if output.is_file():
        try:
            describe(output)
        except ValueError:
            raise ValueError(f"{output} is there already and is no model: remove it, or give another name.") from None


def make_keeper(checkpoint: Path | None, every: int, *, resume: bool) -> Checkpoints | None:
    """Return what keeps checkpoints; find out before the fit whether their folder is in use, or cannot be used."""
    if checkpoint is None:
        if resume:
            raise ValueError("--resume goes on from --checkpoint FOLDER, which is not given.")
        return None
    keeper = Checkpoints(checkpoint, every)
    if not resume and keeper.files():
        raise ValueError(
            f"{checkpoint} holds checkpoints of a fit that was not finished: "
            "add --resume to go on with it, or give another folder."
        )
    inputs.check_folder(checkpoint, "--checkpoint", "checkpoints")
    return keeper


def split_off(documents: Any, share: float, seed: int) -> tuple[Any, Any]:
    """Return documents to fit, as a matrix unless they stay on disk, and some that are set aside for scoring.

    None are if that would be fewer than ten.
    """
    count = min(round(share * len(documents)), _MOST_HELD_OUT)
    if isinstance(documents, Source):
        rest, aside = documents.set_aside(count, seed) if count >= 10 else (documents, None)
        return rest, None if aside is None else aside.to_matrix()
    matrix = documents.to_matrix()
    if count < 10:
        return matrix, None
    order = np.random.default_rng(seed).permutation(matrix.shape[0])
    return matrix[np.sort(order[count:])], matrix[np.sort(order[:count])]

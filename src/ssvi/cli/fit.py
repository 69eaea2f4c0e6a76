"""`ssvi fit`: from a file or folder to a model file."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.exceptions import ConvergenceWarning

from ssvi.batches.sources import Source
from ssvi.cli import beginnings, inputs, parameters, sequences, tables
from ssvi.cli.reading import Inputs, Reading, how_to_count, reads, say_notes
from ssvi.cli.summary import in_lines, next_steps, notes_before, summarize
from ssvi.cli.training import Training, TrainingDisplay, compiling_ahead
from ssvi.files.checkpoints import Checkpoints
from ssvi.files.models import describe

_MOST_HELD_OUT = 1_000


def _of_checkpoints(*names: str, **settings: Any) -> Any:
    return typer.Option(*names, rich_help_panel="Checkpoints", **settings)


@reads(how_to_count)
def fit(
    model: parameters.ModelName,
    source: Inputs,
    reading: Reading,
    output: Annotated[Path, typer.Option("--output", "-o", help="The model file to write.")],
    components: Annotated[
        int | None,
        typer.Option(
            "--topics",
            "--components",
            "-k",
            min=1,
            help="Number of topics or components.",
            show_default=str(parameters.DEFAULT_COMPONENTS),
        ),
    ] = None,
    global_step: parameters.GlobalStepName = None,
    local_step: parameters.LocalStepName = None,
    passes: parameters.Passes = None,
    batch_size: Annotated[int | None, typer.Option(min=1, help="Documents in a minibatch.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same model.")] = 0,
    jobs: Annotated[int, typer.Option(help="Threads; -1 is one for each processor.")] = -1,
    backend: inputs.BackendName = "threads",
    held_out: Annotated[
        float, typer.Option(min=0.0, max=0.5, help="Share of documents to score by, not to fit.")
    ] = 0.05,
    early_stopping: Annotated[
        bool, typer.Option("--early-stopping", help="Stop when the held-out score no longer grows; keep the best.")
    ] = False,
    parameter: Annotated[
        list[str] | None, typer.Option("--set", help="Any other parameter of the estimator, as name=value.")
    ] = None,
    formula: tables.FormulaText = None,
    seed_words: beginnings.SeedWords = None,
    start: beginnings.StartFrom = None,
    checkpoint: Annotated[Path | None, _of_checkpoints(help="A folder for checkpoints.")] = None,
    every: Annotated[int, _of_checkpoints(min=1, help="Steps between checkpoints.")] = 50,
    resume: Annotated[bool, _of_checkpoints("--resume", help="Go on from the last checkpoint.")] = False,
    quiet: inputs.Quiet = False,
    as_json: inputs.AsJson = False,
) -> None:
    """Fit a model and write it to a file.

    Example: ssvi fit lda articles.jsonl --topics 50 --output topics.ssvi
    """
    estimator = parameters.make_estimator(
        model, parameter or [], n_components=components, global_step=global_step, local_step=local_step,
        max_iter=passes, batch_size=batch_size, random_state=seed, n_jobs=jobs, backend=backend,
        early_stopping=early_stopping,
    )  # fmt: skip
    tables.check_formula(estimator, formula)
    parameters.check(estimator)
    begin, named = beginnings.of_topics(estimator, seed_words, start, reading.encoding)
    if begin is not None and components is None:
        estimator.set_params(n_components=begin.components_in_use())
    inputs.check_output(output, *source, reading.vocabulary, start, seed_words)
    check_model(output)
    training = Training(output, _keeper(checkpoint, every, resume=resume), quiet, as_json)
    if formula is not None:
        tables.fit_table(estimator, source, training)
    elif sequences.is_for_sequences(estimator):
        _fit_sequences(estimator, reading.at(source), held_out, training)
    else:
        _fit_documents(estimator, reading.at(source), held_out, training, {"start": begin} if named else {})


def _fit_documents(
    estimator: Any, reading: Reading, held_out: float, training: Training, beginning: dict[str, Any]
) -> None:
    """Fit a model of documents or rows; `beginning` is what it starts from, by the names of its words."""
    with compiling_ahead(estimator, quiet=training.silent) as compiled:
        corpus = reading.read(quiet=training.silent)
        parameters.check_memory(estimator, corpus.documents.n_words)
        say_notes(notes_before(estimator, corpus), quiet=training.silent)
        train, test = split_off(corpus.documents, held_out, int(estimator.random_state))
        compiled()
    names = {"vocabulary": corpus.vocabulary, **beginning} if beginning else {}
    display = _fit(estimator, (train,), {"X_val": test, **names}, training)
    keep_words(estimator, corpus)
    output = training.save(estimator, display)
    score = None if test is None else estimator.score(test)
    facts = summarize(estimator, corpus, output, score, display.seconds, next_steps(output, reading))
    training.tell(display, facts, lambda: in_lines(facts, estimator))


def _fit_sequences(estimator: Any, reading: Reading, held_out: float, training: Training) -> None:
    """Fit a model of sequences."""
    data = sequences.read(reading, estimator)
    if data.symbols is not None:
        estimator.set_params(emission="categorical", n_symbols=len(data.symbols))
    train, test = sequences.split_off(data, held_out, int(estimator.random_state))
    names = {} if test is None else {"X_val": test.values, "lengths_val": test.lengths}
    display = _fit(estimator, (train.values, train.lengths), names, training)
    sequences.keep_names(estimator, data)
    output = training.save(estimator, display)
    score = None if test is None else estimator.score(test.values, test.lengths)
    facts = sequences.summarize(estimator, train, output, score, display.seconds, reading)
    training.tell(display, facts, lambda: sequences.in_lines(facts, estimator))


def _fit(estimator: Any, data: tuple[Any, ...], names: dict[str, Any], training: Training) -> TrainingDisplay:
    """Fit with a bar and checkpoints; `data` and `names` are what `fit` is called with."""
    rows = len(data[0]) if isinstance(data[0], Source) else data[0].shape[0]
    with warnings.catch_warnings():
        # The summary says whether the score still climbs and which topics are copies, once and with what to do.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return training.watch(estimator, lambda: estimator.fit(*data, **names), rows)


def keep_words(estimator: Any, corpus: Any) -> None:
    """Give a model the words of its columns, and how text became words."""
    made_by = corpus.text or corpus.text_before
    if made_by is not None:
        estimator.text_options_ = made_by.kept()
    if corpus.vocabulary is not None:
        estimator.vocabulary_ = corpus.vocabulary


def check_model(output: Path) -> None:
    """Refuse to replace anything but a model."""
    if output.is_file():
        try:
            describe(output)
        except ValueError:
            raise ValueError(f"{output} is there already and is no model: remove it, or give another name.") from None


def _keeper(checkpoint: Path | None, every: int, *, resume: bool) -> Checkpoints | None:
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

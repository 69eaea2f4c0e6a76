"""`ssvi fit`: from a file or folder to a model file."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ssvi.cli import INTERRUPTED, beginnings, inputs, parameters
from ssvi.cli.reading import Inputs, Reading, how_to_count, reads, say_notes
from ssvi.cli.summary import in_lines, next_steps, notes_before, summarize
from ssvi.cli.training import TrainingDisplay
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
    held_out: Annotated[
        float, typer.Option(min=0.0, max=0.5, help="Share of documents to score by, not to fit.")
    ] = 0.05,
    early_stopping: Annotated[
        bool, typer.Option("--early-stopping", help="Stop when the held-out score no longer grows; keep the best.")
    ] = False,
    parameter: Annotated[
        list[str] | None, typer.Option("--set", help="Any other parameter of the estimator, as name=value.")
    ] = None,
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
        max_iter=passes, batch_size=batch_size, random_state=seed, n_jobs=jobs, early_stopping=early_stopping,
    )  # fmt: skip
    parameters.check(estimator)
    begin, named = beginnings.of_topics(estimator, seed_words, start, reading.encoding)
    if begin is not None and components is None:
        estimator.set_params(n_components=begin.components_in_use())
    inputs.check_output(output, *source, reading.vocabulary, start, seed_words)
    check_model(output)
    _check_folder(checkpoint, resume=resume)
    silent = quiet or as_json
    reading = reading.at(source)
    corpus = reading.read(quiet=silent)
    parameters.check_memory(estimator, corpus.documents.n_words)
    say_notes(notes_before(estimator, corpus), quiet=silent)
    train, test = split_off(corpus.documents.to_matrix(), held_out, seed)
    keeper = Checkpoints(checkpoint, every) if checkpoint else None
    names = {"vocabulary": corpus.vocabulary, "start": begin} if named else {}
    display = _fit(estimator, train, test, keeper, names, quiet=silent)
    if display.stopped and output.exists():  # of a whole fit, perhaps: that one is worth more
        output = output.with_name(f"stopped-{output.name}")
    keep_words(estimator, corpus)
    estimator.save(output)
    if keeper is not None:
        keeper.clear()
    score = None if test is None else estimator.score(test)
    facts = summarize(estimator, corpus, output, score, display.seconds, next_steps(output, reading))
    _tell(facts, estimator, stopped=display.stopped, quiet=quiet, as_json=as_json)


def _tell(facts: dict[str, Any], estimator: Any, *, stopped: bool, quiet: bool, as_json: bool) -> None:
    """Say what was fitted and where it is."""
    if as_json:
        inputs.print_json(facts)
    elif not quiet:
        typer.echo("\n".join(in_lines(facts, estimator)))
    if stopped:
        sys.stderr.write("ssvi: stopped early; with --checkpoint FOLDER a fit can be resumed.\n")
        raise typer.Exit(INTERRUPTED)


def _fit(
    estimator: Any, train: Any, test: Any, keeper: Checkpoints | None, names: dict[str, Any], *, quiet: bool
) -> TrainingDisplay:
    """Fit with a bar and checkpoints; a fit that was stopped and can be resumed ends the command.

    `names` are further arguments of `fit`, for a beginning that goes by words.
    """
    with TrainingDisplay(estimator, train.shape[0], quiet=quiet) as display:
        estimator.set_params(callbacks=[display, *([keeper] if keeper else [])], verbose=0)
        with _stop_on_interrupt(display, keeper):
            estimator.fit(train, X_val=test, **names)
    if display.stopped and keeper is not None and keeper.files():
        sys.stderr.write(
            f"ssvi: stopped after step {keeper.last_step} and saved in {keeper.folder}; "
            "the same command with --resume goes on.\n"
        )
        raise typer.Exit(INTERRUPTED)
    return display


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


def _check_folder(checkpoint: Path | None, *, resume: bool) -> None:
    """Find out before the fit whether a folder of checkpoints is in use, or cannot be used."""
    if checkpoint is None:
        if resume:
            raise ValueError("--resume goes on from --checkpoint FOLDER, which is not given.")
        return
    if not resume and Checkpoints(checkpoint).files():
        raise ValueError(
            f"{checkpoint} holds checkpoints of a fit that was not finished: "
            "add --resume to go on with it, or give another folder."
        )
    inputs.check_folder(checkpoint, "--checkpoint", "checkpoints")


def split_off(matrix: Any, share: float, seed: int) -> tuple[Any, Any]:
    """Set some documents aside for scoring; None if that would be fewer than ten."""
    count = min(round(share * matrix.shape[0]), _MOST_HELD_OUT)
    if count < 10:
        return matrix, None
    order = np.random.default_rng(seed).permutation(matrix.shape[0])
    return matrix[np.sort(order[count:])], matrix[np.sort(order[:count])]


@contextmanager
def _stop_on_interrupt(display: TrainingDisplay, keeper: Checkpoints | None) -> Iterator[None]:
    """Let the first Ctrl-C end the fit after its step; a second one is as hard as ever."""

    def stop(number: int, frame: Any) -> None:
        signal.signal(signal.SIGINT, before)
        display.stop()
        if keeper is not None:
            keeper.stop_after_this_step()

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)

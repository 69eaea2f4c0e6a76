"""`ssvi fit`: from a file or folder to a model file. Here are its options; `ssvi.cli.fitting` does the work.

What compiles kernels is started before anything large is imported, and so this module imports nothing that is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from ssvi.cli import beginnings, inputs, parameters, tables
from ssvi.cli.reading import Inputs, Reading, how_to_count, reads
from ssvi.cli.short_help import HelpAll


def _of_checkpoints(*names: str, **settings: Any) -> Any:
    return typer.Option(*names, rich_help_panel="Checkpoints", **settings)


@reads(how_to_count, later=True)
def fit(
    model: parameters.ModelName,
    source: Inputs,
    reading: Callable[[], Reading],
    output: Annotated[Path, typer.Option("--output", "-o", help="The model file to write.")],
    numbers: Annotated[
        list[int] | None,
        typer.Option(
            "--topics",
            "--components",
            "-k",
            min=1,
            help="Number of topics or components.",
            show_default=f"{parameters.DEFAULT_COMPONENTS}; 10 for gaussian_mixture",
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
    help_all: HelpAll = False,
) -> None:
    """Fit a model and write it to a file.

    Example: ssvi fit lda articles.jsonl --topics 50 --output topics.ssvi
    """
    components = _one_number(numbers or [])
    with _compiling_ahead(model, components, local_step, global_step, quiet=quiet or as_json) as compiled:
        from ssvi.cli import fitting, sequences  # which bring scikit-learn, while kernels are being compiled
        from ssvi.cli.training import Training

        how = reading()
        estimator = parameters.make_estimator(
            model, parameter or [], n_components=components, global_step=global_step, local_step=local_step,
            max_iter=passes, batch_size=batch_size, random_state=seed, n_jobs=jobs, backend=backend,
            early_stopping=early_stopping,
        )  # fmt: skip
        tables.check_formula(estimator, formula)
        parameters.check(estimator)
        begin, named = beginnings.of_topics(estimator, seed_words, start, how.encoding)
        if begin is not None and components is None:
            estimator.set_params(n_components=begin.components_in_use())
        inputs.check_output(output, *source, how.vocabulary, start, seed_words)
        fitting.check_model(output)
        keeper = fitting.make_keeper(checkpoint, every, resume=resume)
        training = Training(output, keeper, quiet, as_json)
        if formula is not None:
            tables.fit_table(estimator, source, training)
        elif sequences.is_for_sequences(estimator):
            fitting.fit_sequences(estimator, how.at(source), held_out, training)
        else:
            beginning = {"start": begin} if named else {}
            fitting.fit_documents(estimator, how.at(source), held_out, training, beginning, compiled)


def _one_number(numbers: Sequence[int]) -> int | None:
    """Return how many topics are wanted; --topics, --components and -k are the same, and one of them is enough."""
    if len(set(numbers)) > 1:
        given = " and ".join(map(str, numbers))
        raise ValueError(
            f"--topics (-k, --components) is given as {given}: give one number; `ssvi choose` tries several."
        )
    return numbers[0] if numbers else None


@contextmanager
def _compiling_ahead(
    model: str, components: int | None, local_step: str | None, global_step: str | None, *, quiet: bool
) -> Iterator[Callable[[], None]]:
    """Compile what a fit needs while data is read, if it never was; what is returned waits for it, and says so."""
    from ssvi import ahead

    n_components = components or parameters.DEFAULT_COMPONENTS
    with ahead.compiling(model, n_components, local_step or "auto", global_step or "auto") as wait:

        def wait_aloud() -> None:
            with inputs.busy("compiling kernels, once on this machine", quiet=quiet):
                wait()

        yield wait_aloud

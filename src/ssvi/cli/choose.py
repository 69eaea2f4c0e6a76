"""`ssvi choose`: how many topics or components to take."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer
from sklearn.exceptions import ConvergenceWarning

from ssvi.cli import inputs, parameters
from ssvi.cli.display import say_notes
from ssvi.cli.fitting import check_kind, keep_words, split_off
from ssvi.cli.listing import PICTURES, check_outputs, show, write_csv, write_picture
from ssvi.cli.reading import Inputs, Reading, how_to_count, reads
from ssvi.cli.seen import keep_seen, notes_on_copies_set_aside
from ssvi.cli.short_help import HelpAll
from ssvi.cli.summary import notes_before
from ssvi.files.atomic import write_atomically

_DEFAULT = "10,20,50,100"
_BEHIND = (
    "behind: how far a score is below the best, give or take the standard error of that difference: this decides, "
    "and is often much smaller than the error of either score."
)


@reads(how_to_count)
def choose(
    model: parameters.ModelName,
    source: Inputs,
    reading: Reading,
    topics: Annotated[
        str, typer.Option("--topics", "--components", "-k", help="Numbers to try, with commas between.")
    ] = _DEFAULT,
    seeds: Annotated[int, typer.Option(min=1, help="Fits of each number, by different seeds.")] = 2,
    seed: Annotated[int, typer.Option(min=0, help="The first of the seeds.")] = 0,
    global_step: parameters.GlobalStepName = None,
    local_step: parameters.LocalStepName = None,
    passes: parameters.Passes = None,
    batch_size: Annotated[int | None, typer.Option(min=1, help="Documents in a minibatch.")] = None,
    jobs: Annotated[int, typer.Option(help="Threads; -1 is one for each processor.")] = -1,
    backend: inputs.BackendName = "threads",
    held_out: Annotated[
        float, typer.Option(max=0.5, help="Share of documents to score by, at most 1,000 of them.")
    ] = 0.1,
    parameter: Annotated[
        list[str] | None, typer.Option("--set", help="Any other parameter of the estimator, as name=value.")
    ] = None,
    folder: Annotated[
        Path, typer.Option(help="Where each fit is kept as a model file, so that it is made only once.")
    ] = Path("ssvi-choose"),
    output: Annotated[
        list[Path] | None,
        typer.Option("--output", "-o", help="A .csv, .json, .png, .svg or .pdf file; may be repeated."),
    ] = None,
    quiet: inputs.Quiet = False,
    as_json: inputs.AsJson = False,
    help_all: HelpAll = False,
) -> None:
    """Fit with several numbers of topics or components, and say which to take and why.

    The score is that of documents which no fit has seen, in nats a word (or a row), and error its standard error;
    behind is how far it is below the best score, and give_or_take the standard error of that, which decides.
    Coherence says whether a topic's first words occur together (0: as by chance, 1: always), diversity whether topics
    share them (1: none does), stability how well fits of different seeds agree (1: wholly), in_use how many hold
    something.

    What is finished is kept: the same command goes on after it was interrupted, and further numbers or seeds cost only
    their own fits.

    Example: ssvi choose lda articles.jsonl --topics 10,20,50,100
    """
    numbers, outputs = _numbers(topics), output or []
    estimator = parameters.make_estimator(
        model, parameter or [], n_components=max(numbers), global_step=global_step, local_step=local_step,
        max_iter=passes, batch_size=batch_size, random_state=seed, n_jobs=jobs, backend=backend,
    )  # fmt: skip
    parameters.check(estimator)
    check_outputs(outputs, [".csv", ".json", *PICTURES], *source, reading.vocabulary)
    inputs.check_folder(folder, "--folder", "fits")
    silent = quiet or as_json
    corpus = reading.at(source).by(estimator).read(quiet=silent)
    check_kind(estimator, corpus, reading.at(source).where)
    parameters.check_memory(estimator, corpus.documents.n_words)
    say_notes(notes_before(estimator, corpus), quiet=silent)
    train, test = split_off(corpus.documents.slice(0, len(corpus.documents)), held_out, 0)
    if test is None:
        raise ValueError(
            f"{len(corpus.documents):,} documents leave fewer than ten to score by at --held-out {held_out:g}: "
            "give more documents, or a larger share."
        )
    say_notes(notes_on_copies_set_aside(train, test, is_text=corpus.text is not None), quiet=silent)
    from ssvi import choosing

    def prepare(fitted: Any) -> None:
        keep_words(fitted, corpus)
        keep_seen(fitted, train)

    with _display(f"choosing {estimator.name}", quiet=silent) as reporter, _kept_in(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the advice says it, once
        choice = choosing.choose(
            estimator, train, test, numbers, seeds=range(seed, seed + seeds), folder=folder,
            prepare=prepare, reporter=reporter,
        )  # fmt: skip
    _tell(choice, f"{reading.at(source).where}: {model}", outputs, folder, quiet=quiet, as_json=as_json)


def _tell(choice: Any, title: str, outputs: list[Path], folder: Path, *, quiet: bool, as_json: bool) -> None:
    """Write and print what was found."""
    lines = [_line(option, choice.best) for option in choice.options]
    facts = {
        "options": [line | {"scores": list(option.scores)} for line, option in zip(lines, choice.options, strict=True)],
        "best": choice.best.n_components,
        "advised": None if choice.cannot_tell else choice.advised.n_components,
        "advice": choice.advice(),
        "folder": str(folder),
    }
    for output in outputs:
        _write(output, choice, lines, facts)
    if as_json:
        inputs.print_json(facts)
    elif not quiet:
        show(title, lines, _on_screen(lines, choice.noun))
        if len(lines) > 1:
            typer.echo(_BEHIND)
        typer.echo(choice.advice())
        typer.echo(f"The fits are in {folder}, as model files.")


def _on_screen(lines: list[dict[str, Any]], noun: str) -> list[dict[str, Any]]:
    """Return what fits a terminal: a difference and its error in one column, and no column that says nothing."""
    shown = []
    for line in lines:
        behind = "best" if line["behind"] is None else f"{line['behind']:.3f} ± {line['give_or_take']:.3f}"
        named = {f"{noun}s": line["components"], "score": line["score"], "behind": behind}
        others = {name: line[name] for name in ("coherence", "diversity", "stability", "in_use")}
        shown.append(named | others | {"time": f"{line['seconds']:.1f} s"})
    empty = {name for name in shown[0] if all(line[name] is None for line in shown)}
    if all(line["in_use"] == line["components"] for line in lines):
        empty.add("in_use")
    return [{name: value for name, value in line.items() if name not in empty} for line in shown]


def _line(option: Any, best: Any) -> dict[str, Any]:
    behind, give_or_take = (None, None) if option is best else option.below(best)
    return {
        "components": option.n_components,
        "score": option.score,
        "error": option.error,
        "behind": behind,
        "give_or_take": give_or_take,
        "coherence": option.coherence,
        "diversity": option.diversity,
        "stability": option.stability,
        "in_use": int(option.in_use) if option.in_use.is_integer() else round(option.in_use, 1),
        "seconds": round(option.seconds, 3),
    }


def _write(output: Path, choice: Any, lines: list[dict[str, Any]], facts: dict[str, Any]) -> None:
    ending = output.suffix.lower()
    if ending == ".csv":
        write_csv(output, lines)
    elif ending == ".json":
        import json

        write_atomically(output, lambda file: json.dump(facts, file, indent=1))
    else:
        from matplotlib.figure import Figure

        from ssvi.plots import plot_choice

        figure = Figure(figsize=(7.2, 5.2), layout="constrained")
        plot_choice(choice, axes=figure)
        write_picture(output, figure)


def _numbers(text: str) -> list[int]:
    """Return the numbers that a text with commas has."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) for part in parts):
        raise ValueError(
            f"--topics are whole numbers of 1 or more with commas between, such as {_DEFAULT}, not {text!r}."
        )
    return sorted({int(part) for part in parts})


def _display(title: str, *, quiet: bool) -> Any:
    """Return what shows how far the fits are."""
    from rich.console import Console

    from ssvi.cli.experiment_display import ExperimentDisplay
    from ssvi.experiments.base import Reporter

    return nullcontext(Reporter()) if quiet else ExperimentDisplay(Console(stderr=True), title)


@contextmanager
def _kept_in(folder: Path) -> Iterator[None]:
    """Let whoever interrupts know that nothing is lost."""
    try:
        yield
    except KeyboardInterrupt:
        kept = folder.is_dir() and any(folder.glob("*.ssvi"))
        where = f"and finished fits are in {folder}: the same command goes on from there"
        raise KeyboardInterrupt(where if kept else "before the first fit was finished") from None

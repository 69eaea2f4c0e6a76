"""`ssvi reproduce`: the paper's experiments, a command each, with an option for each field of its setting."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ssvi.backends.threads import Threads
from ssvi.cli import INTERRUPTED
from ssvi.cli.display import print_table
from ssvi.cli.experiment_display import ExperimentDisplay
from ssvi.experiments.base import Experiment, chosen_rows
from ssvi.experiments.base import reproduce as run_experiment
from ssvi.experiments.table import markdown
from ssvi.files.atomic import write_atomically
from ssvi.registry import discover

reproduce = typer.Typer(
    help="Run the paper's experiments: progress, a CSV file and a figure. Interrupt it: the same command continues.",
    no_args_is_help=True,
    add_completion=False,
)

_COMMON = [
    ("paper", bool, False, "The paper's own sizes, which take hours, instead of the quick ones."),
    ("output", Path, None, "Folder for measurements and figure (results/NAME-SETTING by default)."),
    ("jobs", int, -1, "Threads; -1 is all processors. Times depend on it, scores do not."),
    ("restart", bool, False, "Forget what the folder holds and measure anew."),
]
_FLAGS = {"paper": "--paper", "restart": "--restart"}


def _command(experiment: Experiment) -> Callable[..., None]:
    """Return a command whose options are those of all experiments and those of this one's setting."""
    fields = [f for f in dataclasses.fields(experiment.settings["quick"]) if f.name not in experiment.unused]

    def command(**given: Any) -> None:
        kind = "paper" if given["paper"] else "quick"
        folder = given["output"] or Path("results") / f"{experiment.name}-{kind}"
        changes = {field.name: given[field.name] for field in fields if given[field.name] not in (None, [])}
        changes = {name: tuple(value) if isinstance(value, list) else value for name, value in changes.items()}
        setting = dataclasses.replace(experiment.settings[kind], **changes)
        _run(experiment, setting, folder, given["jobs"], given["restart"])

    hints = typing.get_type_hints(type(experiment.settings["quick"]))
    parameters = [_parameter(name, kind, default, text, _FLAGS.get(name)) for name, kind, default, text in _COMMON]
    for field in fields:
        text = field.metadata["help"] + _defaults(experiment, field.name)
        parameters.append(_parameter(field.name, _option_type(hints[field.name]), None, text))
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__doc__ = f"{experiment.title}.\n\nExample: ssvi reproduce {experiment.name} --seeds 2"
    return command


def _parameter(name: str, kind: Any, default: Any, text: str, flag: str | None = None) -> inspect.Parameter:
    declarations = [flag] if flag else []
    wanted: Any = kind if default is not None else kind | None
    annotation: Any = Annotated[wanted, typer.Option(*declarations, help=text, show_default=False)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _option_type(hint: Any) -> Any:
    """Turn the type of a setting's field into that of an option: several values are a repeated option."""
    if typing.get_origin(hint) is tuple:
        return list[typing.get_args(hint)[0]]  # type: ignore[misc]
    kinds = [kind for kind in typing.get_args(hint) if kind is not type(None)]
    return kinds[0] if kinds else hint


def _defaults(experiment: Experiment, name: str) -> str:
    quick, paper = (getattr(experiment.settings[kind], name) for kind in ("quick", "paper"))
    if quick is None and paper is None:
        return ""
    texts = [" ".join(map(str, value)) if isinstance(value, tuple) else str(value) for value in (quick, paper)]
    texts = ["all" if text == "None" else text for text in texts]
    return f" (quick: {texts[0]}; paper: {texts[1]})" if texts[0] != texts[1] else f" ({texts[0]})"


def _run(experiment: Experiment, setting: Any, folder: Path, jobs: int, restart: bool) -> None:
    console = Console(stderr=True)
    if jobs == 0:
        raise ValueError("jobs must be a number of threads, or -1 for all processors, not 0.")
    trials = experiment.trials(setting)
    with Threads(jobs) as backend, ExperimentDisplay(console, experiment.title) as display:
        try:
            table = run_experiment(experiment, setting, folder, backend, display, restart=restart)
        except KeyboardInterrupt:
            display.stop()
            console.print(f"Interrupted. What was measured is in {folder}; the same command goes on from here.")
            raise typer.Exit(INTERRUPTED) from None
    rows = chosen_rows(table, trials)
    headings, lines = experiment.summary(rows)
    print_table(experiment.title, headings, lines)
    write_atomically(folder / "summary.md", lambda file: file.write(markdown(headings, lines)))
    typer.echo(f"measurements: {table.path}")
    try:
        import matplotlib as _  # noqa: F401
    except ImportError:
        typer.echo("no figure: matplotlib is not installed (pip install 'ssvi[plots]').")
        return
    figure = folder / "figure.png"
    experiment.draw(rows, figure, setting)
    typer.echo(f"figure: {figure}")


for _name, _kind in discover("ssvi.experiments", Experiment).items():
    reproduce.command(_name)(_command(_kind()))

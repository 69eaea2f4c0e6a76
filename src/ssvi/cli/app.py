"""The commands, put together.

Each is imported when it is run, so that none waits for what another needs; the help of all of them needs a line each.
"""

from __future__ import annotations

import importlib
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import ssvi
from ssvi.cli import InterruptedCommand

COMMANDS = {
    "fit": ("ssvi.cli.fit", "Fit a model and write it to a file."),
    "choose": (
        "ssvi.cli.choose",
        "Fit with several numbers of topics or components, and say which to take and why.",
    ),
    "update": ("ssvi.cli.update", "Continue a fit with more documents; each counts as a new one."),
    "topics": (
        "ssvi.cli.labels",
        "Print the topics of a model, or the components it uses, the largest first: labels, distinctive words, and "
        "marks.",
    ),
    "label": (
        "ssvi.cli.labels",
        "Give topics labels of your own, kept in the model file, and print these; without any, what all are called.",
    ),
    "documents": (
        "ssvi.cli.documents",
        "List documents by a topic, by likeness or by words; or show topics over time and by group.",
    ),
    "transform": (
        "ssvi.cli.use",
        "Write the topic weights (or component probabilities, or activations) of each document.",
    ),
    "predict": ("ssvi.cli.tables", "Write what a regression predicts for the rows of a table."),
    "score": ("ssvi.cli.use", "Print the score of documents under a model: higher is better."),
    "report": (
        "ssvi.cli.report",
        "Write one HTML page about a model, to be opened in any browser; it loads nothing from anywhere.",
    ),
    "serve": ("ssvi.cli.serve", "Open a page on this machine to paste texts into, and see what a model says of them."),
    "info": ("ssvi.cli.info", "Print what a model file holds."),
    "demo": (
        "ssvi.cli.demo",
        "Fit topics to the docstrings of this machine by five algorithms and compare them.",
    ),
    "corpus": ("ssvi.cli.corpus", "Make, convert and look at corpora."),
    "reproduce": (
        "ssvi.cli.reproduce",
        "Run the paper's experiments: progress, a CSV file and a figure. Interrupt it: the same command continues.",
    ),
}
"""The module of each command, where it has the command's name, and what the help of all commands says of it."""


def load_command(name: str) -> Any:
    """Import a command, or a group of them, and return it as the parser of options has it."""
    found = getattr(importlib.import_module(COMMANDS[name][0]), name)
    if not isinstance(found, typer.Typer):
        alone = typer.Typer(add_completion=False)
        alone.command(name, cls=_class_of(name))(found)
        found = alone
    command = typer.main.get_command(found)
    command.name = name
    return command


def _class_of(name: str) -> Any:
    """Return the class of a command whose help would not fit a screen; None for others, which have the usual one."""
    if name not in ("fit", "choose"):
        return None
    from ssvi.cli.short_help import ShortHelp

    return ShortHelp


class _Commands(TyperGroup):
    """The group of all commands, which imports the one that is run; one that is interrupted says so."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return a command by its name; those that the group has itself only have a name and a line of help."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, load_command(command.name) if command is not None and command.name in COMMANDS else command, rest

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            raise InterruptedCommand(*interrupt.args) from None


app = typer.Typer(
    name="ssvi",
    cls=_Commands,
    help="Topics of texts, clusters of rows and factors of counts, by structured stochastic variational inference.",
    epilog="Example: ssvi fit lda articles.jsonl --topics 50 -o topics.ssvi; ssvi report topics.ssvi",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _stand_in() -> None:
    """Hold the place of a command until it is imported."""


for _name, (_, _line) in COMMANDS.items():
    app.command(_name, help=_line)(_stand_in)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ssvi {ssvi.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Hold what all commands share."""

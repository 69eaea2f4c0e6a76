"""The commands, put together."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import ssvi
from ssvi.cli import InterruptedCommand
from ssvi.cli.choose import choose
from ssvi.cli.corpus import corpus_app
from ssvi.cli.documents import documents
from ssvi.cli.fit import fit
from ssvi.cli.labels import label, topics
from ssvi.cli.report import report
from ssvi.cli.reproduce import reproduce_app
from ssvi.cli.update import update
from ssvi.cli.use import info, score, transform


class _Commands(TyperGroup):
    """The group of all commands; one that is interrupted says so."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            raise InterruptedCommand(*interrupt.args) from None


app = typer.Typer(
    name="ssvi",
    cls=_Commands,
    help="Structured stochastic variational inference: topics, mixtures and factors without the mean-field assumption.",
    epilog="Example: ssvi fit lda articles.jsonl --topics 50 -o topics.ssvi; ssvi report topics.ssvi",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (fit, choose, update, topics, label, documents, transform, score, report, info):
    app.command()(command)
app.add_typer(corpus_app, name="corpus")
app.add_typer(reproduce_app, name="reproduce")


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


@app.command()
def demo(
    topics: Annotated[int, typer.Option(help="Number of topics.")] = 30,
    passes: Annotated[int, typer.Option(help="Sweeps over the documents.")] = 12,
    files: Annotated[int | None, typer.Option(help="Read at most so many Python files.")] = None,
) -> None:
    """Fit topics to the docstrings of this machine by five algorithms and compare them.

    Example: ssvi demo --topics 30
    """
    from ssvi.demo import run

    run(topics, passes, files)

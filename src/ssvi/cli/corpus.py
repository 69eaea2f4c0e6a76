"""`ssvi corpus`: documents into the form that the other commands read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

corpus_app = typer.Typer(help="Make a corpus: a folder with bow.npz and vocab.txt.", no_args_is_help=True)


@corpus_app.callback()
def corpus() -> None:
    """Hold the commands together."""


@corpus_app.command()
def wikipedia(
    dump: Annotated[Path, typer.Argument(help="pages-articles.xml, as it is or in bz2.")],
    vocabulary: Annotated[Path, typer.Option(help="The words to count, one a line.")],
    output: Annotated[Path, typer.Option(help="The folder to write.")],
    shortest: Annotated[int, typer.Option(help="Leave out articles with fewer words of the vocabulary.")] = 10,
    most: Annotated[int | None, typer.Option(help="Stop after so many articles.")] = None,
) -> None:
    """Count the words of a Wikipedia XML dump.

    Example: ssvi corpus wikipedia enwiki-pages-articles.xml.bz2 --vocabulary vocab.txt --output wikipedia
    """
    from ssvi.data.wikipedia import save_dump

    words = vocabulary.read_text(encoding="utf-8").split()
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(f"reading {dump.name}", total=dump.stat().st_size)
        count = save_dump(
            dump, words, output, shortest=shortest, most=most, report=lambda done: progress.update(task, completed=done)
        )
    typer.echo(f"{count:,} articles over {len(words):,} words: {output}")

"""`ssvi demo`: what there is to see without any data of one's own."""

from __future__ import annotations

from typing import Annotated

import typer


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

"""Lists of things as people and programs want them: a table on a terminal, lines by tabs, CSV, JSON."""

from __future__ import annotations

import csv
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from ssvi.cli import inputs
from ssvi.cli.display import print_table, text_cell
from ssvi.files.atomic import write_atomically

PICTURES = (".png", ".svg", ".pdf")
"""How the names of pictures end."""

Line = Mapping[str, Any]


def check_outputs(outputs: Sequence[Path], endings: Sequence[str], *sources: Path | None) -> None:
    """Find out before the work whether each result has a place, a known ending, and for pictures, matplotlib."""
    for output in outputs:
        ending = output.suffix.lower()
        if ending not in endings:
            known = f"{', '.join(endings[:-1])} or {endings[-1]}" if len(endings) > 1 else endings[0]
            raise ValueError(f"--output must end in {known}, not {output.name!r}.")
        inputs.check_output(output, *sources)
        if ending in PICTURES:
            from ssvi.plots.panels import require_matplotlib

            try:
                require_matplotlib()
            except ImportError as error:
                raise ValueError(f"{output} is a picture: {error}") from None


def write_csv(output: Path, lines: Sequence[Line]) -> None:
    """Write lines as CSV, with their names above."""

    def write(file: Any) -> None:
        writer = csv.writer(file)
        writer.writerow(list(lines[0]) if lines else [])
        writer.writerows([_cell(value) for value in line.values()] for line in lines)

    write_atomically(output, write)


def write_picture(output: Path, figure: Any) -> None:
    """Write a figure of matplotlib's, whole or not at all."""
    form = output.suffix.lower().removeprefix(".")
    write_atomically(output, lambda file: figure.savefig(file, format=form, dpi=150), "wb")


def show(title: str, lines: Sequence[Line], shown: Sequence[Line] | None = None) -> None:
    """Print lines: on a terminal as a table, of what is `shown` there; for other programs by tabs."""
    if not sys.stdout.isatty():
        print_tabs(lines)
        return
    on_screen = lines if shown is None else shown
    if not on_screen:
        typer.echo(f"{title}: nothing")
        return
    print_table(title, list(on_screen[0]), [[_on_screen(value) for value in line.values()] for line in on_screen])


def print_tabs(lines: Sequence[Line]) -> None:
    """Print the names of columns and then a line each, by tabs, for other programs."""
    if lines:
        typer.echo("\t".join(lines[0]))
    for line in lines:
        typer.echo("\t".join(" ".join(_cell(value).split()) for value in line.values()))


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:.6g}"
    return "" if value is None else text_cell(str(value)) if isinstance(value, str) else str(value)


def _on_screen(value: Any) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:.3f}"
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)

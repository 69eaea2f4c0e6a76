"""Lists of things as people and programs want them: a table on a terminal, lines by tabs, CSV, JSON."""

from __future__ import annotations

import csv
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from ssvi.cli import inputs
from ssvi.cli.display import print_table, terminal_width, text_cell
from ssvi.files.atomic import write_atomically

PICTURES = (".png", ".svg", ".pdf")
"""How the names of pictures end."""

Line = Mapping[str, Any]

_OWN_LINES = ("title", "topics", "text")  # of a document, each of which has a line of its own


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


def show_blocks(title: str, lines: Sequence[Line]) -> None:
    """Print lines that are too long for a table: on a terminal a few short lines each; for other programs by tabs."""
    if not sys.stdout.isatty():
        print_tabs(lines)
        return
    width = terminal_width()
    typer.echo(title if lines else f"{title}: nothing")
    for line in lines:
        typer.echo()
        for text in _block(line, width):
            typer.echo(text)


def _block(line: Line, width: int) -> list[str]:
    """Return a line as several, none wider than a terminal: first what is short, then title, topics and text."""
    known = {name: _printable(_on_screen(value)) for name, value in line.items()}
    head = "  ".join(f"{name} {text}" for name, text in known.items() if text and name not in _OWN_LINES)
    own = [f"  {known[name]}" for name in _OWN_LINES if known.get(name)]
    return [cut_at_a_word(text, width) for text in (head, *own)]


def _printable(text: str) -> str:
    """Return a text in one line, without what a terminal would take for a command."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def cut_at_a_word(text: str, longest: int) -> str:
    """Return a text that is no longer than this: what is left out begins with a word, and an ellipsis stands for it.

    >>> cut_at_a_word("all that is solid melts", 18), cut_at_a_word("solid", 18), cut_at_a_word("indivisible", 6)
    ('all that is solid…', 'solid', 'indiv…')
    """
    if len(text) <= longest:
        return text
    whole = text[:longest].rpartition(" ")[0] or text[: longest - 1]
    return whole.rstrip(" ,;:-") + "…"


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

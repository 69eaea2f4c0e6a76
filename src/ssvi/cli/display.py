"""Tables and notes on a terminal, and cells of tables in files."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table

# Columns that begin at the left.
_TEXTS = ("words", "further words", "label", "marks", "id", "title", "date", "group", "topics", "text", "most in")
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def print_table(title: str, headings: list[str], lines: list[list[str]]) -> None:
    """Print a table on standard output."""
    table = Table(title=title)
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="left" if number == 0 or heading in _TEXTS else "right")
    for line in lines:
        table.add_row(*line)
    console = Console()
    if not console.is_terminal:  # a file or a pipe has no width of its own: do not squeeze the table into 80 columns
        console = Console(width=200)
    console.print(table)


def terminal_width() -> int:
    """Return how many columns a table may take."""
    return Console().width


def say_notes(notes: Iterable[str], *, quiet: bool) -> None:
    """Say on standard error what a person should know of an input."""
    from ssvi.cli import with_options

    for note in () if quiet else notes:
        sys.stderr.write(f"ssvi: note: {with_options(note)}\n")


def text_cell(text: str) -> str:
    """Return a text for a cell of a table that a spreadsheet may open: with an apostrophe where it would be a formula.

    This is what OWASP advises against injected formulas. What a spreadsheet takes for a number is one, and stays.
    """
    if not text.startswith(_FORMULA_STARTS):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text

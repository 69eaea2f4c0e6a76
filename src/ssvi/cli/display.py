"""Tables and progress on a terminal."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from ssvi.experiments.base import Reporter
from ssvi.experiments.table import Row

_SHOWN = ("step", "seconds", "score", "elbo", "kl", "recovered", "used")
# Columns that begin at the left.
_TEXTS = ("words", "label", "marks", "id", "title", "date", "group", "topics", "text", "most in")
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


class ExperimentDisplay(Reporter):
    """Two bars, for the trials and for the steps of the one that is running; plain lines where there is no terminal."""

    def __init__(self, console: Console, title: str) -> None:
        self.console = console
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self.trials = self.progress.add_task(title, total=None)
        self.current = self.progress.add_task("reading the corpus", total=100)
        self.latest = ""

    def began(self, text: str) -> None:
        """Say what the data is."""
        self.console.print(text, highlight=False)

    def trial(self, number: int, total: int, label: str) -> None:
        """Show which trial is running."""
        self.progress.update(self.trials, total=total, completed=number - 1)
        self.progress.update(self.current, description=label, completed=0)
        self.latest = f"{number}/{total} {label}"

    def advance(self, share: float) -> None:
        """Move the second bar."""
        self.progress.update(self.current, completed=round(100 * share))

    def measured(self, row: Row) -> None:
        """Print what was measured, where there are no bars."""
        if not self.console.is_terminal:
            shown = {name: row[name] for name in _SHOWN if name in row}
            text = ", ".join(f"{name} {value:g}" for name, value in shown.items())
            self.console.print(f"{self.latest}: {text}", soft_wrap=True, highlight=False)

    def stop(self) -> None:
        """Take the bars away."""
        self.progress.stop()

    def __enter__(self) -> Self:
        self.progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.progress.stop()


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

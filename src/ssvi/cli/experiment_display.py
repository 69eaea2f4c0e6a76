"""Progress of an experiment on a terminal."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from ssvi.experiments.base import Reporter
from ssvi.experiments.table import Row

_SHOWN = ("step", "seconds", "score", "elbo", "kl", "recovered", "used")


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

"""A bar for a fit under way, with the last held-out score and the time left."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from ssvi.engine import Info, State


class TrainingDisplay:
    """A callback of estimators: shows steps and scores, and can ask the fit to stop.

    Parameters
    ----------
    estimator
        The estimator that is being fitted.
    rows : int
        Of its data.
    quiet : bool
        Show nothing.

    """

    def __init__(self, estimator: Any, rows: int, *, quiet: bool) -> None:
        self.stopped = False
        self._estimator = estimator
        self._console, self._quiet = Console(stderr=True), quiet
        self._started, self._shown, self._score = time.perf_counter(), 0, ""
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[score]}"),
            console=self._console,
            disable=quiet or not self._console.is_terminal,
        )
        label = f"{estimator.name} (a first fit compiles its kernels)"
        self._task = self._bar.add_task(label, total=estimator.total_steps(rows), score="")

    @property
    def seconds(self) -> float:
        """The time since the display was opened."""
        return time.perf_counter() - self._started

    def stop(self) -> None:
        """Ask the fit to stop after its step."""
        self.stopped = True

    def __call__(self, state: State, info: Info) -> bool:
        """Show a step, and the score if there is a new one."""
        scores = self._estimator.scores_
        if len(scores) > self._shown:
            self._shown, self._score = len(scores), f"score {scores[-1][1]:.4f}"
            if not self._console.is_terminal and not self._quiet:
                done = info.documents_seen // self._estimator._n_distinct
                self._console.print(f"pass {done}: {self._score}, {self.seconds:.1f} s", highlight=False)
        total = self._estimator.total_steps(self._estimator._n_distinct)  # it may have set rows aside
        self._bar.update(
            self._task, description=self._estimator.name, completed=info.step, total=total, score=self._score
        )
        return self.stopped

    def __enter__(self) -> Self:
        if not self._console.is_terminal and not self._quiet:
            name = self._estimator.name
            self._console.print(f"fitting {name} (a first fit on a machine compiles its kernels)", highlight=False)
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

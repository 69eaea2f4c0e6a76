"""A bar for a fit under way, with the held-out score after every pass and the time left."""

from __future__ import annotations

import copy
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
    shape : (rows, columns)
        Of its data.
    test : matrix or None
        Rows to score after every pass.
    quiet : bool
        Show nothing.

    """

    def __init__(self, estimator: Any, shape: tuple[int, int], test: Any, *, quiet: bool) -> None:
        self.stopped = False
        self._estimator, self._rows, self._test = estimator, shape[0], test
        self._console, self._quiet = Console(stderr=True), quiet
        self._started, self._passes, self._score = time.perf_counter(), 0, ""
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
        self._task = self._bar.add_task(estimator.name, total=estimator.total_steps(shape[0]), score="")

    @property
    def seconds(self) -> float:
        """The time since the display was opened."""
        return time.perf_counter() - self._started

    def stop(self) -> None:
        """Ask the fit to stop after its step."""
        self.stopped = True

    def __call__(self, state: State, info: Info) -> bool:
        """Show a step; after a pass, score the held-out rows."""
        done = info.documents_seen // self._rows
        if done > self._passes and self._test is not None:
            self._passes = done
            value = self._scored(state)
            # Kept where checkpoints find it, and by the time spent in steps, which a resumed fit goes on counting.
            spent = sum(step.seconds for step in self._estimator.history_)
            vars(self._estimator).setdefault("scores_", []).append((spent, value))
            self._score = f"score {value:.4f}"
            if not self._console.is_terminal and not self._quiet:
                self._console.print(f"pass {done}: {self._score}, {self.seconds:.1f} s", highlight=False)
        self._bar.update(self._task, completed=info.step, score=self._score)
        return self.stopped

    def _scored(self, state: State) -> float:
        """Return the score of the held-out rows at a state on the way."""
        there = copy.copy(self._estimator)
        there._state = state
        return float(there.score(self._test))

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

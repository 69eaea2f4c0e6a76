"""A bar for a fit under way, with the last held-out score and the time left."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from ssvi.cli import INTERRUPTED
from ssvi.cli.inputs import print_json
from ssvi.engine import Info, State
from ssvi.files.checkpoints import Checkpoints


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
        self._first = "" if _is_compiled(estimator) else " (a first fit on a machine compiles its kernels)"
        label = f"{estimator.name}{self._first}"
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
            self._console.print(f"fitting {self._estimator.name}{self._first}", highlight=False)
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()


@dataclass(frozen=True)
class Training:
    """Where a fit leaves its model and its checkpoints, and what it says on the way."""

    output: Path
    keeper: Checkpoints | None
    quiet: bool
    as_json: bool

    @property
    def silent(self) -> bool:
        """Tell whether nothing is said but the result, if that."""
        return self.quiet or self.as_json

    def watch(self, estimator: Any, fit: Callable[[], Any], rows: int) -> TrainingDisplay:
        """Fit with a bar and checkpoints; a fit that was stopped and can be resumed ends the command."""
        keeper = self.keeper
        with TrainingDisplay(estimator, rows, quiet=self.silent) as display:
            estimator.set_params(callbacks=[display, *([keeper] if keeper else [])], verbose=0)
            with _stop_on_interrupt(display, keeper):
                fit()
        if display.stopped and keeper is not None and keeper.files():
            sys.stderr.write(
                f"ssvi: stopped after step {keeper.last_step} and saved in {keeper.folder}; "
                "the same command with --resume goes on.\n"
            )
            raise typer.Exit(INTERRUPTED)
        return display

    def save(self, estimator: Any, display: TrainingDisplay) -> Path:
        """Write the model, and return where it is; the checkpoints are no longer needed."""
        output = self.output
        if display.stopped and output.exists():  # of a whole fit, perhaps: that one is worth more
            output = output.with_name(f"stopped-{output.name}")
        estimator.save(output)
        if self.keeper is not None:
            self.keeper.clear()
        return output

    def tell(self, display: TrainingDisplay, facts: Any, in_lines: Callable[[], Iterable[str]]) -> None:
        """Say what was fitted and where it is; a fit that was stopped ends the command with that."""
        if display.stopped:  # before the summary, which may read like that of a whole fit
            sys.stderr.write(
                f"ssvi: stopped early, before the fit was done: {facts['output']} is half-fitted; "
                "with --checkpoint FOLDER a fit can be resumed.\n"
            )
            sys.stderr.flush()
        if self.as_json:
            print_json(facts)
        elif not self.quiet:
            typer.echo("\n".join(in_lines()))
        if display.stopped:
            raise typer.Exit(INTERRUPTED)


def _is_compiled(estimator: Any) -> bool:
    """Tell whether the kernels of a fit are known to be on disk; of other models than topics nobody has looked."""
    from ssvi import ahead

    return estimator.name in ("lda", "hdp") and ahead.is_compiled(int(estimator.n_components))


@contextmanager
def _stop_on_interrupt(display: TrainingDisplay, keeper: Checkpoints | None) -> Iterator[None]:
    """Let the first Ctrl-C end the fit after its step; a second one is as hard as ever."""

    def stop(number: int, frame: Any) -> None:
        signal.signal(signal.SIGINT, before)
        display.stop()
        if keeper is not None:
            keeper.stop_after_this_step()

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)

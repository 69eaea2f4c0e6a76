"""A line that shows how far a fit is."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from typing import Self, TextIO

from ssvi.engine import Info, State

_PATIENCE = 2.0  # seconds before anything is shown: short fits stay quiet
_WIDTH = 24


@dataclass
class Progress:
    """A callback of the engine that draws a bar on a terminal, and plain lines now and then elsewhere."""

    total_steps: int
    label: str = "fit"
    stream: TextIO = field(default_factory=lambda: sys.stderr)
    started: float = field(default_factory=time.perf_counter)
    first: tuple[int, float] | None = None  # the first step and when it ended; it may have compiled kernels
    counted: int = 0
    shown: float = 0.0
    drawn: bool = False
    line_open: bool = False

    def __call__(self, state: State, info: Info) -> None:
        """Show the step just taken."""
        self._show(info.step)

    def advance(self) -> None:
        """Count a step of something that is no fit, and show it."""
        self.counted += 1
        self._show(self.counted)

    def _show(self, step: int) -> None:
        now = time.perf_counter()
        if self.first is None:
            self.first = (step, now)
        interval = 0.1 if self.stream.isatty() else 10.0
        due = now - self.started > _PATIENCE and now - self.shown > interval
        if due or (self.drawn and step == self.total_steps):
            self.shown, self.drawn = now, True
            self._draw(step, now - self.started)

    def _draw(self, step: int, elapsed: float) -> None:
        assert self.first is not None
        share = step / self.total_steps
        left = ""
        if step > self.first[0]:
            pace = (time.perf_counter() - self.first[1]) / (step - self.first[0])
            left = f", {pace * (self.total_steps - step):.0f} s left"
        bar = ("#" * round(share * _WIDTH)).ljust(_WIDTH, ".")
        count = f"step {step}/{self.total_steps}"
        line = f"{self.label} [{bar}] {share:4.0%} {count}, {elapsed:.0f} s{left}"
        if self.stream.isatty():
            self.stream.write(f"\r\x1b[K{line}")
            self.line_open = True
        else:
            self.stream.write(line + "\n")
        self.stream.flush()

    def close(self) -> None:
        """End the line."""
        if self.line_open:
            self.stream.write("\n")
            self.line_open = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

"""Fits that stop at the steps where something is to be measured, and go on from where they were interrupted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ssvi import engine
from ssvi.engine import Info, State, Steps
from ssvi.experiments.base import Checkpoint, Reporter


@dataclass(frozen=True)
class Phase:
    """A stretch of a fit: what takes its steps, and the numbers of those to stop after, the last of which ends it."""

    steps: Steps
    wanted: Sequence[int]


@dataclass(frozen=True)
class Start:
    """Where a fit begins, and what it goes over."""

    state: State
    data: Any
    batch_size: int


def stops(
    phases: Sequence[Phase], start: Start, trial: Any, progress: Checkpoint, reporter: Reporter
) -> Iterator[tuple[State, float]]:
    """Run a trial, from where it was put down if it was, and yield the state and the seconds at the wanted steps."""
    state, seconds = progress.load(trial) or (start.state, 0.0)
    latest, last = state, phases[-1].wanted[-1]
    steps_a_sweep = -(-len(start.data) // start.batch_size)

    def follow(new: State, info: Info) -> bool:
        nonlocal latest, seconds
        latest, seconds = new, seconds + info.seconds
        reporter.advance(new.step / last)
        return new.step in phase.wanted

    if any(state.step in phase.wanted for phase in phases):  # put down here, and perhaps not yet measured
        yield state, seconds
    try:
        for phase in phases:
            while state.step < phase.wanted[-1]:
                sweeps = -(-phase.wanted[-1] // steps_a_sweep)
                state = engine.run(
                    phase.steps, state, start.data, sweeps=sweeps, batch_size=start.batch_size, callbacks=[follow]
                )
                progress.save(trial, state, seconds)
                yield state, seconds
    except KeyboardInterrupt:
        progress.save(trial, latest, seconds)
        raise

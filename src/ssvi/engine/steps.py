"""Anything that goes from state to state by minibatches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Protocol

from ssvi.batches.places import Place
from ssvi.batches.sources import Source
from ssvi.engine.state import Info, State

Callback = Callable[[State, Info], bool | None]
"""Called after every step; a true answer stops the fit there."""


class Path(Protocol):
    """A fit under way: steps overwrite what it holds, and states are made of it when they are asked for."""

    def step(self, batch: Any) -> Info:
        """Take one step."""
        ...

    def state(self) -> State:
        """Return the present state; its arrays may be made only when they are looked at."""
        ...

    def end(self) -> State:
        """Return the present state, complete."""
        ...


class Steps(ABC):
    """Anything that goes from state to state by minibatches: a `Problem`, or one of `ssvi.baselines`."""

    @abstractmethod
    def step(self, state: State, batch: Any) -> tuple[State, Info]:
        """Return the state after a minibatch, and what happened; `state` itself is left as it is."""

    def check(self, batch: Any) -> None:
        """Raise a `ValueError` if there is something in a minibatch, just read, that the steps cannot handle."""
        return

    def read(self, source: Source, place: Place) -> Any:
        """Return a minibatch of a corpus that is read as it is needed; a `ValueError` if steps cannot handle it."""
        batch = source.read(place)
        self.check(batch)
        return batch

    def begin(self, state: State) -> Path:
        """Return a fit that goes on from a state."""
        return _StateByState(self, state)


class _StateByState:
    """A fit of something that makes a new state in every step."""

    def __init__(self, steps: Steps, state: State) -> None:
        self._steps, self._state = steps, state

    def step(self, batch: Any) -> Info:
        self._state, info = self._steps.step(self._state, batch)
        return info

    def state(self) -> State:
        return self._state

    end = state

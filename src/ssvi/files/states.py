"""States of a fit on disk: what the engine needs to go on, bit for bit."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ssvi.engine import State
from ssvi.files import container
from ssvi.files.codec import Decoder, Encoder

_WHAT = "a saved state"


def save_state(state: State, path: str | os.PathLike[str]) -> None:
    """Write a state; `load_state` gives it back bit for bit. An existing file is replaced only by a whole one."""
    encoder = Encoder()
    container.write(path, {"kind": "state", "state": encoder.encode(state)}, encoder.arrays)


def load_state(path: str | os.PathLike[str]) -> State:
    """Read what `save_state` wrote, or raise a `ValueError` that names the file."""
    text, arrays = container.read(path, _WHAT)
    try:
        if text.get("kind") != "state":
            raise ValueError(f"its kind is {text.get('kind')!r}")
        state = Decoder(arrays).decode(text["state"])
        check_state(state)
    except (ValueError, KeyError) as error:
        raise ValueError(f"{os.fspath(path)} is not {_WHAT}: {error}.") from error
    return state  # type: ignore[no-any-return]


def check_state(state: Any) -> None:
    """Raise a `ValueError` unless this is a state that the engine can go on from."""
    if not isinstance(state, State):
        raise ValueError(f"it holds a {type(state).__name__} where a state should be")
    for name in ("seed", "step", "documents_seen"):
        value = getattr(state, name)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise ValueError(f"its {name} is {value!r}")
    for arrays in (state.parameters, state.totals, state.hyperparameters, state.averages, state.rates):
        if not isinstance(arrays, dict):
            raise ValueError("its parameters are not arrays by name")
        for name, array in arrays.items():
            if not isinstance(array, np.ndarray) or array.dtype != np.float64:
                raise ValueError(f"its {name} is not an array of doubles")

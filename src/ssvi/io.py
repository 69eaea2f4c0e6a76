"""States on disk: arrays and JSON in one .npz file, which runs no code when it is loaded."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ssvi.engine import State

_FORMAT = "ssvi-state-1"


def write_atomically(path: Path, write: Callable[[Any], Any], mode: str = "w") -> None:
    """Write a file under another name and give it its own when it is whole."""
    partial = path.with_name(path.name + ".partial")
    with partial.open(mode, newline=None if "b" in mode else "") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def save_state(state: State, path: str | os.PathLike[str]) -> None:
    """Write a state; `load_state` gives it back bit for bit. An existing file is replaced only by a whole one."""
    target = Path(path)
    meta = {
        "format": _FORMAT,
        "seed": state.seed,
        "step": state.step,
        "documents_seen": state.documents_seen,
        "blocks": list(state.parameters),
        "totals": list(state.totals),
    }
    arrays: dict[str, Any] = {f"lambda_{i}": lam for i, lam in enumerate(state.parameters.values())}
    arrays |= {f"totals_{i}": totals for i, totals in enumerate(state.totals.values())}
    write_atomically(target, lambda file: np.savez(file, meta=np.array(json.dumps(meta)), **arrays), "wb")


def load_state(path: str | os.PathLike[str]) -> State:
    """Read what `save_state` wrote, or raise a `ValueError` that names the file."""
    try:
        with Path(path).open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            meta = json.loads(str(file["meta"]))
            if meta["format"] != _FORMAT:
                raise ValueError(f"its format is {meta['format']!r}, not {_FORMAT!r}")
            parameters = {name: file[f"lambda_{i}"] for i, name in enumerate(meta["blocks"])}
            totals = {name: file[f"totals_{i}"] for i, name in enumerate(meta.get("totals", []))}
            return State(int(meta["seed"]), int(meta["step"]), int(meta["documents_seen"]), parameters, totals)
    except OSError:
        raise
    except Exception as error:
        raise ValueError(f"{os.fspath(path)} is not a saved state: {error}.") from error

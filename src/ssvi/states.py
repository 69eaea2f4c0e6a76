"""Whether a state is one that a model can go on from. Whatever way it came, the engine asks before its first step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ssvi.models.base import Block


def check_state(blocks: Mapping[str, Block], state: Any) -> None:
    """Raise a `ValueError` unless lambda of a state, its sums and its averages fit a model's blocks."""
    check_parameters(blocks, state.parameters, state.totals)
    if len(state.averages):
        check_parameters(blocks, state.averages)


def check_hyperparameters(model: Any, state: Any) -> None:
    """Raise a `ValueError` unless a state's hyperparameters are of the kind that a model learns. None is right too."""
    wanted = model.hyperparameters()
    for name, value in state.hyperparameters.items():
        if name not in wanted:
            raise ValueError(f"the state has a learned {name!r}, and the model learns {_listed(wanted)}.")
        _check_form(f"the learned {name!r} of the state", value, wanted[name].shape)
        if not np.isfinite(value).all():
            raise ValueError(f"the learned {name!r} of the state is not finite: it is damaged, or was changed by hand.")


def check_parameters(
    blocks: Mapping[str, Block], parameters: Mapping[str, Any], totals: Mapping[str, Any] | None = None
) -> None:
    """Raise a `ValueError` that names the block and the place unless lambda fits a model's blocks.

    A draw from a distribution that there is not would be NaN, and so would be everything after it.

    Parameters
    ----------
    blocks : blocks by name
        The model's.
    parameters : arrays by name
        lambda of each block.
    totals : arrays by name, optional
        Sums of lambda's rows, of those blocks for which a fit keeps them.

    """
    if set(parameters) != set(blocks):
        raise ValueError(f"the state has the blocks {_listed(parameters)}, and the model {_listed(blocks)}.")
    for name, block in blocks.items():
        lam = parameters[name]
        _check_form(f"block {name!r} of the state", lam, block.shape)
        inside = block.family.in_domain(lam)
        if not inside.all():
            raise ValueError(
                f"block {name!r} of the state has {_first_row(lam, inside)}, outside the domain of its "
                f"{block.family!r} distributions: it is damaged, or was changed by hand."
            )
    for name, sums in (totals or {}).items():
        if name not in blocks:
            raise ValueError(f"the state has totals of {name!r}, and the model the blocks {_listed(blocks)}.")
        _check_totals(f"the totals of block {name!r} of the state", sums, blocks[name].shape[0])


def _check_totals(what: str, sums: Any, size: int) -> None:
    """Raise unless these are sums of lambda's rows."""
    _check_form(what, sums, (size,))
    inside = np.isfinite(sums) & (sums > 0)
    if not inside.all():
        raise ValueError(
            f"{what} have {_first(sums, inside)}, and sums of lambda are positive: leave them out, and they are added "
            "up anew."
        )


def _check_form(what: str, array: Any, shape: tuple[int, ...]) -> None:
    """Raise unless this is an array of doubles of a shape."""
    if not isinstance(array, np.ndarray) or array.dtype != np.float64:
        kind = f"an array of {array.dtype}" if isinstance(array, np.ndarray) else f"a {type(array).__name__}"
        raise ValueError(f"{what} must be an array of doubles, not {kind}.")
    if array.shape != shape:
        raise ValueError(f"{what} must have the shape {shape}, as the model has, not {array.shape}.")


def _first_row(lam: Any, inside: Any) -> str:
    """Return what is wrong with the first row outside a domain: a value that no domain or few have, or all of it."""
    place = tuple(map(int, np.unravel_index(int(np.argmin(inside)), inside.shape)))
    row = lam[place]
    suspect = np.isfinite(row) if not np.isfinite(row).all() else row > 0
    if suspect.all():
        return f"a row at {place}"
    column = int(np.argmin(suspect))
    return f"{row[column]} at {(*place, column)}"


def _first(array: Any, inside: Any) -> str:
    """Return the first value that is not inside, and where it is."""
    place = tuple(map(int, np.unravel_index(int(np.argmin(inside)), inside.shape)))
    return f"{array[place]} at {place}"


def _listed(names: Mapping[str, Any]) -> str:
    return ", ".join(map(repr, names)) or "none"

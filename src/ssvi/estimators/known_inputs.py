"""Inputs that are known to act on a system: columns of a data frame, or numbers beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from ssvi.typing import Array


def take_columns(X: Any, names: list[str]) -> tuple[Any, Array]:
    """Return a data frame without some columns, and these."""
    if not hasattr(X, "columns"):
        raise ValueError("inputs are names of columns, and X is no data frame: give the numbers themselves.")
    for name in names:
        if name not in X.columns:
            raise ValueError(f"there is no column {name!r} in X, only {', '.join(map(repr, list(X.columns)[:10]))}.")
    rest = X.drop(columns=names) if hasattr(X, "iloc") else X.drop(names)
    return rest, np.column_stack([np.asarray(X[name], dtype=float) for name in names])


def are_names(inputs: Any) -> bool:
    """Tell whether inputs are names of columns."""
    return isinstance(inputs, str) or (
        isinstance(inputs, list | tuple) and len(inputs) > 0 and all(isinstance(name, str) for name in inputs)
    )


def as_table(inputs: Any) -> Array:
    """Return inputs as rows x U, if all of them are finite numbers."""
    table = np.asarray(inputs, dtype=object)
    table = np.asarray(inputs)[:, None] if table.ndim == 1 else inputs
    return np.asarray(check_array(table, dtype=np.float64, input_name="inputs", ensure_min_samples=0))

"""How the suites say what is wrong, and the differences and means that they compare with.

Means are allowed six standard errors, which one exceeds by chance twice in 10^9.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.typing import Array

_ERRORS = 6.0  # standard errors
_STEP = 1e-4  # of differences, whose error is of the fourth order


def require(holds: bool | np.bool_, fault: str) -> None:
    """Raise an `AssertionError` with this sentence unless something holds."""
    if not holds:
        raise AssertionError(fault)


def require_close(found: Array, expected: Array, relative: float, absolute: float, fault: str) -> None:
    """Want two arrays to agree, number by number."""
    excess = np.abs(found - expected) - relative * np.abs(expected) - absolute
    if not (excess <= 0).all():
        raise AssertionError(f"{fault}: {found}, where {expected} was expected.")


def require_mean(values: Array, expected: Array, fault: str) -> None:
    """Want the means over rows within six standard errors."""
    mean = values.mean(axis=0)
    error = values.std(axis=0) / np.sqrt(len(values)) + 1e-12 * (1.0 + np.abs(mean))
    if not (np.abs(mean - expected) <= _ERRORS * error).all():
        errors = float(np.nanmax(np.abs(mean - expected) / error))
        raise AssertionError(f"{fault}: {mean}, where {expected} was expected; {errors:.1f} standard errors off.")


def differences(function: Callable[[Array], Array], point: Array) -> npt.NDArray[Any]:
    """Return the Jacobian of a function of rows at one point, a row an output, by differences of the fourth order."""
    steps = np.diag(_STEP * np.maximum(0.1, np.abs(point)))
    near = function(point + steps) - function(point - steps)
    far = function(point + 2.0 * steps) - function(point - 2.0 * steps)
    jacobian: Array = ((8.0 * near - far) / (12.0 * np.diag(steps)[:, None])).T
    return jacobian

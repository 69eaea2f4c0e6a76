"""What the suites say when something does not hold, and the differences that they compare slopes with."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ssvi.typing import Array

STANDARD_ERRORS = 6.0
"""How far a mean may be off: by chance it is further twice in 10^9."""
_STEP = 2e-5  # of differences whose error is of the fourth order


def require(holds: bool | np.bool_, fault: str) -> None:
    """Raise an `AssertionError` with this message unless something holds."""
    if not holds:
        raise AssertionError(fault)


def require_close(found: Array, expected: Array, relative: float, absolute: float, fault: str) -> None:
    """Want every number within a relative and an absolute tolerance."""
    excess = np.abs(found - expected) - relative * np.abs(expected) - absolute
    if not (excess <= 0).all():
        raise AssertionError(f"{fault}: {found}, where {expected} was expected.")


def require_mean(values: Array, expected: Array, fault: str) -> None:
    """Want the means over rows within six standard errors."""
    mean = values.mean(axis=0)
    error = values.std(axis=0) / np.sqrt(len(values)) + 1e-12 * (1.0 + np.abs(mean))
    if not (np.abs(mean - expected) <= STANDARD_ERRORS * error).all():
        errors = float(np.nanmax(np.abs(mean - expected) / error))
        raise AssertionError(f"{fault}: {mean}, where {expected} was expected; {errors:.1f} standard errors off.")


def differences(function: Callable[[Array], Array], point: Array) -> Array:
    """Return the Jacobian of a function of rows at one point, a row an output, by differences of the fourth order."""
    steps = np.diag(_STEP * np.maximum(0.1, np.abs(point)))
    near = function(point + steps) - function(point - steps)
    far = function(point + 2.0 * steps) - function(point - 2.0 * steps)
    jacobian: Array = ((8.0 * near - far) / (12.0 * np.diag(steps)[:, None])).T
    return jacobian

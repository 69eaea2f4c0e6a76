"""Checks of parameters: each raises one clear sentence, and changes nothing."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

_LARGEST_COUNT = 2**63 - 1  # kernels take 64-bit integers


def is_integer(value: Any) -> bool:
    """Tell whether a parameter is an integer of Python or NumPy."""
    return isinstance(value, numbers.Integral)


def is_number(value: Any) -> bool:
    """Tell whether a parameter is a real number of Python or NumPy: no text, no array."""
    return isinstance(value, int | float | np.integer | np.floating)


def require(name: str, value: Any, condition: Callable[[Any], bool], wanted: str) -> None:
    """Raise one clear sentence unless the value of a parameter meets the condition; truths and arrays never do."""
    try:
        met = not isinstance(value, bool | np.bool_ | np.ndarray) and bool(condition(value))
    except (TypeError, ValueError):  # such as text, which is not above or below a number
        met = False
    if not met:
        raise ValueError(f"{name} must be {wanted}, not {value!r}.")


def require_count(name: str, value: Any) -> None:
    """Raise one clear sentence unless the value of a parameter is an integer of 1 or more."""
    require(name, value, lambda v: is_integer(v) and v >= 1, "an integer of 1 or more")
    require(name, value, lambda v: v <= _LARGEST_COUNT, "an integer below 2^63")


def require_positive(name: str, value: Any) -> None:
    """Raise one clear sentence unless the value of a parameter is a finite number above 0."""
    require(name, value, lambda v: is_number(v) and 0 < v < np.inf, "a positive number")


AUTO = "auto"


def is_auto(value: Any) -> bool:
    """Tell whether the value of a parameter says that a fit is to learn it."""
    return isinstance(value, str) and value == AUTO


def positive_or_auto(name: str, value: Any) -> float | str:
    """Return the positive number that a parameter must be, or "auto"."""
    if is_auto(value):
        return AUTO
    require(name, value, lambda v: is_number(v) and 0 < v < np.inf, 'a positive number, or "auto" to learn it')
    return float(value)


def require_not_negative(name: str, value: Any) -> None:
    """Raise one clear sentence unless the value of a parameter is a finite number of 0 or more."""
    require(name, value, lambda v: is_number(v) and 0 <= v < np.inf, "a number of 0 or more")


def not_negative_or_auto(name: str, value: Any) -> None:
    """Raise one clear sentence unless the value of a parameter is a finite number of 0 or more, or "auto"."""
    if not is_auto(value):
        require(name, value, lambda v: is_number(v) and 0 <= v < np.inf, 'a number of 0 or more, or "auto" to learn it')


def require_flag(name: str, value: Any) -> None:
    """Raise one clear sentence unless the value of a parameter is true or false."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, not {value!r}.")


def require_one_of(name: str, value: Any, known: Sequence[str]) -> None:
    """Raise one clear sentence that lists the known values unless the value of a parameter is one of them."""
    *first, last = map(repr, known)
    require(name, value, lambda v: isinstance(v, str) and v in known, f"{', '.join(first)} or {last}")


def positive_pair_or_auto(name: str, value: Any) -> tuple[float, float] | str:
    """Return the two positive numbers that a parameter must be, or "auto"."""
    return AUTO if is_auto(value) else positive_pair(name, value)


def positive_pair(name: str, value: Any) -> tuple[float, float]:
    """Return the two positive numbers that a parameter must be."""
    try:
        first, second = (float(number) for number in value)
        met = 0 < first < np.inf and 0 < second < np.inf
    except (TypeError, ValueError):
        met = False
    if not met:
        raise ValueError(f"{name} must be two positive numbers, not {value!r}.")
    return first, second

"""What every estimator does with its parameters."""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ssvi.data.documents import Documents
from ssvi.global_steps.base import GlobalStep
from ssvi.local_steps.base import LocalStep
from ssvi.registry import lookup

# Tables of these types are taken as they are; others are converted to the first.
NUMBERS = [np.dtype(code) for code in ("f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1")]
_CALLBACKS_OPEN = ("_callback_fit_ctx", "_skl_callbacks_to_teardown")


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Leave the estimator as it was if anything goes wrong inside."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        # What scikit-learn has hung on it to close its callbacks after the fit stays until that is done.
        kept = {name: value for name, value in vars(estimator).items() if name in _CALLBACKS_OPEN}
        vars(estimator).clear()
        vars(estimator).update(before | kept)
        raise


def make_global_step(choice: str | GlobalStep) -> GlobalStep:
    """Return the global step that a parameter names or is."""
    if isinstance(choice, GlobalStep):
        return choice
    step: GlobalStep = lookup("ssvi.global_steps", GlobalStep, choice, "global_step")()
    return step


def make_local_step(choice: str | LocalStep, model: str, **options: Any) -> LocalStep:
    """Return the local step of `model` that a parameter names or is; a named one gets those options it knows."""
    if isinstance(choice, LocalStep):
        if choice.model != model:
            raise ValueError(f"local_step {choice!r} is for the model {choice.model!r}, and this one is {model!r}.")
        return choice
    kind = lookup(f"ssvi.local_steps.{model}", LocalStep, choice, "local_step", also=("auto",))
    known = {field.name for field in dataclasses.fields(kind)}
    step: LocalStep = kind(**{name: value for name, value in options.items() if name in known})
    return step


def make_seed(random_state: Any) -> int:
    """Return the seed of a fit: an integer is itself, anything else is asked for one."""
    if isinstance(random_state, numbers.Integral) and int(random_state) >= 0:
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    return int(check_random_state(random_state).randint(2**31 - 1))


def require(name: str, value: Any, condition: Callable[[Any], bool], wanted: str) -> None:
    """Raise one clear sentence unless the value of a parameter meets the condition."""
    try:
        met = not isinstance(value, bool) and condition(value)
    except (TypeError, ValueError):  # such as an array, which is neither true nor false
        met = False
    if not met:
        raise ValueError(f"{name} must be {wanted}, not {value!r}.")


def require_count(name: str, value: Any) -> None:
    """Raise one clear sentence unless the value of a parameter is an integer of 1 or more."""
    require(name, value, lambda v: is_integer(v) and v >= 1, "an integer of 1 or more")


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


def check_same(wanted: Mapping[str, Any], fitted: Mapping[str, Any]) -> None:
    """Raise if parameters of the model were changed since the first `partial_fit` or the last `fit`."""
    changed = [name for name in wanted if wanted[name] != fitted[name]]
    if changed:
        raise ValueError(
            f"{', '.join(changed)} changed since this model was fitted, and partial_fit goes on with the same model: "
            "set it back, or call fit."
        )


def is_integer(value: Any) -> bool:
    """Tell whether a parameter is an integer of Python or NumPy."""
    return isinstance(value, numbers.Integral)


def check_counts(documents: Documents, where: str, *, allow_empty: bool = False) -> None:
    """Raise if a count is negative or, unless that is allowed, if there is nothing at all."""
    counts = documents.counts
    if counts.size and counts.min() < 0:
        entry = int(np.argmin(counts))
        row, column = documents.locate(entry)
        raise ValueError(
            f"Negative values in data passed to {where}: {counts[entry]} at row {row}, column {column}; counts must be "
            "0 or more."
        )
    if not allow_empty and not counts.any():
        raise ValueError(f"There is nothing but zeros in the data passed to {where}.")

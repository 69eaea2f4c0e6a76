"""What every estimator does with its parameters."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from ssvi.backends.base import Backend
from ssvi.batches.documents import Documents
from ssvi.batches.matrices import canonical_rows
from ssvi.checks import is_integer
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


def make_backend(choice: str, n_jobs: int | None) -> Any:
    """Return a new backend of the kind that a parameter names; "ray:ADDRESS" is a Ray cluster at an address."""
    name, _, address = choice.partition(":")
    kind = lookup("ssvi.backends", Backend, name, "backend")
    if not address:
        return kind(n_jobs)
    if not kind.remote:
        raise ValueError(f"backend {name!r} is on this machine and has no address: leave out {address!r}.")
    return kind(n_jobs, address)


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
    if is_integer(random_state) and int(random_state) >= 0:
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    return int(check_random_state(random_state).randint(2**31 - 1))


def check_data(estimator: Any, X: Any, *, reset: bool, **options: Any) -> Any:
    """Return data once scikit-learn has checked it; what is sparse comes in canonical form, and stays as it is itself.

    That form comes first: whatever is done to entries of one place must be done to their sum.
    """
    is_sparse: bool = sparse.issparse(X)
    if is_sparse and X.ndim == 2 and X.dtype.kind in "biuf":
        X = canonical_rows(X)
    return validate_data(
        estimator, X, reset=reset, accept_sparse="csr", dtype=NUMBERS, accept_large_sparse=True, **options
    )


def check_same(wanted: Mapping[str, Any], fitted: Mapping[str, Any]) -> None:
    """Raise if parameters of the model were changed since the first `partial_fit` or the last `fit`."""
    changed = [name for name in wanted if not np.array_equal(wanted[name], fitted[name])]
    if changed:
        raise ValueError(
            f"{', '.join(changed)} changed since this model was fitted, and partial_fit goes on with the same model: "
            "set it back, or call fit."
        )


def check_counts(documents: Documents, where: str, *, allow_empty: bool = False) -> None:
    """Raise if a count is negative or, unless that is allowed, if there is nothing at all."""
    documents.check_not_negative(where)
    if not allow_empty and not documents.counts.any():
        raise ValueError(f"There is nothing but zeros in the data passed to {where}.")

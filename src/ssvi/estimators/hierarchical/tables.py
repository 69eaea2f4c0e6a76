"""From X, y and the groups of rows, or a table and a formula, to a design: columns, which vary, and checked numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.checks import is_integer
from ssvi.typing import Array

INTERCEPT = "Intercept"
Names = npt.NDArray[Any]


@dataclass(frozen=True)
class Design:
    """The columns of a model: their names, and which of them are fixed and which vary between groups."""

    names: tuple[str, ...]
    fixed: tuple[int, ...]
    varying: tuple[int, ...]

    @property
    def intercept(self) -> int | None:
        """The place of the column of ones, if there is one."""
        return self.names.index(INTERCEPT) if INTERCEPT in self.names else None


def design_of(names: Sequence[str], varying: Any, *, fit_intercept: bool, grouped: bool) -> Design:
    """Return the design of plain columns: a column of ones before them if there is an intercept, and all are fixed."""
    columns = ((INTERCEPT,) if fit_intercept else ()) + tuple(names)
    places = tuple(range(len(columns)))
    return Design(columns, places, _varying(columns, varying, fit_intercept=fit_intercept) if grouped else ())


def _varying(columns: tuple[str, ...], varying: Any, *, fit_intercept: bool) -> tuple[int, ...]:
    """Return the places of the columns that vary."""
    if isinstance(varying, str) and varying == "all":
        return tuple(range(len(columns)))
    chosen = [varying] if isinstance(varying, str) or is_integer(varying) else list(varying)
    places = []
    for item in chosen:
        name = INTERCEPT if item == "intercept" else item
        if is_integer(name) and 0 <= int(name) < len(columns) - fit_intercept:
            places.append(int(name) + fit_intercept)
        elif name in columns:
            places.append(columns.index(name))
        else:
            raise ValueError(
                f"varying has {item!r}, which is no column: there are {', '.join(columns[:20])} "
                "(or numbers of columns, from 0)."
            )
    if not places or len(set(places)) < len(places):
        raise ValueError(f"varying must be some different columns, not {varying!r}: without groups leave out groups.")
    return tuple(sorted(places))


def check_groups(groups: Any, rows: int) -> Names:
    """Return the labels of groups, one for each row: numbers, or text."""
    labels = np.asarray(groups)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.shape != (rows,):
        raise ValueError(f"groups must be one label for each of {rows:,} rows, not of shape {labels.shape}.")
    if labels.dtype.kind == "O":
        missing = np.flatnonzero([label is None or label != label for label in labels])
        if len(missing):
            raise ValueError(f"groups has no label in row {missing[0]}: give it one, or leave the row out.")
        is_text = [isinstance(label, str) for label in labels]
        if any(is_text) and not all(is_text):
            raise ValueError("groups must be all text or all numbers, not some of each.")
        labels = labels.astype(str) if all(is_text) else np.array(labels.tolist())
    if labels.dtype.kind == "f":
        if not np.isfinite(labels).all():
            missing = np.flatnonzero(~np.isfinite(labels))
            raise ValueError(f"groups has no label in row {missing[0]}: give it one, or leave the row out.")
        if (labels == np.round(labels)).all():
            labels = labels.astype(np.int64)
    if labels.dtype.kind not in "biufU":
        labels = labels.astype(str)
    return labels


def places_of_groups(known: Names, groups: Names, unseen: int) -> npt.NDArray[np.int64]:
    """Return the place of each label among those that a fit has seen; `unseen` for others."""
    if not len(known):
        return np.full(len(groups), unseen, dtype=np.int64)
    if (known.dtype.kind in "OU") != (groups.dtype.kind in "OU"):
        known, groups = known.astype(str), groups.astype(str)
    elif known.dtype.kind == "O":
        known = known.astype(str)
    order = np.argsort(known, kind="stable")
    at = np.clip(np.searchsorted(known, groups, sorter=order), 0, len(known) - 1)
    found = order[at]
    return np.where(known[found] == groups, found, unseen).astype(np.int64)


def check_trials(y: Array, trials: Any) -> Array:
    """Return the trials of each row: whole numbers, at least as many as successes."""
    counts = np.asarray(trials, dtype=np.float64)
    if counts.ndim == 0:
        counts = np.full(len(y), float(counts))
    if counts.shape != y.shape:
        raise ValueError(f"trials must be one number for each of {len(y):,} rows, not of shape {counts.shape}.")
    bad = ~((counts >= 1) & (counts == np.round(counts)) & (counts < 2**31))
    bad |= ~((y >= 0) & (y <= counts) & (y == np.round(y)))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"row {row} has {y[row]:g} successes out of {counts[row]:g} trials: both must be whole numbers, and "
            "successes at most trials."
        )
    return counts


def check_deviations(y: Array, deviations: Any) -> Array:
    """Return the known deviation of each row's noise."""
    known = np.asarray(deviations, dtype=np.float64)
    if known.ndim == 0:
        known = np.full(len(y), float(known))
    if known.shape != y.shape or not (np.isfinite(known) & (known > 0)).all():
        raise ValueError(f"noise_deviation must be one positive number for each of {len(y):,} rows.")
    return known

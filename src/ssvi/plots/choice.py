"""Which components of a model are drawn, and what they and their columns are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.files.models import column_names
from ssvi.report.components import Components

_LONGEST_NAME = 22  # letters of a column's name


@dataclass(frozen=True)
class Choice:
    """The components to draw, in their order.

    Attributes
    ----------
    parts : Components
        Only those that are drawn.
    component, column : str
        What the model calls one of them, and a column of the data.
    note : str
        What is left out, in words; empty if nothing is.

    """

    parts: Components
    component: str
    column: str
    note: str

    def __len__(self) -> int:
        return len(self.parts.numbers)

    def labels(self) -> list[str]:
        """Return the components' numbers and shares, in words."""
        pairs = zip(self.parts.numbers, self.parts.shares, strict=True)
        return [f"{number} · {percent(share)}" for number, share in pairs]


def choose(estimator: Any, components: int | Sequence[int] | None, limit: int, plot: str) -> Choice:
    """Return the components that are asked for: by their numbers, or so many of the largest.

    None stands for those in use, up to a limit.
    """
    check_fitted(estimator, plot)
    parts = Components.of(estimator)
    several, component, column = estimator.nouns
    in_use = max(1, estimator.components_in_use())
    note = ""
    if components is None:
        places = np.arange(min(in_use, limit))
        if in_use > limit:
            note = f"the {limit} largest of {in_use} {several.lower()}"
    elif isinstance(components, int | np.integer):
        if isinstance(components, bool) or components < 1:
            raise ValueError(f"components must be 1 or more, or a list of numbers, not {components!r}.")
        places = np.arange(min(int(components), len(parts.numbers)))
    else:
        places = _places(parts.numbers, components, component)
    return Choice(parts.take(places), component, column, note)


def check_fitted(estimator: Any, plot: str) -> None:
    """Raise one clear sentence unless this is a fitted estimator of the library."""
    kind = type(estimator).__name__
    if isinstance(estimator, type):
        raise TypeError(f"{plot} draws fitted estimators of ssvi, and this is a class: fit a {estimator.__name__}().")
    if not hasattr(estimator, "summarize_components"):
        hint = ": give its last step, model[-1]" if kind == "Pipeline" else ""
        raise TypeError(f"{plot} draws fitted estimators of ssvi, and this is of type {kind}{hint}.")
    require_fitted(estimator, plot)


def require_fitted(estimator: Any, plot: str) -> None:
    """Raise one clear sentence if an estimator is not fitted yet."""
    if not estimator.__sklearn_is_fitted__():
        from sklearn.exceptions import NotFittedError

        kind = type(estimator).__name__
        raise NotFittedError(f"{plot} draws fitted models, and this {kind} is not fitted yet: call its fit first.")


def names_for(estimator: Any, given: Sequence[str] | None) -> list[str]:
    """Return what the columns are called: the names given, those the model knows, or their numbers."""
    known = column_names(estimator)
    names = known if given is None else [str(name) for name in given]
    if len(names) != len(known):
        raise ValueError(f"names has {len(names):,} entries, and the model has {len(known):,} columns.")
    return list(names)


def short(name: str) -> str:
    """Return a name that fits beside a bar.

    >>> short("internationalisation and localisation")
    'internationalisation …'
    """
    name = " ".join(name.split())
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def percent(share: float) -> str:
    """Write a share of the data.

    >>> percent(0.1234), percent(0.0123), percent(0.00012)
    ('12%', '1.2%', '<0.1%')
    """
    if share < 0.001:
        return "<0.1%"
    return f"{share:.0%}" if share >= 0.0995 else f"{share:.1%}"


def _places(known: npt.NDArray[np.int64], wanted: Any, component: str) -> npt.NDArray[np.int64]:
    """Return where components of these numbers are."""
    try:
        numbers = [int(number) for number in wanted if number == int(number)]
        if not numbers or len(numbers) != len(list(wanted)):
            raise ValueError
    except (TypeError, ValueError):
        raise ValueError(f"components must be a number of them, or a list of their numbers, not {wanted!r}.") from None
    where = {int(number): place for place, number in enumerate(known)}
    for number in numbers:
        if number not in where:
            raise ValueError(f"there is no {component} {number}: their numbers are 0 to {len(known) - 1}.")
    return np.array([where[number] for number in numbers])

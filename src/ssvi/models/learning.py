"""Hyperparameters of a model by name, and those of them that its blocks' priors follow from, learned from lambda.

A name may have dots: "prior.scale" is the attribute `scale` of the attribute `prior`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ssvi.families.learned import Rows, Usual, fit_prior
from ssvi.typing import Array

if TYPE_CHECKING:
    from ssvi.models.base import Model

Owner = TypeVar("Owner")


def numbers_of(owner: Any, names: tuple[str, ...]) -> dict[str, Array]:
    """Return attributes, numbers or tuples of them, by name, as arrays."""
    return {name: np.array(attrgetter(name)(owner), dtype=float) for name in names}


def with_numbers(owner: Owner, numbers: Mapping[str, Any]) -> Owner:
    """Return a dataclass with other numbers, given by name as `numbers_of` returns them."""
    if not numbers:
        return owner
    given: Any = owner
    parts: dict[str, dict[str, Any]] = {}
    own: dict[str, Any] = {}
    for name, value in numbers.items():
        head, _, rest = name.partition(".")
        if rest:
            parts.setdefault(head, {})[rest] = value
        else:
            plain = np.asarray(value).tolist()
            own[name] = tuple(plain) if isinstance(plain, list) else plain
    own |= {head: with_numbers(getattr(owner, head), inner) for head, inner in parts.items()}
    changed: Owner = replace(given, **own)
    return changed


def likeliest_priors(
    model: Model, usual: Mapping[str, Usual], lam: Callable[[str], Array], share: float = 1.0
) -> dict[str, Array]:
    """Return hyperparameters, moved by a share towards those under which what all rows have seen is most probable.

    Those that the prior of no common block follows from are found apart from each other.

    Parameters
    ----------
    model : Model
        With its present hyperparameters.
    usual : Usual by name
        What is known of each.
    lam : function
        From the name of a block to its lambda.
    share : float
        How far to go, in logarithms.

    """
    values, found = numbers_of(model, tuple(usual)), dict[str, Array]()
    for names, blocks in _apart(model, values):
        parts = _Parts(model, {name: values[name] for name in names})
        families = model.blocks()
        rows = [Rows(families[name].family, lam(name), parts.prior_of(name)) for name in blocks]
        known = [usual[name] for name in names for _ in range(values[name].size)]
        start = np.concatenate([values[name].ravel() for name in names])
        found |= parts.unpacked(fit_prior(rows, start, known, share))
    return found


@dataclass(frozen=True)
class _Parts:
    """Hyperparameters by name, which lie one after the other in a row of numbers."""

    model: Model
    values: Mapping[str, Array]

    def unpacked(self, numbers: Array) -> dict[str, Array]:
        """Return the numbers by name."""
        ends = np.cumsum([value.size for value in self.values.values()])
        parts = zip(self.values.items(), np.split(numbers, ends[:-1]), strict=True)
        return {name: own.reshape(value.shape) for (name, value), own in parts}

    def prior_of(self, block: str) -> Callable[[Array], Array]:
        """Return the function from the numbers to a block's prior."""
        return lambda numbers: with_numbers(self.model, self.unpacked(numbers)).blocks()[block].prior


def _apart(model: Model, values: Mapping[str, Array]) -> list[tuple[list[str], list[str]]]:
    """Return groups of hyperparameters, and the blocks whose priors follow from each group."""
    before = model.blocks()
    groups: list[tuple[list[str], list[str]]] = []
    for name, value in values.items():
        after = with_numbers(model, {name: 1.01 * value}).blocks()
        touched = [block for block in before if not np.array_equal(before[block].prior, after[block].prior)]
        common = [group for group in groups if set(group[1]) & set(touched)]
        names = [other for group in common for other in group[0]]
        blocks = [block for group in common for block in group[1]]
        groups = [group for group in groups if group not in common]
        groups.append(([*names, name], list(dict.fromkeys([*blocks, *touched]))))
    return [group for group in groups if group[1]]

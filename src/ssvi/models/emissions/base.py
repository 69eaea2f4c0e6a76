"""What an emission is: how the states of a sequence show themselves at each time point.

An emission has blocks of its own, a row for each state. log p(x_t | z_t = k) is linear in their t(beta), so that a view
of them, whatever it is, gives scores, and shares of states give eta-hat. What is missing of a time point is left out,
or filled in where columns depend on each other; a time point of which nothing is known scores 0 in every state.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ssvi.families.learned import Usual
from ssvi.models.base import Block
from ssvi.models.quantities import Quantities, Quantity
from ssvi.numerics.random import Keys
from ssvi.typing import Array

Labels = npt.NDArray[np.int64]
Scores = Callable[[Array], Array]
"""From time points x columns to time points x states."""


class Tables(ABC):
    """A view of an emission's blocks, in the form in which it is applied to time points."""

    @abstractmethod
    def scores(self, values: Array) -> Array:
        """Return log p(x_t | z_t = k) under the view, time points x K; 0 where nothing is known."""

    @abstractmethod
    def statistics(self, values: Array, shares: Array, keys: Keys, sampled: bool) -> dict[str, Array]:
        """Return eta-hat of each block, given the shares that states have of each time point.

        If the shares are draws (`sampled`), so are entries that are missing and matter: each time point has a key.
        """


@dataclass(frozen=True, eq=False)
class Emission(ABC):
    """A kind of emission, for so many columns and states."""

    n_features: int
    n_components: int

    kind: ClassVar[str]
    means_have_units: ClassVar[bool] = False
    """Whether means are in units of the columns, and no probabilities."""
    partly_known: ClassVar[bool] = True
    """Whether a time point may lack some of its columns and not others."""

    @abstractmethod
    def blocks(self) -> Mapping[str, Block]:
        """Return the blocks by name."""

    @abstractmethod
    def usual_numbers(self) -> Mapping[str, Usual]:
        """Return the names of the numbers that the blocks' priors follow from, which a fit can learn."""

    @abstractmethod
    def tables(self, views: Mapping[str, Array]) -> Tables:
        """Return a view in the form in which it is applied to time points."""

    @abstractmethod
    def after(self, values: Array, labels: Labels, weights: Array) -> dict[str, Array]:
        """Return lambda after some time points, each of a state and with a weight."""

    @abstractmethod
    def points(self, values: Array) -> Array:
        """Return time points, not all of whose columns are missing, as places whose distances k-means can take."""

    def init(self, rng: np.random.Generator) -> dict[str, Array]:
        """Return lambda at random: after a few time points of the prior's own, one or so for each state."""
        states = np.repeat(np.arange(self.n_components), 2)
        values = self.emit(self.draw(rng), states, rng)
        return self.after(values, states, rng.gamma(2.0, 0.25, len(states)))

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> dict[str, Array]:
        """Draw the parameters of each block from the prior, in the form that its family's `statistics` takes."""

    @abstractmethod
    def emit(self, values: Mapping[str, Array], states: Labels, rng: np.random.Generator) -> Array:
        """Draw a time point for each of some states, given parameters in that form."""

    @abstractmethod
    def predictive(self, parameters: Mapping[str, Array]) -> Scores:
        """Return what scores time points by log E_q[p(x_t | z_t = k)]."""

    @abstractmethod
    def means(self, parameters: Mapping[str, Array]) -> Array:
        """Return E_q of what a state shows: K x columns of a report (means, rates, probabilities)."""

    @abstractmethod
    def deviations(self, parameters: Mapping[str, Array]) -> Array:
        """Return the standard deviations of these under q."""

    def quantities(self, values: Mapping[str, Array]) -> Quantities:
        """Return draws of what states show, in the form that people know: by default probabilities, one block's."""
        (probabilities,) = (values[name] for name in self.blocks())
        return {"emissionprob": Quantity(probabilities, ("state", "feature"))}

    def check(self, values: Array) -> None:
        """Raise one clear sentence unless these are time points that such states can show."""
        infinite = np.argwhere(np.isinf(values))
        if len(infinite):
            row, column = infinite[0]
            raise ValueError(
                f"there is an infinite number in row {row}, column {column}: take NaN for what is missing."
            )


def check_counts(values: Array, what: str, most: float = np.inf) -> None:
    """Raise one clear sentence unless all known numbers are whole, and from 0 to some number."""
    known = np.where(np.isnan(values), 0.0, values)
    wrong = np.argwhere((known < 0) | (known > most) | (known != np.floor(known)))
    if len(wrong):
        row, column = wrong[0]
        wanted = "0 or 1" if most == 1 else "whole numbers of 0 or more"
        raise ValueError(
            f"{what} must be {wanted}, and there is {values[row, column]:g} in row {row}, column {column}: take NaN "
            "for what is missing."
        )


def filled(values: Array) -> tuple[Array, Array]:
    """Return values with zeros for what is missing, and ones where something is known."""
    missing = np.isnan(values)
    if not missing.any():
        return values, np.ones(values.shape)
    return np.where(missing, 0.0, values), (~missing).astype(np.float64)


def with_means(values: Array) -> Array:
    """Return values with the mean of a column for what is missing of it."""
    known, there = filled(values)
    means = known.sum(axis=0) / np.maximum(there.sum(axis=0), 1.0)
    return np.where(there > 0, known, means)


def products(shares: Array, values: Array) -> Array:
    """Return shares^T values, K x columns: sums over time points in one order, whatever the machine."""
    result: Array = np.einsum("tk,td->kd", shares, values)
    return result


def one_hot(labels: Labels, weights: Array, size: int) -> Array:
    """Return each time point's weight in the column of its state."""
    shares = np.zeros((len(labels), size))
    shares[np.arange(len(labels)), labels] = weights
    return shares

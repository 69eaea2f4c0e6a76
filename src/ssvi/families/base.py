"""What an exponential family of global parameters can do.

A family is a bundle of formulas; it holds no numbers. In the paper's notation

    q(beta) = h(beta) exp(lambda . t(beta) - A(lambda)).

Every array of natural parameters or statistics has **one distribution on its last axis**: a block of K topics over V
words is (K, V), a block of F x K gamma variables is (F, K, 2). All leading axes are independent copies, called rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ssvi.families.dirichlet_columns import DirichletColumns
from ssvi.families.draws import Draw
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import Keys
from ssvi.typing import Array


@kernel
def floor(current: float, prior: float) -> float:
    """Return how far a coordinate that must be positive may fall in one step; see `ExponentialFamily.project`."""
    return min(current, max(0.5 * current, prior))


@kernel
def _raise_to_floor(candidate: Array, current: Array, prior: Array, positive: npt.NDArray[np.bool_]) -> int:
    """Keep the coordinates that must be positive above their floor; return how many were below it."""
    guarded = 0
    for row in range(candidate.shape[0]):
        for column in range(candidate.shape[1]):
            lowest = floor(current[row, column], prior[row, column])
            if positive[column] and candidate[row, column] < lowest:
                candidate[row, column] = lowest
                guarded += 1
    return guarded


class ExponentialFamily(ABC):
    """The formulas of one exponential family; see the module for the shapes."""

    name: ClassVar[str]
    positive: ClassVar[tuple[bool, ...] | bool]
    """Which natural parameters must be positive: all, or by their place on the last axis."""
    dimension: ClassVar[int | None]
    """The number of natural parameters of one distribution; None where any number will do."""
    columns: ClassVar[DirichletColumns]
    """The same formulas for some coordinates of distributions in columns, where the family has them."""

    @abstractmethod
    def log_normalizer(self, lam: Array) -> Array:
        """Return A(lambda), one number a row."""

    @abstractmethod
    def mean_stats(self, lam: Array) -> Array:
        """Return E_q[t(beta)], the gradient of A."""

    @abstractmethod
    def mode_stats(self, lam: Array) -> Array:
        """Return t at the beta that maximises lambda . t(beta).

        That is the mode of q with respect to the base measure h(beta) d beta: the mode in the coordinates where t is
        simplest (logarithms, log-odds). Unlike the mode in beta itself it exists, inside the domain, for every lambda.
        """

    @abstractmethod
    def draw(self, lam: Array, keys: Keys) -> Draw:
        """Draw beta ~ q, row i from the random stream `keys[i]`."""

    @abstractmethod
    def pullback(self, lam: Array, draw: Draw, x: Array) -> Array:
        """Return (d t(R(u; lambda)) / d lambda)^T x at the u that gave `draw`."""

    @abstractmethod
    def fisher_solve(self, lam: Array, x: Array) -> Array:
        """Return the inverse of the Fisher matrix (the Hessian of A) times x."""

    @abstractmethod
    def quantile(self, lam: Array, u: Array) -> Array:
        """Return t(R(u; lambda)): the map from uniform numbers to statistics, in its plain form."""

    @abstractmethod
    def probability(self, lam: Array, draw: Draw) -> Array:
        """Return u = Q(beta), the uniform numbers that `quantile` takes to `draw`."""

    @abstractmethod
    def values(self, stats: Array) -> Array:
        """Return beta itself given t(beta), as models simulate it: with one axis less where t has several numbers."""

    @abstractmethod
    def centred(self, values: Array, strength: float) -> Array:
        """Return the lambda whose mode (see `mode_stats`) is at some values, as if of so many observations."""

    def shapes(self, lam: Array) -> Array | float:
        """Return the shape of the gamma variable behind each coordinate: small where a draw's logarithm is wide.

        Infinite where there is none. SSVI takes less of its correction where shapes are small.
        """
        return np.inf

    def natural_correction(self, lam: Array, draw: Draw, x: Array) -> Array:
        """Return V(beta, lambda) x of the paper, without ever forming V."""
        return self.fisher_solve(lam, self.pullback(lam, draw, x))

    def negative_divergence(self, lam: Array, prior: Array) -> Array:
        """Return E_q[log p(beta) - log q(beta)] = -KL(q || p) = (eta - lambda) . E_q[t] - A(eta) + A(lambda)."""
        inner = ((prior - lam) * self.mean_stats(lam)).sum(axis=-1)
        result: Array = inner - self.log_normalizer(prior) + self.log_normalizer(lam)
        return result

    def in_domain(self, lam: Array) -> npt.NDArray[np.bool_]:
        """Tell for each natural parameter whether it is finite and, where it must be, positive."""
        inside: npt.NDArray[np.bool_] = np.isfinite(lam) & ((lam > 0) | ~np.asarray(self.positive))
        return inside

    def project(self, candidate: Array, current: Array, prior: Array) -> tuple[Array, int]:
        """Bring a proposed lambda back into the domain; return it with the number of coordinates moved.

        A coordinate that must be positive may fall to the larger of half its present value and its prior's value, no
        further. (Statistics of conjugate models only add to such a coordinate, so a value under the prior's is noise.)
        One that is under its prior already may stay where it is.
        """
        positive = np.broadcast_to(np.asarray(self.positive), candidate.shape[-1:])
        result = np.array(candidate, order="C")
        shape = (-1, candidate.shape[-1])
        prior = np.broadcast_to(prior, candidate.shape)
        guarded = _raise_to_floor(result.reshape(shape), current.reshape(shape), prior.reshape(shape), positive)
        return result, guarded

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


def as_rows(lam: Array) -> Array:
    """View an array as a contiguous two-dimensional one: rows x natural parameters."""
    return np.ascontiguousarray(lam).reshape(-1, lam.shape[-1])

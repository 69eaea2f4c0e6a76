"""What an exponential family of global parameters can do.

A family is a bundle of formulas; it holds no numbers but its own size, as `NormalWishart(3)` does. In the paper's
notation

    q(beta) = h(beta) exp(lambda . t(beta) - A(lambda)).

Every array of natural parameters or statistics has **one distribution on its last axis**: a block of K topics over V
words is (K, V), a block of F x K gamma variables is (F, K, 2). All leading axes are independent copies, called rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from ssvi.families.draws import SELDOM, Draw, drawn_share
from ssvi.families.restricted import Restricted
from ssvi.numerics.random import Keys
from ssvi.tasks import Each
from ssvi.typing import Array

_HALVINGS = 60  # after so many a step is smaller than the rounding of where it starts


class ExponentialFamily(ABC):
    """The formulas of one exponential family; see the module for the shapes."""

    name: ClassVar[str]
    has_location: ClassVar[bool] = False
    """Whether beta has a mean that may lie anywhere, as that of a Gaussian. Then V x alone has a noise that grows with
    its distance from 0, and SSVI corrects what is left to go, eta + eta-hat - lambda, which has no such origin."""

    @property
    def parameters(self) -> tuple[Any, ...]:
        """What the constructor was given, in its order: families of one type and equal parameters are equal."""
        return ()

    @property
    @abstractmethod
    def dimension(self) -> int | None:
        """The number of natural parameters of one distribution; None where any number will do."""

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

    def softened_draw(self, lam: Array, keys: Keys, softening: float) -> tuple[Array, Draw]:
        """Return t at the mode plus k (t of a draw less t at the mode), and the draw; k = s / (s + softening).

        s is the gamma shape behind each coordinate. Where s is below half of `softening`, k is 0, and the draw has the
        mean there: the logarithm of such a gamma variable is so wide that most draws would have next to nothing.
        """
        draw, mode = self._drawn_from(lam, keys, softening * SELDOM), self.mode_stats(lam)
        return mode + drawn_share(self.shapes(lam), softening) * (draw.stats - mode), draw

    def _drawn_from(self, lam: Array, keys: Keys, least: float) -> Draw:
        """Draw beta with the means in place of gamma variables of shapes below `least`, where there are any."""
        return self.draw(lam, keys)

    @abstractmethod
    def pullback(self, lam: Array, draw: Draw, x: Array) -> Array:
        """Return (d t(R(u; lambda)) / d lambda)^T x at the u that gave `draw`."""

    @abstractmethod
    def fisher_solve(self, lam: Array, x: Array) -> Array:
        """Return the inverse of the Fisher matrix (the Hessian of A) times x."""

    @abstractmethod
    def quantile(self, lam: Array, u: Array) -> Array:
        """Return t(R(u; lambda)): the map from uniform numbers to statistics, in its plain form.

        u has as many coordinates on its last axis as the family's noise has, which need not be those of lambda.
        """

    @abstractmethod
    def probability(self, lam: Array, draw: Draw) -> Array:
        """Return u = Q(beta), the uniform numbers that `quantile` takes to `draw`, one for each number of noise."""

    @abstractmethod
    def in_domain(self, lam: Array) -> npt.NDArray[np.bool_]:
        """Tell for each row whether it is finite and a natural parameter of this family."""

    @abstractmethod
    def examples(self, rng: np.random.Generator) -> Array:
        """Return some rows of valid lambda, mild and skewed ones, for the suite that every family must pass."""

    @classmethod
    def instances(cls) -> list[Self]:
        """Return the families of this type that the suite runs."""
        return [cls()]

    def values(self, stats: Array) -> Array:
        """Return beta given t(beta), in the form in which models simulate it: t(beta) itself, unless a family says."""
        return stats

    def statistics(self, values: Array) -> Array:
        """Return t(beta) given beta in that form."""
        return values

    def named(self, values: Array) -> dict[str, Array]:
        """Return beta in that form as the quantities that people know, by name; without a name if it is only one."""
        return {"": values}

    def shapes(self, lam: Array) -> Array | float:
        """Return the shape of the gamma variable behind each coordinate: small where a draw's logarithm is wide.

        Infinite where there is none. SSVI takes less of its correction where shapes are small.
        """
        return np.inf

    def seen(self, lam: Array, prior: Array) -> Array:
        """Return what the data said of each row: lambda less its prior, or the nearest to it that data can say."""
        result: Array = lam - prior
        return result

    def natural_correction(self, lam: Array, draw: Draw, x: Array) -> Array:
        """Return V(beta, lambda) x of the paper, without ever forming V."""
        return self.fisher_solve(lam, self.pullback(lam, draw, x))

    def corrected(self, lam: Array, draw: Draw, x: Array, ramp: float = 1.0, softening: float = 0.0) -> Array:
        """Return x + k (V x - x), k = ramp s / (s + softening) for the gamma shape s behind each coordinate.

        V x is noisy where s is small, and so less of the correction is taken there.
        """
        correction = self.natural_correction(lam, draw, x) - x
        correction *= ramp / (1.0 + softening / self.shapes(lam)) * (self.shapes(lam) >= draw.least)
        return x + correction

    def restricted(self, rest: Array, each: Each = map) -> Restricted:
        """Return the formulas for some coordinates and all others as one, whose lambda adds up to `rest`.

        Only for families that are of one kind with their own sums.
        """
        raise TypeError(f"{self!r} cannot be held by coordinates: only whole distributions of it can be put off.")

    def negative_divergence(self, lam: Array, prior: Array) -> Array:
        """Return E_q[log p(beta) - log q(beta)] = -KL(q || p) = (eta - lambda) . E_q[t] - A(eta) + A(lambda)."""
        inner = ((prior - lam) * self.mean_stats(lam)).sum(axis=-1)
        result: Array = inner - self.log_normalizer(prior) + self.log_normalizer(lam)
        return result

    def distance(self, lam: Array, other: Array) -> Array:
        """Return the mean of KL(q || p) and KL(p || q): half of (lambda - eta) . (E_q[t] - E_p[t]), as A cancels."""
        result: Array = 0.5 * ((lam - other) * (self.mean_stats(lam) - self.mean_stats(other))).sum(axis=-1)
        return result

    def project(self, candidate: Array, current: Array, prior: Array) -> tuple[Array, int]:
        """Bring a proposed lambda back into the domain; return it with the number of rows or coordinates moved.

        This way serves every family, because domains of natural parameters are convex: a row goes back along its step,
        by halves, until twice the step would still end inside. So it goes at most half the way to the boundary. Rows
        that are not finite stay as they are, to be found by whoever looks for them. The prior is for families that
        have a better way.
        """
        return project_along_step(self, candidate, current)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.parameters == other.parameters

    def __hash__(self) -> int:
        return hash((type(self), self.parameters))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.parameters))})"


def project_along_step(family: ExponentialFamily, candidate: Array, current: Array) -> tuple[Array, int]:
    """Do what `ExponentialFamily.project` says; return the result with the number of rows moved."""
    result = np.array(candidate, order="C")
    rows, origin = result.reshape(-1, candidate.shape[-1]), as_rows(current)
    step = rows - origin
    pending = np.flatnonzero(np.isfinite(rows).all(axis=-1))
    pending = pending[~family.in_domain(origin[pending] + 2.0 * step[pending])]
    moved = len(pending)
    rows[pending] = origin[pending]
    share = 1.0
    for _ in range(_HALVINGS):
        if not len(pending):
            break
        share *= 0.5
        inside = family.in_domain(origin[pending] + 2.0 * share * step[pending])
        found = pending[inside]
        rows[found] = origin[found] + share * step[found]
        pending = pending[~inside]
    return result, moved


def as_rows(lam: Array) -> Array:
    """View an array as a contiguous two-dimensional one: rows x natural parameters."""
    return np.ascontiguousarray(lam).reshape(-1, lam.shape[-1])

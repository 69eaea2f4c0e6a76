"""Groups of a regression by their sums: all that a regression with Gaussian noise needs to know of their rows."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from ssvi.numerics.compile import kernel
from ssvi.typing import Array

Places = npt.NDArray[np.int64]


class Moments(NamedTuple):
    """Sums over the rows of each group, h being a row's columns, w its weight and r = y - h . reference.

    y is taken relative to a first regression on all columns, so that sums of squares keep their digits where y is far
    from 0.

    Attributes
    ----------
    joint : (groups, columns, columns)
        Of w h h^T.
    cross, squares : (groups, columns), (groups,)
        Of w r h and of w r^2.
    log_weights, counts : (groups,)
        Of log w and of 1.
    reference : (columns,)

    """

    joint: Array
    cross: Array
    squares: Array
    log_weights: Array
    counts: Array
    reference: Array

    @classmethod
    def of(cls, indptr: Places, inputs: Array, outputs: Array, weights: Array) -> Self:
        """Add up the rows of each group."""
        n, columns = len(indptr) - 1, inputs.shape[1]
        reference, joint = np.zeros(columns), np.zeros((n, columns, columns))
        rest = [np.zeros((n, columns)), np.zeros(n), np.zeros(n), np.zeros(n)]
        _add_joint(indptr, inputs, weights, joint)
        _add_rest(indptr, inputs, outputs, weights, reference, *rest)
        reference[:] = np.linalg.lstsq(joint.sum(axis=0), rest[0].sum(axis=0), rcond=1e-12)[0]
        _add_rest(indptr, inputs, outputs, weights, reference, *rest)
        return cls(joint, rest[0], rest[1], rest[2], rest[3], reference)

    def some(self, chosen: Places | slice) -> Self:
        """Return those of some groups."""
        return self._replace(**{name: getattr(self, name)[chosen] for name in self._fields if name != "reference"})


@kernel
def _add_joint(indptr: Places, inputs: Array, weights: Array, joint: Array) -> None:
    for n in range(joint.shape[0]):
        own = joint[n]
        for i in range(indptr[n], indptr[n + 1]):
            for r in range(inputs.shape[1]):
                value = weights[i] * inputs[i, r]
                for c in range(r + 1):
                    own[r, c] += value * inputs[i, c]
        for r in range(inputs.shape[1]):
            for c in range(r):
                own[c, r] = own[r, c]


@kernel
def _add_rest(
    indptr: Places, inputs: Array, outputs: Array, weights: Array, reference: Array, cross: Array, squares: Array,
    log_weights: Array, counts: Array,
) -> None:  # fmt: skip
    """Fill in all sums but `joint`."""
    for n in range(cross.shape[0]):
        cross[n] = 0.0
        squares[n] = 0.0
        log_weights[n] = 0.0
        counts[n] = indptr[n + 1] - indptr[n]
        for i in range(indptr[n], indptr[n + 1]):
            away = outputs[i]
            for c in range(reference.size):
                away -= inputs[i, c] * reference[c]
            squares[n] += weights[i] * away * away
            if weights[i] != 1.0:
                log_weights[n] += np.log(weights[i])
            for c in range(reference.size):
                cross[n, c] += weights[i] * away * inputs[i, c]

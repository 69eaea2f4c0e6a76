"""What observations of a linear regression on hidden states say of the states, entries missing or not.

With x = (z, r), r the inputs and 1, log p(y | x) is y^T G x - y^T P y / 2 - x^T S x / 2 and a constant: P = E[Lambda],
G = E[Lambda C], S = E[C^T Lambda C]. Rows with the same entries missing share a *pattern*.

Outputs with a noise of their own (`diag`) are left out where they are missing. With a full covariance what is missing
of y is a hidden variable, and integrated out: with W the inverse of P's rows and columns of missing entries (0
elsewhere) and y' = y - W P y (y being 0 where it is missing), the above becomes y'^T G x - y^T P y' / 2 -
x^T (S - G^T W G) x / 2, and y given x has the mean y' + W G x and the covariance W. A row of which nothing is known has
probability 1 under every beta: it is left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ssvi.models.regressions import Regression, RegressionSums, RegressionView
from ssvi.numerics.cholesky import cholesky
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import Keys, normal
from ssvi.typing import Array

Rows = npt.NDArray[np.int64]

_LOG_TWO_PI = math.log(2.0 * math.pi)


@dataclass(frozen=True)
class Patterns:
    """Which entries each row of a minibatch has.

    Attributes
    ----------
    of_rows : (rows,) integers
        The pattern of each row.
    known : (patterns, D) of bool
        Which entries a pattern has.

    """

    of_rows: Rows
    known: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, outputs: Array) -> Patterns:
        """Find the patterns of some rows."""
        known = ~np.isnan(outputs)
        if known.all():
            return cls(np.zeros(len(outputs), dtype=np.int64), np.ones((1, outputs.shape[1]), dtype=bool))
        bits = np.ascontiguousarray(np.packbits(known, axis=1))
        _, firsts, of_rows = np.unique(
            bits.view(np.dtype((np.void, bits.shape[1]))).ravel(), return_index=True, return_inverse=True
        )
        return cls(of_rows.astype(np.int64).ravel(), known[firsts])


@dataclass(frozen=True)
class Potentials:
    """What each row says of its state: exp(h . z - z^T J z / 2).

    Attributes
    ----------
    own : (patterns, K, K)
        J of each pattern.
    linear : (rows, K)
        h.

    """

    own: Array
    linear: Array


class Emissions:
    """A regression of outputs on hidden states and known inputs, at a view of its t.

    Parameters
    ----------
    regression : Regression
        Its sizes; the first `n_states` inputs are states.
    view : RegressionView
        What the view says of it.
    outputs : (rows, D)
        What was observed, NaN where nothing was.
    known : (rows, Q - K)
        The inputs that are known.

    """

    def __init__(self, regression: Regression, view: RegressionView, outputs: Array, known: Array) -> None:
        self.regression, self.view, self._known = regression, view, known
        self.patterns = Patterns.of(outputs)
        self.seen: npt.NDArray[np.bool_] = np.asarray(self.patterns.known.any(axis=1))
        self._zeroed = np.nan_to_num(outputs, nan=0.0)
        if regression.independent:
            self._mask = self.patterns.known.astype(float)
            self._shifted = self._zeroed
        else:
            self._fill_in()

    def _fill_in(self) -> None:
        """Prepare what stands for missing entries: W, W G, S - G^T W G of each pattern, and y' of each row."""
        precision, product = self.view.precision, self.view.product
        missing = (~self.patterns.known & self.seen[:, None]).astype(float)
        held = precision * missing[:, :, None] * missing[:, None, :]
        places = np.arange(len(precision))
        held[:, places, places] += 1.0 - missing
        self._factors = cholesky(held)
        inverse = np.linalg.inv(held) * missing[:, :, None] * missing[:, None, :]
        self._filling = 0.5 * (inverse + np.swapaxes(inverse, 1, 2))
        self._filled_gain = self._filling @ product
        self._squares = self.view.square - np.swapaxes(self._filled_gain, 1, 2) @ product
        self._lost = 2.0 * np.log(np.diagonal(self._factors, axis1=1, axis2=2)).sum(axis=1)
        self._partial = np.flatnonzero((missing.sum(axis=1) > 0)[self.patterns.of_rows])
        shifted = self._zeroed.copy()
        pull = self._zeroed[self._partial] @ precision
        _subtract_filled(pull, self._filling, self.patterns.of_rows[self._partial], self._partial, shifted)
        self._shifted = shifted

    def potentials(self, size: int) -> Potentials:
        """Return what the rows say of their states, the first `size` inputs."""
        rows = self.patterns.of_rows
        if self.regression.independent:
            squares = np.tensordot(self._mask, self.view.square, axes=(1, 0))
        else:
            squares = self._squares * self.seen[:, None, None]
        linear = self._shifted @ self.view.product[:, :size]
        linear -= _by_pattern(squares[:, size:, :size], rows, self._known)
        return Potentials(np.ascontiguousarray(squares[:, :size, :size]), linear * self.seen[rows][:, None])

    def log_densities(self, start: int, stop: int, states: Array) -> Array:
        """Return log p of what is seen in rows start, ..., stop - 1 at some states.

        Missing entries are at their means, so that the rest of them is a width.
        """
        view, rows = self.view, self.patterns.of_rows[start:stop]
        design = np.concatenate([states, self._known[start:stop]], axis=1)
        if self.regression.independent:
            coefficients = view.product / view.precision[:, None]
            errors = (self._zeroed[start:stop] - design @ coefficients.T) * self._mask[rows]
            excess = view.square - coefficients[:, :, None] * view.product[:, None, :]
            levels = self._mask @ (view.log_determinant - _LOG_TWO_PI)
            rest = _by_pattern(np.tensordot(self._mask, excess, axes=(1, 0)), rows, design)
            squares = (errors**2) @ view.precision
        else:
            coefficients = np.linalg.solve(view.precision, view.product).astype(float)
            outputs = self._filled(start, stop, design)
            errors = outputs - design @ coefficients.T
            rest = design @ (view.square - view.product.T @ coefficients)
            levels = view.log_determinant - self._lost - _LOG_TWO_PI * self.patterns.known.sum(axis=1)
            squares = ((errors @ view.precision) * errors).sum(axis=1)
        logs: Array = 0.5 * (levels[rows] - squares - (rest * design).sum(axis=1)) * self.seen[rows]
        return logs

    def _filled(self, start: int, stop: int, design: Array) -> Array:
        """Return rows with missing entries at their means given the design."""
        outputs = self._shifted[start:stop]
        there = self._partial[np.searchsorted(self._partial, start) : np.searchsorted(self._partial, stop)]
        if not len(there):
            return outputs
        filled = np.zeros((len(there), self.regression.outputs))
        _fill_rows(self._filled_gain, self.patterns.of_rows[there], there - start, design, filled)
        outputs = outputs.copy()
        outputs[there - start] += filled
        return outputs

    def expected_sums(self, start: int, stop: int, states: Array, spreads: Array) -> RegressionSums:
        """Return the sums of rows start, ..., stop - 1 given their states' means and sums of covariances by pattern."""
        rows, size = self.patterns.of_rows[start:stop], states.shape[1]
        design = np.concatenate([states, self._known[start:stop]], axis=1)
        squares = _squares_by_pattern(rows, len(self.seen), design)
        squares[:, :size, :size] += spreads
        counts = np.bincount(rows, minlength=len(self.seen)).astype(float)
        shifted = self._shifted[start:stop] * self.seen[rows][:, None]
        cross = shifted.T @ design
        if self.regression.independent:
            mask = self._mask
            inputs = np.tensordot(mask.T, squares, axes=(1, 0))
            return RegressionSums(cross, inputs, (shifted**2).sum(axis=0), counts @ mask)
        counts, squares = counts * self.seen, squares * self.seen[:, None, None]
        outputs = shifted.T @ shifted + np.tensordot(counts, self._filling, axes=(0, 0))
        if len(self._partial):
            both = shifted.T @ (self._filled(start, stop, design) - self._shifted[start:stop])
            moved = self._filled_gain @ squares
            cross = cross + moved.sum(axis=0)
            outputs += both + both.T + (moved @ np.swapaxes(self._filled_gain, 1, 2)).sum(axis=0)
        return RegressionSums(cross, squares.sum(axis=0), 0.5 * (outputs + outputs.T), counts.sum())

    def drawn_sums(self, start: int, stop: int, states: Array, indptr: Rows, keys: Keys) -> RegressionSums:
        """Return the sums of these rows at drawn states; what is missing of them is drawn as well."""
        none = np.zeros((len(self.seen), states.shape[1], states.shape[1]))
        if self.regression.independent or not len(self._partial):
            return self.expected_sums(start, stop, states, none)
        rows = self.patterns.of_rows[start:stop]
        design = np.concatenate([states, self._known[start:stop]], axis=1)
        seen = self.seen[rows]
        filled = self._shifted[start:stop].copy()
        partial: npt.NDArray[np.bool_] = np.zeros(len(self.seen), dtype=np.bool_)
        partial[self.patterns.of_rows[self._partial]] = True
        _draw_missing(
            indptr, start, keys, rows, partial, self.patterns.known, self._filled_gain, self._factors, design, filled
        )
        filled, design = filled[seen], design[seen]
        return RegressionSums(filled.T @ design, design.T @ design, filled.T @ filled, float(len(design)))


def _by_pattern(matrices: Array, rows: Rows, vectors: Array) -> Array:
    """Return each row's vector times the matrix of its pattern."""
    if len(matrices) == 1:
        result: Array = vectors @ matrices[0]
        return result
    out = np.zeros((len(rows), matrices.shape[2]))
    _multiply_rows(np.ascontiguousarray(matrices), rows, np.ascontiguousarray(vectors), out)
    return out


def _squares_by_pattern(rows: Rows, count: int, design: Array) -> Array:
    """Return the sums of x x^T over the rows of each pattern."""
    if count == 1:
        return (design.T @ design)[None]
    out = np.zeros((count, design.shape[1], design.shape[1]))
    _add_squares(rows, np.ascontiguousarray(design), out)
    return out


@kernel
def _multiply_rows(matrices: Array, rows: Rows, vectors: Array, out: Array) -> None:
    for n in range(rows.size):
        matrix = matrices[rows[n]]
        for i in range(vectors.shape[1]):
            for j in range(out.shape[1]):
                out[n, j] += vectors[n, i] * matrix[i, j]


@kernel
def _add_squares(rows: Rows, design: Array, out: Array) -> None:
    for n in range(rows.size):
        for i in range(design.shape[1]):
            for j in range(design.shape[1]):
                out[rows[n], i, j] += design[n, i] * design[n, j]


@kernel
def _subtract_filled(pull: Array, filling: Array, rows: Rows, places: Rows, out: Array) -> None:
    """Take W P y off rows of `out`, given P y."""
    for n in range(rows.size):
        matrix = filling[rows[n]]
        for i in range(pull.shape[1]):
            total = 0.0
            for j in range(pull.shape[1]):
                total += matrix[i, j] * pull[n, j]
            out[places[n], i] -= total


@kernel
def _fill_rows(gains: Array, rows: Rows, places: Rows, design: Array, out: Array) -> None:
    """Fill in W G x of some rows of the design."""
    for n in range(rows.size):
        for d in range(out.shape[1]):
            for q in range(design.shape[1]):
                out[n, d] += gains[rows[n], d, q] * design[places[n], q]


@kernel
def _draw_missing(
    indptr: Rows, first: int, keys: Keys, rows: Rows,
    partial: npt.NDArray[np.bool_], known: npt.NDArray[np.bool_], gains: Array, factors: Array, design: Array,
    filled: Array,
) -> None:  # fmt: skip
    """Add W G x and noise of covariance W to the missing entries; `factors` are Cholesky factors of P's part."""
    size = filled.shape[1]
    noise = np.empty(size)
    for n in range(indptr.size - 1):
        state = keys[n]
        for t in range(indptr[n] - first, indptr[n + 1] - first):
            pattern = rows[t]
            if not partial[pattern]:
                continue
            factor = factors[pattern]
            for i in range(size):
                noise[i] = 0.0
                if not known[pattern, i]:
                    noise[i], state = normal(state)
            for i in range(size - 1, -1, -1):
                total = noise[i]
                for k in range(i + 1, size):
                    total -= factor[k, i] * noise[k]
                noise[i] = total / factor[i, i]
            for i in range(size):
                if not known[pattern, i]:
                    filled[t, i] += noise[i]
                    for q in range(design.shape[1]):
                        filled[t, i] += gains[pattern, i, q] * design[t, q]

"""The formulas that all families of an unknown precision matrix share.

In a regression y = A x + noise, A (outputs D x inputs Q) are the coefficients and Lambda (D x D) the noise's precision:

    Lambda ~ Wishart(S^-1, nu),    A | Lambda ~ matrix normal, mean M, precision K over inputs and Lambda over outputs.

    lambda = (M K, K, S + M K M^T, nu)
    t      = (Lambda A, -A^T Lambda A / 2, -Lambda / 2, log|Lambda| / 2)
    h      = |Lambda|^((Q - D - 1) / 2) (2 pi)^(-D Q / 2)
    A(lambda) = -nu/2 log|S| + nu D/2 log 2 + log Gamma_D(nu/2) - D/2 log|K|

Symmetric matrices are packed (see `symmetric`). An observation (x, y) adds (y x^T, x x^T, y y^T, 1). With no inputs
this is the Wishart distribution, and with the one input 1 the normal-Wishart.

Everything comes from the *joint matrix* of inputs and outputs, which is linear in lambda, and its Cholesky factor:

    J = [K, (M K)^T; M K, S + M K M^T],    L = [L_K, 0; M L_K, L_S],    L^-1 = [L_K^-1, 0; -L_S^-1 M, L_S^-1].
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from ssvi.families.base import ExponentialFamily, as_rows
from ssvi.families.draws import Draw
from ssvi.families.regression_layout import Parts, RegressionLayout
from ssvi.families.symmetric import pack, packed_size, unpack
from ssvi.numerics.cholesky import cholesky, cholesky_pullback, invert_lower
from ssvi.numerics.compile import kernel
from ssvi.numerics.gamma_quantile import log_quantile_derivative_into
from ssvi.numerics.gamma_variates import log_gamma_variate
from ssvi.numerics.random import Keys, normal
from ssvi.numerics.special import digamma_array, trigamma_array, trigamma_excess
from ssvi.typing import Array


@kernel
def _noise_rows(shapes: Array, keys: Keys, out: Array) -> None:
    """Fill each row of `out` from its stream: the logarithms of gamma draws of these shapes, then normal draws."""
    for row in range(out.shape[0]):
        state = keys[row]
        for column in range(shapes.shape[1]):
            out[row, column], state = log_gamma_variate(shapes[row, column], state)
        for column in range(shapes.shape[1], out.shape[1]):
            out[row, column], state = normal(state)


def turned(matrices: Array) -> Array:
    """Return the transposed matrices."""
    return np.swapaxes(matrices, -1, -2)


def _log_diagonal(factors: Array) -> Array:
    """Return the sum of the logarithms of the diagonal: half the log-determinant of what was factored."""
    result: Array = np.log(np.diagonal(factors, axis1=-2, axis2=-1)).sum(axis=-1)
    return result


class _Factors(NamedTuple):
    """The blocks of the joint matrix's factor L and of L^-1; see the module."""

    whole: Array
    inverse: Array
    cross: Array  # M L_K
    outputs: Array  # L_S
    inputs_inverse: Array  # L_K^-1
    outputs_inverse: Array  # L_S^-1
    whitened: Array  # L_S^-1 M


class _Noise(NamedTuple):
    """What a draw is made of: Lambda = W W^T and L_S^T W = T, Bartlett's lower triangle; `inputs` is Z."""

    log_gammas: Array
    bartlett: Array
    log_diagonal: Array
    inputs: Array


class PrecisionFamily(ExponentialFamily):
    """Coefficients and noise precision of a regression with `inputs` inputs and `outputs` outputs; see the module."""

    def __init__(self, outputs: int, inputs: int) -> None:
        if outputs < 1 or inputs < 0:
            raise ValueError(
                f"a precision matrix needs at least one row and no negative inputs, not {outputs}, {inputs}."
            )
        self.outputs, self.inputs = outputs, inputs
        self._layout = RegressionLayout(outputs, inputs)

    @abstractmethod
    def standard(self, lam: Array) -> tuple[Array, ...]:
        """Return the usual parameters of rows of lambda."""

    @abstractmethod
    def expand(self, stats: Array) -> tuple[Array, ...]:
        """Return rows of statistics as named arrays."""

    @property
    def dimension(self) -> int:
        """The numbers of M K, of K and S + M K M^T packed, and nu."""
        return self._layout.size

    def log_normalizer(self, lam: Array) -> Array:
        """Return -nu/2 log|S| + nu D/2 log 2 + log Gamma_D(nu/2) - D/2 log|K|."""
        rows, d = as_rows(lam), self.outputs
        factors, degrees = self._factors(rows), rows[:, -1]
        log_gamma = 0.25 * d * (d - 1) * math.log(math.pi) + special.gammaln(self._gamma_shapes(degrees)).sum(axis=-1)
        log_inputs = _log_diagonal(factors.whole) - _log_diagonal(factors.outputs)
        result: Array = (
            log_gamma + degrees * (0.5 * d * math.log(2.0) - _log_diagonal(factors.outputs)) - d * log_inputs
        )
        return result.reshape(lam.shape[:-1])

    def mean_stats(self, lam: Array) -> Array:
        """Return t at the mean of Lambda, nu S^-1, and M; plus D K^-1, the spread of A, and E[log|Lambda|]."""
        rows = as_rows(lam)
        factors, degrees = self._factors(rows), rows[:, -1]
        spread = self.outputs * (turned(factors.inputs_inverse) @ factors.inputs_inverse)
        log_gammas = digamma_array(self._gamma_shapes(degrees)).sum(axis=-1) + self.outputs * math.log(2.0)
        half = 0.5 * log_gammas - _log_diagonal(factors.outputs)
        return self._centre_stats(factors, degrees, spread, half).reshape(lam.shape)

    def mode_stats(self, lam: Array) -> Array:
        """Return t at A = M, Lambda = nu S^-1."""
        rows = as_rows(lam)
        factors, degrees = self._factors(rows), rows[:, -1]
        half = 0.5 * self.outputs * np.log(degrees) - _log_diagonal(factors.outputs)
        return self._centre_stats(factors, degrees, 0.0, half).reshape(lam.shape)

    def shapes(self, lam: Array) -> Array:
        """Return (nu - D + 1) / 2, the smallest shape of the gamma variables on Bartlett's diagonal."""
        result: Array = 0.5 * (lam[..., -1:] - self.outputs + 1.0)
        return result

    def draw(self, lam: Array, keys: Keys) -> Draw:
        """Draw by Bartlett's factors; `hidden` is their log-gammas, then the normals below the diagonal and of A."""
        rows = as_rows(lam)
        hidden = np.empty((len(rows), self._noise_size))
        _noise_rows(self._gamma_shapes(rows[:, -1]), keys, hidden)
        stats = self._draw_stats(rows, hidden).reshape(lam.shape)
        return Draw(stats, hidden.reshape(*lam.shape[:-1], self._noise_size))

    def quantile(self, lam: Array, u: Array) -> Array:
        """Invert D gamma distributions and as many normal ones as there are other numbers of noise."""
        rows, u_rows, d = as_rows(lam), as_rows(u), self.outputs
        log_gammas = np.log(special.gammaincinv(self._gamma_shapes(rows[:, -1]), u_rows[:, :d]))
        hidden = np.concatenate([log_gammas, special.ndtri(u_rows[:, d:])], axis=-1)
        return self._draw_stats(rows, hidden).reshape(lam.shape)

    def probability(self, lam: Array, draw: Draw) -> Array:
        """Return the distribution functions of the gamma and normal numbers behind the draw."""
        hidden, d = draw.hidden, self.outputs
        gammas = special.gammainc(self._gamma_shapes(lam[..., -1]), np.exp(hidden[..., :d]))
        return np.concatenate([gammas, special.ndtr(hidden[..., d:])], axis=-1)

    def pullback(self, lam: Array, draw: Draw, x: Array) -> Array:
        """Go back from t through W = L_S^-T T and G = W^T A to the factor L and to nu, and from L to J."""
        rows, d, q = as_rows(lam), self.outputs, self.inputs
        factors, noise, x_parts = self._factors(rows), self._noise(as_rows(draw.hidden)), self._layout.split(as_rows(x))
        root, scaled = self._roots(factors, noise)
        to_scaled = turned(root) @ x_parts.cross - scaled @ x_parts.inputs
        to_inner = to_scaled @ turned(factors.inputs_inverse)
        to_root = x_parts.cross @ turned(scaled) - x_parts.outputs @ root + factors.cross @ turned(to_inner)
        to_bartlett = factors.outputs_inverse @ to_root
        to_factor = np.zeros_like(factors.whole)
        to_factor[:, :q, :q] = -turned(scaled) @ to_inner
        to_factor[:, q:, :q] = root @ to_inner
        to_factor[:, q:, q:] = -root @ turned(to_bartlett)
        places = np.arange(q, q + d)
        to_factor[:, places, places] -= x_parts.degrees[:, None] / factors.whole[:, places, places]
        to_joint = cholesky_pullback(factors.whole, factors.inverse, to_factor)
        to_log_diagonal = np.diagonal(to_bartlett, axis1=-2, axis2=-1) * np.exp(noise.log_diagonal)
        to_log_diagonal = to_log_diagonal + x_parts.degrees[:, None]
        to_degrees = (to_log_diagonal * self._bartlett_slopes(rows[:, -1], noise)).sum(axis=-1)
        parts = Parts(2.0 * to_joint[:, q:, :q], to_joint[:, :q, :q], to_joint[:, q:, q:], to_degrees)
        return self._layout.merge_dual(parts).reshape(lam.shape)

    def fisher_solve(self, lam: Array, x: Array) -> Array:
        """Solve in the coordinates (M, K, S, nu), where the Fisher metric is in blocks.

        M: nu S^-1 dM K.   K: D/2 K^-1 dK K^-1.   (S, nu): nu/2 S^-1 dS S^-1 - S^-1 dnu / 2 and
        -tr(S^-1 dS) / 2 + psi'_D(nu/2) dnu / 4. What S takes off the last is done term by term, without cancellation.
        """
        rows = as_rows(lam)
        factors, own = self._factors(rows), self._layout.split(rows)
        gradient = self._layout.split_dual(as_rows(x))
        mean, degrees = factors.cross @ factors.inputs_inverse, own.degrees[:, None, None]
        scatter = factors.outputs @ turned(factors.outputs)
        crossed = turned(mean) @ gradient.cross
        to_inputs = gradient.inputs + 0.5 * (crossed + turned(crossed)) + turned(mean) @ gradient.outputs @ mean
        mean_step = scatter @ (gradient.cross + 2.0 * gradient.outputs @ mean) / degrees
        inputs_step = (2.0 / self.outputs) * own.inputs @ to_inputs @ own.inputs
        scaled = scatter @ gradient.outputs
        trace = np.trace(scaled, axis1=-2, axis2=-1)
        degrees_step = (gradient.degrees + trace / own.degrees) / self._degrees_curvature(own.degrees)
        scatter_step = (2.0 * scaled @ scatter + scatter * degrees_step[:, None, None]) / degrees
        moved = mean_step @ turned(own.cross)
        outputs_step = scatter_step + moved + turned(moved) + mean @ inputs_step @ turned(mean)
        cross_step = mean_step @ own.inputs + mean @ inputs_step
        return self._layout.merge(Parts(cross_step, inputs_step, outputs_step, degrees_step)).reshape(lam.shape)

    def values(self, stats: Array) -> Array:
        """Return A, row by row, and then Lambda, packed."""
        parts = self._layout.split_dual(stats)
        precision = -2.0 * parts.outputs
        coefficients = np.linalg.solve(precision, parts.cross).reshape(*stats.shape[:-1], -1)
        return np.concatenate([coefficients, pack(precision)], axis=-1)

    def statistics(self, values: Array) -> Array:
        """Return t of A, given row by row, and of Lambda, packed behind it."""
        d, q = self.outputs, self.inputs
        coefficients = values[..., : d * q].reshape(*values.shape[:-1], d, q)
        precision = unpack(values[..., d * q :], d)
        product = precision @ coefficients
        half = 0.5 * np.linalg.slogdet(precision)[1]
        square = -0.5 * turned(coefficients) @ product
        return self._layout.merge_dual(Parts(product, square, -0.5 * precision, half))

    def named(self, values: Array) -> dict[str, Array]:
        """Return A and the noise covariance, the inverse of Lambda."""
        d, q = self.outputs, self.inputs
        covariance: Array = np.linalg.inv(unpack(values[..., d * q :], d)).astype(float)
        return {"coefficients": values[..., : d * q].reshape(*values.shape[:-1], d, q), "covariance": covariance}

    def in_domain(self, lam: Array) -> npt.NDArray[np.bool_]:
        """Want K and S positive definite, and nu > D - 1."""
        rows = as_rows(lam)
        definite = np.isfinite(cholesky(self._layout.joint(rows))).all(axis=(-1, -2))
        inside: npt.NDArray[np.bool_] = definite & np.isfinite(rows).all(axis=-1) & (rows[:, -1] > self.outputs - 1)
        return inside.reshape(lam.shape[:-1])

    def examples(self, rng: np.random.Generator) -> Array:
        """Return rows with round S and K, and one with long and short axes, few degrees and little known of A."""
        d, q = self.outputs, self.inputs
        inputs = np.concatenate([_round_matrices(rng, q), np.diag(np.geomspace(0.1, 2.0, max(q, 1))[:q])[None]])
        scatter = np.concatenate([_round_matrices(rng, d), np.diag(np.geomspace(0.1, 10.0, d))[None]])
        mean = rng.normal(size=(6, d, q))
        degrees = d - 1 + np.append(rng.gamma(2.0, 2.0, 5) + 2.0, 0.6)
        cross = mean @ inputs
        return self._layout.merge(Parts(cross, inputs, scatter + cross @ turned(mean), degrees))

    @property
    def _noise_size(self) -> int:
        return packed_size(self.outputs) + self.outputs * self.inputs

    def _gamma_shapes(self, degrees: Array) -> Array:
        """Return (nu + 1 - i) / 2 for i = 1 to D, on a new last axis."""
        result: Array = 0.5 * (degrees[..., None] - np.arange(self.outputs))
        return result

    def _degrees_curvature(self, degrees: Array) -> Array:
        """Return psi'_D(nu/2) / 4 - D / (2 nu), as a sum of positive terms."""
        shapes, place = self._gamma_shapes(degrees), np.arange(self.outputs)
        excess = trigamma_excess(shapes, trigamma_array(shapes))
        terms = (excess + place / degrees[:, None]) / (4.0 * shapes)
        result: Array = terms.sum(axis=-1)
        return result

    def _bartlett_slopes(self, degrees: Array, noise: _Noise) -> Array:
        """Return d log T_ii / d nu: T_ii^2 / 2 is a gamma variable whose shape is nu / 2 and less a constant."""
        shapes, log_gammas = self._gamma_shapes(degrees), np.ascontiguousarray(noise.log_gammas)
        slopes = np.empty(shapes.shape)
        log_quantile_derivative_into(shapes.reshape(-1), log_gammas.reshape(-1), slopes.reshape(-1))
        return 0.25 * slopes

    def _factors(self, rows: Array) -> _Factors:
        q = self.inputs
        whole = cholesky(self._layout.joint(rows))
        inverse = invert_lower(whole)
        return _Factors(
            whole, inverse, whole[:, q:, :q], whole[:, q:, q:],
            inverse[:, :q, :q], inverse[:, q:, q:], -inverse[:, q:, :q],
        )  # fmt: skip

    def _centre_stats(self, factors: _Factors, degrees: Array, spread: Array | float, half: Array) -> Array:
        """Return t at A = M and Lambda = nu S^-1, but for A^T Lambda A, to which `spread` is added, and log|Lambda|."""
        inverse, whitened, degrees = factors.outputs_inverse, factors.whitened, degrees[:, None, None]
        squares = degrees * (turned(whitened) @ whitened) + spread
        precision = degrees * (turned(inverse) @ inverse)
        return self._layout.merge_dual(
            Parts(degrees * (turned(inverse) @ whitened), -0.5 * squares, -0.5 * precision, half)
        )

    def _noise(self, hidden: Array) -> _Noise:
        """Put the numbers of a draw into their places."""
        d = self.outputs
        log_gammas, below, inputs = np.split(hidden, [d, packed_size(d)], axis=-1)
        log_diagonal = 0.5 * (math.log(2.0) + log_gammas)
        bartlett = np.zeros((len(hidden), d, d))
        places = np.arange(d)
        bartlett[:, places, places] = np.exp(log_diagonal)
        rows, columns = np.tril_indices(d, -1)
        bartlett[:, rows, columns] = below
        return _Noise(log_gammas, bartlett, log_diagonal, inputs.reshape(len(hidden), d, self.inputs))

    @staticmethod
    def _roots(factors: _Factors, noise: _Noise) -> tuple[Array, Array]:
        """Return W, Lambda = W W^T, and G = W^T A = (W^T M L_K + Z) L_K^-1."""
        root = turned(factors.outputs_inverse) @ noise.bartlett
        return root, (turned(root) @ factors.cross + noise.inputs) @ factors.inputs_inverse

    def _draw_stats(self, rows: Array, hidden: Array) -> Array:
        """Return t = (W G, -G^T G / 2, -W W^T / 2, log|Lambda| / 2)."""
        factors, noise = self._factors(rows), self._noise(hidden)
        root, scaled = self._roots(factors, noise)
        half = noise.log_diagonal.sum(axis=-1) - _log_diagonal(factors.outputs)
        return self._layout.merge_dual(
            Parts(root @ scaled, -0.5 * turned(scaled) @ scaled, -0.5 * root @ turned(root), half)
        )


def _round_matrices(rng: np.random.Generator, order: int) -> Array:
    """Return five positive definite matrices without a very long or short axis."""
    factors = rng.normal(size=(5, order, order + 4))
    result: Array = 1.5 * factors @ turned(factors) / (order + 4) + 0.3 * np.eye(order)
    return result

"""What is seen of a sum over chains: scores of one chain given the others, of all together, and eta-hat.

Shares are rows x M x K: of each state of each chain, expected or drawn. With Gaussian emissions log p(y | x) is
quadratic in the indicators x of states (`linear_emissions`). With Poisson emissions a count is a sum of counts s_m, one
of each chain, which are hidden and integrated out: log p(y | z) = y log sum_m exp(v_m) - sum_m r_m - log y!, with
v = E[log rate] and r = E[rate] of the states that the chains are in. The chains' parts of a count are in proportion to
exp(v_m); if states are not known, v_m is expected over them (a lower bound, the best of its kind).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from scipy import special

from ssvi.local_steps.linear_emissions import Emissions
from ssvi.models.fhmm import FHMM
from ssvi.typing import Array

Joint = npt.NDArray[np.int64]
"""All combinations of states, combinations x M."""


class Sums(ABC):
    """What rows of a minibatch say of the chains, at a view of the emissions."""

    @abstractmethod
    def given_others(self, start: int, stop: int, shares: Array, chain: int, *, drawn: bool) -> Array:
        """Return scores of a chain's states given the others' shares, rows x K; `drawn` if these are ones and zeros."""

    @abstractmethod
    def of_joint(self, start: int, stop: int, joint: Joint) -> Array:
        """Return log p(y | z) of all combinations of states, rows x combinations."""

    @abstractmethod
    def expected(self, start: int, stop: int, shares: Array) -> Array:
        """Return the mean of log p(y | z) of each row, chains being independent, or a lower bound of it."""

    @abstractmethod
    def statistics(self, start: int, stop: int, shares: Array, *, drawn: bool = False) -> Array:
        """Return eta-hat of the emissions, chains being independent."""

    @abstractmethod
    def joint_statistics(self, start: int, stop: int, shares: Array, joint: Joint) -> Array:
        """Return eta-hat of the emissions from shares of combinations, rows x combinations."""


class GaussianSums(Sums):
    """A regression on the indicators of states."""

    def __init__(self, model: FHMM, view: Array, values: Array) -> None:
        self._model = model
        self._emissions = Emissions(model.regression, model.regression.view(view), values, np.zeros((len(values), 0)))
        self._potentials = self._emissions.potentials(model.regression.inputs)
        self._rows = self._emissions.patterns.of_rows

    def given_others(self, start: int, stop: int, shares: Array, chain: int, *, drawn: bool) -> Array:
        """Return what is linear in the chain's indicators, and half of the squares."""
        size = self._model.n_states
        own = slice(chain * size, (chain + 1) * size)
        others = shares.copy()
        others[:, chain] = 0.0
        flat = others.reshape(len(others), -1)
        squares, rows = self._potentials.own, self._rows[start:stop]
        scores: Array = self._potentials.linear[start:stop, own] - _by_pattern(squares[:, :, own], rows, flat)
        diagonals = np.diagonal(squares[:, own, own], axis1=1, axis2=2)
        return scores - 0.5 * diagonals[rows]

    def of_joint(self, start: int, stop: int, joint: Joint) -> Array:
        """Take the quadratic form at each combination."""
        indicators = self._model.indicators(joint)
        squares = np.einsum("si,pij,sj->ps", indicators, self._potentials.own, indicators, optimize=True)
        nothing = np.zeros((stop - start, indicators.shape[1]))
        constants = self._emissions.log_densities(start, stop, nothing)
        linear = self._potentials.linear[start:stop] @ indicators.T
        result: Array = constants[:, None] + linear - 0.5 * squares[self._rows[start:stop]]
        return result

    def expected(self, start: int, stop: int, shares: Array) -> Array:
        """Take the quadratic form at the mean, and the spread off."""
        flat, rows, size = shares.reshape(len(shares), -1), self._rows[start:stop], self._model.n_states
        logs = self._emissions.log_densities(start, stop, flat)
        for chain in range(self._model.n_chains):
            own = slice(chain * size, (chain + 1) * size)
            share, squares = shares[:, chain], self._potentials.own[:, own, own]
            diagonals = np.diagonal(squares, axis1=1, axis2=2)[rows]
            logs -= 0.5 * ((share * diagonals).sum(axis=1) - (_by_pattern(squares, rows, share) * share).sum(axis=1))
        return logs

    def statistics(self, start: int, stop: int, shares: Array, *, drawn: bool = False) -> Array:
        """Add up products of indicators; those of one chain exclude each other."""
        flat, rows, size = shares.reshape(len(shares), -1), self._rows[start:stop], self._model.n_states
        spreads = np.zeros((len(self._emissions.seen), flat.shape[1], flat.shape[1]))
        if not drawn:
            sums = _sums_by_pattern(rows, len(spreads), flat)
            places = np.arange(flat.shape[1])
            spreads[:, places, places] = sums
            for chain in range(self._model.n_chains):
                own = slice(chain * size, (chain + 1) * size)
                spreads[:, own, own] -= _products_by_pattern(rows, len(spreads), shares[:, chain])
        return self._natural(start, stop, flat, spreads)

    def joint_statistics(self, start: int, stop: int, shares: Array, joint: Joint) -> Array:
        """Add up products of indicators over combinations."""
        indicators, rows = self._model.indicators(joint), self._rows[start:stop]
        means = shares @ indicators
        held = _sums_by_pattern(rows, len(self._emissions.seen), shares)
        seconds = np.einsum("ps,si,sj->pij", held, indicators, indicators, optimize=True)
        return self._natural(start, stop, means, seconds - _products_by_pattern(rows, len(seconds), means))

    def _natural(self, start: int, stop: int, means: Array, spreads: Array) -> Array:
        return self._model.regression.natural(self._emissions.expected_sums(start, stop, means, spreads))


class PoissonSums(Sums):
    """Counts, each a sum of counts of the chains."""

    def __init__(self, model: FHMM, view: Array, values: Array) -> None:
        self._model = model
        self._logs, self._rates = view[..., 0], -view[..., 1]
        self._known = (~np.isnan(values)).astype(float)
        self._counts = np.nan_to_num(values, nan=0.0)
        self._weights = np.exp(np.maximum(self._logs, -600.0))

    def given_others(self, start: int, stop: int, shares: Array, chain: int, *, drawn: bool) -> Array:
        """Return the expected log probability of a chain's part of the counts, or the log probability of their sum."""
        counts, known = self._counts[start:stop], self._known[start:stop]
        rates = known @ self._rates[chain].T
        if not drawn:
            parts = self._parts(shares)[0][:, chain] * counts
            scores: Array = parts @ self._logs[chain].T - rates
            return scores
        others = np.einsum("tmk,mkd->tmd", shares, self._weights)
        others = others.sum(axis=1) - others[:, chain]
        others = np.maximum(others, 0.0)
        scores = np.empty((stop - start, self._model.n_states))
        for state in range(self._model.n_states):
            scores[:, state] = special.xlogy(counts, others + self._weights[chain, state]).sum(axis=1)
        scores -= rates
        return scores

    def of_joint(self, start: int, stop: int, joint: Joint) -> Array:
        """Return the log probabilities of sums."""
        counts, known = self._counts[start:stop], self._known[start:stop]
        chains = np.arange(self._model.n_chains)
        logs = special.logsumexp(self._logs[chains, joint], axis=1)
        rates = self._rates[chains, joint].sum(axis=1)
        result: Array = counts @ logs.T - known @ rates.T - self._log_factorials(start, stop)[:, None]
        return result

    def expected(self, start: int, stop: int, shares: Array) -> Array:
        """Return the best lower bound that parts of counts give."""
        counts, known = self._counts[start:stop], self._known[start:stop]
        rates = np.einsum("tmk,mkd->td", shares, self._rates, optimize=True)
        logs: Array = (counts * self._parts(shares)[1] - known * rates).sum(axis=1) - self._log_factorials(start, stop)
        return logs

    def statistics(self, start: int, stop: int, shares: Array, *, drawn: bool = False) -> Array:
        """Give each chain its part of the counts."""
        parts = self._parts(shares)[0] * self._counts[start:stop, None, :]
        sums = np.einsum("tmk,tmd->mkd", shares, parts, optimize=True)
        held = np.einsum("tmk,td->mkd", shares, self._known[start:stop], optimize=True)
        return np.stack([sums, held], axis=-1)

    def joint_statistics(self, start: int, stop: int, shares: Array, joint: Joint) -> Array:
        """Give each chain its part of the counts, combination by combination."""
        model, chains = self._model, np.arange(self._model.n_chains)
        logs = self._logs[chains, joint]  # combinations x M x D
        parts = special.softmax(logs, axis=1) * (shares.T @ self._counts[start:stop])[:, None, :]
        known = np.broadcast_to((shares.T @ self._known[start:stop])[:, None, :], parts.shape)
        result = np.zeros((model.n_chains, model.n_states, model.n_features, 2))
        for chain in chains:
            np.add.at(result[chain, ..., 0], joint[:, chain], parts[:, chain])
            np.add.at(result[chain, ..., 1], joint[:, chain], known[:, chain])
        return result

    def _parts(self, shares: Array) -> tuple[Array, Array]:
        """Return the chains' shares of counts (rows x M x D), and the logarithm of what they add up to (rows x D)."""
        logs = np.einsum("tmk,mkd->tmd", shares, self._logs, optimize=True)
        total = special.logsumexp(logs, axis=1)
        return np.exp(logs - total[:, None]), total

    def _log_factorials(self, start: int, stop: int) -> Array:
        result: Array = special.gammaln(self._counts[start:stop] + 1.0).sum(axis=1)
        return result


def sums_of(model: FHMM, views: Mapping[str, Array], values: Array) -> Sums:
    """Return what rows say, by the model's emission."""
    kind = PoissonSums if model.is_poisson else GaussianSums
    return kind(model, views["emissions"], values)


def _by_pattern(matrices: Array, rows: npt.NDArray[np.int64], vectors: Array) -> Array:
    """Return each row's vector times the matrix of its pattern."""
    if len(matrices) == 1:
        result: Array = vectors @ matrices[0]
        return result
    out = np.zeros((len(rows), matrices.shape[2]))
    for pattern in np.unique(rows):
        own = rows == pattern
        out[own] = vectors[own] @ matrices[pattern]
    return out


def _sums_by_pattern(rows: npt.NDArray[np.int64], count: int, values: Array) -> Array:
    """Return the sums of rows of each pattern."""
    if count == 1:
        whole: Array = values.sum(axis=0)[None]
        return whole
    out = np.zeros((count, values.shape[1]))
    np.add.at(out, rows, values)
    return out


def _products_by_pattern(rows: npt.NDArray[np.int64], count: int, values: Array) -> Array:
    """Return the sums of x x^T over the rows of each pattern."""
    if count == 1:
        whole: Array = (values.T @ values)[None]
        return whole
    out = np.zeros((count, values.shape[1], values.shape[1]))
    for pattern in np.unique(rows):
        own = values[rows == pattern]
        out[pattern] = own.T @ own
    return out

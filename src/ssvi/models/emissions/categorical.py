"""States that show symbols: one of so many at each time point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ssvi.families.dirichlet import Dirichlet
from ssvi.families.learned import Usual
from ssvi.models.base import Block
from ssvi.models.emissions.base import Emission, Labels, Scores, Tables, one_hot
from ssvi.models.quantities import Quantities, Quantity
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import Keys
from ssvi.typing import Array

_NEIGHBOURS = 2  # on either side of a time point, by which k-means tells it from others


@dataclass(frozen=True)
class SymbolTables(Tables):
    """log p of each symbol in each state, a row for each symbol; the last row is for one that is missing."""

    logs: Array

    def scores(self, values: Array) -> Array:
        """Look symbols up."""
        result: Array = self.logs[_symbols(values, len(self.logs) - 1)]
        return result

    def statistics(self, values: Array, shares: Array, keys: Keys, sampled: bool) -> dict[str, Array]:
        """Add up the shares of each symbol."""
        return {"symbols": _counts(values, shares, len(self.logs) - 1)}


@dataclass(frozen=True, eq=False)
class CategoricalEmission(Emission):
    """p_k ~ Dirichlet(a), x_t ~ p_k: a symbol from 0 to V - 1, in the only column. The block `symbols` is K x V.

    Attributes
    ----------
    n_symbols : int
        V.
    prior : float
        a.

    """

    n_symbols: int = 2
    prior: float = 1.0

    kind = "categorical"

    def blocks(self) -> Mapping[str, Block]:
        """Return the probabilities of symbols."""
        return {"symbols": Block(Dirichlet(), np.full((1, 1), self.prior), (self.n_components, self.n_symbols))}

    def usual_numbers(self) -> Mapping[str, Usual]:
        """Return a."""
        return {"prior": Usual(1.0)}

    def tables(self, views: Mapping[str, Array]) -> SymbolTables:
        """Put the probabilities of a symbol side by side."""
        logs = np.zeros((self.n_symbols + 1, self.n_components))
        logs[:-1] = views["symbols"].T
        return SymbolTables(logs)

    def after(self, values: Array, labels: Labels, weights: Array) -> dict[str, Array]:
        """Count."""
        shares = one_hot(labels, weights, self.n_components)
        return {"symbols": self.prior + _counts(values, shares, self.n_symbols)}

    def points(self, values: Array) -> Array:
        """Return the symbols around each time point: what stands alone tells no states apart."""
        symbols = _symbols(values, self.n_symbols)
        own = np.zeros((len(symbols), self.n_symbols + 1))
        for shift in range(-_NEIGHBOURS, _NEIGHBOURS + 1):
            there = np.clip(np.arange(len(symbols)) + shift, 0, max(len(symbols) - 1, 0))
            own[np.arange(len(symbols)), symbols[there]] += 1.0 / (1.0 + abs(shift))
        return own[:, :-1]

    def draw(self, rng: np.random.Generator) -> dict[str, Array]:
        """Draw probabilities."""
        return {"symbols": rng.dirichlet(np.full(self.n_symbols, self.prior), self.n_components)}

    def emit(self, values: Mapping[str, Array], states: Labels, rng: np.random.Generator) -> Array:
        """Draw symbols."""
        levels = np.cumsum(values["symbols"], axis=1)[states]
        drawn = (rng.random((len(states), 1)) * levels[:, -1:] > levels).sum(axis=1, keepdims=True)
        result: Array = np.minimum(drawn, self.n_symbols - 1).astype(np.float64)
        return result

    def quantities(self, values: Mapping[str, Array]) -> Quantities:
        """Return the probabilities of symbols."""
        return {"emissionprob": Quantity(values["symbols"], ("state", "symbol"))}

    def predictive(self, parameters: Mapping[str, Array]) -> Scores:
        """Return log E_q[p]."""
        return self.tables({"symbols": np.log(self.means(parameters))}).scores

    def means(self, parameters: Mapping[str, Array]) -> Array:
        """Return E_q[p], K x V."""
        lam = parameters["symbols"]
        result: Array = lam / lam.sum(axis=1, keepdims=True)
        return result

    def deviations(self, parameters: Mapping[str, Array]) -> Array:
        """Return the deviations of p under q."""
        return Dirichlet().deviations(parameters["symbols"])

    def check(self, values: Array) -> None:
        """Want symbols that the model has."""
        check_symbols(values, self.n_symbols)


def check_symbols(values: Array, n_symbols: int | None = None) -> None:
    """Raise one clear sentence unless these are whole numbers in one column, from 0 to V - 1 if V is known."""
    if values.shape[1] != 1:
        raise ValueError(
            f"symbols stand in one column, and there are {values.shape[1]}: take emission='bernoulli', "
            "'poisson' or 'multinomial' for several."
        )
    known = np.where(np.isnan(values), 0.0, values)
    wrong = np.argwhere((known < 0) | (known != np.floor(known)))
    if len(wrong):
        row = int(wrong[0, 0])
        raise ValueError(
            f"symbols must be whole numbers of 0 or more, and there is {values[row, 0]:g} in row {row}: number them "
            "first, and take NaN for what is missing."
        )
    if n_symbols is not None and known.max(initial=0.0) >= n_symbols:
        row = int(np.argmax(known[:, 0] >= n_symbols))
        raise ValueError(
            f"the symbol {values[row, 0]:.0f} in row {row} is none that the model has, 0 to {n_symbols - 1}: set "
            "`n_symbols` before a fit whose data lack some."
        )


def _symbols(values: Array, missing: int) -> npt.NDArray[np.int64]:
    """Return symbols as integers, `missing` where there is none."""
    return np.where(np.isnan(values[:, 0]), missing, values[:, 0]).astype(np.int64)


def _counts(values: Array, shares: Array, n_symbols: int) -> Array:
    """Return the shares of states that each symbol has, K x V."""
    counts = np.zeros((n_symbols + 1, shares.shape[1]))
    _add_shares(_symbols(values, n_symbols), shares, counts)
    return np.ascontiguousarray(counts[:-1].T)


@kernel
def _add_shares(symbols: npt.NDArray[np.int64], shares: Array, counts: Array) -> None:
    """Add each time point's shares to the row of its symbol."""
    for t in range(symbols.size):
        own, row = counts[symbols[t]], shares[t]
        for k in range(row.size):
            own[k] += row[k]

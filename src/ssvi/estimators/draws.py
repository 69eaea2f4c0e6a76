"""Draws of global parameters with their names, as arrays, intervals, and ArviZ's form of them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ssvi.checks import is_number, require
from ssvi.models.quantities import Quantities, counted
from ssvi.sampling.diagnostics import split_r_hat
from ssvi.typing import Array

_NEEDS_PANDAS = "summaries are pandas data frames, and pandas is not installed: pip install pandas."
_NEEDS_ARVIZ = "to_arviz needs the package ArviZ, which is not installed: pip install ssvi[arviz]."


@dataclass(frozen=True)
class PosteriorDraws:
    """Draws of the global parameters of a fitted model, in the data's units.

    Attributes
    ----------
    quantities : dict of Quantity
        The draws by name, and what their axes count.
    names : dict of sequences
        What lies along an axis, by what is counted ("feature", "word"); others are numbered from 0.
    n_chains : int
        How many chains lie behind each other. Draws of q are independent of each other, and one chain.

    """

    quantities: Quantities
    names: Mapping[str, Sequence[Any]]
    n_chains: int = 1

    @property
    def draws(self) -> dict[str, Array]:
        """The draws by name: arrays with a row a draw. Those of one row belong together."""
        return {name: quantity.draws for name, quantity in self.quantities.items()}

    def intervals(self, level: float = 0.9) -> Any:
        """Return mean, deviation, median and an interval of each number, as a pandas data frame.

        Rows are called "means[2, height]": component 2, column height. Where there are several chains, `r_hat` tells
        whether they agree: it is 1 if they do, and above 1.05 the chains were too short for this number.
        """
        low, high = interval_ends(level)
        flat = self._by_number()
        frame = summary_frame(flat, low, high)
        if self.n_chains > 1:
            frame["r_hat"] = [float(split_r_hat(own, self.n_chains)) for own in flat.values()]
        return frame

    def to_arviz(self) -> Any:
        """Return the draws as ArviZ's `InferenceData`; it needs the package ArviZ (`pip install ssvi[arviz]`)."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)  # of what a next ArviZ may do
                import arviz
        except ImportError:
            raise ImportError(_NEEDS_ARVIZ) from None
        each = min(len(own) for own in self.draws.values()) // self.n_chains
        return arviz.from_dict(
            posterior={
                name: own[: self.n_chains * each].reshape(self.n_chains, each, *own.shape[1:])
                for name, own in self.draws.items()
            },
            coords=self._coordinates(),
            dims={name: list(quantity.dims) for name, quantity in self.quantities.items() if quantity.dims},
        )

    def _by_number(self) -> dict[str, Array]:
        """Return the draws of every single number, by its name."""
        coordinates, rows = self._coordinates(), {}
        for name, (draws, dims) in self.quantities.items():
            known = [coordinates.get(dim, range(size)) for dim, size in zip(dims, draws.shape[1:], strict=False)]
            labels = known if dims else [range(size) for size in draws.shape[1:]]
            flat = draws.reshape(len(draws), -1)
            for place, label in enumerate(product(*labels)):
                rows[f"{name}[{', '.join(map(str, label))}]" if label else name] = flat[:, place]
        return rows

    def _coordinates(self) -> dict[str, list[Any]]:
        """Return the names along each axis, of those axes that have a name."""
        found = {}
        for draws, dims in self.quantities.values():
            for dim, size in zip(dims, draws.shape[1:], strict=False):
                own = list(self.names.get(counted(dim), range(size)))
                found[dim] = own if len(own) == size else list(range(size))
        return found


def interval_ends(level: float) -> tuple[float, float]:
    """Return the probabilities below the two ends of an interval of this probability."""
    require("level", level, lambda v: is_number(v) and 0 < v < 1, "above 0 and below 1")
    return round(0.5 - 0.5 * level, 12), round(0.5 + 0.5 * level, 12)


def summary_frame(draws: Mapping[str, Array], low: float, high: float) -> Any:
    """Return a data frame with a row for each of some quantities, each given by its draws."""
    columns = ["mean", "sd", f"{100 * low:g}%", "50%", f"{100 * high:g}%"]
    rows = {name: [own.mean(), own.std(), *np.quantile(own, [low, 0.5, high])] for name, own in draws.items()}
    return pandas_module().DataFrame.from_dict(rows, orient="index", columns=columns)


def pandas_module() -> Any:
    """Return pandas, or raise one clear sentence."""
    try:
        import pandas
    except ImportError:
        raise ImportError(_NEEDS_PANDAS) from None
    return pandas

"""What is known of the global parameters, and how well: draws from q, intervals, and ArviZ's form of them."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ssvi.checks import is_number, require, require_count
from ssvi.engine import State
from ssvi.estimators.choices import make_seed
from ssvi.evaluation.posterior import draws_of_q
from ssvi.models.base import Model
from ssvi.models.quantities import Quantities, counted
from ssvi.typing import Array

_NEEDS_PANDAS = "summaries are pandas data frames, and pandas is not installed: pip install pandas."
_NEEDS_ARVIZ = "to_arviz needs the package ArviZ, which is not installed: pip install ssvi[arviz]."


class UncertaintyMixin:
    """Draws and intervals of the global parameters of a fitted model, under q."""

    _state: State
    random_state_: int

    @abstractmethod
    def _model(self) -> Model:
        """Return the model as the fit has left it."""

    def posterior_draws(self, n: int = 1_000, *, random_state: Any = None) -> dict[str, Array]:
        """Return `n` draws of the global parameters from q, by name: arrays with a row a draw, in the data's units.

        Names are those of the attributes, without the underscore at the end (`means_`: "means"), as far as there are
        attributes. Draws of one row belong together. `random_state` is the estimator's own by default.
        """
        return {name: quantity.draws for name, quantity in self._drawn(n, random_state).items()}

    def posterior_intervals(self, level: float = 0.9, *, n: int = 4_000, random_state: Any = None) -> Any:
        """Return mean, deviation, median and an interval of each global parameter under q, as a pandas data frame.

        They are those of `n` draws. Rows are called "means[2, height]": component 2, column height.
        """
        low, high = interval_ends(level)
        drawn = self._drawn(n, random_state)
        coordinates = self._coordinates(drawn)
        rows: dict[str, Array] = {}
        for name, (draws, dims) in drawn.items():
            known = [coordinates.get(dim, range(size)) for dim, size in zip(dims, draws.shape[1:], strict=False)]
            labels = known if dims else [range(size) for size in draws.shape[1:]]
            flat = draws.reshape(len(draws), -1)
            for place, label in enumerate(product(*labels)):
                rows[f"{name}[{', '.join(map(str, label))}]" if label else name] = flat[:, place]
        return summary_frame(rows, low, high)

    def to_arviz(self, n: int = 1_000, *, random_state: Any = None) -> Any:
        """Return `n` draws of the global parameters from q as ArviZ's `InferenceData`, one chain of independent draws.

        It needs the package ArviZ (`pip install ssvi[arviz]`).
        """
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)  # of what a next ArviZ may do
                import arviz
        except ImportError:
            raise ImportError(_NEEDS_ARVIZ) from None
        drawn = self._drawn(n, random_state)
        return arviz.from_dict(
            posterior={name: quantity.draws[None] for name, quantity in drawn.items()},
            coords=self._coordinates(drawn),
            dims={name: list(quantity.dims) for name, quantity in drawn.items() if quantity.dims},
        )

    def _drawn(self, n: int, random_state: Any) -> Quantities:
        """Draw from q; return quantities in the data's units."""
        check_is_fitted(self)
        require_count("n", n)
        seed = self.random_state_ if random_state is None else make_seed(random_state)
        return self._quantities(draws_of_q(self._model(), self._state.estimate, n, seed, "posterior"))

    def _quantities(self, values: Mapping[str, Array]) -> Quantities:
        """Return quantities in the data's units, given draws of the blocks."""
        return self._model().quantities(values)

    def _names_of(self) -> Mapping[str, Sequence[Any]]:
        """Return the names of what axes count, where there are any; others are numbered from 0."""
        columns = getattr(self, "vocabulary_", None)
        columns = getattr(self, "feature_names_in_", None) if columns is None else columns
        return {} if columns is None else {"feature": list(columns), "word": list(columns)}

    def _coordinates(self, drawn: Quantities) -> dict[str, list[Any]]:
        """Return the names along each axis, of those axes that have a name."""
        names, found = self._names_of(), {}
        for draws, dims in drawn.values():
            for dim, size in zip(dims, draws.shape[1:], strict=False):
                own = list(names.get(counted(dim), range(size)))
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

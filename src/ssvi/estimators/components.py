"""Models whose result is components: topics, clusters, factors. Reports, plots and commands show these."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from ssvi.typing import Array


class ComponentsMixin(ABC):
    """An estimator that has components: what they are called, and what there is to see of them."""

    nouns: ClassVar[tuple[str, str, str]] = ("Components", "component", "feature")
    """How reports speak of the components, of one of them, and of a column of the data."""
    columns_are_words: ClassVar[bool] = False
    """Whether a column is a word, and a row of them therefore no image."""
    has_spectra: ClassVar[bool] = False
    """Whether columns and rows have an order that matters, as frequencies and frames do: then curves show them."""

    rows_are_means: ClassVar[bool] = False
    """Whether a component's row has means of the columns, in their own units and with any sign, and no shares."""

    @abstractmethod
    def summarize_components(self) -> tuple[Array, Array, Array]:
        """Return each component's share of the data, its weights of the columns, and their standard deviations under q.

        The weights are probabilities of words or of ones, or shares of a spectrum, or means (`rows_are_means`).
        """

    def column_widths(self) -> Array | float:
        """Return how wide each column is, in its own units, where rows are means."""
        return 1.0

    @abstractmethod
    def components_in_use(self) -> int:
        """Return how many components hold something: all, unless the model can let go of some."""

    @abstractmethod
    def component_weights(self, X: Any) -> Array:
        """Return how much of each component each row has, rows x K."""

    def component_correlations(self) -> Array | None:
        """Return how components go together over rows, K x K, for a model that knows: reports show a graph of it."""
        return None

    def written_components(self) -> Sequence[int] | None:
        """Return which columns of `component_weights` commands write to files; None for all."""
        return None

    def explain_score(self, score: float) -> str:
        """Return what a held-out score means, in a sentence."""
        return f"Higher is better: {score:.4g} is the mean log probability of a row that the fit did not see."

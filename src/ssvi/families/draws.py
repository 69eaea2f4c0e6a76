"""What a draw from a family is."""

from __future__ import annotations

from dataclasses import dataclass

from ssvi.typing import Array


@dataclass(frozen=True)
class Draw:
    """A sample beta ~ q, by its statistics and by what else the pullback needs.

    Attributes
    ----------
    stats : array, like lambda
        t(beta).
    hidden : array, rows x anything
        What t(beta) does not tell of the underlying univariate draws R-hat(u), in the family's own form.

    """

    stats: Array
    hidden: Array

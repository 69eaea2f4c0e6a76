"""The form in which every held-out estimator answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ssvi.typing import Array


@dataclass(frozen=True)
class HeldOut:
    """Log probabilities of held-out words.

    Attributes
    ----------
    log_probability : (documents,)
        The sum over each document's held-out words.
    n_words : (documents,)
        How many held-out words it has.

    """

    log_probability: Array
    n_words: Array

    @property
    def mean(self) -> float:
        """The mean log probability per held-out word; higher is better. NaN if there are none."""
        total = self.n_words.sum()
        return float(self.log_probability.sum() / total) if total > 0 else float("nan")

    @property
    def standard_error(self) -> float:
        """The standard error of `mean` as an estimate over documents like these (ratio estimator)."""
        total = self.n_words.sum()
        if len(self.n_words) < 2 or not total > 0:
            return float("nan")
        residuals = self.log_probability - self.mean * self.n_words
        correction = len(residuals) / (len(residuals) - 1)
        return float(np.sqrt(correction * (residuals**2).sum()) / total)

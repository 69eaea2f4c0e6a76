"""States that show counts of a fixed set of things, such as words: their proportions, whatever the total."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import special

from ssvi.families.dirichlet import Dirichlet
from ssvi.families.learned import Usual
from ssvi.models.base import Block
from ssvi.models.emissions.base import Emission, Labels, Scores, check_counts, filled, one_hot, products
from ssvi.models.emissions.linear import LinearTables
from ssvi.typing import Array

_USUAL_TOTAL = 10  # of a simulated time point


@dataclass(frozen=True, eq=False)
class MultinomialEmission(Emission):
    """p_k ~ Dirichlet(a), x_t ~ Multinomial(n_t, p_k), n_t being given. The block `shares` is K x D.

    A time point is known or missing as a whole.

    Attributes
    ----------
    prior : float
        a.

    """

    prior: float = 1.0

    kind = "multinomial"
    partly_known = False

    def blocks(self) -> Mapping[str, Block]:
        """Return the proportions."""
        return {"shares": Block(Dirichlet(), np.full((1, 1), self.prior), (self.n_components, self.n_features))}

    def usual_numbers(self) -> Mapping[str, Usual]:
        """Return a."""
        return {"prior": Usual(1.0)}

    def tables(self, views: Mapping[str, Array]) -> LinearTables:
        """Return log proportions as slopes."""
        slopes = np.ascontiguousarray(views["shares"].T)
        return LinearTables(slopes, np.zeros_like(slopes), _log_orders, _eta_hat)

    def after(self, values: Array, labels: Labels, weights: Array) -> dict[str, Array]:
        """Add up counts."""
        shares = one_hot(labels, weights, self.n_components)
        return {"shares": self.prior + products(shares, filled(values)[0])}

    def points(self, values: Array) -> Array:
        """Return square roots of proportions, whose distance is Hellinger's."""
        known, _ = filled(values)
        result: Array = np.sqrt(known / np.maximum(known.sum(axis=1, keepdims=True), 1.0))
        return result

    def draw(self, rng: np.random.Generator) -> dict[str, Array]:
        """Draw proportions."""
        return {"shares": rng.dirichlet(np.full(self.n_features, self.prior), self.n_components)}

    def emit(self, values: Mapping[str, Array], states: Labels, rng: np.random.Generator) -> Array:
        """Draw counts that add up to ten."""
        proportions = values["shares"] / values["shares"].sum(axis=1, keepdims=True)
        return rng.multinomial(_USUAL_TOTAL, proportions[states]).astype(np.float64).reshape(len(states), -1)

    def predictive(self, parameters: Mapping[str, Array]) -> Scores:
        """Return log probabilities of Dirichlet-multinomial distributions."""
        lam = parameters["shares"]

        def scores(values: Array) -> Array:
            known, _ = filled(values)
            totals, concentrations = known.sum(axis=1), lam.sum(axis=1)
            out = special.gammaln(concentrations) - special.gammaln(totals[:, None] + concentrations)
            out += _log_orders(known, known)[:, None]
            for k, own in enumerate(lam):
                out[:, k] += (special.gammaln(known + own) - special.gammaln(own)).sum(axis=1)
            return np.asarray(out, dtype=np.float64)

        return scores

    def means(self, parameters: Mapping[str, Array]) -> Array:
        """Return E_q[p], K x D."""
        lam = parameters["shares"]
        result: Array = lam / lam.sum(axis=1, keepdims=True)
        return result

    def deviations(self, parameters: Mapping[str, Array]) -> Array:
        """Return the deviations of p under q."""
        return Dirichlet().deviations(parameters["shares"])

    def check(self, values: Array) -> None:
        """Want counts, all of a time point or none."""
        check_counts(values, "multinomial emissions")
        missing = np.isnan(values).sum(axis=1)
        partly = np.flatnonzero((missing > 0) & (missing < values.shape[1]))
        if len(partly):
            raise ValueError(
                f"row {partly[0]} has some of its counts and lacks others: for multinomial emissions a row is known or "
                "missing as a whole (emission='poisson' takes columns apart)."
            )


def _log_orders(known: Array, there: Array) -> Array:
    """Return log(n! / prod x!)."""
    result: Array = special.gammaln(known.sum(axis=1) + 1.0) - special.gammaln(known + 1.0).sum(axis=1)
    return result


def _eta_hat(sums: Array, counts: Array) -> dict[str, Array]:
    """Return the counts."""
    return {"shares": sums}

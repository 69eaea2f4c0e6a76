"""Draws from the posterior by importance: draws from q, each weighed by how much more probable the posterior has it.

q of a multilevel regression is a Gaussian, a Wishart and a gamma distribution, independent of each other. Where groups
are few or hardly differ the posterior has another form: deviations may be 0, which no Wishart distribution of their
precision allows. A small table's likelihood can be had exactly (the effects of groups are integrated out, see
`local_steps.hierarchical.marginal`), and with it

    w = p(y | beta, Q, tau) p(beta, Q, tau) / q(beta, Q, tau),

the scales of half-t priors integrated out. Draws come from q, from a wider form of it, and from one whose deviations
are half-t and may be 0, in equal parts; w has the mixture of all in the place of q, so that no part of the posterior is
left out. Where rows are Gaussian beta is integrated out as well (it is Gaussian given Q and tau), and drawn at the end.
Weights are cut off at the root of the number of draws times their mean (Ionides 2008); what is left are as many draws
of equal weight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from ssvi.batches.groups import Groups
from ssvi.evaluation.posterior import draws_of_q
from ssvi.families.multivariate_gaussian import MultivariateGaussian
from ssvi.families.wishart import Wishart
from ssvi.local_steps.hierarchical.marginal import Likelihood, Said
from ssvi.models.base import Block
from ssvi.models.hierarchical.base import HierarchicalRegression
from ssvi.models.hierarchical.deviations import DeviationPrior
from ssvi.models.hierarchical.linear import HierarchicalLinear
from ssvi.numerics.random import derive_key
from ssvi.typing import Array

_WIDTHS = (1.0, 0.6, 0.25)  # what the precision, or the degrees of freedom, of q are multiplied with
_GROUP_WORK, _ROW_WORK = 2_000_000, 400_000  # groups of Gaussian rows, or rows of counts, times draws
_DEGREES = 2.0  # of half-t deviations


@dataclass(frozen=True)
class Reweighed:
    """Draws of equal weight, by block as models simulate them, and how many independent ones they are worth."""

    values: dict[str, Array]
    worth: float


def draws_for(model: HierarchicalRegression, data: Groups, most: int) -> int:
    """Return how many draws can be weighed in about a second."""
    if isinstance(model, HierarchicalLinear):
        return int(min(most, _GROUP_WORK // max(len(data), 1)))
    return int(min(most, _ROW_WORK // max(int(data.indptr[-1] - data.indptr[0]), 1)))


def reweigh(
    model: HierarchicalRegression, parameters: Mapping[str, Array], likelihood: Likelihood, count: int, seed: int
) -> Reweighed:
    """Draw from the posterior; `count` is that of the draws that are weighed and of those that are left."""
    is_gaussian = isinstance(model, HierarchicalLinear)
    values, log_proposed = _propose(model, parameters, count, seed, with_coefficients=not is_gaussian)
    said = [likelihood.at({name: value[i] for name, value in values.items()}) for i in range(count)]
    own = model.blocks()["coefficients"]
    log_weights = np.array([one.log_likelihood for one in said]) + model.log_prior(values) - log_proposed
    log_weights += log_density(own, own.prior, values["coefficients"])
    given = Conditional.of(own, said) if is_gaussian else None
    if given is not None:
        log_weights -= given.log_density(values["coefficients"][:, 0])
    weights = _cut_off(log_weights)
    rng = np.random.default_rng(derive_key(seed, "resample"))
    chosen = rng.permutation(_resample(weights, rng.random()))
    values = {name: value[chosen] for name, value in values.items()}
    if given is not None:
        values["coefficients"] = given.draw(chosen, rng)[:, None]
    return Reweighed(values, float(1.0 / (weights**2).sum()))


def _propose(
    model: HierarchicalRegression, parameters: Mapping[str, Array], count: int, seed: int, *, with_coefficients: bool
) -> tuple[dict[str, Array], Array]:
    """Draw from the proposals; return draws and their log density. Without coefficients beta is always its mean."""
    blocks = {name: block for name, block in model.blocks().items() if name not in ("scales", "noise_scale")}
    sizes = [len(part) for part in np.array_split(np.arange(count), len(_WIDTHS))]
    mean = MultivariateGaussian(model.n_fixed).standard(parameters["coefficients"][0]).mean
    drawn, proposals = [], []
    for i, (width, size) in enumerate(zip(_WIDTHS, sizes, strict=True)):
        lam = {name: widened(block, parameters[name], width) for name, block in blocks.items()}
        own = draws_of_q(model, dict(parameters) | lam, size, derive_key(seed, "reweigh", i))
        # Every second beta on the other side of the mean: less noise in averages.
        own["coefficients"][1::2] = 2.0 * mean - own["coefficients"][: size - 1 : 2]
        drawn.append(own)
        proposals.append(lam)
    if model.n_varying:
        free = half_t_of(parameters["precision"][0], model.n_varying)
        rng = np.random.default_rng(derive_key(seed, "half-t"))
        drawn[-1]["precision"] = np.stack([free.simulate(rng)["precision"] for _ in range(sizes[-1])])
    values = {name: np.concatenate([own[name] for own in drawn]) for name in blocks}
    if not with_coefficients:
        values["coefficients"] = np.repeat(mean[None, None], count, axis=0)
        blocks.pop("coefficients")
    each = np.zeros((len(sizes), len(blocks), count))
    for i, lam in enumerate(proposals):
        for j, (name, block) in enumerate(blocks.items()):
            each[i, j] = log_density(block, lam[name], values[name])
    if model.n_varying:
        each[-1, list(blocks).index("precision")] = free.log_density(values["precision"][:, 0])
    return values, np.asarray(special.logsumexp(each.sum(axis=1), axis=0, b=np.array(sizes)[:, None] / count))


def half_t_of(lam: Array, order: int) -> DeviationPrior:
    """Return half-t deviations of the size that q's mean precision has."""
    scatter, degrees = Wishart(order).standard(lam)
    return DeviationPrior("half_t", np.diagonal(scatter) / degrees, _DEGREES)


def widened(block: Block, lam: Array, width: float) -> Array:
    """Return a distribution of the same mean that is wider: a Gaussian or gamma one, or a Wishart one."""
    if not isinstance(block.family, Wishart):
        return lam * width
    scatter, degrees = block.family.standard(lam)
    least = block.family.outputs - 1.0  # degrees of freedom are more
    fewer = least + width * (degrees - least)
    return block.family.natural(scatter * (fewer / degrees)[..., None, None], fewer)


def log_density(block: Block, lam: Array, values: Array) -> Array:
    """Return log q of draws of a block but for log h, which is the same for any lambda."""
    stats = block.family.statistics(values)
    each = (stats * lam).sum(axis=-1) - block.family.log_normalizer(lam)
    return np.asarray(each.reshape(len(values), -1).sum(axis=1))


@dataclass(frozen=True)
class Conditional:
    """beta given each draw of the other blocks and Gaussian rows: means and precisions."""

    means: Array
    precisions: Array

    @classmethod
    def of(cls, block: Block, said: Sequence[Said]) -> Conditional:
        """Add what the rows say to the prior."""
        size = len(said[0].linear)
        location, prior = MultivariateGaussian(size).standard(block.prior[0])
        precisions = prior + np.stack([one.quadratic for one in said])
        linear = prior @ location + np.stack([one.linear for one in said])
        means: Array = np.linalg.solve(precisions, linear[..., None])[..., 0].astype(float)
        return cls(means, precisions)

    def log_density(self, beta: Array) -> Array:
        """Return the log density at a value for each; but for a constant."""
        away = beta - self.means
        squares = np.einsum("sp,spq,sq->s", away, self.precisions, away)
        return np.asarray(0.5 * (np.linalg.slogdet(self.precisions)[1] - squares))

    def draw(self, chosen: Any, rng: np.random.Generator) -> Array:
        """Draw beta given some of the draws, every second on the other side of its mean: less noise in averages."""
        noise = rng.normal(size=(len(chosen), self.means.shape[1]))
        noise[1::2] = -noise[: len(chosen) - 1 : 2]
        roots = np.linalg.cholesky(self.precisions[chosen])
        steps = np.linalg.solve(np.swapaxes(roots, 1, 2), noise[..., None])[..., 0]
        return np.asarray(self.means[chosen] + steps)


def _cut_off(log_weights: Array) -> Array:
    """Return weights that sum to 1, none of which is more than the root of their number times their mean."""
    finite = np.where(np.isfinite(log_weights), log_weights, -np.inf)
    weights = np.exp(finite - finite.max())
    weights = np.minimum(weights, weights.mean() * np.sqrt(len(weights)))
    return np.asarray(weights / weights.sum())


def _resample(weights: Array, offset: float) -> Any:
    """Return the places of as many draws of equal weight, by systematic resampling."""
    ends = np.cumsum(weights)
    places = np.searchsorted(ends, (np.arange(len(weights)) + offset) / len(weights) * ends[-1])
    return np.minimum(places, len(weights) - 1)

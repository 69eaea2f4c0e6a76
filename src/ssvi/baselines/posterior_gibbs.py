"""Long Gibbs samplers of the exact posterior of the global parameters, which approximations are held to.

With rho = 1, all data in every step and local variables drawn from their conditional distribution, SSVI-A is such a
sampler, for a model whose blocks are independent given the local variables. Those of a factorisation are not: the
engine draws both given the last value of the other, and so it has a sampler of its own, and so have multilevel
regressions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ssvi import engine
from ssvi.backends.base import Backend
from ssvi.baselines.chains import Chain
from ssvi.baselines.multilevel_gibbs import sample_multilevel
from ssvi.batches.frames import Frames
from ssvi.engine import Info, Problem, State
from ssvi.global_steps.ssvi_a import SsviA
from ssvi.local_steps.base import Batch, LocalStep
from ssvi.local_steps.bernoulli_mixture.gibbs import Gibbs as MixtureGibbs
from ssvi.local_steps.ctm.metropolis import Metropolis as CtmMetropolis
from ssvi.local_steps.fhmm.gibbs import Gibbs as FhmmGibbs
from ssvi.local_steps.gaussian_mixture.gibbs import Gibbs as GaussianGibbs
from ssvi.local_steps.hmm.gibbs import Gibbs as HmmGibbs
from ssvi.local_steps.lda.gibbs import Gibbs as LdaGibbs
from ssvi.local_steps.lds.gibbs import Gibbs as LdsGibbs
from ssvi.models.base import Model
from ssvi.models.bernoulli_mixture import BernoulliMixture
from ssvi.models.ctm import CTM
from ssvi.models.fhmm import FHMM
from ssvi.models.gamma_process_nmf import GammaProcessNMF
from ssvi.models.gaussian_mixture import GaussianMixture
from ssvi.models.hierarchical.base import HierarchicalRegression
from ssvi.models.hmm import HMM
from ssvi.models.lda import LDA
from ssvi.models.lds import LDS
from ssvi.numerics.random import derive_key, derive_keys
from ssvi.schedules import ConstantSchedule
from ssvi.typing import Array

_SMALLEST = 1e-300  # of gamma variables that may have underflowed

_EXACT_STEPS: Mapping[str, LocalStep] = {
    # Each document is sampled afresh; after so many sweeps its start is forgotten.
    CTM.name: CtmMetropolis(draws=1, moves=60),
    LDA.name: LdaGibbs(sweeps=20, kept=1, precision="float64"),
    BernoulliMixture.name: MixtureGibbs(),
    GaussianMixture.name: GaussianGibbs(),
    # So are chains of which each is drawn given the others.
    FHMM.name: FhmmGibbs(sweeps=12, kept=1),
    HMM.name: HmmGibbs(),
    LDS.name: LdsGibbs(),
}


def can_sample(model: str) -> bool:
    """Tell whether there is a sampler for the model of this name."""
    return model in _EXACT_STEPS or model == GammaProcessNMF.name or model.startswith("hierarchical_")


def state_at(
    model: Model, values: Mapping[str, Array], local_step: LocalStep, data: Batch, seed: int, backend: Backend
) -> State:
    """Return a state before the first step whose lambda comes from one local step at given global parameters."""
    blocks = model.blocks()
    views = {name: block.family.statistics(values[name]) for name, block in blocks.items()}
    keys = derive_keys(derive_key(seed, "first"), len(data))
    found = backend.map_reduce(local_step, model, views, data, keys, want_local=False)
    priors = {**{name: block.prior for name, block in blocks.items()}, **model.priors(views)}
    parameters = {name: priors[name] + found.scale * found.eta_hat[name] for name in blocks}
    return replace(engine.init(model, seed), parameters=parameters)


def sample_posterior(
    model: Model, data: Any, start: Mapping[str, Array], chain: Chain, seed: int, backend: Backend
) -> dict[str, Array]:
    """Return draws of the global parameters (by block, a row a draw) by a chain that starts at given values.

    From the parameters that generated the data a chain has the posterior's distribution at once.
    """
    if isinstance(model, GammaProcessNMF):
        return _sample_factorisation(model, data, start, chain, seed)
    if isinstance(model, HierarchicalRegression):
        return sample_multilevel(model, data, start, chain, seed).values
    blocks, kept = model.blocks(), []

    def keep(state: State, info: Info) -> None:
        if chain.keeps(info.step):
            kept.append({name: _draw(model, name, state, seed) for name in blocks})

    local_step = _EXACT_STEPS[model.name]
    problem = Problem(model, local_step, SsviA(), ConstantSchedule(), len(data), ramp=False, backend=backend)
    first = state_at(model, start, local_step, data, seed, backend)
    engine.run(problem, first, data, sweeps=chain.sweeps, batch_size=len(data), callbacks=[keep])
    return {name: np.stack([draw[name] for draw in kept]) for name in blocks}


def _draw(model: Model, name: str, state: State, seed: int) -> Array:
    """Draw a block given the local variables of the last step, which lambda holds."""
    lam, family = state.parameters[name], model.blocks()[name].family
    keys = derive_keys(derive_key(seed, "posterior", name, state.step), lam[..., 0].size)
    return family.values(family.draw(lam, keys).stats)


def _sample_factorisation(
    model: GammaProcessNMF, data: Frames, start: Mapping[str, Array], chain: Chain, seed: int
) -> dict[str, Array]:
    """Draw the split of each count, activations, weights and dictionary in turn, each given all others, and scales."""
    rng = np.random.default_rng(derive_key(seed, "factorisation"))
    counts = data.values.to_matrix().tocoo()
    rows, columns, entries = counts.row, counts.col, counts.data.astype(np.int64)
    a, b = model.dictionary_shape, model.activation_shape
    share, rate = model.concentration / model.n_components, model.concentration * model.inverse_scale
    weights, dictionary = (np.maximum(start[name], _SMALLEST) for name in ("weights", "dictionary"))
    activations = rng.gamma(b, 1.0 / b, (len(data), model.n_components)) + _SMALLEST
    kept: dict[str, list[Array]] = {"weights": [], "dictionary": []}
    for sweep in range(1, chain.sweeps + 1):
        means = weights * activations[rows] * dictionary[:, columns].T
        splits = rng.multinomial(entries, means / means.sum(axis=1, keepdims=True))
        of_frames, of_features = np.zeros(activations.shape), np.zeros(dictionary.T.shape)
        np.add.at(of_frames, rows, splits)
        np.add.at(of_features, columns, splits)
        activations = _gamma(rng, b + of_frames, b + weights * dictionary.sum(axis=1))
        exposure = activations.sum(axis=0)
        weights = _gamma(rng, share + of_frames.sum(axis=0), rate + exposure * dictionary.sum(axis=1))
        dictionary = _gamma(rng, a + of_features.T, (a + weights * exposure)[:, None])
        # Only products are seen in the data, so that scales would move by small steps.
        shift = _rescaling(rng, (share, rate * weights), (a * dictionary.shape[1], a * dictionary.sum(axis=1)))
        weights, dictionary = weights * shift, dictionary / shift[:, None]
        shift = _rescaling(rng, (share, rate * weights), (b * len(data), b * activations.sum(axis=0)))
        weights, activations = weights * shift, activations / shift
        if chain.keeps(sweep):
            kept["weights"].append(weights)
            kept["dictionary"].append(dictionary)
    return {name: np.stack(draws) for name, draws in kept.items()}


def _rescaling(rng: np.random.Generator, up: tuple[float, Array], down: tuple[float, Array]) -> Array:
    """Return a factor c for each component, by a Metropolis step from c = 1.

    One gamma variable of each component is multiplied by c and some others are divided by it, so that their product
    stays. Each side is given by the sum of its shapes and that of its rates times values.
    """
    step = rng.normal(size=up[1].shape) * 2.0 / np.sqrt(up[0] + down[0])
    c = np.exp(step)
    log_ratio = (up[0] - down[0]) * step - up[1] * (c - 1.0) - down[1] * (1.0 / c - 1.0)
    return np.where(np.log(rng.random(step.shape)) < log_ratio, c, 1.0)


def _gamma(rng: np.random.Generator, shape: Array, rate: Array) -> Array:
    """Draw gamma variables."""
    return np.asarray(np.maximum(rng.gamma(shape) / rate, _SMALLEST))

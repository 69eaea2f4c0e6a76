"""Hidden Markov models so small that all paths of states can be written down."""

import itertools

import numpy as np
from scipy import stats

from ssvi.batches import Sequences
from ssvi.models.emissions import (
    BernoulliEmission,
    CategoricalEmission,
    GaussianEmission,
    MultinomialEmission,
    PoissonEmission,
)
from ssvi.models.hmm import HMM

LENGTHS = [1, 4, 3, 2]
EMISSIONS = {
    "full": GaussianEmission(2, 3),
    "diag": GaussianEmission(2, 3, "diag"),
    "tied": GaussianEmission(2, 3, "tied"),
    "spherical": GaussianEmission(2, 3, "spherical"),
    "categorical": CategoricalEmission(1, 3, 4),
    "bernoulli": BernoulliEmission(2, 3),
    "poisson": PoissonEmission(2, 3, 2.0, (4.0, 2.0)),
    "multinomial": MultinomialEmission(3, 3),
}


def made(name, seed=0, missing=True):
    """Return a model, its parameters, and four short sequences, some of whose values are missing."""
    rng = np.random.default_rng(seed)
    model = HMM(3, EMISSIONS[name], 1.2, 0.9, 0.5)
    values, data = model.simulate(rng, len(LENGTHS), lengths=LENGTHS)
    rows = data.values.copy()
    if missing:
        rows[2] = np.nan
        if rows.shape[1] > 1 and EMISSIONS[name].partly_known:
            rows[4, 0] = rows[6, 1] = np.nan
    return model, values, Sequences(data.indptr, rows)


def log_likelihoods(model, values, rows):
    """Return log p(x_t | z_t = k) by SciPy's distributions, time points x states."""
    emission, out = model.emission, np.zeros((len(rows), 3))
    for t, row in enumerate(rows):
        known = ~np.isnan(row)
        if known.any():
            out[t] = [_log_density(emission, values, k, row, known) for k in range(3)]
    return out


def _log_density(emission, values, k, row, known):
    if isinstance(emission, GaussianEmission):
        covariance = emission.covariance
        seen = covariance.gaussians(covariance.family.statistics(values["states"]))
        precisions = seen.precisions
        matrix = np.diag(precisions[k]) if precisions.ndim == 2 else precisions[k % len(precisions)]
        own = np.linalg.inv(matrix)[np.ix_(known, known)]
        return stats.multivariate_normal.logpdf(row[known], seen.means[k][known], own)
    if isinstance(emission, CategoricalEmission):
        return np.log(values["symbols"][k, int(row[0])])
    if isinstance(emission, BernoulliEmission):
        return stats.bernoulli.logpmf(row[known], values["ones"][k][known]).sum()
    if isinstance(emission, PoissonEmission):
        return stats.poisson.logpmf(row[known], values["rates"][k][known]).sum()
    return stats.multinomial.logpmf(row, row.sum(), values["shares"][k])


def enumerated(log_start, log_transitions, scores):
    """Return log p of a sequence, p(z_t | x), and expected transitions, as sums over all paths."""
    length, size = scores.shape
    paths = np.array(list(itertools.product(range(size), repeat=length)))
    logs = log_start[paths[:, 0]] + scores[np.arange(length), paths].sum(axis=1)
    logs = logs + log_transitions[paths[:, :-1], paths[:, 1:]].sum(axis=1)
    total = np.logaddexp.reduce(logs)
    weights = np.exp(logs - total)
    shares = np.stack([[weights[paths[:, t] == k].sum() for k in range(size)] for t in range(length)])
    counts = np.zeros((size, size))
    for t in range(1, length):
        np.add.at(counts, (paths[:, t - 1], paths[:, t]), weights)
    return total, shares, counts

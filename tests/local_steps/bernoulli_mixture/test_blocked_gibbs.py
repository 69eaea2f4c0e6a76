"""With rho = 1, all rows in every step and drawn components, SSVI-A is a blocked Gibbs sampler of the posterior."""

import itertools

import numpy as np
from scipy import special

from ssvi import engine
from ssvi.batches.documents import Documents
from ssvi.global_steps.ssvi_a import SsviA
from ssvi.local_steps.bernoulli_mixture.gibbs import Gibbs
from ssvi.models.bernoulli_mixture import BernoulliMixture
from ssvi.schedules import ConstantSchedule

ROWS = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 1], [0, 0, 1]])
MODEL = BernoulliMixture(3, 2, 1.5, (0.7, 0.9))


def _log_evidence_of_labels(labels):
    """log p(z, y), weights and components integrated out."""
    a, b, share = *MODEL.prior, MODEL.concentration / 2
    sizes = np.bincount(labels, minlength=2)
    log = special.gammaln(2 * share) - special.gammaln(2 * share + 4)
    log += (special.gammaln(share + sizes) - special.gammaln(share)).sum()
    for k in range(2):
        ones = ROWS[labels == k].sum(axis=0)
        log += (special.betaln(a + ones, b + sizes[k] - ones) - special.betaln(a, b)).sum()
    return log


def test_its_states_have_the_posterior_distribution():
    """5,000 steps: the share of each number of rows in the first component, within 5 standard errors of 50 batches.

    Five shares; t with 49 degrees of freedom exceeds 5 once in 10^5.
    """
    assignments = [np.array(labels) for labels in itertools.product(range(2), repeat=4)]
    logs = np.array([_log_evidence_of_labels(labels) for labels in assignments])
    posterior = np.exp(logs - special.logsumexp(logs))
    exact = np.bincount([np.sum(labels == 0) for labels in assignments], posterior, minlength=5)
    problem = engine.Problem(MODEL, Gibbs(), SsviA(), ConstantSchedule(), population=4)
    sizes = []
    engine.run(
        problem,
        engine.init(MODEL, 0),
        Documents.from_matrix(ROWS),
        sweeps=5_000,
        batch_size=4,
        callbacks=[lambda state, info: sizes.append(state.parameters["weights"][0, 0] - MODEL.concentration / 2)],
    )
    hits = np.round(sizes)[:, None] == np.arange(5)
    batches = hits.reshape(50, 100, 5).mean(axis=1)
    error = batches.std(axis=0, ddof=1) / np.sqrt(50)
    assert np.all(np.abs(batches.mean(axis=0) - exact) < 5 * error)

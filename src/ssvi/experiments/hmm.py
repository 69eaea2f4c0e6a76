"""Hidden Markov models: held-out log probability of SSVI, others and hmmlearn, on simulated states and on sunspots."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ssvi.backends.base import Backend
from ssvi.backends.threads import Threads
from ssvi.batches import Sequences
from ssvi.data.series import sunspots
from ssvi.engine import State
from ssvi.estimators.hmm_starts import best_start
from ssvi.evaluation.hmm import log_probabilities
from ssvi.experiments.base import option, require
from ssvi.experiments.state_spaces import (
    GIBBS,
    StateBench,
    StateData,
    StateSetting,
    StateSpaces,
    StateTrial,
    Views,
    timed,
)
from ssvi.experiments.table import Row
from ssvi.families.symmetric import pack
from ssvi.local_steps.base import LocalStep
from ssvi.local_steps.hmm.gibbs import Gibbs
from ssvi.models.emissions import GaussianEmission
from ssvi.models.hmm import HMM
from ssvi.numerics.random import derive_key
from ssvi.typing import Array

_ALGORITHMS = ("ssvi:exact", "ssvi_a:exact", "mean_field:exact", "mean_field:mean_field", "map:exact", GIBBS)
_PEERS = {"hmmlearn": "hmmlearn, EM", "hmmlearn-vb": "hmmlearn, variational"}
_SPLIT = 200  # years of sunspots that are fitted
_COLUMNS = 2


@dataclass(frozen=True)
class ChainSetting(StateSetting):
    """The sizes of the data and of the fits."""

    states: int = option(20, "states of the simulated data, and of their fits")

    def __post_init__(self) -> None:
        super().__post_init__()
        require("states", self.states, lambda value: value >= 1, "1 or more")


class HiddenMarkov(StateSpaces):
    """States that overlap in two columns, each of which is mostly followed by itself or by one of a few others."""

    name = "hmm"
    title = "Hidden Markov models: held-out log probability of a time point"
    peers = _PEERS
    settings: ClassVar[Mapping[str, StateSetting]] = {
        "quick": ChainSetting(algorithm=_ALGORITHMS, seeds=2, iterations=100),
        "paper": ChainSetting(algorithm=(*_ALGORITHMS, *_PEERS)),
    }

    def simulated(self, setting: StateSetting, seed: int) -> StateData:
        """Simulate states of random places and shapes, with sparse and sticky transitions."""
        size = getattr(setting, "states", 3)
        rng = np.random.default_rng(derive_key(seed, "hmm", size))
        truth = HMM(size, GaussianEmission(_COLUMNS, size), 1.0, 0.3, 2.0)
        values, train = truth.simulate(rng, setting.sequences, lengths=np.full(setting.sequences, setting.length))
        lengths = np.full(setting.test_sequences, setting.length)
        _, test = truth.simulate(rng, setting.test_sequences, values=values, lengths=lengths)
        with np.errstate(divide="ignore"):
            known = self.log_probabilities(truth, truth.statistics_of(values), test, Threads())
        return StateData(HMM(size, GaussianEmission(_COLUMNS, size)), train, test, float(known.sum()))

    def real(self, setting: StateSetting) -> StateData:
        """Return roots of sunspots, the first two hundred years to fit, of five states."""
        roots = np.sqrt(sunspots()).reshape(-1, 1)
        roots = (roots - roots[:_SPLIT].mean()) / roots[:_SPLIT].std()
        train, test = Sequences.from_lengths(roots[:_SPLIT]), Sequences.from_lengths(roots[_SPLIT:])
        return StateData(HMM(5, GaussianEmission(1, 5)), train, test)

    def best_start(self, data: StateData, begin: State, bench: StateBench) -> dict[str, Array]:
        """Begin at the best of several starts."""
        return best_start(data.model, data.train, begin.seed, bench.setting.starts, bench.backend)

    def log_probabilities(self, model: HMM, views: Views, data: Sequences, backend: Backend) -> Array:
        """Filter."""
        return log_probabilities(model, views, data, backend=backend)

    def sampler(self) -> LocalStep:
        """Draw whole paths."""
        return Gibbs()

    def peer(self, name: str, data: StateData, trial: StateTrial, bench: StateBench) -> Iterator[Row]:
        """Fit hmmlearn's model from as many starts as ours, and score the best of them as ours are.

        The best is that with the largest bound, or log probability, of what was fitted.
        """
        steps, lengths, found = bench.setting.iterations, data.train.costs(), []
        seconds = 0.0
        for number in range(bench.setting.starts):
            model = _hmmlearn(name, data.model.n_components, steps, derive_key(trial.seed, "fit", number) % 2**31)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that it has not settled, or that there is little data
                seconds += timed(partial(model.fit, data.train.values, lengths))[1]
            found.append(model)
        best = max(found, key=lambda model: model.monitor_.history[-1])
        yield self.row(data, steps, self._score_of(best, data, trial, bench), seconds)

    def _score_of(self, found: Any, data: StateData, trial: StateTrial, bench: StateBench) -> float:
        """Return log p of the held-out sequences at hmmlearn's parameters, or averaged over its q, which is as ours."""
        family = data.model.blocks()["states"].family
        if hasattr(found, "dof_posterior_"):
            lam = {
                "start": found.startprob_posterior_[None],
                "transitions": found.transmat_posterior_,
                "states": family.natural(
                    found.means_posterior_, found.beta_posterior_, found.scale_posterior_, found.dof_posterior_
                ),
            }
            return self.score(data, State(0, 0, 0, lam), trial, bench)
        precisions = pack(np.linalg.inv(found.covars_))
        values = {
            "start": found.startprob_[None],
            "transitions": found.transmat_,
            "states": np.concatenate([found.means_, precisions], axis=1),
        }
        with np.errstate(divide="ignore"):  # what never happens
            views = data.model.statistics_of(values)
        return float(self.log_probabilities(data.model, views, data.test, bench.backend).sum())


def _hmmlearn(name: str, size: int, steps: int, seed: int) -> Any:
    """Return hmmlearn's model of the same emissions."""
    try:
        from hmmlearn import hmm, vhmm
    except ImportError:
        raise ValueError(f"the algorithm {name} needs hmmlearn: pip install hmmlearn.") from None
    logging.getLogger("hmmlearn").setLevel(logging.ERROR)  # that it has not settled, once a fit
    kind = hmm.GaussianHMM if name == "hmmlearn" else vhmm.VariationalGaussianHMM
    return kind(size, covariance_type="full", n_iter=steps, random_state=seed)

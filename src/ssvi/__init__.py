"""Structured stochastic variational inference (Hoffman and Blei, AISTATS 2015).

The estimators live at the top, such as `ssvi.LatentDirichletAllocation`; `ssvi.__all__` lists them.
Below them, `ssvi.engine` runs any model of `ssvi.models` with any of `ssvi.local_steps` and any of
`ssvi.global_steps`. `ssvi.load` reads a model that an estimator has saved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssvi.lazy import lazy_names

if TYPE_CHECKING:
    from ssvi.estimators.bernoulli_mixture import BernoulliMixture
    from ssvi.estimators.ctm import CorrelatedTopicModel
    from ssvi.estimators.fhmm import FactorialHMM
    from ssvi.estimators.gamma_process_nmf import GammaProcessNMF
    from ssvi.estimators.gaussian_mixture import GaussianMixture
    from ssvi.estimators.hdp import HierarchicalDirichletTopics
    from ssvi.estimators.hierarchical.linear import HierarchicalLinearRegression
    from ssvi.estimators.hierarchical.logistic import HierarchicalLogisticRegression
    from ssvi.estimators.hierarchical.probit import HierarchicalProbitRegression
    from ssvi.estimators.hmm import HiddenMarkovModel
    from ssvi.estimators.lda import LatentDirichletAllocation
    from ssvi.estimators.lds import LinearDynamicalSystem
    from ssvi.estimators.registry import register
    from ssvi.files.models import load

__version__ = "0.1.0"
__all__ = [
    "BernoulliMixture",
    "CorrelatedTopicModel",
    "FactorialHMM",
    "GammaProcessNMF",
    "GaussianMixture",
    "HiddenMarkovModel",
    "HierarchicalDirichletTopics",
    "HierarchicalLinearRegression",
    "HierarchicalLogisticRegression",
    "HierarchicalProbitRegression",
    "LatentDirichletAllocation",
    "LinearDynamicalSystem",
    "__version__",
    "load",
    "register",
]

_HOMES = {
    "BernoulliMixture": "ssvi.estimators.bernoulli_mixture",
    "CorrelatedTopicModel": "ssvi.estimators.ctm",
    "FactorialHMM": "ssvi.estimators.fhmm",
    "GammaProcessNMF": "ssvi.estimators.gamma_process_nmf",
    "GaussianMixture": "ssvi.estimators.gaussian_mixture",
    "HiddenMarkovModel": "ssvi.estimators.hmm",
    "HierarchicalDirichletTopics": "ssvi.estimators.hdp",
    "HierarchicalLinearRegression": "ssvi.estimators.hierarchical.linear",
    "HierarchicalLogisticRegression": "ssvi.estimators.hierarchical.logistic",
    "HierarchicalProbitRegression": "ssvi.estimators.hierarchical.probit",
    "LatentDirichletAllocation": "ssvi.estimators.lda",
    "LinearDynamicalSystem": "ssvi.estimators.lds",
    "load": "ssvi.files.models",
    "register": "ssvi.estimators.registry",
}
_PARTS = {"baselines", "engine", "evaluation", "files", "interop", "plots", "report", "schedules", "testing"}


# Estimators bring scikit-learn with them; whoever wants only the core does not wait for it.
__getattr__ = lazy_names(__name__, _HOMES | {part: f"ssvi.{part}" for part in _PARTS})


def __dir__() -> list[str]:
    return sorted([*__all__, *_PARTS])

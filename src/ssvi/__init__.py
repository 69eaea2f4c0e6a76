"""Structured stochastic variational inference (Hoffman and Blei, AISTATS 2015).

The estimators live at the top: `ssvi.LatentDirichletAllocation`, `ssvi.HierarchicalDirichletTopics`,
`ssvi.BernoulliMixture`, `ssvi.GaussianMixture` and `ssvi.GammaProcessNMF`.
Below them, `ssvi.engine` runs any model of `ssvi.models` with any of `ssvi.local_steps` and any of
`ssvi.global_steps`. `ssvi.load` reads a model that an estimator has saved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssvi.lazy import lazy_names

if TYPE_CHECKING:
    from ssvi.estimators.bernoulli_mixture import BernoulliMixture
    from ssvi.estimators.gamma_process_nmf import GammaProcessNMF
    from ssvi.estimators.gaussian_mixture import GaussianMixture
    from ssvi.estimators.hdp import HierarchicalDirichletTopics
    from ssvi.estimators.lda import LatentDirichletAllocation
    from ssvi.estimators.registry import register
    from ssvi.files.models import load

__version__ = "0.1.0"
__all__ = [
    "BernoulliMixture",
    "GammaProcessNMF",
    "GaussianMixture",
    "HierarchicalDirichletTopics",
    "LatentDirichletAllocation",
    "__version__",
    "load",
    "register",
]

_HOMES = {
    "BernoulliMixture": "ssvi.estimators.bernoulli_mixture",
    "GammaProcessNMF": "ssvi.estimators.gamma_process_nmf",
    "GaussianMixture": "ssvi.estimators.gaussian_mixture",
    "HierarchicalDirichletTopics": "ssvi.estimators.hdp",
    "LatentDirichletAllocation": "ssvi.estimators.lda",
    "load": "ssvi.files.models",
    "register": "ssvi.estimators.registry",
}
_PARTS = {"baselines", "engine", "evaluation", "files", "interop", "plots", "report", "schedules", "testing"}


# Estimators bring scikit-learn with them; whoever wants only the core does not wait for it.
__getattr__ = lazy_names(__name__, _HOMES | {part: f"ssvi.{part}" for part in _PARTS})


def __dir__() -> list[str]:
    return sorted([*__all__, *_PARTS])

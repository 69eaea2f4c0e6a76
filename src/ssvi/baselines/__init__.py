"""What the paper compares with: algorithms that are not a global and a local step of the engine."""

from ssvi.baselines.collapsed_gibbs import CollapsedGibbsBernoulliMixture
from ssvi.baselines.goem import Goem
from ssvi.baselines.sgrld import Sgrld

__all__ = ["CollapsedGibbsBernoulliMixture", "Goem", "Sgrld"]

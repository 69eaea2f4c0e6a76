"""What the paper compares with: algorithms that are not a global and a local step of the engine."""

from ssvi.baselines.sgrld import Sgrld

__all__ = ["Sgrld"]

"""Global steps (M-steps): one file a step."""

from ssvi.global_steps.base import Clock, GlobalStep, View

__all__ = ["Clock", "GlobalStep", "View"]

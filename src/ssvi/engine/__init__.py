"""The loop of the paper's algorithm 1, for any model, local step and global step."""

from ssvi.engine.fit import NEVER, Fit, Problem, ends_sweep
from ssvi.engine.loop import checked, follow, init, prior_bound, run, step
from ssvi.engine.state import Info, Snapshot, State, stop_unless_finite
from ssvi.engine.steps import Callback, Path, Steps

__all__ = [
    "NEVER",
    "Callback",
    "Fit",
    "Info",
    "Path",
    "Problem",
    "Snapshot",
    "State",
    "Steps",
    "checked",
    "ends_sweep",
    "follow",
    "init",
    "prior_bound",
    "run",
    "step",
    "stop_unless_finite",
]

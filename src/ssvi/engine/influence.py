"""What each step of a fit counts in the lambda that it has come to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ssvi.batches.minibatches import equal_cuts, minibatches
from ssvi.engine.state import Info
from ssvi.global_steps.base import GlobalStep
from ssvi.typing import Array


def shares_of_steps(step_sizes: Array, rule: GlobalStep) -> Array:
    """Return what the target of each step counts in the estimate after the last one: lambda, or its average.

    lambda_t = (1 - rho_t) lambda_{t-1} + rho_t target_t, and the average a_t = (1 - w_t) a_{t-1} + w_t lambda_t. The
    start has what is left of 1.

    >>> from ssvi.global_steps.map import Map
    >>> shares_of_steps(np.array([1.0, 0.5, 0.5]), Map())
    array([0.25, 0.25, 0.5 ])
    """
    count = len(step_sizes)
    of_lambda = np.zeros(count)  # what lambda after each step counts in the estimate
    of_lambda[-1] = 1.0
    if rule.averaging:
        weights = np.array([rule.average_weight(step) for step in range(1, count + 1)])
        of_lambda = weights * np.append(np.cumprod((1.0 - weights)[:0:-1])[::-1], 1.0)
    for step in range(count - 2, -1, -1):  # and with it what that lambda has left in those after it
        of_lambda[step] += (1.0 - step_sizes[step + 1]) * of_lambda[step + 1]
    return step_sizes * of_lambda


def influence_of_groups(
    history: Sequence[Info], rule: GlobalStep, n_groups: int, batch_size: int, seed: int
) -> npt.NDArray[np.float64]:
    """Return how often each group's statistics count in the estimate after some whole sweeps: once, on average.

    Those of a minibatch count N_t / S times in its step's target. Of a fit in memory it is known who was in which.
    """
    shares = shares_of_steps(np.array([info.step_size for info in history]), rule)
    influence, step = np.zeros(n_groups), 0
    sweeps = len(history) // (len(equal_cuts(n_groups, batch_size)) - 1)
    for sweep in range(sweeps):
        for rows in minibatches(n_groups, batch_size, seed, sweep):
            influence[rows] += shares[step] * history[step].population / len(rows)
            step += 1
    return influence

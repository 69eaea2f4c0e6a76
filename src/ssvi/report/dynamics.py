"""What there is to see of a linear dynamical system: modes of its dynamics, loadings, smoothed series, forecasts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ssvi.report.packing import all_rounded, rounded
from ssvi.typing import Array

LEVEL = 0.9
"""The probability of intervals."""
_REACH = 1.6448536269514722  # deviations to either side of a mean, of a normal distribution's interval
_FEWEST_STEPS, _MOST_STEPS = 10, 100  # of a forecast: a fifth of the sequence, between these
_NO_CYCLE = 1e-9  # an angle that is none, in turns
_MOST_ROWS = 60  # columns whose loadings a page has


@dataclass(frozen=True)
class Mode:
    """One eigenvalue of the dynamics; of two that are conjugate, the upper one."""

    value: complex

    @property
    def half_life(self) -> float:
        """Time points until half of it is gone; infinite on the unit circle and outside."""
        size = abs(self.value)
        return float(np.log(0.5) / np.log(size)) if 0 < size < 1 else np.inf if size >= 1 else 0.0

    @property
    def period(self) -> float:
        """Time points of a cycle; infinite where it has none."""
        turn = abs(np.angle(self.value)) / (2 * np.pi)
        return float(1.0 / turn) if turn > _NO_CYCLE else np.inf


def modes(transition: Array) -> list[Mode]:
    """Return the modes of the dynamics, those that last longest first."""
    values = np.linalg.eigvals(transition)
    upper = [Mode(complex(value)) for value in values if value.imag >= 0]
    return sorted(upper, key=lambda mode: (-abs(mode.value), mode.period))


def dynamics_of(estimator: Any) -> dict[str, Any]:
    """Return the modes, and what states load on, as plain values."""
    noise = np.asarray(estimator.noise_covariance_)
    noise = np.diagonal(noise) if noise.ndim == 2 else noise
    return {
        "modes": [
            {
                "real": rounded(mode.value.real, 6),
                "imaginary": rounded(mode.value.imag, 6),
                "half_life": _or_none(mode.half_life),
                "period": _or_none(mode.period),
            }
            for mode in modes(estimator.transition_)
        ],
        "loadings": [all_rounded(row, 4) for row in estimator.loadings_[:_MOST_ROWS]],
        "offset": all_rounded(estimator.offset_[:_MOST_ROWS], 5),
        "noise": all_rounded(np.sqrt(noise[:_MOST_ROWS]), 4),
        "left_out": max(0, estimator.n_features_in_ - _MOST_ROWS),
        "level": LEVEL,
    }


def states_over_time(estimator: Any, rows: Array, width: int) -> dict[str, Any]:
    """Return a sequence as it would be seen without noise, with intervals, and what may come after it.

    A model with inputs says nothing of time points whose inputs nobody gave.
    """
    if len(estimator._columns["input_unit"]):
        return {"traces": {}}
    past = estimator.smooth(rows)
    ahead = estimator.forecast(int(np.clip(len(rows) // 5, _FEWEST_STEPS, _MOST_STEPS)), rows, level=LEVEL)
    means, reach = past.means[:, :width], _REACH * past.deviations[:, :width]
    return {
        "traces": {"fitted": means, "lower": means - reach, "upper": means + reach},
        "ahead": {"mean": ahead.mean[:, :width], "lower": ahead.lower[:, :width], "upper": ahead.upper[:, :width]},
    }


def _or_none(value: float) -> float | None:
    return rounded(value, 4) if np.isfinite(value) else None

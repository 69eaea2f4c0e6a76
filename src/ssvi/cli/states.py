"""What a fit says of the states that it found, in lines that fit a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ssvi.report.chains import Chain, has_chains, in_words, measured_chains, names_of_columns
from ssvi.report.dynamics import modes
from ssvi.typing import Array

_MOST_STATES = 12  # of each chain
_MOST_COLUMNS = 4  # of what a state shows
_MOST_POINTS = 20_000  # of a sequence that shares are taken of


def about_states(estimator: Any, sequences: Sequence[Array]) -> list[dict[str, Any]]:
    """Return what is known of each state, or of each mode of linear dynamics, as plain values.

    Shares are those of some sequences, of each of which the beginning is looked at.
    """
    if not has_chains(estimator):
        return [
            {
                "mode": number,
                "size": abs(mode.value),
                "half_life": mode.half_life if np.isfinite(mode.half_life) else None,
                "period": mode.period if np.isfinite(mode.period) else None,
            }
            for number, mode in enumerate(modes(estimator.transition_))
        ]
    names = names_of_columns(estimator)
    return [
        {
            "chain": chain.name,
            "state": int(chain.numbers[k]),
            "share": float(chain.shares[k]),
            "duration": float(chain.durations[k]),
            "shows": _shown(chain, k, names),
        }
        for chain in measured_chains(estimator, [rows[:_MOST_POINTS] for rows in sequences])
        for k in range(len(chain.numbers))
    ]


def states_in_lines(states: Sequence[dict[str, Any]]) -> list[str]:
    """Return a line for each state or mode; of many, the first."""
    if states and "mode" in states[0]:
        return [_mode_line(mode) for mode in states[:_MOST_STATES]]
    lines = []
    for one in states[:_MOST_STATES]:
        name = f"{one['chain']}, state {one['state']}" if one["chain"] else f"state {one['state']}"
        lines.append(f"{name}: {one['share']:.0%} of the time, lasts {one['duration']:.3g} time points; {one['shows']}")
    left = len(states) - len(lines)
    return lines + ([f"and {left} more states, which the report has"] if left else [])


def _shown(chain: Chain, k: int, names: Sequence[str]) -> str:
    """Return what a state shows, in a few words."""
    row = chain.rows[k]
    if chain.spreads is None and not chain.name:
        first = np.argsort(-row, kind="stable")[:_MOST_COLUMNS]
        return ", ".join(f"{in_words(names[v])} {row[v]:.0%}" for v in first)
    spreads = [""] * len(row) if chain.spreads is None else [f" ± {spread:.3g}" for spread in chain.spreads[k]]
    shown = [f"{names[v]} {row[v]:.4g}{spreads[v]}" for v in range(min(len(row), _MOST_COLUMNS))]
    return ", ".join(shown) + (", ..." if len(row) > len(shown) else "")


def _mode_line(mode: dict[str, Any]) -> str:
    life = mode["half_life"]
    fades = "does not die away" if life is None else f"halves in {life:.3g} time points"
    turns = "" if mode["period"] is None else f", a cycle of {mode['period']:.3g} time points"
    return f"mode {mode['mode'] + 1}: {fades}{turns}"

"""Commands with models of sequences: what they read, hold out and say."""

from __future__ import annotations

import math
import shlex
from pathlib import Path
from typing import Any

import numpy as np

from ssvi.batches import Sequences
from ssvi.cli.display import say_notes
from ssvi.cli.reading import Reading
from ssvi.cli.states import about_states, states_in_lines
from ssvi.cli.summary import score_line
from ssvi.data.readers.asked import what_was_asked
from ssvi.data.readers.sequences import SequenceData, read_sequences
from ssvi.estimators.sequences import SequenceEstimator, check_lengths
from ssvi.evaluation.trend import trend_of
from ssvi.files.models import column_names
from ssvi.report.components import component_counts
from ssvi.report.sequences import states_in_words
from ssvi.report.series import Shown

_FEWEST_SEQUENCES = 20  # of which some are set aside; of fewer, the end of the longest is
_FEWEST_POINTS = 100


def is_for_sequences(estimator: Any) -> bool:
    """Tell whether a model is one of sequences."""
    return isinstance(estimator, SequenceEstimator)


def read(reading: Reading, estimator: Any, *, quiet: bool = True) -> SequenceData:
    """Read the sequences of a command; text makes emissions categorical, over the symbols that a fitted model has.

    Unless it is to be quiet, what a person should know of the file is said.
    """
    if len(reading.paths) != 1:
        raise ValueError("models of sequences read one file.")
    found = read_sequences(
        reading.paths[0],
        sequence_column=reading.columns.get("group_column"),
        time_column=reading.columns.get("date_column"),
        delimiter=reading.columns.get("delimiter"),
        encoding=reading.encoding,
        symbols=getattr(estimator, "symbols_", None),
        preferred=getattr(estimator, "reading_options_", None),
    )
    say_notes(found.notes, quiet=quiet)
    check_lengths(Sequences.from_lengths(found.values, found.lengths))
    fitted = estimator.__sklearn_is_fitted__()
    wants_numbers = not hasattr(estimator, "symbols_") if fitted else "emission" not in estimator.get_params()
    if found.symbols is not None and wants_numbers:
        raise ValueError(f"{reading.where} is text, and {estimator.name} wants numbers: give it a table or arrays.")
    return found


def split_off(data: SequenceData, share: float, seed: int) -> tuple[SequenceData, SequenceData | None]:
    """Set some sequences aside for scoring, or the end of the longest; None if that would be too little."""
    if share == 0:
        return data, None
    cuts = np.concatenate([[0], np.cumsum(data.lengths)])
    if len(data.lengths) >= _FEWEST_SEQUENCES:
        count = max(1, round(share * len(data.lengths)))
        chosen = np.zeros(len(data.lengths), np.bool_)
        chosen[np.random.default_rng(seed).permutation(len(data.lengths))[:count]] = True
        rows = np.repeat(chosen, data.lengths)
        parts = [(data.values[~rows], data.lengths[~chosen]), (data.values[rows], data.lengths[chosen])]
    else:
        longest = int(np.argmax(data.lengths))
        count = round(share * int(data.lengths.sum()))
        if data.lengths[longest] < _FEWEST_POINTS or 2 * count > data.lengths[longest] or count < 1:
            return data, None
        held, kept = np.zeros(len(data.values), np.bool_), data.lengths.copy()
        held[cuts[longest + 1] - count : cuts[longest + 1]] = True
        kept[longest] -= count
        parts = [(data.values[~held], kept), (data.values[held], np.array([count]))]
    train, test = (SequenceData(values, lengths, data.columns, data.symbols) for values, lengths in parts)
    return train, test


def keep_names(estimator: Any, data: SequenceData, reading: Reading) -> None:
    """Give a model the names of its columns or symbols, and how the input was asked to be read."""
    asked = what_was_asked(reading.paths, None, reading.columns)
    if asked:
        estimator.reading_options_ = asked
    if data.symbols is not None:
        estimator.keep_symbols(data.symbols)
    elif data.columns is not None:
        estimator.vocabulary_ = data.columns


def summarize(
    estimator: Any,
    data: SequenceData,
    output: Path,
    score: float | None,
    seconds: float,
    reading: Reading,
    *,
    stopped: bool = False,
) -> dict[str, Any]:
    """Return all that is said of a fit, as plain values; it may have been `stopped` before its end."""
    return {
        "output": str(output),
        "model": estimator.name,
        **component_counts(estimator),
        "sequences": len(data.lengths),
        "time_points": len(data.values),
        "missing": int(np.isnan(data.values).sum()),
        "columns": estimator.n_features_in_,
        "steps": estimator.n_batch_iter_,
        "seconds": round(seconds, 3),
        "held_out_score": score,
        "converged": estimator.converged_,
        "convergence": None if math.isnan(estimator.convergence_) else estimator.convergence_,
        "trend": trend_of(estimator, stopped=stopped),
        "states": about_states(estimator, Shown.first(data.values, data.lengths, None, None).values),
        "next": _next_steps(output, reading),
    }


def _next_steps(output: Path, reading: Reading) -> list[str]:
    """Return commands to go on with."""
    page = output.with_suffix(".html")
    options = reading.options()
    typed = [
        ["ssvi", "report", str(output), "--corpus", str(reading.paths[0]), *options, "--output", str(page)],
        ["ssvi", "transform", str(output), str(reading.paths[0]), *options, "--output", "states.csv"],
    ]
    return [shlex.join(parts) for parts in typed]


def state_columns(estimator: Any, data: SequenceData) -> tuple[list[str], Any]:
    """Return what is written of each time point of models without components, and its headings."""
    if hasattr(estimator, "smooth"):
        found = estimator.smooth(data.values, data.lengths)
        seen = [f"{name}_without_noise" for name in column_names(estimator)]
        return [f"state_{k}" for k in range(found.states.shape[1])] + seen, np.hstack([found.states, found.means])
    path, shares = estimator.predict(data.values, data.lengths), estimator.component_weights(data.values, data.lengths)
    chains, size = path.shape[1], shares.shape[1] // path.shape[1]
    names = [f"chain_{m}" for m in range(chains)]
    each = [f"chain_{m}_state_{k}" for m in range(chains) for k in range(size)]
    return names + each, np.hstack([path, shares])


def in_lines(facts: dict[str, Any], estimator: Any) -> list[str]:
    """Return the summary for people."""
    scored = "" if facts["held_out_score"] is None else f", held-out score {facts['held_out_score']:.4f}"
    missing = f", {facts['missing']:,} values missing" if facts["missing"] else ""
    plural = "" if facts["sequences"] == 1 else "s"
    return [
        f"{facts['output']}: {facts['model']}{states_in_words(estimator)}, fitted to "
        f"{facts['time_points']:,} time points x {facts['columns']:,} in {facts['sequences']:,} sequence{plural}"
        f"{missing}, {facts['steps']} steps, {facts['seconds']:.1f} s{scored}",
        *(f"  {line}" for line in states_in_lines(facts["states"])),
        f"  score: {score_line(facts['trend'], 'time points', estimator)}",
        f"  next: {'; '.join(facts['next'])}",
    ]

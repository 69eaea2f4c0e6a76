"""Topics over time and by group, as tables and pictures."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import typer

from ssvi import lookup
from ssvi.cli import inputs
from ssvi.cli.display import say_notes, terminal_width
from ssvi.cli.listing import PICTURES, show, write_csv, write_picture
from ssvi.periods import has_enough, steadied
from ssvi.tallies import MeansByLabel
from ssvi.typing import Array

_BLOCKS = "▁▂▃▄▅▆▇█"
_MOST_DRAWN = 8  # topics in a picture
_WIDEST = 40  # signs of a course, where there is room
_NARROWEST = 12
_BESIDE = 78  # columns of a terminal that the rest of the table takes


def trends_of(all_shares: Iterable[tuple[int, Array]], info: Any, by: str, where: str) -> lookup.Trends:
    """Return topics over time or by group, as far as the corpus has dates or groups; shares come part by part."""
    what, means = "group" if by == "group" else "date", MeansByLabel()
    if what not in info.part(0, 1).known():
        readable, form = (" that can be read", ", written as 2024-05-31, say") if what == "date" else ("", "")
        raise ValueError(f"{where} has no {what}s{readable}: --{what}-column names what has them{form}.")
    for start, shares in all_shares:
        means.see(info.part(start, start + len(shares)).known()[what], shares)
    found = means.trends(what, None if by in ("group", "date") else by)
    if found is None or not found.names:
        raise ValueError(f"no document has a {what}: there is nothing to go by.")
    return found


def tell_trends(
    found: lookup.Trends, labels: dict[int, str], topics: Sequence[int], title: str, output: Path | None,
    *, noun: str, as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Write, draw or print topics over time or by group."""
    lines = [
        {found.kind: name, "documents": int(found.counts[at]),
         **{f"{noun}_{k}": _value(found, at, k) for k in topics}}
        for at, name in enumerate(found.names)
    ]  # fmt: skip
    drawn, is_picture = topics, output is not None and output.suffix.lower() in PICTURES
    if output is not None and is_picture:
        drawn = topics[:_MOST_DRAWN]
        from matplotlib.figure import Figure

        from ssvi.plots.trends import draw_trends

        figure = Figure(figsize=(9.0, 4.8), layout="constrained")
        draw_trends(found, drawn, [labels[k] for k in drawn], figure)
        write_picture(output, figure)
    elif output is not None:
        write_csv(output, lines)
    say_notes(_notes(found, steady=is_picture or (output is None and sys.stdout.isatty())), quiet=quiet or as_json)
    if as_json:
        inputs.print_json(_as_values(found, labels, topics))
    elif output is not None and not quiet:
        typer.echo(f"{output}: {len(drawn):,} {noun}s, {len(lines):,} {found.kind}s")
    elif output is None:
        show(title, lines, [{noun: k, **_trend_line(found, k, labels[k])} for k in topics])


def _notes(found: lookup.Trends, *, steady: bool) -> list[str]:
    """Return what a person should know of the periods or groups: what they are, and what is left out.

    Where shares are shown steady, as on terminals and in pictures, they are not those of tables.
    """
    what, noun = ("group", "group") if found.kind == "group" else ("date", found.kind)
    there, enough = int((found.counts > 0).sum()), has_enough(found.counts)
    few = (found.counts > 0) & ~enough
    monday = ", each named by its Monday" if found.kind == "week" else ""
    between = "" if what == "group" else f" from {found.names[0]} to {found.names[-1]}{monday}"
    empty = f", {len(found.names) - there:,} of them without documents" if there < len(found.names) else ""
    notes = [f"{int(found.counts.sum()):,} documents by {noun}: {len(found.names):,} {noun}s{between}{empty}."]
    if few.any() and steady:
        least, number = int(found.counts[enough].min()), int(few.sum())
        several = noun if number == 1 else f"{noun}s"
        notes.append(
            f"passed over, as too few to tell: {number:,} {several} with fewer than {least:,} documents "
            "(-o FILE.csv has them)."
        )
    if steady and not np.allclose(found.steady()[enough], found.shares[enough], rtol=0.0, atol=0.0005):
        notes.append(
            f"a {noun} of few documents shows shares nearer to those of all documents, since few tell little "
            "(-o FILE.csv has its own)."
        )
    if found.unknown:
        have = "document has" if found.unknown == 1 else "documents have"
        notes.append(f"left out: {found.unknown:,} {have} no {what}.")
    return notes


def _value(found: lookup.Trends, at: int, k: int) -> float | None:
    """Return a topic's share at a place; None where there are no documents."""
    return float(found.shares[at, k]) if found.counts[at] else None


def _as_values(found: lookup.Trends, labels: dict[int, str], topics: Sequence[int]) -> dict[str, Any]:
    """Return trends as JSON has them."""
    return {
        "by": found.kind,
        "names": list(found.names),
        "documents": found.counts.tolist(),
        "unknown": found.unknown,
        "components": [
            {
                "component": k,
                "label": labels[k],
                "share": float(found.overall[k]),
                "shares": [_value(found, at, k) for at in range(len(found.names))],
            }
            for k in topics
        ],
    }


def _trend_line(found: lookup.Trends, k: int, label: str) -> dict[str, Any]:
    """Return what a terminal shows of a topic: where it is largest, and over time its course."""
    at = found.most(k)
    line = {
        "label": label,
        "share": float(found.overall[k]),
        "most in": found.names[at],
        "documents": int(found.counts[at]),
        "share there": float(found.steady()[at, k]),
    }
    if found.kind == "group":
        return line
    first, last = np.flatnonzero(has_enough(found.counts))[[0, -1]]
    widest = min(_WIDEST, max(_NARROWEST, terminal_width() - _BESIDE))
    own = course(found.shares[:, k], found.counts, widest)
    return line | {f"{found.names[first]} to {found.names[last]}": own}


def course(shares: Array, counts: Any, widest: int = _WIDEST) -> str:
    """Return a small picture of shares over time, from 0 to the largest; a dot is a time with too few documents.

    It goes from the first to the last time with enough of them. Where there are more periods than there is room for,
    neighbours are joined and the largest is drawn, so that the highest place is that of the largest share.

    >>> course(np.array([0.0, 0.1, 0.0, 0.4]), np.array([3, 5, 0, 2]))
    '▁▃·█'
    """
    enough = has_enough(counts)
    first, last = np.flatnonzero(enough)[[0, -1]]
    believed = np.where(enough, steadied(shares, counts), -1.0)[first : last + 1]
    joined = -(-len(believed) // widest)
    highest = np.maximum.reduceat(believed, np.arange(0, len(believed), joined))
    heights = np.round(highest / max(float(highest.max()), 1e-300) * (len(_BLOCKS) - 1)).astype(int)
    return "".join("·" if value < 0 else _BLOCKS[height] for height, value in zip(heights, highest, strict=True))

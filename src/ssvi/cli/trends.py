"""Topics over time and by group, as tables and pictures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import typer

from ssvi import lookup
from ssvi.cli import inputs
from ssvi.cli.listing import PICTURES, show, write_csv, write_picture
from ssvi.cli.reading import say_notes
from ssvi.tallies import MeansByLabel
from ssvi.typing import Array

_BLOCKS = "▁▂▃▄▅▆▇█"
_MOST_DRAWN = 8  # topics in a picture
_WIDEST = 40  # periods that are drawn in a cell


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
    *, as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Write, draw or print topics over time or by group."""
    lines = [
        {found.kind: name, "documents": int(found.counts[at]),
         **{f"component_{k}": _value(found, at, k) for k in topics}}
        for at, name in enumerate(found.names)
    ]  # fmt: skip
    if output is not None and output.suffix.lower() in PICTURES:
        from matplotlib.figure import Figure

        from ssvi.plots.trends import draw_trends

        figure = Figure(figsize=(8.0, 4.5), layout="constrained")
        draw_trends(found, topics[:_MOST_DRAWN], [labels[k] for k in topics[:_MOST_DRAWN]], figure)
        write_picture(output, figure)
    elif output is not None:
        write_csv(output, lines)
    if found.unknown:
        what = "group" if found.kind == "group" else "date"
        say_notes([f"{found.unknown:,} documents have no {what} and are left out."], quiet=quiet or as_json)
    if as_json:
        inputs.print_json(_as_values(found, labels, topics))
    elif output is not None and not quiet:
        typer.echo(f"{output}: {len(topics):,} topics, {len(lines):,} {found.kind}s")
    elif output is None:
        show(title, lines, [_trend_line(found, k, labels[k]) for k in topics])


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
    line = {"component": k, "label": label, "share": float(found.overall[k]),
            "most in": found.names[at], "share there": float(found.shares[at, k])}  # fmt: skip
    if found.kind == "group":
        return line
    return line | {f"{found.names[0]} to {found.names[-1]}": course(found.shares[:, k], found.counts)}


def course(shares: Array, counts: Any) -> str:
    """Return a small picture of shares over time, from 0 to the largest; a dot is a time without documents.

    Where there are more than 40 periods, neighbours are joined.

    >>> course(np.array([0.0, 0.1, 0.0, 0.4]), np.array([3, 5, 0, 2]))
    '▁▃·█'
    """
    joined = -(-len(shares) // _WIDEST)
    starts = np.arange(0, len(shares), joined)
    documents = np.add.reduceat(np.asarray(counts, dtype=float), starts)
    means = np.add.reduceat(shares * counts, starts) / np.maximum(documents, 1.0)
    heights = np.round(means / max(float(means.max()), 1e-300) * (len(_BLOCKS) - 1)).astype(int)
    return "".join(_BLOCKS[height] if n else "·" for height, n in zip(heights, documents, strict=True))

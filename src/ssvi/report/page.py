"""The page: facts as JSON, scripts that show them, and a style, all in one file."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from ssvi.files.atomic import write_atomically
from ssvi.report.corpus import Beginnings
from ssvi.report.facts import gather_facts
from ssvi.report.sequences import gather_sequence_facts, is_for_sequences

SCRIPTS = (
    "base", "tools", "saving", "fit", "data", "figures", "room", "together", "words", "topic", "corpus", "gestures",
    "map", "controls", "list", "tree", "likeness", "time", "search", "download", "main",
)  # fmt: skip
"""The scripts of a page about components in the order in which they are joined: each uses those before it."""

SEQUENCE_SCRIPTS = (
    "base", "tools", "saving", "fit", "room", "sequences/facts", "sequences/states", "sequences/graph",
    "sequences/matrix", "sequences/sequence", "sequences/paint", "sequences/view", "sequences/dynamics",
    "sequences/main",
)  # fmt: skip
"""Those of a page about a model of sequences."""


def write_report(
    estimator: Any,
    path: str | os.PathLike[str],
    *,
    data: Any = None,
    lengths: Any = None,
    names: Sequence[str] | None = None,
    times: Sequence[Any] | None = None,
    titles: Sequence[str] | None = None,
    dates: Sequence[Any] | None = None,
    groups: Sequence[str] | None = None,
    beginnings: Beginnings | None = None,
    shape: tuple[int, int] | None = None,
    title: str | None = None,
) -> None:
    """Write a page about a fitted estimator.

    Parameters
    ----------
    estimator
        A fitted estimator of this library.
    path
        The .html file.
    data : matrix, optional
        Documents of which some are to stand for each component; a factorisation also shows their activations. For a
        model of sequences, time points.
    lengths : sequence of int, optional
        For a model of sequences: how many time points each has.
    names : sequence of str, optional
        The documents' ids, or what sequences are called.
    times : sequence of str or numbers, optional
        For a model of sequences: when each time point was.
    titles : sequence of str, optional
        Their titles, which are shown before the ids.
    dates : sequence, optional
        When they are from, as 2024, 2024-05 or 2024-05-31, or as NumPy or Python has dates: shows components over time.
    groups : sequence of str, optional
        What each belongs to, such as an author or a section: shows components by group.
    beginnings : function, optional
        Called with rows and a length: returns how these documents begin, by their rows.
    shape : (height, width), optional
        Of rows that are images; a square is found out.
    title : str, optional
        What the page is called.

    """
    if is_for_sequences(estimator):
        facts = gather_sequence_facts(estimator, data=data, lengths=lengths, names=names, times=times, title=title)
    else:
        facts = gather_facts(
            estimator, data=data, names=names, titles=titles, dates=dates, groups=groups, beginnings=beginnings,
            shape=shape, title=title,
        )  # fmt: skip
    content = render(facts)
    write_atomically(Path(path), lambda file: file.write(content))


def render(facts: dict[str, Any]) -> str:
    """Return the page as HTML."""
    of_sequences = facts.get("page") == "sequences"
    page = asset("sequences.html" if of_sequences else "page.html")
    style = asset("base.css") + asset("sequences.css" if of_sequences else "style.css")
    script = joined_scripts([asset(f"scripts/{name}.js") for name in (SEQUENCE_SCRIPTS if of_sequences else SCRIPTS)])
    # Inside a script element only "<" could end the text; JSON has another way to write it.
    data = json.dumps(facts, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return filled(page, {"title": as_text(facts["title"]), "style": style, "script": script, "data": data})


def asset(name: str) -> str:
    """Return a file that pages are made of."""
    return (resources.files("ssvi.report") / "assets" / name).read_text(encoding="utf-8")


def joined_scripts(scripts: Sequence[str]) -> str:
    """Return scripts as one function, in which each sees those before it."""
    return '(() => {\n"use strict";\n' + "\n".join(scripts) + "})();\n"


def as_text(text: str) -> str:
    """Return a text as it stands between tags."""
    return text.replace("&", "&amp;").replace("<", "&lt;")


def filled(page: str, parts: Mapping[str, str]) -> str:
    """Return a page with its parts in the places that name them."""
    return re.sub(r"\{\{(\w+)\}\}", lambda mark: parts[mark[1]], page)

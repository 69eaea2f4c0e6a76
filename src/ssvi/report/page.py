"""The page: facts as JSON, scripts that show them, and a style, all in one file."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from ssvi.files.atomic import write_atomically
from ssvi.report.corpus import Beginnings
from ssvi.report.facts import gather_facts

SCRIPTS = (
    "base", "data", "figures", "room", "words", "topic", "corpus", "gestures", "map", "controls", "list", "tree",
    "likeness", "time", "search", "download", "main",
)  # fmt: skip
"""The page's scripts in the order in which they are joined: each uses those before it."""


def write_report(
    estimator: Any,
    path: str | os.PathLike[str],
    *,
    data: Any = None,
    names: Sequence[str] | None = None,
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
        Documents of which some are to stand for each component; a factorisation also shows their activations.
    names : sequence of str, optional
        Their ids.
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
    facts = gather_facts(
        estimator, data=data, names=names, titles=titles, dates=dates, groups=groups, beginnings=beginnings,
        shape=shape, title=title,
    )  # fmt: skip
    content = render(facts)
    write_atomically(Path(path), lambda file: file.write(content))


def render(facts: dict[str, Any]) -> str:
    """Return the page as HTML."""
    assets = resources.files("ssvi.report") / "assets"
    page, style = ((assets / name).read_text(encoding="utf-8") for name in ("page.html", "style.css"))
    scripts = [(assets / "scripts" / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS]
    script = '(() => {\n"use strict";\n' + "\n".join(scripts) + "})();\n"
    # Inside a script element only "<" could end the text; JSON has another way to write it.
    data = json.dumps(facts, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    title = facts["title"].replace("&", "&amp;").replace("<", "&lt;")
    parts = {"title": title, "style": style, "script": script, "data": data}
    return re.sub(r"\{\{(\w+)\}\}", lambda mark: parts[mark[1]], page)

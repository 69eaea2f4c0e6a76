"""The page, in the report's style: one file with nothing loaded from anywhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources
from typing import Any

from ssvi.report.page import as_text, asset, filled, joined_scripts


def render(model: Mapping[str, Any], most_bytes: int) -> str:
    """Return the page about a model as HTML."""
    page, style, script = (
        (resources.files("ssvi.serve") / "assets" / name).read_text(encoding="utf-8")
        for name in ("page.html", "style.css", "main.js")
    )
    facts = {**model, "most_bytes": most_bytes}
    # Inside a script element only "<" could end the text; JSON has another way to write it.
    data = json.dumps(facts, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    return filled(
        page,
        {
            "title": as_text(f"{model['name']}: what is a text about?"),
            "style": asset("base.css") + style,
            "script": joined_scripts([asset("scripts/base.js"), script]),
            "data": data,
        },
    )

"""`ssvi info`: what a model file holds."""

from __future__ import annotations

from typing import Any

import typer

from ssvi.cli import inputs
from ssvi.cli.inputs import ModelFile
from ssvi.files.look import Look

_LONGEST_LIST = 5
_NAMES = ("seed", "random_state")  # numbers that count nothing


def info(model: ModelFile, as_json: inputs.AsJson = False) -> None:
    """Print what a model file holds.

    Example: ssvi info topics.ssvi
    """
    facts = {"file": str(model), **Look.at(model).facts}
    if as_json:
        inputs.print_json(facts)
        return
    changed = facts.pop("changed_parameters", None)
    if changed is not None:
        facts["parameters"] = {name: value for name, value in facts["parameters"].items() if name in changed}
        facts["parameters"]["all others"] = "as usual (--json has them)"
    for name, value in facts.items():
        if value is not None:
            typer.echo(f"{name}: {_shown(name, value)}")


def _shown(name: str, value: Any) -> str:
    """Return a value for people: numbers of few digits, and of long lists how long they are."""
    if isinstance(value, dict):
        return "  ".join(f"{key}={_shown(key, item)}" for key, item in value.items())
    if isinstance(value, list):
        return (
            f"{len(value):,} values" if len(value) > _LONGEST_LIST else ", ".join(_shown(name, item) for item in value)
        )
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.5g}"
    if isinstance(value, int):
        return str(value) if name in _NAMES else f"{value:,}"
    text = str(value)
    return text if text.isprintable() else repr(text)

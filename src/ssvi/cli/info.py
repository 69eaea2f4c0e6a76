"""`ssvi info`: what a model file holds."""

from __future__ import annotations

import typer

from ssvi.cli import inputs
from ssvi.cli.inputs import ModelFile
from ssvi.files.look import Look


def info(model: ModelFile, as_json: inputs.AsJson = False) -> None:
    """Print what a model file holds.

    Example: ssvi info topics.ssvi
    """
    facts = {"file": str(model), **Look.at(model).facts}
    if as_json:
        inputs.print_json(facts)
        return
    for name, value in facts.items():
        shown = "  ".join(f"{key}={item}" for key, item in value.items()) if isinstance(value, dict) else value
        typer.echo(f"{name}: {shown}")

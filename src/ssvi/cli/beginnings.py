"""What a fit of topics may begin with: words that topics are to have, and another model's topics."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ssvi.cli import inputs

SeedWords = Annotated[
    Path | None,
    typer.Option(help="Words that topics are to have: a line a topic, by spaces or, where it has commas, by commas."),
]
StartFrom = Annotated[Path | None, typer.Option(help="A model file whose topics the fit begins with.")]


def read_seed_words(path: Path, encoding: str = "utf-8") -> list[list[str]]:
    """Return the words of each line of a file; an empty line is a topic without any."""
    if not path.is_file():
        raise ValueError(f"there is no file {path} of --seed-words: check the path.")
    try:
        lines = path.read_text(encoding=encoding).splitlines()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is no text in {encoding} ({error.reason}): give its --encoding.") from None
    lists = [
        [word.strip() for word in line.split(",") if word.strip()] if "," in line else line.split() for line in lines
    ]
    if not any(lists):
        raise ValueError(f"{path} has no words: give a line of them for each topic.")
    return lists


def of_topics(estimator: Any, seed_words: Path | None, start: Path | None, encoding: str) -> tuple[Any, bool]:
    """Give an estimator its seed words; return the model to start from, and whether a fit needs names of columns."""
    if seed_words is None and start is None:
        return None, False
    option = "--seed-words" if start is None else "--start"
    if not hasattr(estimator, "seed_words"):
        raise ValueError(f"{option} is for models of topics, and {estimator.name} is none: leave it out.")
    if seed_words is not None:
        estimator.set_params(seed_words=read_seed_words(seed_words, encoding))
    return None if start is None else inputs.load_model(start), True

"""How a person asked for an input to be read, which a model keeps so that nobody has to ask again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ssvi.data.readers.base import FORMATS

_COLUMNS = ("column", "id_column", "title_column", "date_column", "group_column")
_KEPT = ("format", "ending", *_COLUMNS, "delimiter")


def what_was_asked(paths: Sequence[Path], format: str | None, named: Mapping[str, str | None]) -> dict[str, str]:
    """Return the format, the columns and the delimiter that were given, as a model keeps them.

    A format is kept with how the names of the files end, if all end alike: it is for files of that kind only.
    """
    kept = {name: value for name in (*_COLUMNS, "delimiter") if (value := named.get(name)) is not None}
    endings = {_ending(path) for path in paths}
    if format is not None and len(endings) == 1:
        kept |= {"format": format, "ending": endings.pop()}
    return kept


def check_asked(kept: Any) -> None:
    """Raise a `ValueError` unless this is what `what_was_asked` returns; it may be from a file of anybody's making."""
    sound = isinstance(kept, dict) and all(
        name in _KEPT and isinstance(value, str) and (value or name == "ending") for name, value in kept.items()
    )
    if not sound or len(kept.get("delimiter", ",")) != 1 or kept.get("delimiter") in ('"', "\r", "\n"):
        raise ValueError("its reading options make no sense")
    if kept.get("format", FORMATS[0]) not in FORMATS or ("format" in kept) != ("ending" in kept):
        raise ValueError("its reading options name no format that is known")


def format_before(kept: Mapping[str, str], paths: Sequence[Path]) -> str | None:
    """Return the format that was asked for files whose names end as these do; None if there was no such."""
    return kept.get("format") if {_ending(path) for path in paths} == {kept.get("ending")} else None


def _ending(path: Path) -> str:
    """Return how a file's name ends; a folder has no ending."""
    return "" if path.is_dir() else path.suffix.lower()

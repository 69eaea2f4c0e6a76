"""Which columns of a table, or keys of JSON, hold the text and what else is known of a document."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ssvi.data.readers.base import CorpusError

TEXT_COLUMNS = ("text", "body", "abstract", "content", "document")
_USUAL = {
    "id": ("id", "name"),
    "title": ("title", "headline"),
    "date": ("date", "published", "year", "timestamp", "created"),
    "group": ("group",),
}
_MOST_NAMES, _LONGEST_NAME = 10, 40  # of columns in a message


@dataclass(frozen=True)
class Columns:
    """The columns that were asked for by name; None stands for the usual names.

    Attributes
    ----------
    text, id, title, date, group : str, optional
        The columns, or keys of JSON objects, of what they are called.
    delimiter : str, optional
        What stands between the columns of a table; by default the file's beginning tells.
    preferred : Columns, optional
        What is taken where nothing is asked for and the file has it.

    """

    text: str | None = None
    id: str | None = None
    title: str | None = None
    date: str | None = None
    group: str | None = None
    delimiter: str | None = None
    preferred: Columns | None = None

    def __post_init__(self) -> None:
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n'):
            raise CorpusError(f"a delimiter is one character, such as ';' or a tab, not {self.delimiter!r}.")

    def named(self) -> dict[str, str]:
        """Return those of ids, titles, dates and groups that were asked for by name."""
        return {field: name for field in _USUAL if (name := getattr(self, field)) is not None}

    def chosen(self, path: Path, columns: Sequence[str]) -> Chosen:
        """Return what each of a file's columns is for."""
        text = choose_column(path, columns, self._wanted("text", columns))
        asked = self.asked_for(path, columns)
        usual = {field: _usual(field, [name for name in columns if name != text]) for field in _USUAL}
        return Chosen(text, {field: name for field in _USUAL if (name := asked.get(field, usual[field])) is not None})

    def asked_for(self, path: Path, columns: Sequence[str]) -> dict[str, str]:
        """Return the columns of ids, titles, dates and groups that were asked for, or are preferred and there."""
        wanted = {field: self._wanted(field, columns) for field in _USUAL}
        return {
            field: _one_of(path, columns, name, f"{field}_column") for field, name in wanted.items() if name is not None
        }

    def _wanted(self, field: str, columns: Sequence[str]) -> str | None:
        """Return the column that was asked for, or that is preferred and there; None for the usual one."""
        asked, preferred = (getattr(own, field, None) for own in (self, self.preferred))
        return asked if asked is not None or preferred not in columns else preferred


def columns_of(named: Mapping[str, str | None], preferred: Mapping[str, str] | None = None) -> Columns:
    """Return the columns by the names that `read_corpus` has for them."""

    def made(own: Mapping[str, str | None], then: Columns | None) -> Columns:
        others = {field: own.get(f"{field}_column") for field in _USUAL}
        return Columns(own.get("column"), **others, delimiter=own.get("delimiter"), preferred=then)

    return made(named, made(preferred, None) if preferred else None)


def _usual(field: str, columns: Sequence[str]) -> str | None:
    """Return the column that sounds like a field: by its whole name, or for dates by a part of it (publish_date)."""
    own = {name.strip().lower(): name for name in reversed(columns)}
    whole = [own[name] for name in _USUAL[field] if name in own]
    if whole or field != "date":
        return whole[0] if whole else None
    parts = {name: set(re.split(r"[\W_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower())) for name in columns}
    return next((name for name in columns if parts[name] & set(_USUAL[field])), None)


@dataclass(frozen=True)
class Chosen:
    """The columns of a file: that of the text, and others by what they are for (id, title, date, group)."""

    text: str
    others: dict[str, str]


def choose_column(path: Path, columns: Sequence[str], column: str | None) -> str:
    """Return the column (or key) of the text: the one asked for, else the first that sounds like it."""
    if column is not None:
        return _one_of(path, columns, column, "column")
    for wanted in TEXT_COLUMNS:
        for name in columns:
            if name.strip().lower() == wanted:
                return name
    if len(columns) == 1:
        return columns[0]
    raise CorpusError(
        f"{path} does not tell which column holds the text: give one of its columns ({shown(columns)}) as `column`."
    )


def _one_of(path: Path, columns: Sequence[str], wanted: str, option: str) -> str:
    if wanted not in columns:
        raise CorpusError(
            f"{path} has no column {wanted!r}{_near(wanted, columns)}: give one of its columns ({shown(columns)}) as "
            f"`{option}`."
        )
    return wanted


def _near(wanted: str, columns: Sequence[str]) -> str:
    """Return a question if a column is called nearly so; capital letters and spaces around it make no difference."""
    plain = {name.strip().lower(): name for name in reversed(columns)}
    near = difflib.get_close_matches(wanted.strip().lower(), plain, n=1)
    return f" (did you mean {plain[near[0]]!r}?)" if near else ""


def shown(columns: Sequence[str]) -> str:
    """Return the names of columns for messages: the first, each of them short."""
    have = ", ".join(repr(name[:_LONGEST_NAME]) for name in columns[:_MOST_NAMES]) or "none"
    return have + (", ..." if len(columns) > _MOST_NAMES else "")


class Gathered:
    """What is known of the documents of one source, in lists that grow while they are read."""

    def __init__(self) -> None:
        self.lists: dict[str, list[str]] = {field: [] for field in _USUAL}
        self.number = 0
        """How many documents there are so far."""

    def fields(self, chosen: Chosen) -> list[tuple[list[str], str]]:
        """Return the lists to fill, each with the column that it is filled from."""
        return [(self.lists[field], column) for field, column in chosen.others.items()]

"""JSON: an object a line, or an array of objects or texts; neither is ever whole in memory."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from ssvi.data.readers.columns import Chosen, Columns, Gathered
from ssvi.data.readers.lines import LONGEST_TEXT, Source

_MORE = 1 << 16  # characters read at a time
_NEAR = 12  # an error so near to the end of what was read may be that more is to come
_SPACES = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def json_documents(source: Source, columns: Columns, encoding: str, gathered: Gathered) -> Iterator[str]:
    """Yield the texts of JSON objects, or of an array of texts; `gathered` is filled while they are read."""
    in_array = source.first_character(encoding) == "["
    records = _Array(source, encoding).elements() if in_array else _lines(source, encoding)
    what = "element" if in_array else "line"
    chosen: Chosen | None = None
    fields: list[tuple[list[str], str]] = []
    for record in records:
        if in_array and isinstance(record, str):
            yield record
            continue
        if not isinstance(record, dict):
            raise source.fault(f'this is no JSON object such as {{"text": "..."}}: mend the {what} or remove it.')
        if chosen is None:
            chosen = columns.chosen(source.path, list(record))
            fields = gathered.fields(chosen)
        if chosen.text not in record:
            raise source.fault(f"there is no key {chosen.text!r}: add it or remove the {what}.")
        text = record[chosen.text]
        if not isinstance(text, str | None):
            raise source.fault(f"the value of {chosen.text!r} is no text: mend it, or give another key as `column`.")
        for values, key in fields:
            value = record.get(key)
            values.append("" if value is None else str(value))
        yield text or ""


def _lines(source: Source, encoding: str) -> Iterator[Any]:
    for line in source.text(encoding):
        if not line.strip():
            continue
        try:
            yield json.loads(line)
        except (ValueError, RecursionError) as error:
            raise source.fault(f"this is not JSON ({_trouble(error)}): {_advice(source, line)}.") from error


def _trouble(error: Exception) -> str:
    return error.msg if isinstance(error, json.JSONDecodeError) else "a number or a nesting is too long"


def _advice(source: Source, line: str) -> str:
    if source.number == 1 and line.strip() == "{":
        return "put each object on a line of its own, or all of them into an array"
    return "mend the line or remove it"


class _Array:
    """An array of which a piece is in memory at a time."""

    def __init__(self, source: Source, encoding: str) -> None:
        self._source = source
        self._pieces = source.pieces(encoding, _MORE)
        self._text, self._place = "", 0

    def elements(self) -> Iterator[Any]:
        """Yield the elements; `source.number` is the line on which the last one begins."""
        self._source.number = 1
        self._take("[")
        if self._next() == "]":
            self._take("]")
        else:
            yield self._value()
            while self._next() == ",":
                self._take(",")
                self._next()
                yield self._value()
            self._take("]")
        if self._next():
            raise self._source.fault("there is something behind the end of the array: remove it.")

    def _next(self) -> str:
        """Go over spaces and return the next character, "" at the end."""
        while True:
            spaces = _SPACES.match(self._text, self._place)
            assert spaces is not None
            self._go_to(spaces.end())
            if self._place < len(self._text):
                return self._text[self._place]
            if not self._more():
                return ""

    def _take(self, wanted: str) -> None:
        found = self._next()
        if found != wanted:
            shown = f"{found!r} stands" if found else "the file ends"
            raise self._source.fault(f"this is not JSON ({shown} where {wanted!r} should be): mend it.")
        self._go_to(self._place + 1)

    def _value(self) -> Any:
        """Return the value that begins here; more is read, twice as much every time, until it is complete."""
        number, pieces = self._source.number, 1
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._place)
                if end < len(self._text) or not self._more():  # a number may go on behind what was read
                    break
            except json.JSONDecodeError as error:
                complete = error.pos < len(self._text) - _NEAR and not error.msg.startswith("Unterminated")
                if complete or not self._more(pieces):
                    raise self._not_json(error, number) from error
                pieces *= 2
            except (ValueError, RecursionError) as error:
                raise self._not_json(error, number) from error
            if len(self._text) - self._place >= LONGEST_TEXT:
                raise self._source.too_long("element", number)
        self._pending = self._text.count("\n", self._place, end)
        self._place = end
        return value

    def _not_json(self, error: Exception, number: int) -> Exception:
        return self._source.fault(f"this is not JSON ({_trouble(error)}): mend the array.", number)

    _pending = 0
    """Lines that the last value went over: it keeps the number of its first until what is behind it is looked at."""

    def _go_to(self, place: int) -> None:
        self._source.number += self._pending + self._text.count("\n", self._place, place)
        self._pending, self._place = 0, place

    def _more(self, pieces: int = 1) -> bool:
        """Read on, and forget what was used; tell whether there was anything."""
        found = [piece for _, piece in zip(range(pieces), self._pieces, strict=False)]
        self._text, self._place = self._text[self._place :] + "".join(found), 0
        return bool(found)

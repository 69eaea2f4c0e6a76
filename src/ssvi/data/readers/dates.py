"""Dates as people write them, as 2024, 2024-05 or 2024-05-31."""

from __future__ import annotations

import datetime
import email.utils
import re
from collections.abc import Iterable, Sequence

_MONTHS = {
    name[:3]: number
    for number, name in enumerate(
        ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
         "december"), 1,
    )
}  # fmt: skip
_ISO = re.compile(r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2})(?:[T ].*)?)?)?")
_PACKED = re.compile(r"(\d{4})(\d{2})(\d{2})")
_SECONDS = re.compile(r"(\d{10})(?:\d{3})?(?:\.\d+)?")  # since 1970, or thousandths
_SLASHED = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(?:[T ,].*)?")
_NAMED = re.compile(r"(?:(\d{1,2})(?:st|nd|rd|th)?\.?\s+)?([a-z]{3,9})\.?\s+(?:(\d{1,2})(?:st|nd|rd|th)?,?\s+)?(\d{4})")


def plain_dates(texts: Sequence[str], what: str = "date") -> tuple[tuple[str, ...], list[str]]:
    """Return dates in one form, "" for what is none, and what to tell a person of those.

    Of 3/5/1999 the other dates tell whether the day or the month comes first; where they do not, it is none.

    >>> plain_dates(["May 3, 1999", "3/31/2001", "4/5/2001", "Sun, 06 Nov 1994 08:49:37 GMT", "some day"])[0]
    ('1999-05-03', '2001-03-31', '2001-04-05', '1994-11-06', '')
    """
    order = DayFirst()
    order.see(texts)
    found = tuple(order.plain(text) for text in texts)
    lost = [text for text, own in zip(texts, found, strict=True) if text.strip() and not own]
    if not lost or len(lost) == sum(1 for text in texts if text.strip()):
        return found, [f"no {what} could be read, such as {lost[0][:40]!r}: write dates as 2024-05-31."] if lost else []
    return found, [f"{len(lost):,} dates could not be read, such as {lost[0][:40]!r}: write dates as 2024-05-31."]


class DayFirst:
    """Which comes first in dates such as 3/5/1999: learned from all dates, however many times some are shown."""

    def __init__(self) -> None:
        self._days = self._months = False

    def see(self, texts: Iterable[str]) -> None:
        """Look at some dates."""
        for text in texts:
            if match := _SLASHED.fullmatch(text.strip()):
                self._days |= int(match[1]) > 12
                self._months |= int(match[3]) > 12

    def plain(self, text: str) -> str:
        """Return a date in its one form, "" for what is none."""
        return _plain(text.strip(), None if self._days == self._months else self._days)


def _plain(text: str, day_first: bool | None) -> str:
    if match := _ISO.fullmatch(text):
        return _made(match[1], match[2], match[3])
    if match := _PACKED.fullmatch(text):
        return _made(*match.groups())
    if match := _SECONDS.fullmatch(text):
        return datetime.datetime.fromtimestamp(int(match[1]), datetime.UTC).date().isoformat()
    if match := _SLASHED.fullmatch(text):
        first = True if match[2] == "." else day_first  # which is written with the day first only
        if first is None:
            return ""
        return _made(match[4], *((match[3], match[1]) if first else (match[1], match[3])))
    if (match := _NAMED.fullmatch(text.lower())) and match[2][:3] in _MONTHS:
        return _made(match[4], str(_MONTHS[match[2][:3]]), match[1] or match[3])
    mail = email.utils.parsedate(text)
    return "" if mail is None else _made(*map(str, mail[:3]))


def _made(year: str, month: str | None = None, day: str | None = None) -> str:
    """Return a date of which month and day may be missing, "" if there is no such day."""
    try:
        whole = datetime.date(int(year), int(month or 1), int(day or 1)).isoformat()
    except ValueError:
        return ""
    return whole[: 10 if day else 7 if month else 4]

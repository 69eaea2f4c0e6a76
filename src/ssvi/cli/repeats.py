"""What is said of documents that repeat others: copies, and lines that stand in many of them."""

from __future__ import annotations

from textwrap import shorten
from typing import Any

_MANY_COPIES = 0.01  # of the documents are worth a note before the fit; the summary has them all
_MOST_LETTERS = 70  # of a line that is quoted


def repeats_in_facts(corpus: Any) -> dict[str, Any]:
    """Return what a text repeats, as plain values; nothing of what is no text."""
    found = corpus.repeats
    if found is None:
        return {}
    taken_out = corpus.text is not None and bool(corpus.text.repeated)
    lines = corpus.text.repeated if taken_out else ()
    told = [{"text": line, "share": round(share, 3)} for line, share in found.lines]
    return {
        "copies": found.copies,
        "copies_left_out": found.left_out,
        "repeated": [{"text": line} for line in lines] if taken_out else told,
        "repeated_left_out": taken_out,
    }


def has_repeated(read: dict[str, Any]) -> bool:
    """Tell whether lines that stand in many documents are still there."""
    return bool(read.get("repeated")) and not read["repeated_left_out"]


def notes_on_repeats(corpus: Any) -> list[str]:
    """Return a sentence about copies and one about lines that stand in many documents, if they are still there."""
    read, n = repeats_in_facts(corpus), len(corpus.documents)
    notes = []
    if read.get("copies", 0) >= max(2, _MANY_COPIES * n) and not read["copies_left_out"]:
        notes.append(
            f"{read['copies']:,} of {n:,} documents are exact copies of others, and what they are about counts too "
            "much: --drop-copies leaves them out."
        )
    if has_repeated(read):
        first, others = read["repeated"][0], len(read["repeated"]) - 1
        more = f", and {others} other line{'s' if others > 1 else ''} in a tenth or more" if others else ""
        notes.append(
            f"{_quoted(first['text'])} stands in {_about(first['share'])} of the documents{more}: such lines make "
            "topics of their own, and --drop-repeated takes them out."
        )
    return notes


def repeats_in_words(read: dict[str, Any]) -> str:
    """Return what is repeated, or no longer is, as parts of a sentence that each begin with a comma."""
    said = ""
    if read.get("copies"):
        count = read["copies"]
        copies, others = ("an exact copy", "another") if count == 1 else ("exact copies", "others")
        left_out = f"{count:,} {copies.removeprefix('an ')} left out"
        said += f", {left_out if read['copies_left_out'] else f'{count:,} of them {copies} of {others}'}"
    if read.get("repeated"):
        count = len(read["repeated"])
        lines = f"{count} line{'s' if count > 1 else ''} or sentence{'s' if count > 1 else ''}"
        where = "taken out that many have" if read["repeated_left_out"] else "in a tenth of them or more"
        said += f", {lines} {where}"
    return said


def _about(share: float) -> str:
    """Say a share that was found in a sample of the documents."""
    return f"about {share:.0%}" if share < 1.0 else "all or nearly all"


def _quoted(line: str) -> str:
    return f'"{shorten(line, _MOST_LETTERS, placeholder=" …")}"'

"""Wiki markup to plain text, well enough for a bag of words and in time proportional to the text's length.

No templates are expanded: what a template would print is left out with it.
"""

from __future__ import annotations

import html
import re

# Elements whose content is no prose of the article.
_DROPPED = (
    *("ref", "references", "math", "chem", "ce", "gallery", "timeline", "syntaxhighlight", "source", "score"),
    *("imagemap", "hiero", "graph", "mapframe", "maplink", "style"),
)
_DROPPED_START = re.compile(rf"<!--|<({'|'.join(_DROPPED)})(?=[\s/>])[^<>]*>", re.IGNORECASE)
# A second start before the end means that the first was never ended: the text between them is the article's.
_DROPPED_END = {
    name: re.compile(rf"(</{name}\s*+>)|<{name}(?=[\s>])[^<>]*+(?<!/)>", re.IGNORECASE) for name in _DROPPED
} | {"<!--": re.compile("(-->)")}

# Tables start and end at the beginning of a line; elsewhere "|}" is the end of a template's empty argument. Each
# alternative starts with a plain character, which is faster than "^", so the text itself must start with a new line.
_BRACKET = re.compile(
    r"(?P<link>\[\[(?P<target>[^\[\]{}|\n]*+)(?:\|(?!\]\]))?)|(?P<link_end>\]\])"
    r"|(?P<template>\{\{)|(?P<template_end>\}\})"
    r"|(?P<table>\n[ \t:]*+\{\|)|(?P<table_end>\n[ \t]*+\|\}(?!\}))"
)
_DROPPED_NAMESPACES = {"file", "image", "category", "media"}
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z]+)*")

_JOINED = re.compile(r"'{2,}|__[A-Z]++__")  # bold and italics, behaviour switches
_ADDRESS = re.compile(r"\b(?:(?:https?|ftps?|ircs?|news|git|svn)://|mailto:)[^\s\[\]<>]*+", re.IGNORECASE)
_PARTED = re.compile(
    r"</?[a-z][^<>]*+>|\[//[^\s\[\]<>]*+"  # HTML tags, addresses without a protocol
    r"|={2,}+|\n[*#:;]++|[\[\]{}|]++"  # headings, lists, brackets left over
    r"|&\#x?[0-9a-f]{9,}+;?",  # no character has so long a number, and Python refuses to read the longest
    re.IGNORECASE,
)


def plain_text(markup: str) -> str:
    """Return the words that a reader of an article sees, without its markup, on one line.

    Left out are comments, references, formulas, galleries, source code, tables, templates, and links to files,
    categories and other languages; of other links the label stays. A bracket that nothing closes takes no text with it.

    Examples
    --------
    >>> plain_text("A '''dog''' is a [[Canidae|canid]]{{efn|See [[Wolf]].}} and a [[pet]]s' friend.<ref>[1]</ref>")
    "A dog is a canid and a pets' friend."

    """
    text = _without_brackets("\n" + _without_elements(markup))
    text = _PARTED.sub(" ", _ADDRESS.sub(" ", _JOINED.sub("", text)))
    return " ".join(html.unescape(text).split())


def _without_elements(markup: str) -> str:
    """Leave out comments and the elements that are dropped with their content."""
    kept: list[str] = []
    endless: set[str] = set()  # kinds with no end in the rest of the text, which is thus searched once a kind
    position = 0
    while start := _DROPPED_START.search(markup, position):
        kept.append(markup[position : start.start()])
        position = start.end()
        kind = (start[1] or start[0]).lower()
        if kind != "<!--":
            kept.append(" ")
        if start[0].endswith("/>") or kind in endless:
            continue
        end = _DROPPED_END[kind].search(markup, position)
        if end is None:
            endless.add(kind)
        elif end[1]:
            position = end.end()
    kept.append(markup[position:])
    return "".join(kept)


def _without_brackets(text: str) -> str:
    """Leave out templates, tables and links to files and the like, and put labels for other links.

    An end closes the innermost bracket of its kind; brackets opened inside that one and still open are ignored.
    """
    kept: list[str] = []
    waiting: list[tuple[str, int | None]] = []  # the kind of an open bracket, and where to cut if it is dropped
    open_brackets = {"link": 0, "template": 0, "table": 0}
    position = 0
    for bracket in _BRACKET.finditer(text):
        kept.append(text[position : bracket.start()])
        position = bracket.end()
        token = str(bracket.lastgroup)
        kind = token.removesuffix("_end")
        if token == kind:
            target = bracket["target"] or ""
            labelled = bracket[0].endswith("|")
            dropped = kind != "link" or _is_dropped_link(target, labelled)
            waiting.append((kind, len(kept) if dropped else None))
            open_brackets[kind] += 1
            if kind == "link" and not labelled:
                kept.append(target)
        elif open_brackets[kind]:
            cut = _close(kind, waiting, open_brackets)
            if cut is not None:
                kept[cut:] = [" "]
    kept.append(text[position:])
    return "".join(kept)


def _close(kind: str, waiting: list[tuple[str, int | None]], open_brackets: dict[str, int]) -> int | None:
    """Take the innermost bracket of a kind, and those inside it, off the open ones; return where to cut."""
    while True:
        innermost, cut = waiting.pop()
        open_brackets[innermost] -= 1
        if innermost == kind:
            return cut


def _is_dropped_link(target: str, labelled: bool) -> bool:
    prefix, colon, _ = target.partition(":")
    if not colon:
        return False
    # In older dumps an article's bottom has a link to it in each other language, shown beside the article.
    return prefix.strip().lower() in _DROPPED_NAMESPACES or (not labelled and bool(_LANGUAGE.fullmatch(prefix)))

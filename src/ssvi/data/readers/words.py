"""From one text to its words: what is taken out before, where words begin and end, and which are left out."""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Callable, Sequence
from typing import Any

from ssvi.data.readers.base import CorpusError
from ssvi.data.readers.languages import segmenter
from ssvi.data.readers.options import TextOptions, Tokenizer
from ssvi.data.readers.repeats import without_lines

# What is not closed goes on to the end: looking for the end once, and not from every beginning, takes linear time.
_HTML = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)|</?([a-z][a-z0-9]*)\b[^<>]*>|<[!?][^<>]*>",
    re.DOTALL | re.IGNORECASE,
)
_INSIDE_WORDS = frozenset(
    ["a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "del", "dfn", "em", "font", "i", "ins", "kbd", "mark", "q",
     "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "tt", "u", "var", "wbr"]
)  # fmt: skip
_TAG = re.compile(r"</?(?:a|b|br|div|em|h[1-6]|i|img|li|ol|p|span|strong|table|td|tr|ul)\b[^<>]*>|&(?:nbsp|amp|quot);")
_NUMBER = re.compile(r"[\d_]+")


def strip_html(text: str) -> str:
    """Return a text without tags, scripts, styles and comments, and with the characters that entities stand for.

    >>> strip_html("<p>Fish &amp; <b>ch</b>ips<br/>today</p>").split()
    ['Fish', '&', 'chips', 'today']
    """
    return html.unescape(_HTML.sub(_instead, text))


def _instead(match: re.Match[str]) -> str:
    return "" if (match[2] or "").lower() in _INSIDE_WORDS else " "


def looks_like_html(texts: Sequence[str]) -> bool:
    """Tell whether a tenth of some texts have tags in them."""
    return 10 * sum(_TAG.search(text) is not None for text in texts) > len(texts) > 0


def cleaner(options: TextOptions) -> Callable[[str], str] | None:
    """Return what is done to a text before it is cut into words, None if nothing is."""
    steps: list[Callable[[str], str]] = [strip_html] if options.strip_html else []
    if options.repeated:
        steps.append(without_lines(options.repeated))
    if options.lowercase:
        steps.append(str.lower)
    if len(steps) < 2:
        return steps[0] if steps else None
    return lambda text: functools.reduce(lambda made, step: step(made), steps, text)


def tokenizer(options: TextOptions) -> Tokenizer | None:
    """Return what cuts a clean text into words, None if that is the token pattern alone."""
    if options.tokenizer is not None:
        return _checked(options.tokenizer)
    if options.segment is not None:
        segments, is_word = segmenter(options.segment), re.compile(options.token_pattern).fullmatch
        return lambda text: [word for word in segments(text) if is_word(word)]
    return None


def without_numbers(cut: Tokenizer, wanted: frozenset[str]) -> Tokenizer:
    """Return a tokeniser that leaves out words of digits, but for those that are wanted."""
    is_number = _NUMBER.fullmatch
    return lambda text: [word for word in cut(text) if not is_number(word) or word in wanted]


def analyzer(
    cut: Tokenizer, clean: Callable[[str], str] | None, stop_words: frozenset[str]
) -> Callable[[str], Sequence[str]]:
    """Return what makes a text the words that are counted: clean, cut, and without stop words."""
    if clean is str.lower:  # the usual case, and documents may be short: one call less for each
        return lambda text: [word for word in cut(text.lower()) if word not in stop_words]
    if clean is None:
        return lambda text: [word for word in cut(text) if word not in stop_words]
    return lambda text: [word for word in cut(clean(text)) if word not in stop_words]


def is_left_out(options: TextOptions) -> Callable[[str], bool]:
    """Return what tells words that are left out: stop words, and numbers if they are."""
    stop_words, wanted = options.words_to_leave_out(), frozenset(options.vocabulary or ())
    if options.numbers:
        return stop_words.__contains__
    return lambda word: word in stop_words or (_NUMBER.fullmatch(word) is not None and word not in wanted)


def _checked(own: Tokenizer) -> Tokenizer:
    def cut(text: str) -> Sequence[str]:
        words: Any = own(text)
        if isinstance(words, str) or not all(isinstance(word, str) for word in words):
            raise CorpusError(f"the tokenizer gave {str(words)[:60]!r}, which is no list of words.")
        return list(words)

    return cut

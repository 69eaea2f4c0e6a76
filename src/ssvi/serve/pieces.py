"""A text in pieces: the words that a model knows, and what stands between them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from ssvi.data.readers import TextOptions
from ssvi.data.readers.words import is_left_out, strip_html, tokenizer


def cut_at_terms(text: str, options: TextOptions, terms: Collection[str]) -> list[tuple[str, str | None]]:
    """Return a text cut into pieces, each with the term that it is, or None; joined they are the text.

    Words are found as they were counted, without HTML if that is left out. A term of several words, the longest first,
    is the text from its first word to its last.

    >>> cut_at_terms("Oil, New York!", TextOptions(), ["oil", "new york"])
    [('Oil', 'oil'), (', ', None), ('New York', 'new york'), ('!', None)]
    """
    shown = strip_html(text) if options.strip_html else text
    known, pieces, done = frozenset(terms), list[tuple[str, str | None]](), 0
    longest = 1 + max((term.count(" ") for term in known), default=0)
    places = list(_places(shown, options))
    number = 0
    while number < len(places):
        for count in range(min(longest, len(places) - number), 0, -1):
            term = " ".join(word for word, _, _ in places[number : number + count])
            if term in known:
                start, end = places[number][1], places[number + count - 1][2]
                pieces += [(shown[done:start], None)] * (start > done) + [(shown[start:end], term)]
                done = end
                break
        else:
            count = 1
        number += count
    return pieces + [(shown[done:], None)] * (done < len(shown))


def _places(shown: str, options: TextOptions) -> Iterator[tuple[str, int, int]]:
    """Yield the words of a text that are counted, each with where it begins and ends."""
    # Letter by letter, since some letters become two: places must stay what they are.
    clean = "".join(map(_lowered, shown)) if options.lowercase else shown
    left_out, cut = is_left_out(options), tokenizer(options)
    if cut is None:
        found = (
            (match.group(match.re.groups and 1), *match.span()) for match in re.finditer(options.token_pattern, clean)
        )
        yield from (place for place in found if not left_out(place[0]))
        return
    done = 0
    for word in cut(clean):
        start = clean.find(word, done)
        if start >= 0:
            done = start + len(word)
            if not left_out(word):
                yield word, start, done


def _lowered(letter: str) -> str:
    lower = letter.lower()
    return lower if len(lower) == 1 else letter

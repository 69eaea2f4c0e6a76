"""What is meant by what a person names: topics by number or label, documents by number, id or title, words."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from textwrap import shorten
from typing import Any

from ssvi.cli.display import say_notes
from ssvi.cli.reading import Reading
from ssvi.files.models import vocabulary_of

_MOST_NAMED = 5  # of several that may be meant
_TITLE = 60  # letters of a title in a sentence


def topics_named(texts: Sequence[str], labels: Mapping[int, str], noun: str, model: Any) -> list[int]:
    """Return the numbers of topics that are named by their numbers or labels, several of them by commas."""
    found = [number for text in texts for number in _topics(text, labels, noun, model)]
    return list(dict.fromkeys(found))


def _topics(text: str, labels: Mapping[int, str], noun: str, model: Any) -> list[int]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(part.isdecimal() for part in parts):
        alike = _labelled(text, labels)
        if alike or len(parts) < 2:
            return [_only(text, alike, labels, noun, model)]
    return [_topic(part, labels, noun, model) for part in parts]


def _topic(text: str, labels: Mapping[int, str], noun: str, model: Any) -> int:
    if not text.isdecimal():
        return _only(text, _labelled(text, labels), labels, noun, model)
    if int(text) not in labels:
        raise ValueError(
            f"there is no {noun} {text} in use: `ssvi topics {model}` lists those from 0 to {max(labels)}."
        )
    return int(text)


def _labelled(text: str, labels: Mapping[int, str]) -> list[int]:
    """Return the topics whose label is a text, else those that have it as a word, else as a part."""
    wanted = text.strip().lower()
    lower = {number: label.lower() for number, label in labels.items()}
    own = [number for number, label in lower.items() if label == wanted]
    words = [number for number, label in lower.items() if wanted in label.replace(",", " ").split()]
    return own or words or [number for number, label in lower.items() if wanted and wanted in label]


def _only(text: str, alike: Sequence[int], labels: Mapping[int, str], noun: str, model: Any) -> int:
    if len(alike) == 1:
        return alike[0]
    if not alike:
        raise ValueError(f"no {noun} has {text!r} in its label: name it by a number that `ssvi topics {model}` lists.")
    some = "; ".join(f"{number} ({labels[number]})" for number in alike[:_MOST_NAMED])
    more = ", ..." if len(alike) > _MOST_NAMED else ""
    raise ValueError(f"{len(alike)} {noun}s have {text!r} in their labels: name one by its number, of {some}{more}.")


def document_named(text: str, corpus: Any) -> int:
    """Return the row of a document that is named by its number, counted from 1, by its id, or by its title."""
    row = _row(text.strip(), corpus)
    if not corpus.documents.lengths()[row]:
        raise ValueError(f"document {row + 1} has no words of the model, so nothing can be said to be like it.")
    return row


def _row(text: str, corpus: Any) -> int:
    ids, titles = corpus.info.ids or (), [title.strip().lower() for title in corpus.info.titles or ()]
    number = text.replace(",", "")  # as tables on a terminal have it: 3,660
    if number.isdecimal() and 1 <= int(number) <= len(corpus.documents):
        return int(number) - 1
    if text in ids:
        return int(ids.index(text))
    alike = [row for row, title in enumerate(titles) if title == text.lower()]
    if len(alike) == 1:
        return alike[0]
    raise ValueError(_which_document(text, alike, titles, corpus))


def _which_document(text: str, alike: Sequence[int], titles: Sequence[str], corpus: Any) -> str:
    """Return what to say where a text names no document, or several."""
    if alike:
        numbers = ", ".join(str(row + 1) for row in alike[:_MOST_NAMED])
        return f"{len(alike)} documents have the title {text!r}: name one by its number ({numbers}, ...)."
    is_title = bool(text) and not text.replace(",", "").isdecimal()
    within = [row for row, title in enumerate(titles) if is_title and text.lower() in title]
    if within:
        some = "; ".join(
            f"{row + 1} ({shorten(corpus.info.titles[row], _TITLE, placeholder=' …')})" for row in within[:_MOST_NAMED]
        )
        more = f" and {len(within) - _MOST_NAMED:,} more" if len(within) > _MOST_NAMED else ""
        return f"no document has the title {text!r}, but it is part of some: name one by its number, {some}{more}."
    known = [word for word, has in (("its id", corpus.info.ids), ("its title", titles)) if has]
    others = f" or by {' or '.join(known)}" if known else "; --id-column or --title-column give them names"
    return f"there is no document {text}: --like names one of 1 to {len(corpus.documents):,} by its number{others}."


def words_named(search: str, estimator: Any, reading: Reading, *, quiet: bool) -> list[int]:
    """Return the columns of the words that are looked for, read as the model reads text."""
    from ssvi.data.readers.base import CorpusError
    from ssvi.data.readers.counting import count_words

    words = vocabulary_of(estimator)
    if words is None:
        raise ValueError("this model has no words, so there is nothing to --search by.")
    try:
        columns = [int(column) for column in count_words("--search", iter([search]), reading.text).documents.words]
    except CorpusError:
        raise ValueError(_without_words(search, words, reading.text.words_to_leave_out())) from None
    found = {part for column in columns for part in words[column].lower().split()} | reading.text.words_to_leave_out()
    missing = [word for word in search.lower().split() if word not in found]
    if missing:
        named = ", ".join(map(repr, missing))
        say_notes([f"the model does not have {named}{_near(missing, words)}."], quiet=quiet)
    return columns


def _without_words(search: str, words: Sequence[str], left_out: Collection[str]) -> str:
    """Return what to say where the model has none of the words that are looked for."""
    asked = search.lower().split()
    stop_words, missing = [word for word in asked if word in left_out], [word for word in asked if word not in left_out]
    if not stop_words:
        return f"the model has none of the words of {search!r}{_near(missing, words)}."
    are = "is a stop word" if len(stop_words) == 1 else "are stop words"
    told = f"{', '.join(map(repr, stop_words))} {are}, which the model leaves out"
    if missing:
        return f"{told}, and it does not have {', '.join(map(repr, missing))}{_near(missing, words)}."
    return f"{told}: search for words that say what a document is about."


def _near(missing: Sequence[str], words: Sequence[str]) -> str:
    """Return which words look like some that are missing, after a semicolon."""
    near = [near for word in missing for near in difflib.get_close_matches(word.lower(), words, n=1)]
    return f"; it has {', '.join(map(repr, near))}" if near else ""

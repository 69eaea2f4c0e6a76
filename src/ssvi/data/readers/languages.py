"""What depends on the language of a text: stop words, and words where no spaces are written."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from ssvi.data.readers.base import CorpusError

LANGUAGES = (
    "english", "bulgarian", "catalan", "czech", "danish", "dutch", "finnish", "french", "german", "greek", "hungarian",
    "italian", "norwegian", "polish", "portuguese", "romanian", "russian", "slovak", "spanish", "swedish", "turkish",
    "ukrainian", "arabic", "chinese", "hebrew", "hindi", "indonesian", "japanese", "korean", "persian", "vietnamese",
)  # fmt: skip
"""Languages that have a list of stop words; that of English needs no other package."""

SEGMENTED = ("chinese", "japanese")
"""Languages written without spaces that text can be cut into words of."""

_NO_SPACES = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")  # kana, and Chinese characters
_SIGNS = 8  # words that tell a language
_PACKAGES = {"chinese": "rjieba", "japanese": "fugashi"}


PIECES = {
    "english": frozenset(
        ["ain", "aren", "couldn", "didn", "doesn", "don", "hadn", "hasn", "haven", "isn", "ll", "mightn", "mustn",
         "needn", "oughtn", "re", "shouldn", "ve", "wasn", "weren", "wouldn"]
    ),
}  # fmt: skip
"""What a language's contractions leave of themselves where text is cut at apostrophes: "don" of "don't".

"won" is none of them, since it is a word besides."""

PIECES_OF_NUMBERS = frozenset(["00", "000"])
"""What is left of 10,000 and of 9:00."""


def is_language(name: str) -> bool:
    """Tell whether there are stop words of a language."""
    return name in LANGUAGES


@cache
def stop_words_of(language: str, token_pattern: str = r"(?u)\b\w\w+\b") -> frozenset[str]:
    """Return the stop words of a language, and the pieces that text cuts them into: "n'est" is there as "est" too."""
    if language == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    lists = _import("stop_words", f"stop words of {language}", "languages")
    words = lists.get_stop_words(language)
    pieces = re.compile(token_pattern)
    return frozenset(words) | {piece for word in words for piece in pieces.findall(word)}


def likely_language(frequent: Sequence[str]) -> str | None:
    """Return the language that some of a text's most frequent words are stop words of; None if there is no sign of one.

    English text has two or three words among forty that are stop words elsewhere. Without the package of lists it is
    not known.
    """
    if importlib.util.find_spec("stop_words") is None:
        return None
    found = {name: len(stop_words_of(name).intersection(frequent)) for name in LANGUAGES if name != "english"}
    best = max(found, key=lambda name: found[name])
    return best if found[best] >= _SIGNS else None


def segmenter(language: str) -> Callable[[str], Sequence[str]]:
    """Return what cuts a text of a language into words, marks and spaces."""
    package = _import(_PACKAGES[language], f"cutting {language.title()} text into words", language)
    if language == "chinese":
        cut: Callable[[str], Sequence[str]] = package.cut
        return cut
    try:
        tagger = package.Tagger()
    except RuntimeError as error:
        raise CorpusError(
            "cutting Japanese text into words needs a dictionary: pip install 'ssvi[japanese]'."
        ) from error
    return lambda text: [word.surface for word in tagger(text)]


def has_no_spaces(words: Sequence[str], weights: Sequence[float]) -> bool:
    """Tell whether a good part of words, by their weights, are of languages that are written without spaces."""
    if "".join(words).isascii():
        return False
    own = sum(weight for word, weight in zip(words, weights, strict=True) if _NO_SPACES.search(word))
    return own > 0.3 * sum(weights)


def _import(module: str, what: str, extra: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise CorpusError(f"{what} needs a package that is not here: pip install 'ssvi[{extra}]'.") from error

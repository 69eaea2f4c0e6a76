"""How text becomes words: the options, and what a model keeps of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ssvi.data.readers.base import CorpusError
from ssvi.data.readers.languages import PIECES, PIECES_OF_NUMBERS, SEGMENTED, is_language, stop_words_of
from ssvi.data.readers.phrases import FoundPhrases, PhraseRule

LONGEST_RUN = 20  # words of a term
_MOST_PHRASES = 1_000_000  # that a model file may hold

Tokenizer = Callable[[str], Sequence[str]]
"""From a text to its words."""


@dataclass(frozen=True)
class TextOptions:
    """How text becomes words, as scikit-learn's CountVectorizer has it, and what is done to the text before.

    Attributes
    ----------
    lowercase : bool
        Whether upper and lower case are the same.
    stop_words : str, tuple of str, or None
        Words to leave out: a language ("english", or with `ssvi[languages]` "german", "french", ...), or words. A given
        vocabulary goes before: its words are counted even if they are stop words.
    more_stop_words : tuple of str
        Further words to leave out.
    pieces : bool
        Whether what is left of a contraction or a number that was cut is a word: "don" of "don't", "000" of "10,000".
        Without, those of contractions go where the stop words are a language that has a list of them (English).
    ngram_range : (int, int)
        The fewest and the most words that make one term.
    min_df, max_df : int or float
        In how many documents a word must and may occur; floats are shares of the documents.
    max_features : int, optional
        How many words to keep, the most frequent ones.
    token_pattern : str
        The regular expression of a word.
    vocabulary : tuple of str, optional
        The words to count, in the order of the columns; `min_df`, `max_df` and `max_features` then do nothing.
    strip_html : bool
        Whether tags, scripts, styles and comments of HTML are taken out, and entities become their characters.
    numbers : bool
        Whether numbers are words: those without them leave out words that have digits and no letters.
    segment : "chinese" or "japanese", optional
        Cut text that is written without spaces into words, by a dictionary (`ssvi[chinese]`, `ssvi[japanese]`).
    tokenizer : function, optional
        A tokeniser of one's own, from a text to its words, in place of `token_pattern`. A model file cannot hold it.
    phrases : PhraseRule or FoundPhrases, optional
        Words that stand together more often than by chance become one term; those found already are taken as they are.
    drop_copies : bool
        Whether documents that are exact copies of earlier ones are left out.
    drop_repeated : bool
        Whether lines and sentences that stand in many documents are looked for and taken out; files are read twice.
    repeated : tuple of str
        Lines and sentences to take out, such as those that were found.

    """

    lowercase: bool = True
    stop_words: str | tuple[str, ...] | None = "english"
    ngram_range: tuple[int, int] = (1, 1)
    min_df: int | float = 1
    max_df: int | float = 1.0
    max_features: int | None = None
    token_pattern: str = r"(?u)\b\w\w+\b"
    vocabulary: tuple[str, ...] | None = None
    strip_html: bool = False
    numbers: bool = True
    segment: str | None = None
    tokenizer: Tokenizer | None = None
    phrases: PhraseRule | FoundPhrases | None = None
    more_stop_words: tuple[str, ...] = ()
    pieces: bool = True
    drop_copies: bool = False
    drop_repeated: bool = False
    repeated: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.stop_words, str) and not is_language(self.stop_words):
            raise ValueError(
                f"stop_words must be a language such as 'english', a tuple of words or None, not {self.stop_words!r}."
            )
        try:
            re.compile(self.token_pattern)
        except re.error as error:
            raise ValueError(f"token_pattern {self.token_pattern!r} is no regular expression: {error}.") from error
        if self.segment is not None and self.segment not in SEGMENTED:
            raise ValueError(f"segment must be {' or '.join(map(repr, SEGMENTED))} or None, not {self.segment!r}.")
        if self.segment is not None and self.tokenizer is not None:
            raise ValueError("segment and tokenizer both cut text into words: give one of them.")
        if self.vocabulary is not None:
            self._check_vocabulary(self.vocabulary)

    def _check_vocabulary(self, vocabulary: tuple[str, ...]) -> None:
        if not vocabulary:
            raise ValueError("the vocabulary is empty: give one word or more, or None.")
        if isinstance(self.phrases, PhraseRule):
            raise ValueError(
                "phrases are looked for where words are, and a vocabulary has both: leave out one of them."
            )
        places: dict[str, int] = {}
        for place, word in enumerate(vocabulary):
            if places.setdefault(word, place) != place:
                raise ValueError(f"{word!r} is in the vocabulary twice, as words {places[word] + 1} and {place + 1}.")

    def words_to_leave_out(self) -> frozenset[str]:
        """Return all stop words; those that are in a given vocabulary are wanted after all."""
        if isinstance(self.stop_words, str):
            words = stop_words_of(self.stop_words, self.token_pattern)
        else:
            words = frozenset(self.stop_words or ())
        if not self.pieces:
            words |= PIECES_OF_NUMBERS | PIECES.get(str(self.stop_words), frozenset())
        return (words | frozenset(self.more_stop_words)) - frozenset(self.vocabulary or ())

    def kept(self) -> dict[str, Any]:
        """Return what a model must keep to read other text in the same way, as plain values.

        Stop words of languages but English are kept as words: whoever uses the model need not have their package.
        """
        words: Any = self.stop_words
        if isinstance(words, str) and words != "english":
            words = sorted(stop_words_of(words, self.token_pattern))
        kept: dict[str, Any] = {
            "lowercase": self.lowercase,
            "stop_words": list(words) if isinstance(words, tuple) else words,
            "longest_run": self.ngram_range[1],
        }
        others = {
            "more_stop_words": list(self.more_stop_words),
            "strip_html": self.strip_html,
            "no_numbers": not self.numbers,
            "no_pieces": not self.pieces,
            "segment": self.segment,
            "tokenizer": _name_of(self.tokenizer),
            "phrases": self.phrases.plain() if isinstance(self.phrases, FoundPhrases) else None,
            "repeated": list(self.repeated),
        }
        return kept | {name: value for name, value in others.items() if value}

    @classmethod
    def from_kept(cls, kept: Any, tokenizer: Tokenizer | None = None) -> TextOptions:
        """Return the options that `kept` tells of, which may come from a file of anybody's making."""
        try:
            lowercase, stop_words, longest = (kept[name] for name in ("lowercase", "stop_words", "longest_run"))
        except (TypeError, KeyError):
            raise ValueError("its text options are not complete") from None
        more, segment, named = (kept.get(name) for name in ("more_stop_words", "segment", "tokenizer"))
        repeated = kept.get("repeated", [])
        strip_html, no_numbers, no_pieces = (
            kept.get(name, False) for name in ("strip_html", "no_numbers", "no_pieces")
        )
        sound = isinstance(longest, int) and not isinstance(longest, bool) and 1 <= longest <= LONGEST_RUN
        sound &= all(isinstance(value, bool) for value in (lowercase, strip_html, no_numbers, no_pieces))
        sound &= stop_words in ("english", None) or _are_words(stop_words)
        sound &= (more is None or _are_words(more)) and isinstance(named, str | None) and _are_words(repeated)
        if not sound or segment not in (*SEGMENTED, None):
            raise ValueError("its text options make no sense")
        phrases = kept.get("phrases")
        if named is not None and tokenizer is None:
            tokenizer = _LostTokenizer(named)
        return cls(
            lowercase=lowercase,
            stop_words=tuple(stop_words) if isinstance(stop_words, list) else stop_words,
            ngram_range=(1, longest),
            strip_html=strip_html,
            numbers=not no_numbers,
            pieces=not no_pieces,
            segment=segment,
            tokenizer=tokenizer,
            phrases=None if phrases is None else FoundPhrases.from_plain(phrases, _MOST_PHRASES),
            more_stop_words=tuple(more or ()),
            repeated=tuple(repeated),
        )

    @classmethod
    def for_words(cls, words: tuple[str, ...], kept: Any = None, tokenizer: Tokenizer | None = None) -> TextOptions:
        """Return how to read text over the words of a model, by what it has kept of its own text, if it has.

        Without that, runs of words are as long as the longest among the model's words, and words are taken as they are
        written if the model has some in upper case.
        """
        if kept is not None:
            return replace(cls.from_kept(kept, tokenizer), vocabulary=words)
        longest = min(LONGEST_RUN, 1 + max(word.count(" ") for word in words))
        has_upper = any(word != word.lower() for word in words)
        return cls(lowercase=not has_upper, ngram_range=(1, longest), vocabulary=words, tokenizer=tokenizer)


def _are_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


@dataclass(frozen=True)
class _LostTokenizer:
    """Stands for a tokeniser that a model file could not hold."""

    name: str

    def __call__(self, text: str) -> Sequence[str]:
        raise CorpusError(
            f"the text of this model was cut into words by a tokeniser of its maker's own ({self.name}), which a file "
            "cannot hold: count words in Python with TextOptions.for_words(words, kept, tokenizer) and give counts."
        )


def _name_of(tokenizer: Tokenizer | None) -> str | None:
    if tokenizer is None or isinstance(tokenizer, _LostTokenizer):
        return None if tokenizer is None else tokenizer.name
    return str(getattr(tokenizer, "__qualname__", type(tokenizer).__qualname__))

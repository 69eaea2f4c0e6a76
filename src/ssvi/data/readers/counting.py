"""From texts to counts of words, a document at a time: which words there are, and which of them are kept."""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.batches.documents import Documents
from ssvi.data.readers import words
from ssvi.data.readers.base import CorpusError, Repeats, WordFacts, clause
from ssvi.data.readers.languages import has_no_spaces, likely_language
from ssvi.data.readers.options import TextOptions
from ssvi.data.readers.phrases import FoundPhrases, PhraseRule, TokenStore
from ssvi.data.readers.repeats import Watcher
from ssvi.data.readers.vocabulary import read_vocabulary

_NUMBER = re.compile(r"[-+]?[\d.,]*\d(?:e[-+]?\d+)?", re.IGNORECASE)
_NUMBERS = "its documents are numbers and no text: give the column of the text, if it has one, as `column`"
_FREQUENT = 40  # words, for signs of a language
_LOOKED_AT = 200  # documents, the first, for signs of HTML


@dataclass(frozen=True)
class Counted:
    """Counts of words: the matrix, its words, how they were made, what became of others, and what to tell a person.

    `rows` are the documents that were counted, None for all; `repeats` is what they repeat, where that was looked at.
    """

    documents: Documents
    vocabulary: tuple[str, ...]
    text: TextOptions
    words: WordFacts | None
    notes: tuple[str, ...]
    known: float = 1.0
    rows: npt.NDArray[np.int64] | None = None
    repeats: Repeats | None = None


def count_words(where: str, documents: Iterator[str], text: TextOptions) -> Counted:
    """Count the words of documents; `where` they are from is for messages."""
    first = list(itertools.islice(documents, _LOOKED_AT))
    notes, every = notes_before(first, text), itertools.chain(first, documents)
    watcher = Watcher(drops_copies=text.drop_copies, clean=words.strip_html if text.strip_html else None)
    looks = text.vocabulary is None or text.drop_copies
    try:
        with warnings.catch_warnings():
            # It asks whether stop words are themselves tokens, which other people's lists need not be; and says of a
            # given vocabulary what `notes_before` says in other words.
            warnings.filterwarnings("ignore", "Your stop_words may be inconsistent")
            warnings.filterwarnings("ignore", "Upper case characters found in vocabulary")
            counts, vocabulary, text = _counts(watcher.watch(every) if looks else every, text)
        facts, known = None, 1.0
        if text.vocabulary is None:
            known = _known_elsewhere(counts, text)
            counts, vocabulary, facts = _limited(counts, vocabulary, text)
    except CorpusError:
        raise
    except ValueError as error:
        if not first:
            raise CorpusError(f"{where} has no rows, and so no documents: give a file that has some.") from error
        why = _NUMBERS if _are_numbers(first) else no_words(error, text, len(first))
        raise CorpusError(f"{where} gives no counts of words: {why}.") from error
    if counts.nnz == 0:
        raise CorpusError(f"{where} has no word of the vocabulary: check both, and the text options.")
    notes += notes_after(np.asarray(counts.sum(axis=0)).ravel(), vocabulary, text)
    known = known if text.vocabulary is None else _known_share(first, text)
    repeats = watcher.found() if looks else None
    return Counted(Documents.from_matrix(counts), vocabulary, text, facts, tuple(notes), known, watcher.rows(), repeats)


def _are_numbers(documents: Sequence[str]) -> bool:
    """Tell whether documents, those without anything aside, are numbers and nothing else."""
    filled = [document for document in map(str.strip, documents) if document]
    return bool(filled) and all(map(_NUMBER.fullmatch, filled))


def _known_share(documents: Sequence[str], text: TextOptions) -> float:
    """Return the share of words, stop words aside, that are of a given vocabulary."""
    terms, known = lister(text), frozenset(text.vocabulary or ())
    own = [term for document in documents for term in terms(document)]
    return sum(term in known for term in own) / len(own) if own else 1.0


def _known_elsewhere(counts: Any, text: TextOptions) -> float:
    """Return which share of the words of a further document like these would be known.

    It is that of each of these in the words of all others, where a word of it is in one document less.
    """
    in_documents = np.bincount(counts.indices, minlength=counts.shape[1])
    least, most = _limits(text, counts.shape[0])
    known = (in_documents - 1 >= least) & (in_documents <= most)
    totals = np.asarray(counts.sum(axis=0)).ravel()
    if text.max_features is not None:
        known &= totals >= np.sort(totals)[-min(text.max_features, len(totals))]
    return float(totals[known].sum() / max(totals.sum(), 1))


def _limits(text: TextOptions, n: int) -> tuple[float, float]:
    """Return in how many of n documents a word must and may be."""
    least, most = (limit if isinstance(limit, int) else limit * n for limit in (text.min_df, text.max_df))
    return least, most


def _counts(documents: Iterator[str], text: TextOptions) -> tuple[Any, tuple[str, ...], TextOptions]:
    """Return counts of all words, the words, and the options with the phrases that were found."""
    if text.phrases is None:
        vectorizer = _vectorizer(text, **_way_to_words(text))
        counts = vectorizer.fit_transform(documents)
    else:
        own, text = _with_phrases(documents, text)
        vectorizer = _vectorizer(text, lowercase=False, preprocessor=_same, tokenizer=_same, token_pattern=None)
        counts = vectorizer.fit_transform(own)
    vocabulary = text.vocabulary or tuple(map(str, vectorizer.get_feature_names_out()))
    return counts, vocabulary, text


def _vectorizer(text: TextOptions, **way: Any) -> Any:
    from sklearn.feature_extraction.text import CountVectorizer  # slow to import, and matrices do without

    return CountVectorizer(ngram_range=text.ngram_range, vocabulary=text.vocabulary, **way)


def _way_to_words(text: TextOptions) -> dict[str, Any]:
    """Return what CountVectorizer is told of the way from a text to its words.

    For single words it is one function, which takes a third less time than its own way of several calls a document.
    """
    cut = words.tokenizer(text) or _plain_tokenizer(text)
    if not text.numbers:
        cut = words.without_numbers(cut, frozenset(text.vocabulary or ()))
    stop_words = text.words_to_leave_out()
    if text.ngram_range == (1, 1):
        return {"analyzer": words.analyzer(cut, words.cleaner(text), stop_words)}
    way = {
        "lowercase": text.lowercase,
        "tokenizer": cut,
        "token_pattern": None,
        "stop_words": sorted(stop_words) or None,
    }
    return way | ({"preprocessor": words.cleaner(text)} if text.strip_html or text.repeated else {})


def _plain_tokenizer(text: TextOptions) -> Any:
    return _vectorizer(text, token_pattern=text.token_pattern).build_tokenizer()


def _with_phrases(documents: Iterator[str], text: TextOptions) -> tuple[Iterator[list[str]], TextOptions]:
    """Return the words of each document with phrases made one, and the options with those phrases."""
    clean, cut = words.cleaner(text) or _same, words.tokenizer(text) or _plain_tokenizer(text)
    left_out = words.is_left_out(text)
    if isinstance(text.phrases, FoundPhrases):
        return _merged(documents, clean, cut, text.phrases, left_out), text
    assert isinstance(text.phrases, PhraseRule)
    store = TokenStore(left_out)
    for document in documents:
        store.add(cut(clean(document)))
    found = store.find(text.phrases)
    return store.documents(), replace(text, phrases=found)


def _merged(
    documents: Iterable[str], clean: Any, cut: Any, phrases: FoundPhrases, left_out: Any
) -> Iterator[list[str]]:
    for document in documents:
        yield [word for word in phrases.merge(cut(clean(document))) if not left_out(word)]


def lister(text: TextOptions) -> Callable[[str], Sequence[str]]:
    """Return what lists the terms of a text, as `count_words` counts them; phrases must have been found."""
    if text.phrases is None:
        terms: Callable[[Any], Sequence[str]] = _vectorizer(text, **_way_to_words(text)).build_analyzer()
        return terms
    clean, cut = words.cleaner(text) or _same, words.tokenizer(text) or _plain_tokenizer(text)
    left_out = words.is_left_out(text)
    assert isinstance(text.phrases, FoundPhrases), "they were looked for"
    merge = text.phrases.merge
    terms = _vectorizer(text, lowercase=False, preprocessor=_same, tokenizer=_same, token_pattern=None).build_analyzer()
    return lambda document: terms([word for word in merge(cut(clean(document))) if not left_out(word)])


def find_phrases(documents: Iterable[str], text: TextOptions, most_tokens: int) -> tuple[TextOptions, int | None]:
    """Return the options with the phrases that so many words of text have, and how many documents these are.

    None stands for all of them.
    """
    assert isinstance(text.phrases, PhraseRule), "they are to be looked for"
    clean, cut = words.cleaner(text) or _same, words.tokenizer(text) or _plain_tokenizer(text)
    store, tokens = TokenStore(words.is_left_out(text)), 0
    looked_at: int | None = None
    for number, document in enumerate(documents):
        if tokens > most_tokens:
            looked_at = number
            break
        own = cut(clean(document))
        tokens += len(own)
        store.add(own)
    return replace(text, phrases=store.find(text.phrases)), looked_at


def _same(value: Any) -> Any:
    return value


def _limited(counts: Any, vocabulary: tuple[str, ...], text: TextOptions) -> tuple[Any, tuple[str, ...], WordFacts]:
    """Keep words of enough and not too many documents, and of those the most frequent, as CountVectorizer does.

    Here it is known why a word went.
    """
    n, in_documents = counts.shape[0], np.bincount(counts.indices, minlength=counts.shape[1])
    least, most = _limits(text, n)
    if most < least:
        raise ValueError("max_df corresponds to < documents than min_df")
    rare, frequent = in_documents < least, in_documents > most
    keep = np.flatnonzero(~(rare | frequent))
    beyond = 0
    if text.max_features is not None and len(keep) > text.max_features:
        totals = np.asarray(counts.sum(axis=0)).ravel()[keep]
        beyond = len(keep) - text.max_features
        keep = np.sort(keep[np.argsort(-totals, kind="stable")[: text.max_features]])
    facts = WordFacts(len(vocabulary), int(rare.sum()), int((frequent & ~rare).sum()), beyond, len(keep))
    if not len(keep):
        raise ValueError("no terms remain")
    if len(keep) == len(vocabulary):
        return counts, vocabulary, facts
    return counts[:, keep], tuple(vocabulary[place] for place in keep.tolist()), facts


def no_words(error: ValueError, text: TextOptions, documents: int | None = None) -> str:
    """Say why no word is left, in other words than scikit-learn has for it."""
    if documents == 1 and "empty vocabulary" not in str(error):
        return "it is a single document, and many are needed: put each on a line, or into a file, of its own"
    if "max_df corresponds" in str(error) or "no terms remain" in str(error):
        return (
            f"no word is in at least {text.min_df} and at most {text.max_df} of its documents (`min_df` and `max_df`; "
            "below 1 a share of them): lower the one or raise the other"
        )
    if "empty vocabulary" in str(error):
        return "there are no words in it, or stop words only"
    return f"{clause(error)}: change the text options"


def notes_before(first: list[str], text: TextOptions) -> list[str]:
    """Return what the first documents tell that a person should know."""
    notes = []
    if not text.strip_html and words.looks_like_html(first):
        notes.append("there are HTML tags in the text: `strip_html` takes them out.")
    if _are_numbers(first):
        notes.append(f"{_NUMBERS}.")
    never = [word for word in text.vocabulary or () if text.lowercase and word != word.lower()]
    if never:
        notes.append(
            f"{len(never):,} words of the vocabulary, such as {never[0]!r}, have capital letters and are never found, "
            "because text is read in lower case: write them in lower case."
        )
    return notes


def notes_after(totals: Any, vocabulary: tuple[str, ...], text: TextOptions) -> list[str]:
    """Return what the words that were kept, each so often, tell that a person should know."""
    notes = []
    if text.segment is None and text.tokenizer is None and has_no_spaces(vocabulary, totals.tolist()):
        notes.append(
            "much of the text is Chinese or Japanese, which have no spaces between words: `segment`, chinese or "
            "japanese, cuts it into words."
        )
    if text.stop_words == "english" and text.vocabulary is None:
        frequent = [vocabulary[place] for place in np.argsort(-totals, kind="stable")[:_FREQUENT].tolist()]
        language = likely_language(frequent)
        if language is not None:
            notes.append(f"many frequent words are {language.title()}: `stop_words` {language} leaves them out.")
    return notes


def with_vocabulary(text: TextOptions, file: Path | None, encoding: str) -> TextOptions:
    """Return the text options with the vocabulary of a file, if there is one."""
    if file is None:
        return text
    if text.vocabulary is not None:
        raise CorpusError(f"{file} is one vocabulary and the text options have another: give one of them.")
    found = read_vocabulary(file, encoding)
    try:
        return replace(text, vocabulary=found)
    except ValueError as error:
        raise CorpusError(f"{file} cannot be the vocabulary: {error}") from error

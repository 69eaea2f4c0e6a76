"""alpha and eta as parameters give them: a number, an array, or words that topics are to have."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ssvi.checks import is_integer, is_number, require_positive
from ssvi.models.lda import LARGEST_ALPHA, SMALLEST_ALPHA, is_usable_alpha
from ssvi.typing import Array

SeedWords = Mapping[int, Sequence[Any]] | Sequence[Sequence[Any]]
_SHOWN = 5  # words of a list that an error or a warning names


def check_doc_topic_prior(value: Any, n_topics: int) -> Array:
    """Return alpha of each topic: a number, or one for each."""
    try:
        alpha = np.array(value, dtype=float)
    except (TypeError, ValueError):
        alpha = np.array(np.nan)
    if alpha.ndim == 0:
        alpha = np.full(n_topics, alpha)
    if alpha.shape != (n_topics,) or not is_usable_alpha(alpha):
        raise ValueError(
            f"doc_topic_prior must be a positive number from {SMALLEST_ALPHA:g} to {LARGEST_ALPHA:g}, or {n_topics} of "
            f"them (one for each topic), or 'auto', 'symmetric' or 'asymmetric' to learn it, not {value!r}."
        )
    return alpha


def check_topic_word_prior(value: Any, n_topics: int, n_words: int | None) -> float | Array:
    """Return eta: a positive number, or an array of them for each word, or for each word in each topic."""
    if is_number(value) or not isinstance(value, np.ndarray | list | tuple):
        require_positive("topic_word_prior", value)
        return float(value)
    try:
        eta = np.array(value, dtype=float)
    except (TypeError, ValueError):
        eta = np.array(np.nan)
    if eta.ndim not in (1, 2) or not (np.isfinite(eta) & (eta > 0)).all():
        raise ValueError(
            "topic_word_prior must be a positive number, or an array of them, for each word or topics x words."
        )
    if n_words is not None and eta.shape not in ((n_words,), (n_topics, n_words)):
        raise ValueError(
            f"topic_word_prior has the shape {eta.shape}, and there are {n_topics} topics and {n_words} words: give "
            f"one number, or an array of the shape {(n_words,)} or {(n_topics, n_words)}."
        )
    return eta


def check_seed_words(name: str, value: Any) -> None:
    """Raise one clear sentence unless these are lists of words, or of columns' numbers, by topics."""
    if value is None:
        return
    wanted = (
        f'{name} must be lists of words by the numbers of topics, such as {{0: ["goal", "match"]}}, or a list of lists'
    )
    if isinstance(value, str) or not isinstance(value, Mapping | Sequence):
        raise ValueError(f"{wanted}, not {value!r}.")
    for topic, words in _by_topic(value).items():
        if not is_integer(topic) or topic < 0:
            raise ValueError(f"{wanted}: {topic!r} is no number of a topic.")
        if isinstance(words, str) or not isinstance(words, Sequence | np.ndarray):
            raise ValueError(f"{wanted}: topic {topic} has {words!r}, and not a list.")
        strange = [word for word in words if not isinstance(word, str) and not is_integer(word)]
        if strange:
            raise ValueError(
                f"{wanted}: topic {topic} has {strange[0]!r}, which is neither a word nor a column's number."
            )


def seeded_prior(
    eta: float | Array,
    seed_words: SeedWords,
    strength: float,
    shape: tuple[int, int],
    names: Sequence[str] | None,
    *,
    may_come: bool = False,
) -> Array:
    """Return eta of topics x words, with `strength` added for each seed word in its topic.

    Parameters
    ----------
    eta : float, (V,) or (K, V)
        The prior without them.
    seed_words : lists of words by topics
        Words, or numbers of columns.
    strength : float
        How many counts of the word in its topic the prior is to be worth.
    shape : (K, V)
        Topics and words.
    names : sequence of str, optional
        The words of the columns, where they are known.
    may_come : bool
        Whether the vocabulary may grow, so that words that it has not are no mistake.

    """
    prior = np.array(np.broadcast_to(eta, shape))
    columns = {name: column for column, name in enumerate(names or ())}
    missing: list[str] = []
    for topic, words in _by_topic(seed_words).items():
        if topic >= shape[0]:
            raise ValueError(f"seed_words has a topic {topic}, and there are {shape[0]}, numbered from 0.")
        places = {word: _column(word, columns, names, shape[1]) for word in words}
        found = sorted({place for place in places.values() if place is not None})
        absent = [str(word) for word, place in places.items() if place is None]
        if absent and not found and not may_come:
            raise ValueError(
                f"none of the seed_words of topic {topic} is a word of the data ({_some(absent)}): give others."
            )
        prior[topic, found] += strength
        missing += absent
    if missing and not may_come:
        warnings.warn(
            f"{len(missing)} of the seed_words are no words of the data, and are left out: {_some(missing)}.",
            UserWarning,
            stacklevel=2,
        )
    return prior


def _by_topic(seed_words: SeedWords) -> dict[int, Sequence[Any]]:
    return dict(seed_words) if isinstance(seed_words, Mapping) else dict(enumerate(seed_words))


def _column(word: Any, columns: Mapping[str, int], names: Sequence[str] | None, n_words: int) -> int | None:
    """Return the column of a word or of a column's number; None for a word that there is not."""
    if isinstance(word, str):
        if names is None:
            raise ValueError(
                f"seed_words has the word {word!r}, and the columns have no names: give X as a data frame, or "
                "`vocabulary`, or the numbers of columns."
            )
        return columns.get(word)
    return int(word) if 0 <= word < n_words else None


def _some(words: Sequence[str]) -> str:
    return ", ".join(words[:_SHOWN]) + (", ..." if len(words) > _SHOWN else "")

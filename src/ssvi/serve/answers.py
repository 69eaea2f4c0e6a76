"""What a model says of a text: its components, its words, its score, and documents like it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ssvi.data.readers import CorpusError, TextOptions
from ssvi.data.readers.counting import count_words
from ssvi.files.models import vocabulary_of
from ssvi.labels import beside
from ssvi.lookup import shares_of
from ssvi.report.components import Components
from ssvi.serve.pieces import cut_at_terms
from ssvi.typing import Array

_SIMILAR = 8  # documents
_OWN_WORDS = 10  # of each component
_LEAST_SHARE = 0.005  # of a component in a text, to be spoken of


@dataclass(frozen=True)
class KnownDocuments:
    """Documents that a text may be like.

    Attributes
    ----------
    weights : (documents, K)
        How much of each component of the model each has.
    about : sequence of mappings
        What is known of each: number (from 1), and id, title, date, group and beginning where there are such.

    """

    weights: Array
    about: Sequence[Mapping[str, Any]]

    def like(self, weights: Array) -> list[dict[str, Any]]:
        """Return those with the most similar weights, the nearest first.

        Likeness is the Bhattacharyya coefficient, sum_k sqrt(p_k q_k): 1 for the same shares, 0 for nothing in common.
        """
        likeness = np.sqrt(shares_of(self.weights)) @ np.sqrt(shares_of(weights[None])[0])
        nearest = np.argsort(-likeness, kind="stable")[:_SIMILAR]
        return [{**self.about[row], "likeness": float(min(likeness[row], 1.0))} for row in nearest if likeness[row] > 0]


class Answers:
    """Answers questions about texts by a fitted model that knows the words of its columns."""

    def __init__(self, estimator: Any, name: str) -> None:
        words = vocabulary_of(estimator)
        if words is None:
            raise ValueError("this model has no words, so it cannot read text: fit one to text.")
        self._estimator, self._words = estimator, words
        self._documents: KnownDocuments | None = None
        self._text = TextOptions.for_words(words, getattr(estimator, "text_options_", None))
        self._parts = Components.used_by(estimator)
        if self._parts.are_means:
            raise ValueError(f"{estimator.name} is a model of measurements, not of words: it cannot read text.")
        labels, marks, given = self._parts.labels(words), self._parts.marks(), self._parts.given
        own_words = [self._parts.distinctive(k, words, _OWN_WORDS) for k in range(len(labels))]
        self.model: dict[str, Any] = {
            "name": name,
            "kind": estimator.name,
            "noun": self._parts.noun,
            "words": len(words),
            "documents": 0,
            "components": [
                {
                    "component": int(number), "label": labels[k], "share": float(self._parts.shares[k]),
                    "distinctive": own_words[k], "marks": marks[k],
                    "beside": beside(labels[k], own_words[k], given=bool(given and given[k])),
                }
                for k, number in enumerate(self._parts.numbers)
            ],
        }  # fmt: skip

    def compare_with(self, documents: KnownDocuments) -> None:
        """Let answers name the documents among these that a text is like."""
        self._documents = documents
        self.model["documents"] = len(documents.about)

    def about(self, text: str) -> dict[str, Any]:
        """Return what the model says of a text, or raise a `ValueError` if it has nothing to say."""
        counts = self._counts(text)
        weights = self._estimator.component_weights(counts)[0]
        shares = shares_of(weights[None])[0][self._parts.numbers]
        shown = [int(k) for k in np.argsort(-shares, kind="stable") if shares[k] >= _LEAST_SHARE]
        columns = np.unique(counts.indices)
        speak_for = self._speak_for(columns, shares)
        score, meaning = self._score(counts)
        return {
            "words": int(counts.sum()),
            "components": [{**self.model["components"][k], "weight": float(shares[k])} for k in shown],
            "pieces": [
                {"text": piece, **speak_for[term]} if term in speak_for else {"text": piece}
                for piece, term in cut_at_terms(text, self._text, list(speak_for))
            ],
            "score": score,
            "meaning": meaning,
            "similar": [] if self._documents is None else self._documents.like(weights),
        }

    def _counts(self, text: str) -> Any:
        """Count the words of a text as those of the model's own were counted."""
        try:
            return count_words("the text", iter([text]), self._text).documents.to_matrix()
        except CorpusError as error:
            if "no word of the vocabulary" not in str(error):
                raise
            raise ValueError(
                "the text has no word that the model knows: give a longer one, in the language that it was fitted to."
            ) from None

    def _speak_for(self, columns: Any, shares: Array) -> dict[str, dict[str, Any]]:
        """Return which component each word of the text most likely comes from, and how likely: p(k | word, text)."""
        joint = shares[:, None] * self._parts.rows[:, columns]
        joint /= np.maximum(joint.sum(axis=0), 1e-300)
        best = joint.argmax(axis=0)
        return {
            self._words[column]: {
                "term": self._words[column], "component": int(self._parts.numbers[best[i]]),
                "probability": float(joint[best[i], i]),
            }
            for i, column in enumerate(columns)
        }  # fmt: skip

    def _score(self, counts: Any) -> tuple[float | None, str | None]:
        """Return the text's score and what it means; None where a text has none, such as one of a single word."""
        try:
            score = float(self._estimator.score(counts))
        except ValueError:
            return None, None
        return (score, self._estimator.explain_score(score)) if np.isfinite(score) else (None, None)

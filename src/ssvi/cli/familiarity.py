"""Whether a text is of the kind that a model was fitted to: whether it has its words, and as often as they were there.

How surprising a text is goes by how rare its words are in the text of the fit; those that the model does not know count
as the rarest of all. The limit is what single documents of one kind, and many, were seen to differ by from their mean
(news, titles, film reviews and an encyclopedia, fitted to 200 documents and to thousands).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ssvi.batches.sources import Source
from ssvi.files.models import vocabulary_of

_FEW_KNOWN = 0.5  # of the share that would be expected
_DIFFERENT = 0.3  # nats a word that large texts of one kind do not differ by,
_OF_A_DOCUMENT = 1.2  # that a single document may have more,
_OF_A_WORD = 2.0  # and the standard errors that few words may have more


def of_another_kind(estimator: Any, corpus: Any, where: str) -> str | None:
    """Return a sentence if a text that was read over the words of a model is clearly unlike that of the fit."""
    if corpus.text is None or vocabulary_of(estimator) is None:
        return None
    expected = getattr(estimator, "known_words_", None)
    few = corpus.known < _FEW_KNOWN * (1.0 if expected is None else expected)
    if not few and not _is_surprising(estimator, corpus, expected):
        return None
    usual = "" if expected is None else f" ({expected:.0%} would be of text like its own)"
    if few:
        said = f"only {corpus.known:.0%} of the words of {where} are known to this model{usual}"
    else:
        known = f"{corpus.known:.0%} of them are known{usual}"
        said = f"the words of {where} are seldom ones in the text that this model was fitted to; {known}"
    return f"{said}: is it text of another kind?"


def _is_surprising(estimator: Any, corpus: Any, expected: float | None) -> bool:
    """Tell whether words are rarer in the text of the fit than those of other documents of its kind are."""
    frequencies = _frequencies(estimator)
    if frequencies is None or isinstance(corpus.documents, Source):
        return False
    counts, lengths = corpus.documents.column_sums(), np.asarray(corpus.documents.lengths(), dtype=float)
    total = float(counts.sum())
    if not total:
        return False
    known, usual = (1.0, 1.0) if expected is None else (corpus.known, expected)
    surprise, rarest = -np.log(frequencies), -math.log(frequencies.min())
    mean = usual * float(frequencies @ surprise) + (1.0 - usual) * rarest
    variance = usual * float(frequencies @ surprise**2) + (1.0 - usual) * rarest**2 - mean**2
    found = known * float(counts @ surprise) / total + (1.0 - known) * rarest
    documents = total**2 / float(lengths @ lengths)  # as many of one length tell as much
    words = total / max(known, 1e-3)
    limit = _DIFFERENT + _OF_A_DOCUMENT / math.sqrt(documents) + _OF_A_WORD * math.sqrt(max(variance, 0.0) / words)
    return found - mean > limit


def _frequencies(estimator: Any) -> Any:
    """Return how frequent each word is in the text of the fit; None where columns are no words of a text."""
    if not getattr(estimator, "columns_are_words", False) or not hasattr(estimator, "summarize_components"):
        return None
    shares, rows, _ = estimator.summarize_components()
    frequencies = shares @ rows
    return frequencies / frequencies.sum() if (frequencies > 0).all() else None

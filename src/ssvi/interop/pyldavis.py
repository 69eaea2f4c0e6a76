"""What pyLDAvis draws topics from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ssvi.estimators.lda import LatentDirichletAllocation
from ssvi.interop.foreign import check_ours, library, words_of


def to_pyldavis(lda: LatentDirichletAllocation, X: Any, vocabulary: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the arguments of `pyLDAvis.prepare` by name; pyLDAvis need not be installed.

    Parameters
    ----------
    lda : ssvi.LatentDirichletAllocation
        A fitted model.
    X : documents x words
        Counts, as `transform` takes them. Documents without words are kept, with the prior's weights and length 0:
        they do not count.
    vocabulary : sequence of str, optional
        The words of the columns. By default those that the model knows, or the columns' numbers.

    Returns
    -------
    dict
        `topic_term_dists` (K x V, rows sum to 1), `doc_topic_dists` (documents x K, rows sum to 1), `doc_lengths`,
        `vocab` and `term_frequency`.

    Examples
    --------
    >>> import numpy as np
    >>> from ssvi import LatentDirichletAllocation
    >>> from ssvi.interop import to_pyldavis
    >>> counts = np.array([[4, 3, 0, 0], [5, 2, 0, 1], [0, 0, 6, 2], [0, 1, 3, 5]] * 20)
    >>> lda = LatentDirichletAllocation(2, random_state=0).fit(counts)
    >>> data = to_pyldavis(lda, counts, vocabulary=["tea", "cup", "sea", "ship"])
    >>> sorted(data)
    ['doc_lengths', 'doc_topic_dists', 'term_frequency', 'topic_term_dists', 'vocab']
    >>> data["term_frequency"].tolist()
    [180.0, 120.0, 180.0, 160.0]

    """
    check_ours(lda, "to_pyldavis")
    words = words_of(lda, vocabulary)
    weights = np.asarray(lda.transform(X), dtype=float)
    documents = lda._documents(X, "transform", reset=False)
    frequency = documents.column_sums()
    if not frequency.any():
        raise ValueError("there are no words in X, and pyLDAvis shows topics by how many words they have.")
    return {
        "topic_term_dists": lda.topic_word_,
        "doc_topic_dists": weights / weights.sum(axis=1, keepdims=True),
        "doc_lengths": np.asarray(documents.lengths(), dtype=float),
        "vocab": words,
        "term_frequency": frequency,
    }


def prepare_pyldavis(
    lda: LatentDirichletAllocation, X: Any, vocabulary: Sequence[str] | None = None, **options: Any
) -> Any:
    """Return pyLDAvis' `PreparedData` of a model and its documents, which `pyLDAvis.save_html` and `display` take.

    pyLDAvis puts the largest topic first; with `sort_topics=False` they have our order, and topic k here is number
    k + 1 there.

    Parameters
    ----------
    lda, X, vocabulary
        As in `to_pyldavis`. pyLDAvis needs at least two topics.
    **options
        What else `pyLDAvis.prepare` takes: `mds`, `sort_topics`, `n_jobs`, ...

    Returns
    -------
    pyLDAvis.PreparedData

    """
    check_ours(lda, "prepare_pyldavis")
    if len(lda.doc_topic_prior_) < 2:
        raise ValueError("pyLDAvis places topics in a plane by their distances, which takes at least two topics.")
    prepare = library("pyLDAvis", "pyLDAvis").prepare
    return prepare(**to_pyldavis(lda, X, vocabulary), **options)

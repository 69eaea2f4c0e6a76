"""gensim's LdaModel to and from ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import NotFittedError

from ssvi.estimators.lda import LatentDirichletAllocation
from ssvi.interop.foreign import (
    LARGEST_SEED,
    Past,
    assemble,
    check_kind,
    check_ours,
    library,
    represented,
    schedule_of,
    words_of,
)
from ssvi.typing import Array


def to_gensim(
    lda: LatentDirichletAllocation, vocabulary: Sequence[str] | None = None, dtype: npt.DTypeLike = np.float32
) -> Any:
    """Return a `gensim.models.LdaModel` with the same lambda, alpha and eta, as if gensim had trained it.

    Its `id2word` is a `gensim.corpora.Dictionary`, so that `doc2bow` and coherence models work. `update` goes on with
    the step sizes and the number of documents that our `partial_fit` would have.

    Parameters
    ----------
    lda : ssvi.LatentDirichletAllocation
        A fitted model.
    vocabulary : sequence of str, optional
        The words of the columns, each once. By default those that the model knows, or the columns' numbers.
    dtype : {float32, float64}
        gensim's precision: by default what gensim has by default, in which lambda keeps seven digits.

    Returns
    -------
    gensim.models.LdaModel

    Examples
    --------
    >>> import numpy as np
    >>> from ssvi import LatentDirichletAllocation
    >>> from ssvi.interop import to_gensim
    >>> counts = np.array([[4, 3, 0, 0], [5, 2, 0, 1], [0, 0, 6, 2], [0, 1, 3, 5]] * 20)
    >>> lda = LatentDirichletAllocation(2, random_state=0).fit(counts)
    >>> theirs = to_gensim(lda, vocabulary=["tea", "cup", "sea", "ship"])
    >>> sorted(word for word, _ in theirs.show_topic(int(lda.topic_word_[:, 0].argmax()), topn=2))
    ['cup', 'tea']

    """
    check_ours(lda, "to_gensim")
    models = library("gensim.models", "gensim")
    precision = np.dtype(dtype).type
    if precision not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64, not {np.dtype(dtype)}.")
    chunksize, schedule = lda._streamed_size(), schedule_of(lda)
    model = models.LdaModel(
        num_topics=len(lda.doc_topic_prior_),
        id2word=_dictionary(words_of(lda, vocabulary)),
        chunksize=chunksize,
        passes=lda._planned_passes(max(1, lda._n_distinct)),
        update_every=0 if lda._is_batch(max(1, lda._n_distinct)) else 1,
        alpha=lda.doc_topic_prior_,
        eta=lda.topic_word_prior_,
        decay=schedule.decay,
        offset=schedule.offset + 1.0,  # their steps are numbered from 0
        eval_every=None,
        iterations=lda.max_doc_update_iter,
        gamma_threshold=lda.mean_change_tol,
        random_state=lda.random_state_ % LARGEST_SEED,
        dtype=precision,
    )
    model.state.sstats[...] = lda.components_ - lda.topic_word_prior_
    model.state.numdocs = represented(lda)
    model.num_updates = lda.n_batch_iter_ * chunksize
    model.sync_state()
    return model


def from_gensim(model: Any, topic_word_prior: float | None = None) -> LatentDirichletAllocation:
    """Return a fitted `ssvi.LatentDirichletAllocation` with a gensim model's lambda, alpha, eta and words.

    It goes on by mean-field inference as gensim does, with the number of documents that `update` would have and its
    step sizes, where those seen so far were whole chunks and `update_every` is 1; to go on by ours,
    `from_gensim(model).set_params(global_step="ssvi", local_step="gibbs")`.

    Parameters
    ----------
    model : gensim.models.LdaModel
        A trained model, or one of a subclass such as `LdaMulticore`.
    topic_word_prior : float, optional
        eta, if it is to be another than gensim's. It matters for `partial_fit` only; lambda is taken as it is.

    Returns
    -------
    ssvi.LatentDirichletAllocation

    Examples
    --------
    >>> from gensim.corpora import Dictionary
    >>> from gensim.models import LdaModel
    >>> from ssvi.interop import from_gensim
    >>> texts = [["tea", "cup", "tea"], ["sea", "ship"], ["cup", "tea"], ["ship", "ship", "sea"]] * 10
    >>> words = Dictionary(texts)
    >>> theirs = LdaModel([words.doc2bow(text) for text in texts], 2, words, passes=5, random_state=0)
    >>> lda = from_gensim(theirs)
    >>> lda.components_.shape, sorted(lda.vocabulary_)
    ((2, 4), ['cup', 'sea', 'ship', 'tea'])

    """
    check_kind(model, library("gensim.models", "gensim").LdaModel, "gensim.models.LdaModel", "from_gensim")
    if model.state is None or not model.state.numdocs:
        raise NotFittedError(
            "this gensim model has seen no documents yet: call its update before from_gensim, or, if its topics come "
            "from elsewhere, set state.numdocs to the number of their documents."
        )
    alpha = np.asarray(model.alpha, dtype=float)
    return assemble(
        # Not get_lambda(): that is rounded once more.
        np.asarray(model.state.eta, dtype=float) + np.asarray(model.state.sstats, dtype=float),
        _past(model),
        _words(model),
        doc_topic_prior=float(alpha[0]) if (alpha == alpha[0]).all() else alpha.tolist(),
        topic_word_prior=_eta(np.asarray(model.eta, dtype=float)) if topic_word_prior is None else topic_word_prior,
        # LdaMulticore has a word of its own for it.
        learning_method="batch" if not model.update_every or getattr(model, "batch", False) else "online",
        learning_decay=float(model.decay),
        learning_offset=max(0.0, float(model.offset) - 1.0),  # our steps are numbered from 1
        max_iter=max(1, int(model.passes)),
        batch_size=int(model.chunksize) * max(1, int(model.update_every)),
        mean_change_tol=float(model.gamma_threshold),
        max_doc_update_iter=max(1, int(model.iterations)),
    )


def _dictionary(words: Sequence[str]) -> Any:
    """Return words as gensim's dictionary."""
    word, times = Counter(words).most_common(1)[0]
    if times > 1:
        raise ValueError(f"vocabulary has {word!r} {times} times, and gensim needs a different word for each column.")
    dictionary = library("gensim.corpora", "gensim").Dictionary()
    dictionary.token2id = {word: column for column, word in enumerate(words)}
    dictionary.id2token = dict(enumerate(words))
    return dictionary


def _words(model: Any) -> list[str] | None:
    """Return the words of a model's columns, where it knows them; those it has no word for are called by number."""
    if isinstance(model.id2word, library("gensim.utils", "gensim").FakeDict):
        return None
    return [str(model.id2word.get(column, column)) for column in range(model.num_terms)]


def _eta(eta: Array) -> float | Array:
    """Return eta, as one number where it is the same for all words and topics."""
    return float(eta.flat[0]) if (eta == eta.flat[0]).all() else eta


def _past(model: Any) -> Past:
    """Return what a model tells of its fit. Its clock counts documents, each once: passes do not advance it."""
    documents, passes = int(model.state.numdocs), max(1, int(model.passes))
    steps = max(1, -(-int(model.num_updates) // int(model.chunksize)))
    return Past(steps, passes, documents, passes * documents)

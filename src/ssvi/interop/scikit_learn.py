"""scikit-learn's LatentDirichletAllocation to and from ours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from ssvi.checks import is_integer, require_count
from ssvi.estimators.lda import LatentDirichletAllocation
from ssvi.interop.foreign import LARGEST_SEED, Past, assemble, check_kind, check_ours, represented, schedule_of

_SHARED = ("evaluate_every", "perp_tol", "mean_change_tol", "n_jobs")


def to_sklearn(lda: LatentDirichletAllocation) -> Any:
    """Return a fitted `sklearn.decomposition.LatentDirichletAllocation` with the same lambda, alpha and eta.

    Its `transform`, `score`, `perplexity` and `partial_fit` work, by ordinary mean-field inference and at
    exp(E_q[log beta]) where ours take E_q[beta]. Step sizes go on where ours were; `total_samples` is the number of
    documents that lambda stands for. `learning_decay` over 1 and `learning_offset` under 1, which scikit-learn refuses,
    become 1; steps of ours that it has not, and `learning_scale`, are left out.

    Parameters
    ----------
    lda : ssvi.LatentDirichletAllocation
        A fitted model. All topics must have the same alpha, since scikit-learn has one for all; it does not go on
        fitting where alpha or eta is over 1.

    Returns
    -------
    sklearn.decomposition.LatentDirichletAllocation

    Examples
    --------
    >>> import numpy as np
    >>> from ssvi import LatentDirichletAllocation
    >>> from ssvi.interop import to_sklearn
    >>> counts = np.array([[4, 3, 0, 0], [5, 2, 0, 1], [0, 0, 6, 2], [0, 1, 3, 5]] * 20)
    >>> lda = LatentDirichletAllocation(2, doc_topic_prior=0.1, random_state=0).fit(counts)
    >>> theirs = to_sklearn(lda)
    >>> bool((theirs.components_ == lda.components_).all()), theirs.transform(counts).shape
    (True, (80, 2))

    """
    check_ours(lda, "to_sklearn")
    alpha, eta = lda.doc_topic_prior_, lda.topic_word_prior_
    if (alpha != alpha[0]).any():
        raise ValueError(
            "this model's doc_topic_prior differs from topic to topic, and scikit-learn has one for all: fit with a "
            "single number, or use to_gensim."
        )
    if not isinstance(eta, float):
        raise ValueError(
            "this model's topic_word_prior differs from word to word, and scikit-learn has one for all: fit with a "
            "single number and without seed_words, or use to_gensim."
        )
    model = _kind()(
        len(alpha),
        doc_topic_prior=_given(None, float(alpha[0]), len(alpha)),  # their None is another alpha than ours
        topic_word_prior=_given(lda.topic_word_prior, eta, len(alpha)),
        **_parameters(lda),
    )
    model.doc_topic_prior_, model.topic_word_prior_ = float(alpha[0]), eta
    model.components_ = np.array(lda.components_)  # a copy: it is overwritten by `partial_fit`
    model.exp_dirichlet_component_ = lda.exp_dirichlet_component_
    model.n_batch_iter_, model.n_iter_ = lda.n_batch_iter_ + 1, lda.n_iter_  # theirs is the number of the next step
    model.random_state_ = np.random.RandomState(lda.random_state_ % LARGEST_SEED)
    if not math.isnan(lda.bound_):
        model.bound_ = math.exp(-lda.bound_)  # theirs is a perplexity
    model.n_features_in_ = lda.n_features_in_
    if hasattr(lda, "feature_names_in_"):
        model.feature_names_in_ = lda.feature_names_in_.copy()
    return model


def from_sklearn(
    model: Any, vocabulary: Sequence[str] | None = None, n_documents: int | None = None
) -> LatentDirichletAllocation:
    """Return a fitted `ssvi.LatentDirichletAllocation` with a scikit-learn model's lambda, alpha and eta.

    It goes on by mean-field inference as scikit-learn does, with the same step sizes; to go on by ours,
    `from_sklearn(model).set_params(global_step="ssvi", local_step="gibbs")`.

    Parameters
    ----------
    model : sklearn.decomposition.LatentDirichletAllocation
        A fitted model.
    vocabulary : sequence of str, optional
        The words of the columns. (Where the data had named columns, the model knows them.)
    n_documents : int, optional
        How many documents the model was fitted to, which scikit-learn does not keep. With it `partial_fit` counts
        further rows as new documents besides these. Without it the new model has scikit-learn's `total_samples`, as its
        own `partial_fit` would: a million by default.

    Returns
    -------
    ssvi.LatentDirichletAllocation

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.decomposition import LatentDirichletAllocation
    >>> from ssvi.interop import from_sklearn
    >>> counts = np.array([[4, 3, 0, 0], [5, 2, 0, 1], [0, 0, 6, 2], [0, 1, 3, 5]] * 20)
    >>> theirs = LatentDirichletAllocation(2, random_state=0).fit(counts)
    >>> lda = from_sklearn(theirs, vocabulary=["tea", "cup", "sea", "ship"], n_documents=80)
    >>> bool((lda.components_ == theirs.components_).all()), lda.transform(counts).shape
    (True, (80, 2))

    """
    check_kind(model, _kind(), "sklearn.decomposition.LatentDirichletAllocation", "from_sklearn")
    if not hasattr(model, "components_"):
        raise NotFittedError("this scikit-learn model is not fitted yet: call its fit before from_sklearn.")
    if n_documents is not None:
        require_count("n_documents", n_documents)
    n_topics = len(model.components_)
    seed = int(model.random_state) if is_integer(model.random_state) else None
    lda = assemble(
        model.components_,
        _past(model, n_documents, seed or 0),
        vocabulary,
        doc_topic_prior=float(model.doc_topic_prior_),
        topic_word_prior=_given(model.topic_word_prior, float(model.topic_word_prior_), n_topics),
        learning_method=model.learning_method,
        learning_decay=float(model.learning_decay),
        learning_offset=float(model.learning_offset),
        max_iter=max(1, int(model.max_iter)),
        batch_size=int(model.batch_size),
        total_samples=max(1, int(model.total_samples)) if n_documents is None else None,
        max_doc_update_iter=max(1, int(model.max_doc_update_iter)),
        verbose=int(model.verbose),
        random_state=seed,
        **{name: getattr(model, name) for name in _SHARED},
    )
    if hasattr(model, "feature_names_in_"):
        lda.feature_names_in_ = model.feature_names_in_.copy()
    return lda


def _kind() -> Any:
    """Return scikit-learn's class, which is not loaded before somebody wants it."""
    from sklearn.decomposition import LatentDirichletAllocation as Theirs

    return Theirs


def _given(parameter: Any, value: float, n_topics: int) -> float | None:
    """Return a prior as a parameter: None where it was that and means this value, so that clones keep the meaning."""
    return None if parameter is None and value == 1.0 / n_topics else value


def _parameters(lda: LatentDirichletAllocation) -> dict[str, Any]:
    """Return our parameters as scikit-learn's, in the ranges that it allows. Its minibatch is that of `partial_fit`."""
    n, schedule = max(1, lda._n_distinct), schedule_of(lda)
    seed = lda.random_state if lda.random_state is None else lda.random_state_ % LARGEST_SEED
    return {
        "learning_method": "batch" if lda._is_batch(n) else "online",
        "learning_decay": min(1.0, schedule.decay),
        "learning_offset": max(1.0, schedule.offset),
        "max_iter": lda._planned_passes(n),
        "batch_size": lda._streamed_size(),
        "total_samples": lda.total_samples or represented(lda),
        "max_doc_update_iter": lda.max_doc_update_iter,
        "verbose": 0 if isinstance(lda.verbose, str) else max(0, lda.verbose),
        "random_state": seed,
        **{name: getattr(lda, name) for name in _SHARED},
    }


def _past(model: Any, n_documents: int | None, seed: int) -> Past:
    """Return what a model tells of its fit. Of the documents it has seen it keeps nothing but the steps."""
    steps, passes = int(model.n_batch_iter_) - 1, int(model.n_iter_)
    bound = -math.log(model.bound_) if hasattr(model, "bound_") else float("nan")
    if passes:
        documents = n_documents or max(1, int(model.total_samples))
        return Past(steps, passes, documents, passes * documents, seed, bound)
    documents = n_documents or steps * int(model.batch_size)
    return Past(steps, 1, documents, documents, seed, bound)

"""What all conversions share: checks, words, and a model of ours put together from the parts of another."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import NotFittedError

from ssvi.engine import State
from ssvi.estimators.lda import LatentDirichletAllocation
from ssvi.files.models import column_names
from ssvi.schedules import PowerSchedule
from ssvi.typing import Array

LARGEST_SEED = 2**32
"""Seeds of NumPy's old generators, which the other libraries have, are below this."""


@dataclass(frozen=True)
class Past:
    """What a model of another library tells of its fit."""

    steps: int
    passes: int
    documents: int
    """How many there are; lambda stands for so many."""
    documents_seen: int
    """The same, each counted once a pass."""
    seed: int = 0
    bound: float = float("nan")
    """The ELBO per word."""


def library(module: str, package: str) -> Any:
    """Import a module of another library, or say how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"{package} is not installed, and this needs it: pip install {package}.") from error


def check_kind(model: Any, kind: Any, name: str, where: str) -> None:
    """Raise a `TypeError` unless a model is of the class that a function takes."""
    if not isinstance(model, kind):
        found = f"{type(model).__module__}.{type(model).__qualname__}"
        raise TypeError(f"{where} takes a fitted {name}, not a {found}.")


def check_ours(lda: Any, where: str) -> None:
    """Raise unless this is a fitted model of ours."""
    check_kind(lda, LatentDirichletAllocation, "ssvi.LatentDirichletAllocation", where)
    if not lda.__sklearn_is_fitted__():
        raise NotFittedError(f"this LatentDirichletAllocation is not fitted yet: call fit before {where}.")


def check_words(vocabulary: Sequence[str], size: int) -> npt.NDArray[np.object_]:
    """Return a vocabulary as an array of strings, if it has a word for each column."""
    if isinstance(vocabulary, str | Mapping):
        raise ValueError(
            f"vocabulary must be the words in the order of the columns, such as vectorizer.get_feature_names_out(), "
            f"not a {type(vocabulary).__name__}."
        )
    words = np.empty(len(vocabulary), dtype=object)
    words[:] = list(vocabulary)
    if len(words) != size:
        raise ValueError(f"vocabulary has {len(words):,} words, and the model {size:,} columns: give one for each.")
    strange = [word for word in words if not isinstance(word, str)]
    if strange:
        raise ValueError(f"vocabulary must be strings, and {strange[0]!r} is none.")
    return words


def words_of(lda: LatentDirichletAllocation, vocabulary: Sequence[str] | None) -> list[str]:
    """Return the words given, or those that the model knows, or the columns' numbers."""
    if vocabulary is None:
        return list(column_names(lda))
    return [str(word) for word in check_words(vocabulary, lda.n_features_in_)]


def represented(lda: LatentDirichletAllocation) -> int:
    """Return how many documents lambda stands for: N of the last step, where there was one of ours."""
    if lda.history_:
        return max(1, int(lda.history_[-1].population))
    return max(1, int(lda.total_samples or lda._n_distinct))


def schedule_of(lda: LatentDirichletAllocation) -> PowerSchedule:
    """Return the step sizes that `partial_fit` goes on with, or would if they were not learned."""
    return lda._power_schedule(lda._stream_schedule, None)


def assemble(
    lam: npt.ArrayLike, past: Past, vocabulary: Sequence[str] | None, **parameters: Any
) -> LatentDirichletAllocation:
    """Return a fitted model of ours with this lambda, as if it had come there by itself.

    `parameters` are its own, the priors among them. It goes on by ordinary mean-field inference, which is what the
    other libraries do, and without the population's ramp, which they do not have.
    """
    lam = np.array(lam, dtype=float, order="C")  # a copy: scikit-learn overwrites its own
    n_topics, n_words = lam.shape
    _check_lambda(lam)
    steps: dict[str, Any] = {"global_step": "mean_field", "local_step": "mean_field", "population_ramp": False}
    lda = LatentDirichletAllocation(n_topics, **steps, **parameters)
    lda._check_parameters()
    lda.n_features_in_ = lda._n_words = n_words
    lda._mean_length = float(lda._mean_length)  # of its documents nothing is known
    lda.doc_topic_prior_, lda.topic_word_prior_ = lda._alpha(), lda._eta()
    lda.local_step_, lda._learned, lda._learns_eta = "mean_field", None, False
    if vocabulary is not None:
        lda.vocabulary_ = check_words(vocabulary, n_words)
    lda.random_state_ = past.seed
    lda._start(None)  # whatever a fit begins with; what is known better comes after
    lda.n_iter_, lda.bound_, lda._n_distinct = past.passes, past.bound, past.documents
    lda._state = State(past.seed, past.steps, past.documents_seen, {"topics": lam})
    return lda


def _check_lambda(lam: Array) -> None:
    good = np.isfinite(lam) & (lam > 0)
    if not good.all():
        topic, word = (int(place) for place in np.argwhere(~good)[0])
        raise ValueError(
            f"the model's lambda is {lam[topic, word]} at topic {topic}, column {word}: Dirichlet parameters must be "
            "positive and finite."
        )

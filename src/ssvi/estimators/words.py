"""What estimators share whose columns are words: names of columns, a vocabulary that grows, topics that are seeded."""

from __future__ import annotations

import copy
import os
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from ssvi.batches.documents import Documents
from ssvi.batches.sources import Source
from ssvi.checks import is_auto, require_flag, require_positive
from ssvi.estimators.base import StochasticEstimator
from ssvi.estimators.choices import check_data, check_same
from ssvi.estimators.columns import check_names, places_of, put_into_columns
from ssvi.estimators.parameters import parameter, with_parameters
from ssvi.estimators.streamed import take_columns
from ssvi.estimators.topic_priors import SeedWords, check_seed_words, check_topic_word_prior, seeded_prior
from ssvi.models.new_words import BLOCK, taken_over, unseen
from ssvi.typing import Array


@dataclass(frozen=True)
class Start:
    """Topics of another model, over its words, for a fit to begin with."""

    topics: Array
    names: tuple[str, ...] | None

    @classmethod
    def of(cls, model: Any) -> Self:
        """Take the topics of a fitted estimator or of a model file."""
        from ssvi.files.models import load, vocabulary_of

        if isinstance(model, str | os.PathLike):
            model = load(model)
        if not isinstance(model, WordsEstimator):
            raise ValueError(f"start must be a fitted model of topics, or the path of its file, not {model!r}.")
        check_is_fitted(model)
        return cls(np.array(model._state.estimate[BLOCK]), vocabulary_of(model))


class _Found:
    """What a fit of topics leaves behind."""

    topic_word_prior_: float | Array
    local_step_: str
    _n_words: int


@with_parameters
class WordsEstimator(_Found, StochasticEstimator):
    """An estimator of topics over words."""

    seed_words: SeedWords | None = parameter(
        default=None,
        kind="lists of words by the numbers of topics, optional",
        words="""Words that topics are to have, such as `{0: ["goal", "match"], 3: ["vote"]}`, or a list of lists, or
        numbers of columns instead of words. Each adds `seed_strength` to eta of its topic. Words need names of
        columns: a data frame, or `vocabulary` in `fit`.""",
        check=check_seed_words,
    )
    seed_strength: float = parameter(
        default=100.0,
        kind="float",
        words="How many counts of a seed word in its topic the prior is worth.",
        check=require_positive,
    )
    grow_vocabulary: bool = parameter(
        default=False,
        kind="bool",
        words="""Let `partial_fit` take words that were not there before. Where columns have names (a data frame, or
        `vocabulary`) they are matched by them, in `transform` and `score` too: new ones are added at the end, missing
        ones are zeros. Columns without names are added at the right, and a narrower X has the first of them.""",
        check=require_flag,
    )

    @abstractmethod
    def _model(self) -> Any:
        """Return the model of a fit under way."""

    def _names(self) -> tuple[str, ...] | None:
        """Return the words of the columns, where they are known."""
        from ssvi.files.models import vocabulary_of

        return vocabulary_of(self)

    def _forget(self) -> None:
        words = vars(self).get("vocabulary_")  # of this fit: `_checked` has put it there
        super()._forget()
        if words is not None:
            self.vocabulary_ = words

    def _checked(self, X: Any, *, reset: bool, learn: bool, vocabulary: Sequence[str] | None = None) -> Any:
        """Return data that scikit-learn has checked, in the columns of the model, which grow if they are to.

        Parameters
        ----------
        X
            The data.
        reset : bool
            Whether the columns of X become those of the model.
        learn : bool
            Whether words of X may become words of the model.
        vocabulary : sequence of str, optional
            The names of X's columns.

        """
        if vocabulary is not None and _has_names(X):
            raise ValueError("X is a data frame with names of its own: leave out `vocabulary`.")
        if reset:
            self.__dict__.pop("vocabulary_", None)
            X = check_data(self, X, reset=True)
            if vocabulary is not None:
                self.vocabulary_ = _as_array(check_names(vocabulary, X.shape[1]))
            return X
        if not self.grow_vocabulary:
            X = check_data(self, X, reset=False)
            if vocabulary is not None:
                self._check_known(check_names(vocabulary, X.shape[1]))
            return X
        there = copy.copy(self)  # which takes the columns of X for its own
        X, names = check_data(there, X, reset=True), getattr(there, "feature_names_in_", None)
        if vocabulary is not None:
            names = check_names(vocabulary, X.shape[1])
        return self._arranged(X, None if names is None else tuple(names), learn=learn)

    def _checked_source(
        self, source: Source, where: str, *, reset: bool, allow_empty: bool, vocabulary: Sequence[str] | None
    ) -> Source:
        """Return a corpus that is read as it is needed, whose columns are the model's."""
        take_columns(self, source, where, reset=reset, allow_empty=allow_empty)
        if vocabulary is not None and source.vocabulary is not None and tuple(vocabulary) != source.vocabulary:
            raise ValueError("the corpus has words of its own, and `vocabulary` are others: leave it out.")
        words = source.vocabulary or vocabulary
        if reset:
            self.__dict__.pop("vocabulary_", None)
            if words is not None:
                self.vocabulary_ = _as_array(check_names(words, source.n_words))
        elif words is not None:
            self._check_known(check_names(words, source.n_words))
        return source

    def _check_known(self, names: tuple[str, ...]) -> None:
        known = self._names()
        if known is None:
            self.vocabulary_ = _as_array(names)
        elif names != known:
            raise ValueError(
                "vocabulary is not that of the model, word for word: with grow_vocabulary=True columns are matched by "
                "their names, and new words are added."
            )

    def _arranged(self, X: Any, names: tuple[str, ...] | None, *, learn: bool) -> Any:
        """Return data in the columns of the model, to which new ones are added if it is to learn."""
        known, width = self._names(), self.n_features_in_
        if names is None or known is None:
            return self._in_order(X, names, known, learn=learn)
        new = [name for name, place in zip(names, places_of(names, known), strict=True) if place < 0]
        if learn and new:
            self._add_columns(len(new), new)
            known, width = (*known, *new), width + len(new)
        return put_into_columns(X, places_of(names, known), width)

    def _in_order(self, X: Any, names: tuple[str, ...] | None, known: tuple[str, ...] | None, *, learn: bool) -> Any:
        """Return data whose columns cannot be matched by names, in the columns of the model."""
        width, found = self.n_features_in_, X.shape[1]
        if found != width and (names is not None or known is not None):
            one, other = ("X", "the model") if known is None else ("the model", "X")
            raise ValueError(
                f"X has {found:,} columns and the model {width:,}, and they cannot be matched: {one} has names of "
                f"columns and {other} has none. Give both names (a data frame, or `vocabulary`), or neither."
            )
        if found > width:
            if not learn:
                raise ValueError(
                    f"X has {found:,} columns, and the model was fitted to {width:,}: only partial_fit adds columns."
                )
            self._add_columns(found - width, None)
        elif names is not None and learn:
            self.vocabulary_ = _as_array(names)
        return X if found >= width else put_into_columns(X, np.arange(found), width)

    def _add_columns(self, count: int, names: Sequence[str] | None) -> None:
        """Let the model have further columns; lambda follows in `_take_in_new_words`."""
        self.n_features_in_ += count
        for attribute in ("vocabulary_", "feature_names_in_"):
            if names is not None and hasattr(self, attribute):
                setattr(self, attribute, _as_array([*getattr(self, attribute), *names]))

    def _take_in_new_words(self) -> None:
        """Let eta and lambda have the columns that `_checked` has added."""
        known = self._n_words
        if self.n_features_in_ == known:
            return
        eta, wanted = self._eta(), self._wanted()
        if np.ndim(eta):  # of the words that are known it must be what it was
            wanted["topic_word_prior"] = np.asarray(eta)[..., :known]
        check_same(wanted, self._fixed)
        self._n_words = self.n_features_in_
        if np.ndim(eta):
            self.topic_word_prior_ = eta
        block, lam = self._model().blocks()[BLOCK], self._state.parameters[BLOCK]
        new = unseen(lam, np.broadcast_to(block.prior, block.shape)[:, known:])
        self._state = self._state.with_coordinates(BLOCK, new)

    @abstractmethod
    def _eta(self) -> float | Array:
        """Return eta of the parameters, over the columns that there are."""

    def _word_prior(self, given: Any, n_topics: int) -> float | Array:
        """Return eta, from a prior as it was given and from seed words."""
        eta = check_topic_word_prior(given, n_topics, getattr(self, "n_features_in_", None))
        if self.seed_words is None:
            return eta
        if is_auto(getattr(self, "topic_word_prior", None)):
            raise ValueError(
                'topic_word_prior="auto" learns one number, and seed_words give many: leave out one of them.'
            )
        shape, may_come = (n_topics, int(self.n_features_in_)), self.grow_vocabulary
        return seeded_prior(eta, self.seed_words, self.seed_strength, shape, self._names(), may_come=may_come)

    def _begin_from(self, start: Start, data: Documents | Source) -> None:
        """Put another model's topics where the fit begins."""
        model, names = self._model(), self._names()
        if names is not None and start.names is not None:
            places = places_of(names, start.names)
        elif start.topics.shape[1] == model.n_words:
            places = np.arange(model.n_words)
        else:
            raise ValueError(
                f"start has {start.topics.shape[1]:,} columns and X {model.n_words:,}, and they cannot be matched "
                "without names on both sides: give X as a data frame, or `vocabulary`, and a start that has words."
            )
        if (places < 0).all():
            raise ValueError("start has no word in common with X: it is of no use as a start.")
        random = self._state.parameters[BLOCK]
        lam = taken_over(start.topics, places, model, random, data.total_length())
        self._state = replace(self._state, parameters={**self._state.parameters, BLOCK: lam})


def _has_names(X: Any) -> bool:
    """Tell whether this is a data frame whose columns have names."""
    return any(isinstance(name, str) for name in getattr(X, "columns", ()))


def _as_array(names: Sequence[str]) -> npt.NDArray[np.object_]:
    array = np.empty(len(names), dtype=object)
    array[:] = list(names)
    return array

"""What all estimators of topics share: documents in, topics and weights of documents out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ssvi.batches.documents import Documents
from ssvi.batches.sources import Source
from ssvi.engine import NEVER, Callback
from ssvi.estimators.choices import check_counts, make_local_step, make_seed, unchanged_on_error
from ssvi.estimators.components import ComponentsMixin
from ssvi.estimators.convergence import warn_of_copies
from ssvi.estimators.parameters import with_parameters
from ssvi.estimators.perplexity import perplexity_monitor
from ssvi.estimators.plan import Plan
from ssvi.estimators.scikit_learn_callbacks import Given, with_callbacks
from ssvi.estimators.streamed import by_chunks
from ssvi.estimators.topic_defaults import TopicDefaults
from ssvi.estimators.words import Start
from ssvi.evaluation.held_out import HeldOut
from ssvi.local_steps.base import LocalStep
from ssvi.models.lda import LDA
from ssvi.numerics.random import derive_key
from ssvi.typing import Array

_TRANSFORM_SWEEPS = 30
_HELD_OUT = ("log_probability", "n_words")


@with_parameters
class TopicEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ComponentsMixin, TopicDefaults):
    """Topics of documents, whatever the prior of their weights is."""

    nouns = ("Topics", "topic", "word")
    columns_are_words = True

    @abstractmethod
    def _lda(self) -> LDA:
        """Return LDA with these topics and the same eta: what can be said of topics without their weights."""

    @abstractmethod
    def _note_priors(self) -> None:
        """Show the priors as the fit has left them."""

    @abstractmethod
    def _complete(self, documents: Documents) -> HeldOut:
        """Return the log probability of half of each document's words given the other half."""

    def _transform_options(self) -> dict[str, int]:
        """Return how a sampler by name samples documents in `transform`: longer than in a fit."""
        return {"sweeps": _TRANSFORM_SWEEPS, "kept": _TRANSFORM_SWEEPS - 5}

    @abstractmethod
    def _expected_counts(self, weights: Array, lengths: Array) -> Array:
        """Return weights of documents as expected numbers of words."""

    @with_callbacks
    def fit(
        self, X: Any, y: Any = None, *, X_val: Any = None, vocabulary: Sequence[str] | None = None, start: Any = None
    ) -> Self:
        """Fit topics to a documents x words matrix of counts, from a fresh start or from another model's topics.

        Parameters
        ----------
        X : documents x words, or DiskCorpus
            Counts.
        y
            Nothing.
        X_val : documents x words, optional
            Documents that are scored after every pass (`scores_`); see also `early_stopping`.
        vocabulary : sequence of str, optional
            The words of the columns, for an X without names (`vocabulary_`).
        start : LatentDirichletAllocation or path of a model file, optional
            A fitted model whose topics the fit begins with. Words are matched by their names, if both have names.
            Further topics begin at random; of too many, the largest are taken.

        """
        with unchanged_on_error(self):
            documents = self._documents(X, "fit", reset=True, vocabulary=vocabulary)
            validation = None if X_val is None else self._documents(X_val, "score", reset=False)
            self._forget_course()
            begin = None if start is None else Start.of(start)
            self._run(documents, Given(make_seed(self.random_state), X, y, validation, start=begin))
            self._note_priors()
        if self._rearranges(self._plan(len(documents))) != NEVER:
            warn_of_copies(self._lda().copies(self._state.estimate), self.n_components)
        return self

    def partial_fit(self, X: Any, y: Any = None, *, vocabulary: Sequence[str] | None = None, start: Any = None) -> Self:
        """Go on with further documents: a step for each `batch_size` rows at most, in the order given.

        Every row counts as a new document, unless `total_samples` tells how many there are; see also `memory`.
        `vocabulary` are the words of the columns of an X without names; see `grow_vocabulary`. `start` is for the first
        call, as for `fit`.
        """
        first = not self.__sklearn_is_fitted__()
        if start is not None and not first:
            raise ValueError("start is for a fit that begins, and this one has begun: leave it out.")
        with unchanged_on_error(self):
            documents = self._documents(X, "partial_fit", reset=first, vocabulary=vocabulary)
            self._forget_course()
            if not first:
                self._take_in_new_words()
            self._run_further(documents, first=first, start=None if start is None else Start.of(start))
            self._note_priors()
        return self

    def _forget_course(self) -> None:
        """Take away how an earlier fit went: it says nothing of what follows."""
        for name in ("perplexity_history_", "left_out_scores_", "gain_"):
            self.__dict__.pop(name, None)

    def transform(self, X: Any, *, normalize: bool = True) -> Array:
        """Return each document's topic weights given the topics E_q[beta], documents x topics.

        A document without words has the prior's weights. With `normalize=False` a row is the expected number of the
        document's words in each topic, and what the prior is worth besides. A document's row does not depend on what
        else is in X. A sampler by name ("gibbs") samples longer here than in a fit; an instance does what it says.
        """
        check_is_fitted(self)
        documents = self._documents(X, "transform", reset=False)
        if isinstance(documents, Source):
            return by_chunks(self.transform, documents, normalize=normalize)
        local_step = self._local_step(documents, **self._transform_options())
        keys = documents.content_keys(derive_key(self.random_state_, "transform"))
        with self._open_backend() as backend:
            weights = backend.map_local(local_step, self._model(), self._views(), documents, keys)["weights"]
        if not normalize:
            weights = self._expected_counts(weights, documents.lengths())
        # A table of single-precision counts gets single-precision weights.
        return weights.astype(np.float32) if documents.counts.dtype == np.float32 else weights

    def fit_transform(
        self,
        X: Any,
        y: Any = None,
        *,
        X_val: Any = None,
        vocabulary: Sequence[str] | None = None,
        start: Any = None,
        normalize: bool = True,
    ) -> Array:
        """Fit, then return the same documents' topic weights."""
        return self.fit(X, y, X_val=X_val, vocabulary=vocabulary, start=start).transform(X, normalize=normalize)

    def held_out(self, X: Any) -> HeldOut:
        """Return the log probability of half of each document's words given the other half (document completion).

        The result has the mean per word (`mean`), its `standard_error` over documents, and the documents' own figures.
        """
        check_is_fitted(self)
        return self._completed(self._documents(X, "score", reset=False))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log probability per word of half of each document's words given the other half.

        This is document completion at the topics E_q[beta]: higher is better, and it is comparable between any two
        fits of one corpus. (scikit-learn returns a variational bound on the whole data here.)
        """
        if not isinstance(X, Source):
            return self.held_out(X).mean
        check_is_fitted(self)
        return self._score(self._documents(X, "score", reset=False))

    def perplexity(self, X: Any) -> float:
        """Return exp(-score(X)): the perplexity of half of each document's words given the other half."""
        return float(np.exp(-self.score(X)))

    def _completed(self, documents: Documents | Source) -> HeldOut:
        if not isinstance(documents, Source):
            return self._complete(documents)
        parts = [self._complete(own) for _, own in documents.chunks()]
        return HeldOut(*(np.concatenate([getattr(own, name) for own in parts]) for name in _HELD_OUT))

    def _score(self, data: Documents | Source) -> float:
        if not isinstance(data, Source):
            return self._completed(data).mean
        parts = (self._complete(own) for _, own in data.chunks())  # of which no more than sums are kept
        sums = np.sum([(own.log_probability.sum(), own.n_words.sum()) for own in parts], axis=0)
        return float(sums[0] / sums[1]) if sums[1] > 0 else float("nan")

    @property
    def components_(self) -> Array:
        """The Dirichlet parameters lambda of q(beta)."""
        check_is_fitted(self)
        return self._state.estimate["topics"]

    @property
    def topic_word_(self) -> Array:
        """E_q[beta]."""
        check_is_fitted(self)
        return self._lda().mean_topics(self._state.estimate)

    @property
    def exp_dirichlet_component_(self) -> Array:
        """exp(E_q[log beta])."""
        result: Array = np.exp(self._model().blocks()["topics"].family.mean_stats(self.components_))
        return result

    def summarize_components(self) -> tuple[Array, Array, Array]:
        """Return each topic's share of the words, its word probabilities, and their standard deviations under q."""
        return self._lda().summarize(self._state.estimate)

    def components_in_use(self) -> int:
        """Return the number of topics."""
        return self._n_features_out

    def component_weights(self, X: Any) -> Array:
        """Return what `transform` does."""
        return np.asarray(self.transform(X))

    def explain_score(self, score: float) -> str:
        """Return what a held-out score means, in a sentence."""
        return (
            f"Given one half of a document that the fit did not see, a word of the other half is as hard to guess as "
            f"one of {np.exp(-score):,.0f} equally likely words (of {self.n_features_in_:,})."
        )

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _documents(self, X: Any, method: str, *, reset: bool, vocabulary: Sequence[str] | None = None) -> Any:
        """Check parameters and data; return the data as documents, or a corpus on disk as it is."""
        self._check_parameters()
        # A fitted model may meet a stretch of empty documents; a fit or a score cannot be made of nothing else.
        allow_empty = method == "transform" or (method == "partial_fit" and not reset)
        where = f"{type(self).__name__}.{method}"
        if isinstance(X, Source):
            source = self._checked_source(X, where, reset=reset, allow_empty=allow_empty, vocabulary=vocabulary)
            self._note_length(source, reset=reset)
            return source
        try:
            X = self._checked(X, reset=reset, learn=method == "partial_fit", vocabulary=vocabulary)
        except ValueError as error:
            if "could not convert string" not in str(error):
                raise
            raise ValueError(
                "X must be a documents x words matrix of counts, and there is text in it: count its words first, with "
                "sklearn.feature_extraction.text.CountVectorizer."
            ) from None
        documents = Documents.from_matrix(X)
        check_counts(documents, where, allow_empty=allow_empty)
        self._note_length(documents, reset=reset)
        return documents

    def _note_length(self, data: Documents | Source, *, reset: bool) -> None:
        if reset:
            self._mean_length = data.mean_length()

    def _posterior_data(self, X: Any) -> Any:
        return self._documents(X, "score", reset=False)

    def _units(self, data: Documents) -> float:
        return data.mean_length()

    def _views(self) -> dict[str, Array]:
        """Return t of the estimate."""
        return {"topics": np.log(self.topic_word_)}

    def _local_step(self, documents: Documents | Source, **options: int) -> LocalStep:
        """Return the local step; `options` are for one that is given by name."""
        choice = self.local_step
        if isinstance(choice, str) and choice == "auto":
            choice = self.local_step_
        step = make_local_step(
            choice, self.name, max_rounds=self.max_doc_update_iter, tolerance=self.mean_change_tol, **options
        )
        if not isinstance(documents, Source):  # whose minibatches are checked when they are read
            step.check(documents)
        return step

    def _fit_step(self, data: Documents, plan: Plan) -> LocalStep:
        return self._local_step(data, **self._step_options())

    def _stream_step(self, data: Documents) -> LocalStep:
        return self._local_step(data, **self._step_options())

    def _step_options(self) -> dict[str, int]:
        """Return what a fit's local step has that is given by name, where it is not the usual."""
        return {}

    def _monitors(self, data: Documents, plan: Plan) -> list[Callback]:
        return [perplexity_monitor(self, data, plan)] if self.evaluate_every > 0 else []

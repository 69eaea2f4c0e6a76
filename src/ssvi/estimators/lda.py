"""Latent Dirichlet allocation in the form of a scikit-learn transformer."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ssvi.batches.documents import Documents
from ssvi.checks import is_auto, is_integer, require, require_count, require_flag, require_not_negative
from ssvi.engine import NEVER, Callback, Info, State
from ssvi.estimators.base import StochasticEstimator
from ssvi.estimators.choices import (
    check_counts,
    make_local_step,
    make_seed,
    unchanged_on_error,
)
from ssvi.estimators.components import ComponentsMixin
from ssvi.estimators.convergence import warn_of_copies
from ssvi.estimators.parameters import changed, parameter, with_parameters
from ssvi.estimators.plan import Plan
from ssvi.estimators.scikit_learn_callbacks import Given, with_callbacks
from ssvi.estimators.words import Start, WordsEstimator
from ssvi.evaluation.document_completion import document_completion
from ssvi.evaluation.held_out import HeldOut
from ssvi.global_steps.base import GlobalStep
from ssvi.global_steps.ssvi import Ssvi
from ssvi.local_steps.base import LocalStep
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.models.lda import (
    ALPHA_RULES,
    LARGEST_ALPHA,
    LDA,
    SMALLEST_ALPHA,
    is_usable_alpha,
    starting_alpha,
)
from ssvi.numerics.random import derive_key
from ssvi.schedules import PowerSchedule
from ssvi.typing import Array

_TRANSFORM_SWEEPS = 30
_AVERAGING, _WARM_SWEEPS = 7.0, 1.0  # of SSVI by name: docs/experiments/lda.md
_REARRANGING = (0.25, 0.75)  # of a fit: topics are distinct by then, and what is new has time to become one
_DISTINCT = 3.0  # sweeps, before which topics are alike because they have not formed yet
_LARGE_MINIBATCH = 2_000  # documents


@with_parameters
class LatentDirichletAllocation(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ComponentsMixin, WordsEstimator):
    """Topics of documents, fitted by structured stochastic variational inference.

    It takes the place of `sklearn.decomposition.LatentDirichletAllocation`: parameters and attributes of that class
    have their names and meanings here, but for the defaults and where a line below says so.

    Attributes
    ----------
    components_ : (K, V)
        lambda, the Dirichlet parameters of q(beta).
    topic_word_ : (K, V)
        E_q[beta], the topics; rows sum to 1.
    exp_dirichlet_component_ : (K, V)
        exp(E_q[log beta]).
    perplexity_history_ : list of float
        The training data's perplexity each time it was computed; only with `evaluate_every`.
    bound_ : float
        An estimate of the evidence lower bound per word, from the local bounds of the last pass; NaN if the local
        step optimises none. (scikit-learn stores a perplexity under this name.)
    doc_topic_prior_, topic_word_prior_ : (K,) array, float or array
        alpha and eta.
    vocabulary_ : array of str
        The words of the columns, where they were given as `vocabulary`.
    local_step_ : str
        What "auto" stands for.

    Examples
    --------
    >>> import numpy as np
    >>> from ssvi import LatentDirichletAllocation
    >>> counts = np.array([[4, 3, 0, 0], [5, 2, 0, 1], [0, 0, 6, 2], [0, 1, 3, 5]] * 20)
    >>> lda = LatentDirichletAllocation(2, batch_size=20, max_iter=20, random_state=0).fit(counts)
    >>> lda.transform(counts[:3]).argmax(axis=1).tolist() in ([0, 0, 1], [1, 1, 0])
    True

    """

    n_components: int = parameter(
        default=10,
        kind="int",
        words="The number of topics K.",
        check=require_count,
        kw_only=False,
    )
    doc_topic_prior: float | Sequence[float] | str | None = parameter(
        default=None,
        kind='float, array of K floats, {"auto", "symmetric", "asymmetric"}, optional',
        words="""alpha, the Dirichlet prior of a document's topic weights. By default ("auto") it begins as
        (K / 50)^-0.5 / 10, which is 0.1 for 50 topics, and from the fourth pass on goes part of the way to what the
        documents say of each topic. (scikit-learn has 1 / K. So small an alpha breeds topics that are copies of each
        other, and predicts worse: docs/experiments/lda.md.) "symmetric" and "asymmetric" learn it by maximum likelihood
        from the first step on, one number for all topics or one for each (docs/hyperparameters.md).""",
    )
    topic_word_prior: float | str | Sequence[float] | npt.NDArray[Any] | None = parameter(
        default=None,
        kind='float, array of V or K x V floats, "auto", optional',
        words="""eta, the Dirichlet prior of a topic's word probabilities: for all words, for each word, or for each
        word in each topic; 1 / K by default. "auto" learns one number in the fit, from there on
        (docs/hyperparameters.md). See also `seed_words`.""",
    )
    global_step: str | GlobalStep = parameter(
        default="ssvi",
        kind='{"ssvi", "ssvi_a", "mean_field", "map"} or GlobalStep',
        words="""How q(beta) is updated (the M-step). "ssvi_a" takes about four fifths of the time of "ssvi" and
        mostly scores a little lower; "map" with "gibbs" or "cvb0" is as quick, scores as well as "ssvi" after a few
        passes, and can be better on small data; "mean_field" is ordinary variational inference (docs/performance.md,
        docs/experiments/lda.md).""",
    )
    local_step: str | LocalStep = parameter(
        default="auto",
        kind='{"auto", "gibbs", "cvb0", "mean_field"} or LocalStep',
        words="""How each document's topics are found (the E-step). "auto" is "gibbs" if all counts of the first data
        are whole, else "mean_field".""",
    )
    learning_method: str = changed(StochasticEstimator, "learning_method", default="online")
    learning_decay: float | None = changed(
        StochasticEstimator,
        "learning_decay",
        default=None,
        words="""kappa of the step size rho_t = min(1, s (t + tau)^-kappa), t = 1, 2, ... By default 0.5, and in
        `partial_fit` 0.6.""",
    )
    learning_offset: float | None = changed(
        StochasticEstimator,
        "learning_offset",
        default=None,
        words="tau of the step size. By default 1, and in `partial_fit` 10.",
    )
    learning_scale: float | None = changed(
        StochasticEstimator,
        "learning_scale",
        default=1.0,
        words="s of the step size.",
        kind="float",
    )
    max_iter: int | str | None = changed(StochasticEstimator, "max_iter", default=12, kind='int or "auto"')
    batch_size: int | None = changed(
        StochasticEstimator,
        "batch_size",
        default=None,
        words="""Documents in a minibatch. By default a tenth of the data, at least 128 and at most 4,000; in
        `partial_fit` 1,000.""",
    )
    merge_copies: bool = parameter(
        default=True,
        kind="bool",
        words="""Merge topics that have become copies of each other (a cosine above 0.9), after every pass from a
        quarter to three quarters of `fit`; what documents have and no topic explains takes the places that become
        free. `history_` says when that was, and a warning if copies remain.""",
        check=require_flag,
    )
    evaluate_every: int = parameter(
        default=-1,
        kind="int",
        words="""Compute the training data's `perplexity` after every so many passes, and stop when it changes by less
        than `perp_tol`. 0 or less: never.""",
        check=lambda name, value: require(name, value, is_integer, "an integer"),
    )
    total_samples: float | None = changed(
        StochasticEstimator,
        "total_samples",
        default=None,
        words="""N for `partial_fit`: how many documents there will be. By default as many as there were so far, every
        row that is passed counting as a new one: to go over the same documents several times, set it. (scikit-learn
        has a million.) `fit` knows N.""",
    )
    perp_tol: float = parameter(
        default=1e-1,
        kind="float",
        words="See `evaluate_every`.",
        check=require_not_negative,
    )
    mean_change_tol: float = parameter(
        default=1e-3,
        kind="float",
        words='When the "mean_field" and "cvb0" local steps stop on a document; an instance brings its own.',
        check=require_not_negative,
    )
    max_doc_update_iter: int = parameter(
        default=100,
        kind="int",
        words="See `mean_change_tol`.",
        check=require_count,
    )

    _default_passes: ClassVar[tuple[int, int]] = (20, 20)
    _largest_batch: ClassVar[int] = 4_000
    _batches_of_data: ClassVar[int] = 10
    _online_schedule: ClassVar[PowerSchedule] = PowerSchedule(0.5, 1.0)
    _learned: str | None = None  # how alpha is learned; files of earlier versions do not say
    _learns_eta: bool = False

    name = LDA.name
    nouns = ("Topics", "topic", "word")
    columns_are_words = True
    saved_attributes = (
        *StochasticEstimator.saved_attributes,
        "doc_topic_prior_",
        "topic_word_prior_",
        "local_step_",
        "_n_words",
        "_learned",
        "_learns_eta",
        "perplexity_history_",
    )

    @with_callbacks
    def fit(
        self, X: Any, y: Any = None, *, X_val: Any = None, vocabulary: Sequence[str] | None = None, start: Any = None
    ) -> Self:
        """Fit topics to a documents x words matrix of counts, from a fresh start or from another model's topics.

        Parameters
        ----------
        X : documents x words
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
            self.__dict__.pop("perplexity_history_", None)
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
            if not first:
                self._take_in_new_words()
            self._run_further(documents, first=first, start=None if start is None else Start.of(start))
            self._note_priors()
        return self

    def _note_priors(self) -> None:
        """Show the priors as the fit has left them."""
        model = self._lda()
        self.doc_topic_prior_, self.topic_word_prior_ = model.alpha, model.eta

    def transform(self, X: Any, *, normalize: bool = True) -> Array:
        """Return each document's topic weights given the topics E_q[beta], documents x topics.

        A document without words has the prior's weights. With `normalize=False` a row is alpha + the expected number
        of the document's words in each topic. A document's row does not depend on what else is in X. "gibbs" by name
        samples longer here than in a fit, 30 sweeps of which 25 are averaged; an instance does what it says.
        """
        check_is_fitted(self)
        documents = self._documents(X, "transform", reset=False)
        local_step = self._local_step(documents, sweeps=_TRANSFORM_SWEEPS, kept=_TRANSFORM_SWEEPS - 5)
        keys = documents.content_keys(derive_key(self.random_state_, "transform"))
        with self._open_backend() as backend:
            weights = backend.map_local(local_step, self._model(), self._views(), documents, keys)["weights"]
        if not normalize:
            weights = weights * (documents.lengths() + self._lda().alpha.sum())[:, None]
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
        return self.held_out(X).mean

    def perplexity(self, X: Any) -> float:
        """Return exp(-score(X)): the perplexity of half of each document's words given the other half."""
        return float(np.exp(-self.score(X)))

    def _completed(self, documents: Documents) -> HeldOut:
        with self._open_backend() as backend:
            return document_completion(self.topic_word_, self._lda().alpha, documents, backend=backend)

    def _score(self, data: Documents) -> float:
        return self._completed(data).mean

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
        return len(self.doc_topic_prior_)

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

    def _documents(self, X: Any, method: str, *, reset: bool, vocabulary: Sequence[str] | None = None) -> Documents:
        """Check parameters and data; return the data as documents."""
        self._check_parameters()
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
        # A fitted model may meet a stretch of empty documents; a fit or a score cannot be made of nothing else.
        allow_empty = method == "transform" or (method == "partial_fit" and not reset)
        check_counts(documents, f"{type(self).__name__}.{method}", allow_empty=allow_empty)
        return documents

    def _alpha(self) -> Array:
        """Return alpha for each topic, or the start of one that is learned."""
        rule = self._alpha_rule()
        given = self.doc_topic_prior if rule is None else starting_alpha(self.n_components, rule)
        try:
            alpha = np.array(given, dtype=float)
        except (TypeError, ValueError):
            alpha = np.array(np.nan)
        if alpha.ndim == 0:
            alpha = np.full(self.n_components, alpha)
        if alpha.shape != (self.n_components,) or not is_usable_alpha(alpha):
            raise ValueError(
                f"doc_topic_prior must be a positive number from {SMALLEST_ALPHA:g} to {LARGEST_ALPHA:g}, or "
                f"{self.n_components} of them (one for each topic), or 'auto', 'symmetric' or 'asymmetric' to learn "
                f"it, not {self.doc_topic_prior!r}."
            )
        return alpha

    def _alpha_rule(self) -> str | None:
        """Return how alpha is learned, if it is."""
        choice = "auto" if self.doc_topic_prior is None else self.doc_topic_prior
        return choice if isinstance(choice, str) and choice in ALPHA_RULES else None

    def _is_eta_learned(self) -> bool:
        return is_auto(self.topic_word_prior)

    def _eta(self) -> float | Array:
        """Return eta, or the start of one that is learned."""
        is_usual = self.topic_word_prior is None or self._is_eta_learned()
        return self._word_prior(1.0 / self.n_components if is_usual else self.topic_word_prior, self.n_components)

    def _wanted(self) -> dict[str, Any]:
        # In files of earlier versions the default alpha is one that is not learned: such a model goes on with its own.
        keeps_alpha = self.doc_topic_prior is None and hasattr(self, "doc_topic_prior_") and self._learned is None
        alpha = self.doc_topic_prior_ if keeps_alpha else self._alpha_rule() or self._alpha()
        return {
            "n_components": int(self.n_components),
            "doc_topic_prior": alpha,
            "topic_word_prior": "auto" if self._is_eta_learned() else self._eta(),
        }

    def _fix_model(self, data: Documents) -> None:
        self.doc_topic_prior_, self.topic_word_prior_ = self._alpha(), self._eta()
        self._learned, self._learns_eta = self._alpha_rule(), self._is_eta_learned()
        self.local_step_ = "gibbs" if Gibbs.suits(data) else "mean_field"
        self._n_words = data.n_words

    @property
    def _fixed(self) -> Mapping[str, Any]:
        return {
            "n_components": len(self.doc_topic_prior_),
            "doc_topic_prior": self._learned or self.doc_topic_prior_,
            "topic_word_prior": "auto" if self._learns_eta else self.topic_word_prior_,
        }

    def _global_step(self, whole_steps: int | None = None) -> GlobalStep:
        """Return the global step; SSVI by name averages, and by minibatches begins as MAP."""
        step = super()._global_step(whole_steps)
        if not isinstance(step, Ssvi) or isinstance(self.global_step, GlobalStep):
            return step
        return replace(step, averaging=_AVERAGING, warm_sweeps=0.0 if whole_steps else _WARM_SWEEPS)

    def _careful(self, plan: Plan) -> Plan:
        plan, step = super()._careful(plan), plan.global_step
        return replace(plan, global_step=replace(step, warm_sweeps=0.0)) if isinstance(step, Ssvi) else plan

    def _first_end(self, plan: Plan) -> int:
        # Not before topics were merged once, where they are, and alpha has been learned for a pass.
        return math.ceil(self._rearranges(plan)[0] + 1.0) * plan.steps_per_pass if plan.planned > _DISTINCT else 0

    def _rearranges(self, plan: Plan) -> tuple[float, float]:
        first, last = max(_DISTINCT, _REARRANGING[0] * plan.planned), _REARRANGING[1] * plan.planned
        return (first, last) if self.merge_copies and first <= last else NEVER

    def _sampling(self, rows: int) -> dict[str, int]:
        """Return how a fit samples documents: with large minibatches, later sweeps are worth more than more of them."""
        return {"sweeps": 10, "kept": 5 if rows >= _LARGE_MINIBATCH else 8}

    def _units(self, data: Documents) -> float:
        return float(data.lengths().mean())

    def _model(self) -> Any:
        return self._with_learned(
            LDA(self._n_words, self.doc_topic_prior_, self.topic_word_prior_, self._learned, self._learns_eta)
        )

    def _lda(self) -> LDA:
        """Return LDA as it is fitted: what predicts, whatever prior there is of its alpha."""
        model: LDA = self._model()
        return model

    def _views(self) -> dict[str, Array]:
        """Return t of the estimate."""
        return {"topics": np.log(self.topic_word_)}

    def _local_step(self, documents: Documents, **options: int) -> LocalStep:
        """Return the local step; `options` are for one that is given by name."""
        choice = self.local_step
        if isinstance(choice, str) and choice == "auto":
            choice = self.local_step_
        step = make_local_step(
            choice, self.name, max_rounds=self.max_doc_update_iter, tolerance=self.mean_change_tol, **options
        )
        step.check(documents)
        return step

    def _fit_step(self, data: Documents, plan: Plan) -> LocalStep:
        return self._local_step(data, **self._sampling(plan.batch_size))

    def _stream_step(self, data: Documents) -> LocalStep:
        return self._local_step(data, **self._sampling(self._streamed_size()))

    def _monitors(self, data: Documents, plan: Plan) -> list[Callback]:
        return [self._perplexity_monitor(data, plan)] if self.evaluate_every > 0 else []

    def _perplexity_monitor(self, documents: Documents, plan: Plan) -> Callback:
        """Return a callback that stops once the perplexity of the training documents changes little."""
        every = self.evaluate_every * plan.steps_per_pass
        if not hasattr(self, "perplexity_history_"):  # a checkpoint may have brought one
            self.perplexity_history_: list[float] = []

        def monitor(state: State, info: Info) -> bool:
            if info.step % every:
                return False
            there = copy.copy(self)
            there._state = state
            history = self.perplexity_history_
            history.append(float(np.exp(-there._score(documents))))
            return len(history) > 1 and abs(history[-2] - history[-1]) < self.perp_tol

        return monitor

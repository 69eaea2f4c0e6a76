"""Latent Dirichlet allocation in the form of a scikit-learn transformer."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ssvi.backends.threads import Threads
from ssvi.batches.documents import Documents
from ssvi.checks import is_integer, require, require_count, require_not_negative, require_positive
from ssvi.engine import Callback, Info, State
from ssvi.estimators.base import StochasticEstimator
from ssvi.estimators.common import (
    check_counts,
    check_data,
    make_local_step,
    make_seed,
    unchanged_on_error,
)
from ssvi.estimators.fit_tasks import Given, with_callbacks
from ssvi.estimators.loop import Plan
from ssvi.evaluation.document_completion import document_completion
from ssvi.evaluation.held_out import HeldOut
from ssvi.global_steps.base import GlobalStep
from ssvi.local_steps.base import LocalStep
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.models.lda import LARGEST_ALPHA, LDA, SMALLEST_ALPHA, is_usable_alpha
from ssvi.numerics.random import derive_key
from ssvi.typing import Array

_TRANSFORM_SWEEPS = 30
_LARGE_MINIBATCH = 2_000  # documents from which on steps may be larger, since they are less noisy


class LatentDirichletAllocation(ClassNamePrefixFeaturesOutMixin, TransformerMixin, StochasticEstimator):
    """Topics of documents, fitted by structured stochastic variational inference.

    It takes the place of `sklearn.decomposition.LatentDirichletAllocation`: parameters and attributes of that class
    have their names and meanings here, but for the defaults and where a line below says so.

    Parameters
    ----------
    n_components : int
        The number of topics K.
    doc_topic_prior : float or array of K floats, optional
        alpha, the Dirichlet prior of a document's topic weights, from 1e-10 to 1e10; 1 / K by default.
    topic_word_prior : float, optional
        eta, the Dirichlet prior of a topic's word probabilities; 1 / K by default.
    global_step : {"ssvi", "ssvi_a", "mean_field", "map"} or GlobalStep
        How q(beta) is updated (the M-step). "ssvi_a" takes about three quarters of the time of "ssvi" and mostly
        scores a little lower; "map" with "gibbs" or "cvb0" is as quick, scores as well as "ssvi" after a few passes,
        and can be better on small data; "mean_field" is ordinary variational inference (docs/performance.md,
        docs/experiments/lda.md).
    local_step : {"auto", "gibbs", "cvb0", "mean_field"} or LocalStep
        How each document's topics are found (the E-step). "auto" is "gibbs" if all counts of the first data are whole,
        else "mean_field".
    learning_method : {"online", "batch", "auto"}
        "online" goes by minibatches. "batch" sees all documents in every step; for global steps that draw nothing
        ("mean_field", "map") the step size is then 1, which is coordinate ascent. "auto" is "batch" for up to 2,000
        documents.
    learning_decay : float, optional
        kappa of the step size rho_t = min(1, s (t + tau)^-kappa), t = 1, 2, ... By default 0.5 for minibatches of
        2,000 documents or more, whose steps are less noisy, and 0.6 for smaller ones.
    learning_offset, learning_scale : float
        tau and s.
    population_ramp : bool
        Let a minibatch stand for the documents seen so far, during the first pass, and not for all at once.
    max_iter : int
        Passes over the data in `fit`.
    batch_size : int, optional
        Documents in a minibatch. By default a twentieth of the data, at least 128 and at most 4,000; in `partial_fit`
        1,000.
    evaluate_every : int
        Compute the training data's `perplexity` after every so many passes, and stop when it changes by less than
        `perp_tol`. 0 or less: never.
    total_samples : int, optional
        N for `partial_fit`: how many documents there will be. By default as many as there were so far, every row that
        is passed counting as a new one: to go over the same documents several times, set it.
        (scikit-learn has a million.) `fit` knows N.
    perp_tol : float
        See `evaluate_every`.
    mean_change_tol, max_doc_update_iter : float, int
        When the "mean_field" and "cvb0" local steps stop on a document; an instance brings its own.
    early_stopping : bool
        Score validation rows after every pass (or some fifty times in a fit of more passes), stop when
        `n_iter_no_change` scores in a row bring no gain, and keep the best state that was scored. The rows are `X_val`
        of `fit`, or a share `validation_fraction` of X that is then not fitted.
    validation_fraction : float
        See `early_stopping`.
    n_iter_no_change : int
        See `early_stopping`.
    validation_tol : float
        A score is a gain if it is better by more than this share of the best one's size.
    n_jobs : int, optional
        Threads; None is 1, -1 is all processors. The result does not depend on it.
    verbose : "auto" or int
        Show progress on stderr if a fit takes over two seconds: always (1), never (0), or where it is a terminal.
    random_state : int, RandomState or None
        The seed. The same integer gives the same result, bit for bit.
    callbacks : list of callables, optional
        Each is called with the engine's State and Info after every step; a true answer ends the fit there.

    Attributes
    ----------
    components_ : (K, V)
        lambda, the Dirichlet parameters of q(beta).
    topic_word_ : (K, V)
        E_q[beta], the topics; rows sum to 1.
    exp_dirichlet_component_ : (K, V)
        exp(E_q[log beta]).
    history_ : list of Info
        What happened in each step: step size, bound, coordinates guarded, seconds.
    perplexity_history_ : list of float
        The training data's perplexity each time it was computed; only with `evaluate_every`.
    bound_ : float
        An estimate of the evidence lower bound per word, from the local bounds of the last pass; NaN if the local
        step optimises none. (scikit-learn stores a perplexity under this name.)
    scores_ : list of (seconds, score)
        The scores of validation rows as the fit went on, if there were any.
    n_batch_iter_, n_iter_ : int
        Steps taken, and passes over the data begun.
    doc_topic_prior_, topic_word_prior_ : (K,) array, float
        alpha and eta.
    local_step_ : str
        What "auto" stands for.
    random_state_ : int
        The seed that was used.
    n_features_in_, feature_names_in_ : int, array
        The vocabulary's size and, where X had names, its words.

    Examples
    --------
    >>> import numpy as np
    >>> from ssvi import LatentDirichletAllocation
    >>> counts = np.array([[4, 3, 0, 0], [5, 2, 0, 1], [0, 0, 6, 2], [0, 1, 3, 5]] * 20)
    >>> lda = LatentDirichletAllocation(2, batch_size=20, max_iter=20, random_state=0).fit(counts)
    >>> lda.transform(counts[:3]).argmax(axis=1).tolist() in ([0, 0, 1], [1, 1, 0])
    True

    """

    _largest_batch = 4_000

    name = LDA.name
    nouns = ("Topics", "topic", "word")
    columns_are_words = True
    saved_attributes = (
        *StochasticEstimator.saved_attributes,
        "doc_topic_prior_",
        "topic_word_prior_",
        "local_step_",
        "_n_words",
        "perplexity_history_",
    )

    def __init__(
        self,
        n_components: int = 10,
        *,
        doc_topic_prior: float | Sequence[float] | None = None,
        topic_word_prior: float | None = None,
        global_step: str | GlobalStep = "ssvi",
        local_step: str | LocalStep = "auto",
        learning_method: str = "online",
        learning_decay: float | None = None,
        learning_offset: float = 10.0,
        learning_scale: float = 1.0,
        population_ramp: bool = True,
        max_iter: int = 10,
        batch_size: int | None = None,
        evaluate_every: int = -1,
        total_samples: int | None = None,
        perp_tol: float = 1e-1,
        mean_change_tol: float = 1e-3,
        max_doc_update_iter: int = 100,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        validation_tol: float = 1e-4,
        n_jobs: int | None = None,
        verbose: int | str = "auto",
        random_state: Any = None,
        callbacks: Sequence[Callback] | None = None,
    ) -> None:
        self.n_components = n_components
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.global_step = global_step
        self.local_step = local_step
        self.learning_method = learning_method
        self.learning_decay = learning_decay
        self.learning_offset = learning_offset
        self.learning_scale = learning_scale
        self.population_ramp = population_ramp
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.evaluate_every = evaluate_every
        self.total_samples = total_samples
        self.perp_tol = perp_tol
        self.mean_change_tol = mean_change_tol
        self.max_doc_update_iter = max_doc_update_iter
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.validation_tol = validation_tol
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state
        self.callbacks = callbacks

    @with_callbacks
    def fit(self, X: Any, y: Any = None, *, X_val: Any = None) -> Self:
        """Fit topics to a documents x words matrix of counts, from a fresh start.

        Documents `X_val` are scored after every pass (`scores_`); see also `early_stopping`.
        """
        with unchanged_on_error(self):
            documents = self._documents(X, "fit", reset=True)
            validation = None if X_val is None else self._documents(X_val, "score", reset=False)
            self._set_priors(documents)
            self.__dict__.pop("perplexity_history_", None)
            self._run(documents, Given(make_seed(self.random_state), X, y, validation))
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Go on with further documents: one step for each `batch_size` rows, in the order given.

        Every row counts as a new document, unless `total_samples` tells how many there are.
        """
        first = not self.__sklearn_is_fitted__()
        with unchanged_on_error(self):
            documents = self._documents(X, "partial_fit", reset=first)
            if first:
                self._set_priors(documents)
                self.random_state_ = make_seed(self.random_state)
                self._start(documents)
            self._check_same_model()
            local_step = self._local_step(documents, **self._sampling(self._streamed_size()))
            self._run_further(documents, local_step)
        return self

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
        with Threads(self.n_jobs) as backend:
            views = {"topics": np.log(self.topic_word_)}
            weights = backend.map_local(local_step, self._model(), views, documents, keys)["weights"]
        if not normalize:
            weights = weights * (documents.lengths() + self.doc_topic_prior_.sum())[:, None]
        # A table of single-precision counts gets single-precision weights.
        return weights.astype(np.float32) if documents.counts.dtype == np.float32 else weights

    def fit_transform(self, X: Any, y: Any = None, *, X_val: Any = None, normalize: bool = True) -> Array:
        """Fit, then return the same documents' topic weights."""
        return self.fit(X, y, X_val=X_val).transform(X, normalize=normalize)

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
        with Threads(self.n_jobs) as backend:
            return document_completion(self.topic_word_, self.doc_topic_prior_, documents, backend=backend)

    def _score(self, data: Documents) -> float:
        return self._completed(data).mean

    @property
    def components_(self) -> Array:
        """The Dirichlet parameters lambda of q(beta)."""
        check_is_fitted(self)
        return self._state.parameters["topics"]

    @property
    def topic_word_(self) -> Array:
        """E_q[beta]."""
        check_is_fitted(self)
        return self._model().mean_topics(self._state.parameters)

    @property
    def exp_dirichlet_component_(self) -> Array:
        """exp(E_q[log beta])."""
        result: Array = np.exp(self._model().blocks()["topics"].family.mean_stats(self.components_))
        return result

    def summarize_components(self) -> tuple[Array, Array, Array]:
        """Return each topic's share of the words, its word probabilities, and their standard deviations under q."""
        totals = self.components_.sum(axis=1, keepdims=True)
        means = self.components_ / totals
        return (totals / totals.sum())[:, 0], means, np.sqrt(means * (1.0 - means) / (totals + 1.0))

    def components_in_use(self) -> int:
        """Return the number of topics."""
        return len(self.doc_topic_prior_)

    def component_weights(self, X: Any) -> Array:
        """Return what `transform` does."""
        return np.asarray(self.transform(X))

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _documents(self, X: Any, method: str, *, reset: bool) -> Documents:
        """Check parameters and data; return the data as documents."""
        self._check_parameters()
        try:
            X = check_data(self, X, reset=reset)
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

    def _check_parameters(self) -> None:
        self._check_loop_parameters()
        for name in ("n_components", "max_doc_update_iter"):
            require_count(name, getattr(self, name))
        for name in ("perp_tol", "mean_change_tol"):
            require_not_negative(name, getattr(self, name))
        require("evaluate_every", self.evaluate_every, is_integer, "an integer")

    def _alpha(self) -> Array:
        """Return alpha for each topic."""
        given = 1.0 / self.n_components if self.doc_topic_prior is None else self.doc_topic_prior
        try:
            alpha = np.array(given, dtype=float)
        except (TypeError, ValueError):
            alpha = np.array(np.nan)
        if alpha.ndim == 0:
            alpha = np.full(self.n_components, alpha)
        if alpha.shape != (self.n_components,) or not is_usable_alpha(alpha):
            raise ValueError(
                f"doc_topic_prior must be a positive number from {SMALLEST_ALPHA:g} to {LARGEST_ALPHA:g}, or "
                f"{self.n_components} of them (one for each topic), not {self.doc_topic_prior!r}."
            )
        return alpha

    def _eta(self) -> float:
        """Return eta."""
        if self.topic_word_prior is None:
            return 1.0 / self.n_components
        require_positive("topic_word_prior", self.topic_word_prior)
        return float(self.topic_word_prior)

    def _set_priors(self, documents: Documents) -> None:
        """Fix what a fit cannot change later: the model, and what "auto" means."""
        self.doc_topic_prior_, self.topic_word_prior_ = self._alpha(), self._eta()
        self.local_step_ = "gibbs" if Gibbs.suits(documents) else "mean_field"
        self._n_words = documents.n_words

    def _check_same_model(self) -> None:
        """Raise if parameters of the model were changed since the first `partial_fit` or the last `fit`."""
        if not np.array_equal(self._alpha(), self.doc_topic_prior_) or self._eta() != self.topic_word_prior_:
            raise ValueError(
                "n_components, doc_topic_prior or topic_word_prior has changed since this model was fitted, and "
                "partial_fit goes on with the same model: set it back, or call fit."
            )

    def _decay_for(self, rows: int) -> float | None:
        usual = 0.5 if rows >= _LARGE_MINIBATCH else 0.6
        return usual if self.learning_decay is None else self.learning_decay

    def _sampling(self, rows: int) -> dict[str, int]:
        """Return how a fit samples documents: with large minibatches, later sweeps are worth more than more of them."""
        return {"sweeps": 10, "kept": 5 if rows >= _LARGE_MINIBATCH else 8}

    def _units(self, data: Documents) -> float:
        return float(data.lengths().mean())

    def _model(self) -> LDA:
        return LDA(self._n_words, self.doc_topic_prior_, self.topic_word_prior_)

    def _local_step(self, documents: Documents, **options: int) -> LocalStep:
        """Return the local step; `options` are for one that is given by name."""
        choice = self.local_step
        if isinstance(choice, str) and choice == "auto":
            choice = self.local_step_
        step = make_local_step(
            choice, LDA.name, max_rounds=self.max_doc_update_iter, tolerance=self.mean_change_tol, **options
        )
        step.check(documents)
        return step

    def _fit_step(self, data: Documents, plan: Plan) -> LocalStep:
        return self._local_step(data, **self._sampling(plan.batch_size))

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

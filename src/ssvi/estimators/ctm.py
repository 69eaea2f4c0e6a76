"""The correlated topic model in the form of a scikit-learn transformer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from ssvi.batches.documents import Documents
from ssvi.checks import AUTO, require_positive
from ssvi.engine import NEVER
from ssvi.estimators.base import StochasticEstimator
from ssvi.estimators.lda import LatentDirichletAllocation
from ssvi.estimators.parameters import changed, parameter, with_parameters
from ssvi.estimators.plan import Plan
from ssvi.estimators.topics import TopicEstimator
from ssvi.estimators.words import Start
from ssvi.evaluation.document_completion import complete_documents
from ssvi.evaluation.held_out import HeldOut
from ssvi.global_steps.base import GlobalStep
from ssvi.global_steps.drawn import DrawnStep
from ssvi.local_steps.base import LocalStep
from ssvi.local_steps.ctm.metropolis import Metropolis
from ssvi.models.ctm import CTM
from ssvi.models.lda import LDA
from ssvi.schedules import PowerSchedule
from ssvi.typing import Array

_SCORING = Metropolis(draws=100, moves=3)
_USING = {"draws": 40, "moves": 3, "sweeps": 60, "kept": 50}  # of samplers by name, in `transform`


@with_parameters
class CorrelatedTopicModel(TopicEstimator):
    """Topics of documents with the correlations between them (Blei and Lafferty 2007).

    A document's topic weights are softmax(x), x ~ N(mu, Sigma): topics may go together, or keep apart, which LDA's
    Dirichlet prior cannot say. `fit` begins with the topics of `LatentDirichletAllocation`, with its defaults: from a
    random start the topics of this model are worse.

    Attributes
    ----------
    topic_correlations_ : (K, K)
        The correlations of topics' log weights, less their mean over topics, over documents.
    topic_covariance_ : (K, K)
        Their covariance.
    topic_means_ : (K,)
        The mean of these log weights.
    components_ : (K, V)
        lambda, the Dirichlet parameters of q(beta).
    topic_word_ : (K, V)
        E_q[beta], the topics; rows sum to 1.
    topic_word_prior_ : float or array
        eta.

    Examples
    --------
    >>> import numpy as np
    >>> from ssvi import CorrelatedTopicModel
    >>> counts = np.array([[4, 3, 0, 0], [5, 2, 0, 1], [0, 0, 6, 2], [0, 1, 3, 5]] * 20)
    >>> ctm = CorrelatedTopicModel(2, batch_size=20, random_state=0).fit(counts)
    >>> ctm.topic_correlations_.shape
    (2, 2)

    """

    topic_word_prior: float | str | Sequence[float] | npt.NDArray[Any] | None = changed(
        TopicEstimator,
        "topic_word_prior",
        default=None,
        words="""eta, the Dirichlet prior of a topic's word probabilities: for all words, for each word, or for each
        word in each topic; 1 / K by default. "auto" learns one number, in the LDA that `fit` begins with and from there
        on. See also `seed_words`.""",
    )
    weight_variance: float = parameter(
        default=1.0,
        kind="float",
        words="""The prior's guess of the variance of a topic's log weight over documents. It is worth about one
        document, so that it matters only where there are few.""",
        check=require_positive,
    )
    global_step: str | GlobalStep = changed(
        TopicEstimator,
        "global_step",
        default="ssvi",
        words="How q is updated (the M-step): docs/correlated_topics.md compares them.",
    )
    local_step: str | LocalStep = changed(
        TopicEstimator,
        "local_step",
        default="auto",
        kind='{"auto", "metropolis", "laplace", "gibbs", "mean_field"} or LocalStep',
        words="""How each document's log weights are found (the E-step). "auto" is "metropolis": samples around
        Laplace's approximation, which is "laplace" alone. "gibbs" has Polya-Gamma variables (Chen et al. 2013) and is
        slower to forget where it began; "mean_field" is Blei and Lafferty's, and gets stuck.""",
    )
    max_iter: int | str | None = changed(
        TopicEstimator,
        "max_iter",
        default=8,
        words="""Passes over the data in `fit`, after those of the LDA that it begins with. "auto" goes on until the fit
        has converged, for 200 passes at most.""",
    )
    learning_offset: float | None = changed(
        TopicEstimator,
        "learning_offset",
        default=None,
        words="tau of the step size. By default 5, and in `partial_fit` 10.",
    )
    population_ramp: bool = changed(StochasticEstimator, "population_ramp", default=False)
    merge_copies: bool = changed(
        TopicEstimator,
        "merge_copies",
        default=True,
        words="Merge topics that have become copies of each other in the LDA that `fit` begins with.",
    )

    _online_schedule: ClassVar[PowerSchedule] = PowerSchedule(0.5, 5.0)

    name = CTM.name
    saved_attributes = (
        *StochasticEstimator.saved_attributes,
        "topic_word_prior_",
        "local_step_",
        "_n_words",
        "_mean_length",
        "_fitted",
        "_learns_eta",
        "perplexity_history_",
    )
    _learns_eta: bool = False  # files of earlier versions do not say

    @property
    def topic_correlations_(self) -> Array:
        """Correlations of topics."""
        check_is_fitted(self)
        return self._ctm().correlations(self._state.estimate)

    def component_correlations(self) -> Array:
        """Return `topic_correlations_`."""
        return self.topic_correlations_

    @property
    def topic_covariance_(self) -> Array:
        """Covariance of topics."""
        check_is_fitted(self)
        return self._ctm().covariance(self._state.estimate)

    @property
    def topic_means_(self) -> Array:
        """The mean of log weights."""
        check_is_fitted(self)
        return self._ctm().centred_mean(self._state.estimate)

    def _first_guess(self, data: Any) -> Start:
        """Return the topics that LDA finds on the same data."""
        shared = (
            "n_components",
            "topic_word_prior",
            "seed_words",
            "seed_strength",
            "batch_size",
            "merge_copies",
            "backend",
            "n_jobs",
            "verbose",
        )
        lda = LatentDirichletAllocation(**{name: getattr(self, name) for name in shared})
        vocabulary = self._names()
        matrix = data.to_matrix() if isinstance(data, Documents) else data
        lda.set_params(random_state=self.random_state_)
        lda.fit(matrix, vocabulary=None if vocabulary is None else list(vocabulary))
        if self._learns_eta:
            self.topic_word_prior_ = float(np.asarray(lda.topic_word_prior_))
        return Start(np.array(lda.components_), vocabulary)

    def _wanted(self) -> dict[str, Any]:
        return {
            "n_components": int(self.n_components),
            "weight_variance": float(self.weight_variance),
            "topic_word_prior": AUTO if self._is_eta_learned() else self._eta(),
        }

    def _fix_model(self, data: Documents) -> None:
        self._fitted = self._wanted()
        del self._fitted["topic_word_prior"]  # which may have a number for each word
        self.topic_word_prior_, self._learns_eta = self._eta(), self._is_eta_learned()
        self.local_step_ = Metropolis.name
        self._n_words = data.n_words

    @property
    def _fixed(self) -> Mapping[str, Any]:
        return {**self._fitted, "topic_word_prior": AUTO if self._learns_eta else self.topic_word_prior_}

    def _note_priors(self) -> None:
        self.topic_word_prior_ = self._ctm().eta

    def _ctm(self) -> CTM:
        learned = ("eta",) if self._learns_eta else ()
        shape = self._n_words, self._fitted["n_components"]
        return self._with_learned(CTM(*shape, self.topic_word_prior_, self._fitted["weight_variance"], learned=learned))

    def _model(self) -> Any:
        return self._ctm()

    def _lda(self) -> LDA:
        return LDA(self._n_words, np.ones(self._fitted["n_components"]), self.topic_word_prior_)

    def _views(self) -> dict[str, Array]:
        return self._ctm().point_views(self._state.estimate)

    def _complete(self, documents: Documents) -> HeldOut:
        with self._open_backend() as backend:
            given = (self.topic_word_, documents, _SCORING, self._ctm(), self._views())
            return complete_documents(*given, backend=backend)

    def _expected_counts(self, weights: Array, lengths: Array) -> Array:
        result: Array = weights * lengths[:, None]
        return result

    def _global_step(self, whole_steps: int | None = None) -> GlobalStep:
        step = super()._global_step(whole_steps)
        by_name = not isinstance(self.global_step, GlobalStep)
        return replace(step, warm_sweeps=0.0) if by_name and isinstance(step, DrawnStep) else step

    def _rearranges(self, plan: Plan) -> tuple[float, float]:
        return NEVER  # a topic's correlations are of no use to another one in its place

    def _transform_options(self) -> dict[str, int]:
        return _USING

"""Latent Dirichlet allocation in the form of a scikit-learn transformer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ssvi.batches.documents import Documents
from ssvi.checks import require_positive
from ssvi.engine import Callback
from ssvi.estimators.base import StochasticEstimator
from ssvi.estimators.gains import Gains, go_back
from ssvi.estimators.parameters import changed, parameter, with_parameters
from ssvi.estimators.plan import Plan
from ssvi.estimators.topic_priors import check_doc_topic_prior
from ssvi.estimators.topics import TopicEstimator
from ssvi.evaluation.document_completion import document_completion
from ssvi.evaluation.held_out import HeldOut
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.models.lda import ALPHA_RULES, LDA, starting_alpha
from ssvi.typing import Array

_BY_LIKELIHOOD, _MORE_SWEEPS = ("symmetric", "asymmetric"), 24  # rules of alpha, and how often a fit samples with these


@with_parameters
class LatentDirichletAllocation(TopicEstimator):
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
    left_out_scores_ : list of float
        With `max_iter="auto"`, after every pass (or every few, where a fit has many) the score of some of the training
        documents by the topics that there would be without each of them: about what held-out documents would have
        (docs/convergence.md).
    gain_ : float
        What a further pass would add to such scores, by the course of the last ones; NaN without `max_iter="auto"`.
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

    doc_topic_prior: float | Sequence[float] | str | None = parameter(
        default=None,
        kind='float, array of K floats, {"auto", "symmetric", "asymmetric"}, optional',
        words="""alpha, the Dirichlet prior of a document's topic weights. By default ("auto") it begins as
        (K / 50)^-0.5 / 10, which is 0.1 for 50 topics, and from the fourth pass on goes part of the way to what the
        documents say of each topic. (scikit-learn has 1 / K. So small an alpha breeds topics that are copies of each
        other, and predicts worse: docs/experiments/lda.md.) "symmetric" and "asymmetric" learn it by maximum likelihood
        from the first step on, one number for all topics or, from the sixth pass on, one for each
        (docs/hyperparameters.md); by name, "gibbs" then makes 24 sweeps and not 8.""",
    )
    max_iter: int | str | None = changed(
        TopicEstimator,
        "max_iter",
        default=8,
        words="""Passes over the data in `fit`. "auto" goes on until a further pass would gain little, for 200 passes at
        most; see `gain_tol`.""",
    )
    gain_tol: float = parameter(
        default=1e-3,
        kind="float",
        words="""With `max_iter="auto"` a fit has converged when a further pass would gain about this, in nats a word,
        or less: see `gain_`.""",
        check=require_positive,
    )
    _ends_by_gain: ClassVar[bool] = True
    _learned: str | None = None  # how alpha is learned; files of earlier versions do not say
    _learns_eta: bool = False

    name = LDA.name
    saved_attributes = (
        *StochasticEstimator.saved_attributes,
        "doc_topic_prior_",
        "topic_word_prior_",
        "local_step_",
        "_n_words",
        "_mean_length",
        "_learned",
        "_learns_eta",
        "perplexity_history_",
        "left_out_scores_",
        "gain_",
    )

    def _monitors(self, data: Documents, plan: Plan) -> list[Callback]:
        monitors = super()._monitors(data, plan)
        return [*monitors, Gains(self, data, plan)] if plan.ends_itself else monitors

    def _go_back(self, step: int, plan: Plan) -> None:
        if plan.ends_itself:
            go_back(self, step, plan)

    def _step_options(self) -> dict[str, int]:
        # The most probable alpha is small, and tokens that begin anywhere take long to find topics that are rare.
        return {"sweeps": _MORE_SWEEPS} if self._learned in _BY_LIKELIHOOD else {}

    def _note_priors(self) -> None:
        """Show the priors as the fit has left them."""
        model = self._lda()
        self.doc_topic_prior_, self.topic_word_prior_ = model.alpha, model.eta

    def _complete(self, documents: Documents) -> HeldOut:
        with self._open_backend() as backend:
            return document_completion(self.topic_word_, self._lda().alpha, documents, backend=backend)

    def _expected_counts(self, weights: Array, lengths: Array) -> Array:
        result: Array = weights * (lengths + self._lda().alpha.sum())[:, None]
        return result

    def _alpha_rule(self) -> str | None:
        """Return how alpha is learned, if it is."""
        choice = "auto" if self.doc_topic_prior is None else self.doc_topic_prior
        return choice if isinstance(choice, str) and choice in ALPHA_RULES else None

    def _alpha(self) -> Array:
        """Return alpha for each topic, or the start of one that is learned."""
        rule = self._alpha_rule()
        if rule is not None:
            return np.full(self.n_components, starting_alpha(self.n_components, rule))
        return check_doc_topic_prior(self.doc_topic_prior, self.n_components)

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

    def _model(self) -> Any:
        return self._with_learned(
            LDA(self._n_words, self.doc_topic_prior_, self.topic_word_prior_, self._learned, self._learns_eta)
        )

    def _lda(self) -> LDA:
        """Return LDA as it is fitted: what predicts, whatever prior there is of its alpha."""
        model: LDA = self._model()
        return model

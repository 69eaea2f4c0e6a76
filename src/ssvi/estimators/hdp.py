"""Hierarchical Dirichlet topics in the form of a scikit-learn transformer."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from ssvi.adaptive import AdaptiveSchedule
from ssvi.batches.documents import Documents
from ssvi.checks import AUTO, is_auto, positive_or_auto, require, require_count
from ssvi.engine import NEVER, State
from ssvi.estimators.lda import LatentDirichletAllocation
from ssvi.estimators.parameters import changed, parameter, with_parameters
from ssvi.estimators.plan import Plan
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.models.base import is_active
from ssvi.models.hdp import HDP, usual_concentrations
from ssvi.models.lda import LDA
from ssvi.typing import Array

# For how long topics are taken for alike, less and less: a share of the sum of a fit's step sizes.
_EVEN_SHARE = 0.75
_FEWEST_STEPS, _FEWEST_PASSES = 234, 13  # topics of no use fade away by and by
_SMALLEST_BATCH = 50
_CHANCE_WORDS, _CHANCE_SHARE = 100, 0.01  # a topic of fewer words, or a smaller share of few, may be one of chance
_NEARLY_ALL = 0.9  # of the topics in use: then there may be room for too few
_ENOUGH_WORDS, _ENOUGH_STEPS = 100, 50  # words for each topic, and steps, before anything is said of their number


@with_parameters
class HierarchicalDirichletTopics(LatentDirichletAllocation):
    """Topics of documents, as many as the documents need: a hierarchical Dirichlet process (Teh et al. 2006).

    It is `LatentDirichletAllocation` whose alpha is learned, one number for each topic, with a Dirichlet process for
    its prior: topics that are not needed get a weight near 0. All else is as it is there.

    Attributes
    ----------
    n_active_ : int
        How many topics are active; see `active_share`.
    active_ : (T,) array of bool
        Which.
    weights_ : (T,)
        E_q[pi], the topics' weights in the collection.
    doc_concentration_, topic_concentration_ : float
        alpha and gamma, as they were given or learned.
    doc_topic_prior_ : (T,)
        alpha pi, the Dirichlet prior of a document's topic weights.
    components_ : (T, V)
        lambda, the Dirichlet parameters of q(beta).
    topic_word_ : (T, V)
        E_q[beta], the topics; rows sum to 1.
    topic_word_prior_ : float
        eta.

    Examples
    --------
    >>> import numpy as np
    >>> from ssvi import HierarchicalDirichletTopics
    >>> rng = np.random.default_rng(0)
    >>> three = np.kron(np.eye(3), np.full(10, 0.1))  # topics of ten words each
    >>> counts = np.array([rng.multinomial(50, rng.dirichlet([0.2] * 3) @ three) for _ in range(1_000)])
    >>> hdp = HierarchicalDirichletTopics(12, random_state=0).fit(counts)
    >>> hdp.n_active_, hdp.convert_to_lda().components_.shape
    (3, (3, 30))

    """

    n_components: int = parameter(
        default=200,
        kind="int",
        words="""T, the most topics there can be. Those that are not needed stay empty (`n_active_`); a fit warns if
        nearly all are in use.""",
        check=require_count,
        kw_only=False,
    )
    doc_topic_prior: float | str = parameter(
        default=AUTO,
        kind='float or "auto"',
        words="""alpha, the concentration of a document's topic weights, which are Dirichlet(alpha pi). The larger, the
        more topics a document has. "auto" learns it, half way: to the geometric mean of the most probable one and LDA's
        usual one. That predicts better than going all the way.""",
        check=positive_or_auto,
    )
    topic_concentration_prior: float | str = parameter(
        default=AUTO,
        kind='float or "auto"',
        words="""gamma, the concentration of the Dirichlet process: pi is Dirichlet(gamma / T). The larger, the more
        topics there are. "auto" learns it.""",
        check=positive_or_auto,
    )
    topic_word_prior: float | str | Sequence[float] | npt.NDArray[Any] | None = changed(
        LatentDirichletAllocation,
        "topic_word_prior",
        default=None,
        words="""eta, the Dirichlet prior of a topic's word probabilities: for all words, for each word, or for each
        word in each topic; 1 / T by default. "auto" learns one number, from there on, half way: to the geometric mean
        of the most probable one and 1 / T, which predicts text a little worse, and tells topics from chance better
        where there are few documents. See also `seed_words`, which want a number.""",
    )
    max_iter: int | str | None = changed(
        LatentDirichletAllocation,
        "max_iter",
        default=None,
        kind='int, "auto", optional',
        words="""Passes over the data in `fit`. By default 13, or as many as make 234 steps. "auto" goes on until a
        further pass would gain little, for ten times that at most; see `gain_tol`.""",
    )
    convergence_tol: float = changed(LatentDirichletAllocation, "convergence_tol", default=0.01)
    batch_size: int | None = changed(
        LatentDirichletAllocation,
        "batch_size",
        default=None,
        words="""Documents in a minibatch. By default an eighteenth of the data, at least 50 and at most 4,000; in
        `partial_fit` 1,000.""",
    )
    active_share: float = parameter(
        default=1e-3,
        kind="float",
        words="""A topic is active if it holds this share of the words, and a hundred words or a hundredth of all,
        whichever is less, at the least: smaller ones may be of chance words.""",
        check=lambda name, value: require(name, value, lambda v: 0 <= v <= 1, "from 0 to 1"),
    )

    merge_copies: bool = changed(
        LatentDirichletAllocation,
        "merge_copies",
        default=True,
        words="""Merge topics that have become copies of each other (a cosine above 0.9), when a fit of 50 steps or more
        has ended.""",
    )

    _batches_of_data: ClassVar[int] = 18
    _learnable: ClassVar[Mapping[str, tuple[str, Any]]] = {
        "doc_topic_prior": ("concentration", None),
        "topic_concentration_prior": ("growth", None),
    }
    """What a fit may learn: parameters, what the model calls them, and no start, which follows from T."""

    name = HDP.name
    saved_attributes = (*LatentDirichletAllocation.saved_attributes, "_fitted", "_even_for")

    @property
    def active_(self) -> npt.NDArray[np.bool_]:
        """Which topics hold a share `active_share` of the words, and enough of them not to be of chance words."""
        check_is_fitted(self)
        held = self._model().words_held(self._state.estimate)
        enough = held >= min(_CHANCE_WORDS, _CHANCE_SHARE * held.sum())
        active: npt.NDArray[np.bool_] = is_active(held, self.active_share) & enough
        return active

    @property
    def n_active_(self) -> int:
        """How many topics are active."""
        return int(np.count_nonzero(self.active_))

    @property
    def weights_(self) -> Array:
        """E_q[pi]."""
        check_is_fitted(self)
        weights: Array = self._model().mean_weights(self._state.estimate)
        return weights

    @property
    def doc_concentration_(self) -> float:
        """Alpha."""
        check_is_fitted(self)
        return float(self._model().concentration)

    @property
    def topic_concentration_(self) -> float:
        """Gamma."""
        check_is_fitted(self)
        return float(self._model().growth)

    def components_in_use(self) -> int:
        """Return `n_active_`."""
        return self.n_active_

    def summarize_components(self) -> tuple[Array, Array, Array]:
        """Return each topic's share of the words, its word probabilities, and their standard deviations under q."""
        held = self._model().words_held(self._state.estimate)
        return (held / max(held.sum(), 1e-300), *super().summarize_components()[1:])

    def convert_to_lda(self, active_share: float | None = None) -> LatentDirichletAllocation:
        """Return a fitted `LatentDirichletAllocation` of the active topics alone, with alpha pi for their alpha.

        Topics are in the same order. It has the same parameters otherwise, and can go on by `partial_fit`. A smaller
        `active_share` than this estimator's own takes rare topics along: a large collection may have many of these. If
        one is given, topics of a few words count as well, which `active_` leaves out.
        """
        check_is_fitted(self)
        held = self._model().words_held(self._state.estimate)
        chosen = self.active_ if active_share is None else is_active(held, active_share)
        active = np.flatnonzero(chosen) if chosen.any() else np.array([held.argmax()])
        alpha, eta = self._lda().alpha[active], self.topic_word_prior_
        eta = np.asarray(eta)[active] if np.ndim(eta) == 2 else eta
        own = self.get_params(deep=False)
        given = {name: own[name] for name in LatentDirichletAllocation().get_params(deep=False) if name in own}
        given |= {
            "n_components": len(active),
            "doc_topic_prior": alpha,
            "topic_word_prior": eta,
            "seed_words": None,  # they are in eta
            "local_step": getattr(self.local_step, "lda_step", self.local_step),
            "max_iter": self.n_iter_ if self.max_iter is None else self.max_iter,
        }
        lda = LatentDirichletAllocation(**given)
        for name in LatentDirichletAllocation.saved_attributes:
            if name in vars(self):
                setattr(lda, name, getattr(self, name))
        lda.doc_topic_prior_, lda.topic_word_prior_ = alpha, eta
        if hasattr(self, "labels_"):
            lda.labels_ = [self.labels_[k] for k in active]
        lda._learned, lda._learns_eta = None, False
        lda._state = self._state_of(active)
        return lda

    def _state_of(self, topics: npt.NDArray[np.int64]) -> State:
        """Return the state of LDA with some of the topics."""
        state = self._state
        topics_of = (state.parameters, topics), (state.totals, (..., topics)), (state.averages, topics)
        parts = [{"topics": np.array(arrays["topics"][own])} if "topics" in arrays else {} for arrays, own in topics_of]
        return State(state.seed, state.step, state.documents_seen, parts[0], parts[1], {}, parts[2])

    def written_components(self) -> list[int]:
        """Return the active topics."""
        return np.flatnonzero(self.active_).tolist()

    def _finish(self, data: Documents) -> bool:
        merged = self._merge_copies()
        self._warn_if_too_few()
        return merged

    def _merge_copies(self) -> bool:
        """Make one topic of those that are the same but for noise; tell whether there were any.

        After a few steps topics are still much alike, and that says nothing.
        """
        state, model = self._state, self._model()
        if not self.merge_copies or state.step < _ENOUGH_STEPS:
            return False
        change = model.rearrangement(state.estimate.__getitem__)
        if change is not None:
            blocks = model.blocks()
            parameters, averages = change.of(state.parameters, blocks), change.of(state.averages, blocks)
            self._state = replace(state, parameters=parameters, averages=averages, totals={})
        return change is not None

    def _warn_if_too_few(self) -> None:
        """Warn if nearly all topics are in use, where there were words and steps enough to tell."""
        words, most = self._model().words_held(self._state.estimate).sum(), self.n_components
        can_tell = words >= _ENOUGH_WORDS * most and self._state.step >= _ENOUGH_STEPS
        if can_tell and self.n_active_ >= _NEARLY_ALL * most:
            warnings.warn(
                f"{self.n_active_} of {most} topics are in use, so that there may be more than n_components={most} "
                "allows: try a larger one.",
                UserWarning,
                stacklevel=2,
            )

    def _wanted(self) -> dict[str, Any]:
        return {
            "n_components": int(self.n_components),
            "doc_topic_prior": positive_or_auto("doc_topic_prior", self.doc_topic_prior),
            "topic_concentration_prior": positive_or_auto("topic_concentration_prior", self.topic_concentration_prior),
            "topic_word_prior": AUTO if self._is_eta_learned() else self._eta(),
        }

    def _fix_model(self, data: Documents) -> None:
        self._fitted = self._wanted()
        del self._fitted["topic_word_prior"]  # which may have a number for each word
        self.topic_word_prior_, self._learns_eta = self._eta(), self._is_eta_learned()
        self.doc_topic_prior_ = np.full(self.n_components, self._concentrations()[0] / self.n_components)
        self.local_step_ = "gibbs" if Gibbs.suits(data) else "mean_field"
        self._n_words, self._even_for = data.n_words, self._first_part(self._plan(len(data)))

    @property
    def _fixed(self) -> Mapping[str, Any]:
        return {**self._fitted, "topic_word_prior": AUTO if self._learns_eta else self.topic_word_prior_}

    def _concentrations(self) -> tuple[float, float]:
        """Return alpha and gamma, or the start of those that are learned."""
        alpha, gamma = self._fitted["doc_topic_prior"], self._fitted["topic_concentration_prior"]
        usual = usual_concentrations(self._fitted["n_components"])
        return usual[0] if is_auto(alpha) else alpha, usual[1] if is_auto(gamma) else gamma

    def _model(self) -> Any:
        learned = [self._learnable[name][0] for name, value in self._fitted.items() if is_auto(value)]
        concentration, growth = self._concentrations()
        model = HDP(
            self._n_words,
            self._fitted["n_components"],
            concentration,
            growth,
            self.topic_word_prior_,
            (*learned, "eta") if self._learns_eta else tuple(learned),
            evenness=1.0,
            even_for=self._even_for,
            half_way=True,
        )
        return self._with_learned(model)

    def _lda(self) -> LDA:
        model: HDP = self._model()
        return model.at_mean(self._state.estimate)

    def _views(self) -> dict[str, Array]:
        return {"weights": np.log(self.weights_)[None], **super()._views()}

    def _batch_size_for(self, n: int) -> int:
        if self.batch_size or self._is_batch(n):
            return super()._batch_size_for(n)
        return min(max(n // self._batches_of_data, _SMALLEST_BATCH), self._largest_batch, n)

    def _planned_passes(self, n: int) -> int:
        if self.max_iter is not None and not isinstance(self.max_iter, str):
            return int(self.max_iter)
        return max(_FEWEST_PASSES, -(-_FEWEST_STEPS // -(-n // self._batch_size_for(n))))

    def _first_end(self, plan: Plan) -> int:
        return plan.planned * plan.steps_per_pass  # until then topics are taken for more alike than they are

    def _rearranges(self, plan: Plan) -> tuple[float, float]:
        return NEVER  # places that become free would be taken at once; `_finish` merges

    def _careful(self, plan: Plan) -> Plan:
        plan = super()._careful(plan)
        self._even_for = self._first_part(plan)
        return plan

    def _expect_stream(self, data: Documents) -> None:
        self._even_for = self._first_part(super()._careful(self._plan(len(data))))

    def _first_part(self, plan: Plan) -> float:
        """Return for how long topics are taken for alike, in sums of step sizes. A stream is taken for a fit.

        Step sizes that adapt are not known before: they are taken for the usual ones.
        """
        schedule = self._usual_schedule() if isinstance(plan.schedule, AdaptiveSchedule) else plan.schedule
        return _EVEN_SHARE * sum(schedule(step) for step in range(1, plan.planned * plan.steps_per_pass + 1))

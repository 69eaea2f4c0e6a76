"""The parameters of estimators of topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy.typing as npt

from ssvi.checks import is_integer, require, require_count, require_flag, require_not_negative
from ssvi.estimators.base import StochasticEstimator
from ssvi.estimators.parameters import changed, optional, parameter, with_parameters
from ssvi.estimators.words import WordsEstimator
from ssvi.global_steps.base import GlobalStep
from ssvi.local_steps.base import LocalStep
from ssvi.schedules import PowerSchedule


@with_parameters
class TopicParameters(WordsEstimator):
    """An estimator of topics, with the parameters of scikit-learn's class and ours."""

    n_components: int = parameter(
        default=10,
        kind="int",
        words="The number of topics K.",
        check=require_count,
        kw_only=False,
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
        words="""How q(beta) is updated (the M-step). "ssvi_a" takes as long as "ssvi" and mostly scores a
        little lower; "map" with "gibbs" or "cvb0" takes a fifth less, and scores as well where `topic_word_prior` is
        0.1 or more; "mean_field" is ordinary variational inference (docs/performance.md,
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
        words="""kappa of the step size rho_t = min(1, s (t + tau)^-kappa), t = 1, 2, ... By default 0.25 where
        the global step averages its path ("ssvi", "ssvi_a" and "map" do), else 0.5, and in `partial_fit` 0.6.""",
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
    population_ramp: bool | None = parameter(
        default=None,
        kind="bool, optional",
        words="""Let a minibatch stand for the documents seen so far, during the first pass, and not for all at once. By
        default so, unless eta is above 0.15: beside so large a prior, the few words seen so far would be lost.""",
        check=optional(require_flag),
    )
    max_iter: int | str | None = changed(StochasticEstimator, "max_iter", default=8, kind='int or "auto"')
    convergence_tol: float = changed(StochasticEstimator, "convergence_tol", default=0.05)
    batch_size: int | None = changed(
        StochasticEstimator,
        "batch_size",
        default=None,
        words="""Documents in a minibatch. By default a fifteenth of the data, and of documents of 250 words or more a
        25th; at least 24, and as many as have about 1,000 words, and at most 4,000. In `partial_fit` 1,000.""",
    )
    merge_copies: bool = parameter(
        default=True,
        kind="bool",
        words="""Mend topics that become copies of each other (a cosine above 0.895), after every pass from a quarter
        of `fit` on, but not before the third: one takes what they share, the other keeps its own words. If it has none,
        what documents have and no topic explains takes its place. `history_` says when that was, and a warning if
        copies remain.""",
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
    _online_schedule: ClassVar[PowerSchedule] = PowerSchedule(0.5, 1.0)

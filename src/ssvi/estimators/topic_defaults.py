"""How a fit of topics goes unless it is told otherwise: priors, the form of SSVI, when copies are mended."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ssvi.checks import is_auto
from ssvi.engine import NEVER
from ssvi.estimators.parameters import with_parameters
from ssvi.estimators.plan import Plan
from ssvi.estimators.topic_parameters import TopicParameters
from ssvi.global_steps.base import GlobalStep
from ssvi.global_steps.drawn import DrawnStep
from ssvi.global_steps.map import Map
from ssvi.global_steps.ssvi import Ssvi
from ssvi.schedules import PowerSchedule
from ssvi.typing import Array

_AVERAGING, _WARM_SWEEPS, _DRAW_SOFTENING = 7.0, 2.0, 3.0  # of steps by name: docs/experiments/lda.md
_SMALL_ETA = 0.02  # up to which what a topic has not seen has no weight beside what it has
_LARGE_ETA = 0.15  # from which the prior outweighs the words that the first minibatches stand for
_LARGEST_EXCESS = 1e6  # of an eta beside which no draw says anything
_REARRANGING = (0.25, 1.0)  # of a fit: from when topics are distinct to the end, so that no copies are left
_DISTINCT = 3.0  # sweeps, before which topics are alike because they have not formed yet
# Topics that are moved by fewer words go by chance, and with fewer documents most of a step goes into moving topics.
_SMALLEST_MINIBATCH, _WORDS_OF_MINIBATCH = 24, 1_000.0
_LENGTHS, _MINIBATCHES = (
    (120.0, 250.0),
    (15.0, 25.0),
)  # words of a document, minibatches of the data: long ones say more
_BOLD = PowerSchedule(0.25, 1.0)


@with_parameters
class TopicDefaults(TopicParameters):
    """What parameters of topics mean that are not set, or are a name."""

    _mean_length: float = 100.0  # of the documents of the fit, in words; files of earlier versions do not say

    def _batch_size_for(self, n: int) -> int:
        if self.batch_size or self._is_batch(n):
            return super()._batch_size_for(n)
        usual = int(n / np.interp(self._mean_length, _LENGTHS, _MINIBATCHES))
        with_words = math.ceil(_WORDS_OF_MINIBATCH / max(self._mean_length, 1.0))
        return min(max(usual, _SMALLEST_MINIBATCH, with_words), self._largest_batch, max(n, 1))

    def _is_eta_learned(self) -> bool:
        return is_auto(self.topic_word_prior)

    def _eta(self) -> float | Array:
        """Return eta, or the start of one that is learned."""
        is_usual = self.topic_word_prior is None or self._is_eta_learned()
        return self._word_prior(1.0 / self.n_components if is_usual else self.topic_word_prior, self.n_components)

    def _global_step(self, whole_steps: int | None = None) -> GlobalStep:
        """Return the global step. By name steps average; by minibatches those that draw begin as MAP and soften draws.

        Where every step sees all documents SSVI alone averages.
        """
        step = super()._global_step(whole_steps)
        if isinstance(self.global_step, GlobalStep) or not isinstance(step, Map | DrawnStep):
            return step
        if whole_steps:
            return replace(step, averaging=_AVERAGING) if isinstance(step, Ssvi) else step
        if isinstance(step, Map):
            return replace(step, averaging=_AVERAGING)
        excess = self._eta_excess()
        warm_sweeps = max(_WARM_SWEEPS, 1.0 + 2.0 * math.log(excess))
        softening = max(_DRAW_SOFTENING, excess**2)
        return replace(step, averaging=_AVERAGING, warm_sweeps=warm_sweeps, draw_softening=softening)

    def _eta_excess(self) -> float:
        """Return how many times as large as a small one eta is.

        With a large eta most of a rare word's lambda is prior, and of a draw of it noise: draws begin later, and are
        drawn in further.
        """
        return float(np.clip(self._least_eta() / _SMALL_ETA, 1.0, _LARGEST_EXCESS))

    def _least_eta(self) -> float:
        """Return eta, of several the smallest one, and of one that is learned none."""
        if self._is_eta_learned():
            return 0.0
        return 1.0 / self.n_components if self.topic_word_prior is None else float(np.min(self.topic_word_prior))

    def _ramps(self) -> bool:
        return self._least_eta() <= _LARGE_ETA if self.population_ramp is None else self.population_ramp

    def _usual_schedule(self) -> PowerSchedule:
        """Return bold steps for an average over the path, and milder ones where the last lambda is what counts."""
        return _BOLD if self._global_step().averaging else self._online_schedule

    def _careful(self, plan: Plan) -> Plan:
        plan, step = super()._careful(plan), plan.global_step
        return replace(plan, global_step=replace(step, warm_sweeps=0.0)) if isinstance(step, DrawnStep) else plan

    def _first_end(self, plan: Plan) -> int:
        # Not before topics were mended once, where they are, and alpha has been learned for a pass.
        return math.ceil(self._rearranges(plan)[0] + 1.0) * plan.steps_per_pass if plan.planned > _DISTINCT else 0

    def _rearranges(self, plan: Plan) -> tuple[float, float]:
        first, last = max(_DISTINCT, _REARRANGING[0] * plan.planned), _REARRANGING[1] * plan.passes
        return (first, last) if self.merge_copies and first < last else NEVER

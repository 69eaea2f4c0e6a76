"""What the steps share that sample each document's log weights."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping

import numpy as np

from ssvi.local_steps.base import LocalResult
from ssvi.local_steps.ctm.documents import CtmStep, PreparedForCtm
from ssvi.models.ctm import CTM
from ssvi.numerics.random import Keys
from ssvi.typing import Array


class SamplingStep(CtmStep):
    """A step that averages over samples of each document."""

    @property
    @abstractmethod
    def documents(self) -> Callable[..., None]:
        """The kernel that goes over documents and adds up samples."""

    @property
    @abstractmethod
    def options(self) -> tuple[int, int]:
        """Its two parameters."""

    @property
    @abstractmethod
    def averaged(self) -> int:
        """How many samples of each document it adds up."""

    def run(self, model: CTM, prepared: PreparedForCtm, start: int, stop: int, keys: Keys) -> LocalResult:
        """Sample each document; `local` is the mean of softmax(x)."""
        statistics = np.zeros_like(prepared.weights)
        total, squares, mixtures = self._sample(model, prepared, start, stop, keys, statistics, model.n_topics)
        said = model.said_of_weights(total, squares, float(self.averaged * (stop - start)))
        share = 1.0 / self.averaged
        eta_hat = {"topics": share * statistics * prepared.weights, "weights": share * said[None]}
        return LocalResult(eta_hat, {"weights": mixtures})

    def local(self, model: CTM, prepared: PreparedForCtm, start: int, stop: int, keys: Keys) -> Mapping[str, Array]:
        """Sample each document for its weights only."""
        nothing = np.zeros((0, model.n_topics))
        return {"weights": self._sample(model, prepared, start, stop, keys, nothing, 0)[2]}

    def _sample(
        self, model: CTM, prepared: PreparedForCtm, start: int, stop: int, keys: Keys, statistics: Array, size: int
    ) -> tuple[Array, Array, Array]:
        """Return the sums of x and x x^T over samples, `size` of them, and the means of softmax(x)."""
        total, squares = np.zeros(size), np.zeros((size, size))
        mixtures = np.zeros((stop - start, model.n_topics))
        self.documents(*prepared.given(start, stop), *self.options, keys, statistics, total, squares, mixtures)
        return total, squares, mixtures / self.averaged

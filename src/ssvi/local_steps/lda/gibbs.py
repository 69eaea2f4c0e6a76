"""Gibbs local step of LDA: z sampled with theta integrated out and beta held fixed (Mimno et al. 2012)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.data.documents import Documents
from ssvi.local_steps.base import LocalResult
from ssvi.local_steps.lda.common import LdaStep, Prepared
from ssvi.local_steps.lda.gibbs_dense import gibbs_dense
from ssvi.local_steps.lda.gibbs_sparse import gibbs_sparse, prior_table
from ssvi.models.lda import LDA
from ssvi.numerics.random import Keys
from ssvi.numerics.simd import WIDTH
from ssvi.tasks import Each
from ssvi.typing import Array

_LONGEST = 10_000_000  # tokens of one document: single precision counts up to 16.7 million
_DENSE_TOPICS = 512  # up to so many, going over all topics is faster than over a document's own


@dataclass(frozen=True)
class PreparedForGibbs(Prepared):
    """A prepared minibatch with its table of running sums (see `prior_table`); None for the dense kernel."""

    table: npt.NDArray[np.floating[Any]] | None


@dataclass(frozen=True)
class Gibbs(LdaStep):
    """Samples of z_d given t(beta), which approach draws from the exact conditional as sweeps grow.

    Parameters
    ----------
    sweeps : int
        Sweeps over each document, from a fresh start.
    kept : int
        How many of them, the last, are averaged.
    precision : {"float32", "float64"}
        The arithmetic of weights and tallies.
    kernel : {"auto", "dense", "sparse"}
        Go over all topics in vectors, or over the document's own topics; by default by the number of topics. Both draw
        from the same distribution.

    """

    sweeps: int = 10
    kept: int = 8
    precision: str = "float32"
    kernel: str = "auto"

    name = "gibbs"
    counts = True

    def __post_init__(self) -> None:
        if self.kernel not in ("auto", "dense", "sparse"):
            raise ValueError(f"kernel must be 'auto', 'dense' or 'sparse', not {self.kernel!r}.")
        if not 1 <= self.kept <= self.sweeps:
            raise ValueError(f"kept must be from 1 to sweeps = {self.sweeps}, not {self.kept}.")

    @staticmethod
    def suits(documents: Documents) -> bool:
        """Tell whether these documents can be sampled token by token."""
        return documents.is_whole() and documents.lengths().max(initial=0.0) <= _LONGEST

    def check(self, batch: Documents) -> None:
        """Raise unless every count is whole, since a fraction of a token has no topic, and no document is endless."""
        lengths = batch.lengths()
        if lengths.max(initial=0.0) > _LONGEST:
            raise ValueError(
                f"local_step 'gibbs' goes token by token, and document {int(lengths.argmax())} has {lengths.max():.3g} "
                f"of them (at most {_LONGEST:,} are possible): use local_step='mean_field'."
            )
        if not batch.is_whole():
            raise ValueError(
                "local_step 'gibbs' needs whole counts, and some counts here are fractions: "
                "use local_step='mean_field' or 'cvb0', or give raw counts."
            )

    def prepare(self, model: LDA, views: Mapping[str, Any], batch: Documents, each: Each = map) -> PreparedForGibbs:
        """Add the table of running sums, where the kernel uses one."""
        shared = super().prepare(model, views, batch, each)
        if self._is_dense(model.n_topics):
            return PreparedForGibbs(**vars(shared), table=None)
        table = prior_table(shared.weights, model.alpha)
        shared.weights[:, model.n_topics + 1] = table[:, -1]
        return PreparedForGibbs(**vars(shared), table=table)

    def _is_dense(self, n_topics: int) -> bool:
        return n_topics <= _DENSE_TOPICS if self.kernel == "auto" else self.kernel == "dense"

    def _counts(self, counts: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return counts.astype(np.int32)

    def _width(self, n_topics: int) -> int:
        # Whole vectors; the sparse kernel wants two spare columns.
        used = n_topics if self._is_dense(n_topics) else n_topics + 2
        return -(-used // WIDTH) * WIDTH

    def zeros(self, model: LDA, prepared: PreparedForGibbs) -> dict[str, npt.NDArray[Any]]:
        """Return zeros, words x topics."""
        most = prepared.documents.lengths().sum() * self.kept
        shape = (len(prepared.words), model.n_topics)
        return {"topics": np.zeros(shape, dtype=np.int32 if most < 2**31 else np.int64)}

    def run(self, model: LDA, prepared: PreparedForGibbs, start: int, stop: int, keys: Keys) -> LocalResult:
        """Sample each document; `local` is the mean of E[theta | z] over the kept sweeps."""
        return self.count(model, prepared, start, stop, keys, self.zeros(model, prepared))

    def count(
        self,
        model: LDA,
        prepared: PreparedForGibbs,
        start: int,
        stop: int,
        keys: Keys,
        into: Mapping[str, npt.NDArray[Any]],
    ) -> LocalResult:
        """Sample each document, and add the counts of its tokens to others'."""
        shard = prepared.documents.slice(start, stop)
        tallies = np.zeros((stop - start, model.n_topics))
        prior: Any = model.alpha.astype(prepared.weights.dtype) if prepared.table is None else prepared.table
        sample = gibbs_dense if prepared.table is None else gibbs_sparse
        sample(
            shard.indptr,
            shard.words,
            shard.counts,
            prepared.weights,
            prior,
            self.sweeps,
            self.kept,
            keys,
            into["topics"],
            tallies,
        )
        local: Array = model.alpha + tallies / self.kept
        return LocalResult(into, local / local.sum(axis=1, keepdims=True))

    def finish(self, model: LDA, prepared: PreparedForGibbs, result: LocalResult) -> LocalResult:
        """Average over the kept sweeps."""
        return replace(result, scale=1.0 / self.kept)

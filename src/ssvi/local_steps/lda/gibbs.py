"""Gibbs local step of LDA: z sampled with theta integrated out and beta held fixed (Mimno et al. 2012)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.batches.documents import Documents
from ssvi.batches.sources import Source
from ssvi.checks import is_integer, require, require_count, require_one_of
from ssvi.local_steps.base import LocalResult, LocalStep
from ssvi.local_steps.lda.expected import with_prior
from ssvi.local_steps.lda.gibbs_dense import TOGETHER, gibbs_dense
from ssvi.local_steps.lda.gibbs_sparse import gibbs_sparse, prior_sums, to_packed
from ssvi.local_steps.lda.tokens import TABLE_UNIT
from ssvi.local_steps.lda.words import LdaStep, Prepared, lay_out
from ssvi.models.lda import LDA
from ssvi.numerics.random import Keys
from ssvi.numerics.simd import WIDTH, aligned_zeros
from ssvi.tasks import Each, row_tasks, run_all
from ssvi.typing import Array

_LONGEST = 10_000_000  # tokens of one document: single precision counts up to 16.7 million
_FORGOTTEN = 20  # sweeps after which a document may have any topics
_NO_TABLES = np.zeros(0, dtype=np.int64)
_NO_SHARES = np.zeros(0)
_NO_CHAINS = np.zeros(0, dtype=np.uint32)
_DENSE_TOPICS = 320  # up to so many, going over all topics is faster than over a document's own


@dataclass(frozen=True)
class PreparedForGibbs(Prepared):
    """A prepared minibatch with what the sparse kernel needs of alpha: `prior_sums`, or None for the dense kernel.

    `word_prior` is eta and V.
    """

    alpha: npt.NDArray[np.floating[Any]]
    prior: npt.NDArray[np.floating[Any]] | None
    word_prior: Array


@dataclass(frozen=True)
class Gibbs(LdaStep):
    """Samples of z_d given t(beta), which approach draws from the exact conditional as sweeps grow.

    Parameters
    ----------
    sweeps : int
        Sweeps over each document, from a fresh start.
    kept : int
        How many of them, the last, are averaged. (Weights of documents are by drawn topics, and want several.)
    precision : {"float32", "float64"}
        The arithmetic of weights and tallies. With "float32" the sparse kernel keeps weights in 16 bits, good to one
        part in 2,048 of a weight: its time goes into reading them.
    kernel : {"auto", "dense", "sparse"}
        Go over all topics in vectors, or over the document's own topics; by default by the number of topics. Both draw
        from the same distribution.
    statistics : {"expected", "drawn"}
        Whether a token of a kept sweep counts for every topic by its probability given all other tokens, or for the
        topic that was drawn. Both have the same mean, and expected ones far less noise: one sweep of them is worth more
        than eight (`ssvi.local_steps.lda.expected`).

    """

    sweeps: int = 8
    kept: int = 1
    precision: str = "float32"
    kernel: str = "auto"
    statistics: str = "expected"

    name = "gibbs"
    counts = True
    unit_cost = 2  # a token is drawn in every sweep
    together = TOGETHER

    def __post_init__(self) -> None:
        super().__post_init__()
        require_count("sweeps", self.sweeps)
        among = f"an integer from 1 to sweeps = {self.sweeps}"
        require("kept", self.kept, lambda v: is_integer(v) and 1 <= v <= self.sweeps, among)
        require_one_of("statistics", self.statistics, ("expected", "drawn"))
        require_one_of("kernel", self.kernel, ("auto", "dense", "sparse"))

    def expected(self) -> LocalStep:
        """Return the step whose weights of documents are the mean of half of the sweeps."""
        return replace(self, kept=max(self.kept, self.sweeps // 2), statistics="expected")

    def sampler(self, model: Any) -> LocalStep | None:
        """Return one draw of each document's topics; after so many sweeps its start is forgotten."""
        return replace(self, sweeps=_FORGOTTEN, kept=1, statistics="drawn", precision="float64")

    @staticmethod
    def suits(documents: Documents | Source) -> bool:
        """Tell whether these documents can be sampled token by token."""
        return documents.is_whole() and documents.longest() <= _LONGEST

    def check(self, batch: Documents) -> None:
        """Raise unless every count is whole, since a fraction of a token has no topic, and no document is endless."""
        lengths = batch.lengths()
        if lengths.max(initial=0.0) > _LONGEST:
            row = int(lengths.argmax())
            own = batch.slice(row, row + 1).tight()
            entry = int(own.counts.argmax())
            raise ValueError(
                f"local_step 'gibbs' goes token by token, and document {row} has {lengths[row]:.3g} of them, "
                f"{own.counts[entry]:.3g} in column {own.words[entry]} (at most {_LONGEST:,} are possible): "
                "use local_step='mean_field'."
            )
        if not batch.is_whole():
            raise ValueError(
                "local_step 'gibbs' needs whole counts, and some counts here are fractions: "
                "use local_step='mean_field' or 'cvb0', or give raw counts."
            )

    def prepare(self, model: LDA, views: Mapping[str, Any], batch: Documents, each: Each = map) -> PreparedForGibbs:
        """Lay out the weights as the kernel wants them."""
        width = self._width(model.n_topics)
        alpha = aligned_zeros((width,), self.precision)
        alpha[: model.n_topics] = model.alpha
        word_prior = np.array([model.eta if model.learns_eta else np.nan, model.n_words], dtype=float)
        if self.is_dense(model.n_topics):
            plain = vars(super().prepare(model, views, batch, each))
            return PreparedForGibbs(**plain, alpha=alpha, prior=None, word_prior=word_prior)
        part = views["topics"]
        packed, n_words = self.precision == "float32", len(part.chosen)
        weights = aligned_zeros((n_words, width), np.uint16 if packed else self.precision)
        prior = aligned_zeros((n_words, _vectors(width // WIDTH)), self.precision)
        log_scale = np.empty(n_words)

        def fill(own: slice) -> None:
            rows = np.zeros((own.stop - own.start, width), self.precision) if packed else weights[own]
            lay_out(part.stats[own], rows, log_scale[own])
            if packed:
                to_packed(rows, weights[own])
            prior_sums(rows, alpha, prior[own])

        run_all(each, fill, row_tasks(part.stats.shape))
        return PreparedForGibbs(
            self._renumber(batch, part.chosen), part.chosen, weights, log_scale, alpha, prior, word_prior
        )

    def is_dense(self, n_topics: int) -> bool:
        """Tell whether the kernel is the one that goes over all topics."""
        return n_topics <= _DENSE_TOPICS if self.kernel == "auto" else self.kernel == "dense"

    def _counts(self, counts: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return counts.astype(np.int32)

    def _width(self, n_topics: int) -> int:
        # Whole vectors; the sparse kernel wants a spare column.
        return _vectors(n_topics if self.is_dense(n_topics) else n_topics + 1)

    @property
    def _expects(self) -> bool:
        return self.statistics == "expected"

    def zeros(self, model: LDA, prepared: PreparedForGibbs) -> dict[str, npt.NDArray[Any]]:
        """Return zeros: words x topics, in whole vectors where the kernel wants that, and what hyperparameters need."""
        n_words = len(prepared.words)
        zeros = {"topics": self._no_counts(model, prepared, n_words)}
        if self._expects and prepared.prior is not None:
            zeros["from_prior"] = np.zeros(n_words)
        if model.alpha_rule is not None:
            zeros["tables"] = np.zeros(model.n_topics + 1, dtype=np.int64)
        if model.learns_eta:
            zeros["word_tables"] = np.zeros(4, dtype=np.int64)
        return zeros

    def _no_counts(self, model: LDA, prepared: PreparedForGibbs, n_words: int) -> npt.NDArray[Any]:
        """Return zeros for so many words, in the form and of the type that the kernel takes."""
        if self._expects:
            width = model.n_topics if prepared.prior is not None else prepared.alpha.size
            return aligned_zeros((n_words, width), np.float64)
        most = prepared.documents.lengths().sum() * self.kept
        return np.zeros((n_words, model.n_topics), dtype=np.int32 if most < 2**31 else np.int64)

    def run(self, model: LDA, prepared: PreparedForGibbs, start: int, stop: int, keys: Keys) -> LocalResult:
        """Sample each document; `local` is the mean of E[theta | z] over the kept sweeps."""
        statistics, tallies = self.zeros(model, prepared), np.zeros((stop - start, model.n_topics))
        self._sample(prepared, start, stop, keys, statistics, tallies)
        return LocalResult(statistics, self._topic_weights(model, tallies))

    def local(self, model: LDA, prepared: PreparedForGibbs, start: int, stop: int, keys: Keys) -> Mapping[str, Array]:
        """Sample each document for its topic weights only."""
        nothing, tallies = self._no_counts(model, prepared, 0), np.zeros((stop - start, model.n_topics))
        self._sample(prepared, start, stop, keys, {"topics": nothing}, tallies)
        return self._topic_weights(model, tallies)

    def count(
        self,
        model: LDA,
        prepared: PreparedForGibbs,
        start: int,
        stop: int,
        keys: Keys,
        into: Mapping[str, npt.NDArray[Any]],
    ) -> None:
        """Sample each document, and add the counts of its tokens to others'."""
        self._sample(prepared, start, stop, keys, into, np.zeros((0, model.n_topics)))

    def _sample(
        self,
        prepared: PreparedForGibbs,
        start: int,
        stop: int,
        keys: Keys,
        into: Mapping[str, npt.NDArray[Any]],
        tallies: Array,
    ) -> None:
        """Sample each document; what has no rows, or is not there, is not filled."""
        shard = prepared.documents.slice(start, stop)
        given = (shard.indptr, shard.words, shard.counts, prepared.weights, prepared.alpha)
        rest = (self.sweeps, self.kept, keys, into["topics"], tallies)
        learned = (into.get("tables", _NO_TABLES), prepared.word_prior, into.get("word_tables"))
        if prepared.prior is None:
            gibbs_dense(*given, *rest, *learned, *self._chains(prepared, start, stop))
        else:
            sweeps, kept, own, statistics, _ = rest
            from_prior = into.get("from_prior", _NO_SHARES)
            gibbs_sparse(*given, prepared.prior, sweeps, kept, own, statistics, from_prior, tallies, *learned)

    def _chains(self, prepared: PreparedForGibbs, start: int, stop: int) -> tuple[npt.NDArray[np.uint32], bool]:
        """Return where the topics of these documents' tokens are kept, and whether to begin with them: nowhere."""
        return _NO_CHAINS, False

    def _topic_weights(self, model: LDA, tallies: Array) -> dict[str, Array]:
        """Return E[theta | z] from tallies summed over the kept sweeps."""
        weights = model.alpha + tallies / self.kept
        return {"weights": weights / weights.sum(axis=1, keepdims=True)}

    def finish(self, model: LDA, prepared: PreparedForGibbs, result: LocalResult) -> LocalResult:
        """Average over the kept sweeps, and share out what words have from the prior; tables are those of one."""
        eta_hat = dict(result.eta_hat)
        eta_hat["topics"] = np.ascontiguousarray(eta_hat["topics"][:, : model.n_topics])  # not what fills a vector
        if "from_prior" in eta_hat:
            assert prepared.prior is not None, "the sparse kernel has prior sums"
            totals = np.ascontiguousarray(prepared.prior[:, prepared.alpha.size // WIDTH - 1])
            with_prior(eta_hat["topics"], eta_hat.pop("from_prior"), prepared.weights, prepared.alpha, totals)
        for name in ("tables", "word_tables"):
            if name in eta_hat:
                eta_hat[name] = eta_hat[name] * (TABLE_UNIT * self.kept)
        return replace(result, eta_hat=eta_hat, scale=1.0 / self.kept)


def _vectors(size: int) -> int:
    """Return the size of whole vectors that hold so many numbers."""
    return -(-size // WIDTH) * WIDTH

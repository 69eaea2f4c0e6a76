"""Collapsed Gibbs sampling of a Dirichlet process mixture of Bernoullis (Neal 2000, algorithm 3), truncated or not.

Weights and components are integrated out; each row in turn leaves its component and joins one with probability
proportional to the component's weight times the probability of the row given the rows already in it:

    truncated  (n_k + alpha / K) p(y | rows of k),   k = 1, ..., K
    infinite   n_k p(y | rows of k),   and alpha p(y | no rows) for a new component.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.batches.documents import Documents
from ssvi.evaluation.mixtures import averaged_log_predictive
from ssvi.local_steps.bernoulli_mixture.gibbs import Gibbs
from ssvi.local_steps.bernoulli_mixture.responsibilities import add_rows
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import derive_key, uniform
from ssvi.typing import Array

Labels = npt.NDArray[np.int64]
_ROOM = 10  # empty places at the start of a sweep of the infinite form; more are made when they are filled


@kernel
def _refresh(k: int, sizes: Labels, ones: Labels, logs: Array, base: Array, log_odds: Array) -> None:
    """Recompute a component's predictive log probabilities; `logs` are log(i + a), log(i + b), log(i + a + b)."""
    total = 0.0
    for d in range(ones.shape[0]):
        of_one, of_zero = logs[0, ones[d, k]], logs[1, sizes[k] - ones[d, k]]
        total += of_zero - logs[2, sizes[k]]
        log_odds[d, k] = of_one - of_zero
    base[k] = total


@kernel
def _move(row: npt.NDArray[Any], k: int, sign: int, sizes: Labels, ones: Labels) -> None:
    """Put a row into a component, or take it out."""
    sizes[k] += sign
    for d in row:
        ones[d, k] += sign


@kernel
def _choose(
    row: npt.NDArray[Any], log_weights: Array, base: Array, log_odds: Array, scores: Array, chance: float
) -> int:
    """Draw a component for a row."""
    scores[:] = base + log_weights
    add_rows(row, log_odds, scores)
    scores[:] = np.exp(scores - scores.max())
    level = chance * scores.sum()
    last = 0
    for k in range(scores.size):
        if scores[k] > 0.0:
            last = k
            level -= scores[k]
            if level < 0.0:
                break
    return last


@kernel
def sweep(
    indptr: npt.NDArray[np.int64],
    words: npt.NDArray[Any],
    labels: Labels,
    sizes: Labels,
    ones: Labels,
    concentration: float,
    infinite: bool,
    logs: Array,
    first: int,
    state: np.uint64,
) -> tuple[int, np.uint64]:
    """Redraw the components of rows first, first + 1, ... once, in place.

    In the infinite form the first empty place stands for a new component. Where none is left the sweep stops: returned
    is the row to go on with once there are more places, or the number of rows.
    """
    places = sizes.size
    base, log_odds, scores = np.empty(places), np.empty((ones.shape[0], places)), np.empty(places)
    log_weights = np.empty(places)
    for k in range(places):
        _refresh(k, sizes, ones, logs, base, log_odds)
    empty = np.count_nonzero(sizes == 0)
    for n in range(first, labels.size):
        if infinite and empty == 0:
            return n, state
        row, old = words[indptr[n] : indptr[n + 1]], labels[n]
        _move(row, old, -1, sizes, ones)
        empty += sizes[old] == 0
        _refresh(old, sizes, ones, logs, base, log_odds)
        fresh = not infinite
        for k in range(places):
            if not infinite:
                log_weights[k] = math.log(sizes[k] + concentration / places)
            elif sizes[k] > 0:
                log_weights[k] = math.log(sizes[k])
            else:
                log_weights[k] = -np.inf if fresh else math.log(concentration)
                fresh = True
        chance, state = uniform(state)
        new = _choose(row, log_weights, base, log_odds, scores, chance)
        empty -= sizes[new] == 0
        _move(row, new, 1, sizes, ones)
        _refresh(new, sizes, ones, logs, base, log_odds)
        labels[n] = new
    return labels.size, state


@dataclass
class CollapsedGibbsBernoulliMixture:
    """The sampler that the paper's mixture experiment measures against.

    Parameters
    ----------
    n_components : int or None
        K of the truncated form; None for the infinite one.
    weight_concentration_prior : float
        alpha.
    mean_prior : (float, float)
        a and b of the Beta prior of each probability.
    sweeps : int
        Sweeps over the data.
    kept : int
        How many of them, the last, make up the estimates.
    random_state : int
        The seed.

    Attributes
    ----------
    labels_ : (N,)
        The components of the last sweep.
    n_active_ : int
        How many components have rows in the last sweep.
    history_ : list of int
        The same after each sweep.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.repeat([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]], 30, axis=0)
    >>> CollapsedGibbsBernoulliMixture(None, sweeps=20, kept=5).fit(rows).n_active_
    2

    """

    n_components: int | None = 100
    weight_concentration_prior: float = 1.0
    mean_prior: tuple[float, float] = (1.0, 1.0)
    sweeps: int = 200
    kept: int = 50
    random_state: int = 0

    def fit(self, rows: Any, y: Any = None, *, labels: Any = None) -> CollapsedGibbsBernoulliMixture:
        """Sample, from given labels if there are any.

        By default all rows start in one component (the infinite form) or spread at random (the truncated one).
        """
        if not 1 <= self.kept <= self.sweeps:
            raise ValueError(f"kept must be from 1 to sweeps = {self.sweeps}, not {self.kept}.")
        data = Documents.of(rows).tight()
        Gibbs().check(data)
        rng = np.random.default_rng(derive_key(self.random_state, "labels"))
        places = self.n_components or 2
        if labels is not None:
            labels = _checked(labels, len(data), self.n_components)
        else:
            labels = rng.integers(0, places, len(data)) if self.n_components else np.zeros(len(data), np.int64)
        logs = self._logs(len(data))
        state = np.uint64(derive_key(self.random_state, "sweeps"))
        self.history_: list[int] = []
        self._samples: list[tuple[Array, Array]] = []
        for number in range(self.sweeps):
            row = 0
            while row < len(data):
                labels, places = self._with_room(labels, places)
                sizes, ones = _statistics(data, labels, places)
                row, state = sweep(
                    data.indptr, data.words, labels, sizes, ones, self.weight_concentration_prior,
                    self.n_components is None, logs, row, np.uint64(state),
                )  # fmt: skip
            self.history_.append(int(np.count_nonzero(sizes)))
            if number >= self.sweeps - self.kept:
                self._samples.append(self._estimates(sizes, ones))
        self.labels_, self.n_active_ = labels, self.history_[-1]
        return self

    def posterior_means(self) -> tuple[Array, Array]:
        """Return the weights and means, averaged over the kept sweeps with their labels as they are (truncated form).

        Where components change their places within these sweeps, the averages blur them; `score_samples` does not.
        """
        if self.n_components is None:
            raise ValueError("the infinite form numbers its components anew each sweep: their means have no average.")
        weights, means = zip(*self._samples, strict=True)
        return np.mean(weights, axis=0), np.mean(means, axis=0)

    def score_samples(self, rows: Any) -> Array:
        """Return the log predictive probability of new rows, averaged over the kept sweeps."""
        return averaged_log_predictive(self._samples, rows)

    def _logs(self, n: int) -> Array:
        a, b = self.mean_prior
        counts = np.arange(n + 1)
        return np.log(np.stack([counts + a, counts + b, counts + a + b]))

    def _with_room(self, labels: Labels, places: int) -> tuple[Labels, int]:
        """In the infinite form, number components anew and leave room for new ones."""
        if self.n_components is not None:
            return labels, places
        labels = np.unique(labels, return_inverse=True)[1].astype(np.int64)
        return labels, int(labels.max()) + 1 + _ROOM

    def _estimates(self, sizes: Labels, ones: Labels) -> tuple[Array, Array]:
        """Return E[pi] and E[phi] given the labels; in the infinite form, with one more component for what is new."""
        a, b = self.mean_prior
        if self.n_components is None:
            used = np.flatnonzero(sizes)
            sizes, ones = np.append(sizes[used], 0), np.hstack([ones[:, used], np.zeros((len(ones), 1), np.int64)])
            weights = sizes.astype(float)
            weights[-1] = self.weight_concentration_prior
        else:
            weights = sizes + self.weight_concentration_prior / self.n_components
        return weights / weights.sum(), (ones.T + a) / (sizes[:, None] + a + b)


def _checked(labels: Any, n: int, n_components: int | None) -> Labels:
    """Return a copy of given labels, or raise if they are not one component's number for each row."""
    given = np.array(labels)
    most = np.inf if n_components is None else n_components
    if given.shape != (n,) or given.dtype.kind not in "iu" or given.min(initial=0) < 0 or given.max(initial=0) >= most:
        raise ValueError(f"labels must be a whole number from 0 to {most - 1} for each of {n} rows.")
    return given.astype(np.int64)


def _statistics(data: Documents, labels: Labels, places: int) -> tuple[Labels, Labels]:
    """Count rows and ones of each component."""
    sizes = np.bincount(labels, minlength=places).astype(np.int64)
    ones = np.zeros((data.n_words, places), np.int64)
    np.add.at(ones, (data.words, np.repeat(labels, data.costs())), 1)
    return sizes, ones

"""Models of sequences that nobody fitted: what their page asks of an estimator, with planted states and paths."""

from __future__ import annotations

from types import SimpleNamespace
from typing import ClassVar

import numpy as np

from ssvi.estimators.components import ComponentsMixin
from ssvi.estimators.lds import Forecast


def walk(transitions, length, seed=0):
    """Return a path of states."""
    rng, path = np.random.default_rng(seed), [0]
    for _ in range(length - 1):
        path.append(int(rng.choice(len(transitions), p=transitions[path[-1]])))
    return np.array(path)


def sticky(count, seed=0):
    """Return transitions in which states stay, and mostly go on to their neighbours."""
    rng = np.random.default_rng(seed)
    moves = rng.dirichlet(np.full(count, 0.3), count) + 2.0 * np.roll(np.eye(count), 1, axis=1)
    np.fill_diagonal(moves, 0.0)
    moves /= np.maximum(moves.sum(axis=1, keepdims=True), 1e-12)
    stays = rng.uniform(0.7, 0.97, count) if count > 1 else np.ones(1)
    return np.diag(stays) + (1 - stays)[:, None] * moves


def _fit(self):
    self.history_, self.n_batch_iter_, self.random_state_ = [SimpleNamespace(seconds=2.5)], 40, 7
    self._n_distinct, self._group_length = 3, 100.0
    self.scores_ = [(0.5, -3.0), (1.0, -2.5), (1.5, -2.4), (2.0, -2.38)]


class _Fitted:
    def __sklearn_is_fitted__(self):
        return True


class MadeStates(_Fitted, ComponentsMixin):
    """A hidden Markov model: states with means of two columns, the first of which tells them apart."""

    name, emission, covariance_type = "hmm", "gaussian", "diag"
    nouns: ClassVar = ("States", "state", "feature")
    rows_are_means: ClassVar = True

    def __init__(self, count=3, columns=2):
        _fit(self)
        self.n_components, self.n_features_in_ = count, columns
        self.transmat_, self.startprob_ = sticky(count), np.full(count, 1.0 / count)
        self.means_ = np.random.default_rng(1).normal(0.0, 4.0, (count, columns))
        self.means_[:, 0] = 5.0 * np.arange(count)
        self.covars_ = np.full((count, columns), 1.44)
        self.vocabulary_ = tuple(f"sensor {v}" for v in "abcdefgh"[:columns])

    def summarize_components(self):
        shares = np.linspace(2.0, 1.0, self.n_components)
        return shares / shares.sum(), self.means_, np.full(self.means_.shape, 0.2)

    def components_in_use(self):
        return self.n_components

    def component_weights(self, X):
        return self.predict_proba(X)

    def column_widths(self):
        return 4.0

    def predict(self, X):
        known = np.where(np.isnan(X), 0.0, X)
        return np.argmin(((known[:, None] - self.means_) ** 2).sum(axis=2), axis=1)

    def predict_proba(self, X):
        return np.where(np.eye(self.n_components)[self.predict(X)] > 0, 0.9, 0.1 / max(self.n_components - 1, 1))

    def sequences(self, lengths=(120, 60)):
        """Return rows, with some missing, and lengths."""
        rng, path = np.random.default_rng(2), walk(self.transmat_, sum(lengths))
        rows = rng.normal(self.means_[path], 1.2)
        rows[30:36] = np.nan
        return rows, np.array(lengths)


class MadeSymbols(MadeStates):
    """States that show letters."""

    emission = "categorical"
    rows_are_means: ClassVar = False

    def __init__(self):
        super().__init__(3, 1)
        self.symbols_ = list("abcdefghijklmnop ")
        self.means_ = np.random.default_rng(0).dirichlet(np.full(17, 0.3), 3)
        del self.vocabulary_

    def predict(self, X):
        return self.means_.argmax(axis=0)[np.nan_to_num(X[:, 0]).astype(int)]

    def sequences(self, lengths=(150, 80)):
        rng, path = np.random.default_rng(2), walk(self.transmat_, sum(lengths))
        return np.array([rng.choice(17, p=self.means_[k]) for k in path], dtype=float)[:, None], np.array(lengths)


class MadeChains(_Fitted):
    """A factorial model of two chains."""

    name, emission = "fhmm", "gaussian"
    n_components, n_states, n_features_in_, vocabulary_ = 2, 2, 1, ("meter",)

    def __init__(self):
        _fit(self)
        self.transmat_, self.startprob_ = np.stack([sticky(2), sticky(2, 1)]), np.full((2, 2), 0.5)
        self.levels_, self.offset_ = np.array([[[0.0], [2.0]], [[0.0], [5.0]]]), np.array([1.0])

    def predict(self, X):
        known = np.nan_to_num(X[:, 0]) - 1.0
        return np.stack([np.mod(known, 5.0) > 1.0, known > 3.5], axis=1).astype(int)

    def predict_proba(self, X):
        return np.where(np.eye(2)[self.predict(X)] > 0, 0.95, 0.05)

    def sequences(self):
        paths = [walk(self.transmat_[m], 160, m) for m in range(2)]
        noise = 0.3 * np.random.default_rng(0).normal(size=160)
        return (1.0 + 2.0 * paths[0] + 5.0 * paths[1] + noise)[:, None], np.array([160])


class MadeDynamics:
    """A linear dynamical system: a cycle of twelve time points that dies away, and a level."""

    name = "lds"
    n_components, n_features_in_, vocabulary_ = 3, 2, ("tide", "wind")

    def __init__(self):
        _fit(self)
        turn = 2 * np.pi / 12
        self.transition_ = np.zeros((3, 3))
        self.transition_[:2, :2] = 0.97 * np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
        self.transition_[2, 2] = 0.8
        self.loadings_, self.offset_ = np.array([[3.0, 0.5, 0.1], [-0.5, 0.0, 2.0]]), np.array([10.0, -4.0])
        self.noise_covariance_ = np.array([0.25, 1.0])
        self._columns = {"input_unit": np.ones(0)}

    def _expected(self, times):
        return np.stack([10.0 + 3.0 * np.cos(2 * np.pi * times / 12), -4.0 + np.sin(times / 9)], axis=1)

    def smooth(self, X):
        means = self._expected(np.arange(len(X)))
        return SimpleNamespace(means=means, deviations=np.full(means.shape, 0.4))

    def forecast(self, steps, X, level):
        means = self._expected(len(X) + np.arange(steps))
        reach = 0.5 + 0.1 * np.arange(steps)[:, None]
        return Forecast(means, means - reach, means + reach, means[None])

    def sequences(self):
        rows = self._expected(np.arange(90)) + np.random.default_rng(0).normal(size=(90, 2)) * [0.5, 1.0]
        rows[40:44] = np.nan
        return rows, np.array([90])

"""Models that nobody fitted: what the page asks of an estimator, with planted likeness, junk, dust and a copy."""

from __future__ import annotations

from types import SimpleNamespace
from typing import ClassVar

import numpy as np

from ssvi.estimators.components import ComponentsMixin

_SYLLABLES = ["ba", "ce", "di", "fo", "gu", "ha", "ke", "li", "mo", "nu", "pa", "re", "si", "to", "vu", "wa"]


def words_of(count):
    """Return so many words, no two the same, of five to ten letters."""
    if count > 20_000:  # there are not many more of five syllables
        return [f"{word}{number}" for number in range(count // 1_000 + 1) for word in words_of(1_000)][:count]
    rng = np.random.default_rng(0)
    found = {}
    while len(found) < count:
        for row in rng.integers(0, 16, (count, 5)):
            found.setdefault("".join(_SYLLABLES[i] for i in row[: 2 + row[4] % 3]) + "nrst"[row[0] % 4], None)
    return list(found)[:count]


class Made(ComponentsMixin):
    """Topics over words: eight themes, each topic with words of its theme and of its own."""

    name = "lda"
    nouns: ClassVar = ("Topics", "topic", "word")
    columns_are_words: ClassVar = True

    def __init__(self, topics, words=600, seed=0):
        rng = np.random.default_rng(seed)
        self.n_components, self.n_features_in_ = topics, words
        themes = rng.dirichlet(np.full(words, 0.02), 8)
        own = rng.dirichlet(np.full(words, 0.01), topics)
        rows = 0.5 * themes[rng.integers(0, 8, topics)] + 0.45 * own + 0.05 / words
        shares = np.sort(rng.gamma(1.5, 1.0, topics) + 0.15)[::-1]
        if topics >= 10:
            rows[7] = 0.97 * rows[2] + 0.03 / words  # a copy
            rows[5] = 0.9 * rows.mean(axis=0) + 0.1 * rows[5]  # junk
            shares[-1] = 0.01 * shares.mean()  # dust
        self.rows, self.shares = rows / rows.sum(axis=1, keepdims=True), shares / shares.sum()
        self.vocabulary_ = np.array(words_of(words), dtype=object)
        self.history_, self.n_batch_iter_, self.random_state_, self._n_distinct = (
            [SimpleNamespace(seconds=2.5)],
            40,
            7,
            90,
        )
        self.scores_ = [(0.5, -7.0), (1.0, -6.5), (1.5, -6.4), (2.0, -6.38)]

    def summarize_components(self):
        return self.shares, self.rows, 0.2 * self.rows + 1e-5

    def components_in_use(self):
        return len(self.shares)

    def __sklearn_is_fitted__(self):
        return True

    def component_weights(self, X):
        weights = self.shares * (np.asarray(X) @ (self.rows / (self.shares @ self.rows)).T) ** 2
        return weights / weights.sum(axis=1, keepdims=True)


class MadeTogether(Made):
    """Topics of which each third one goes with the two after it."""

    name = "ctm"

    def component_correlations(self):
        size = len(self.shares)
        groups = np.arange(size) // 3
        own = np.where(groups[:, None] == groups, 0.5, -0.1) + 0.02 * np.cos(np.add.outer(range(size), range(size)))
        np.fill_diagonal(own, 1.0)
        return own


class MadeImages(Made):
    """Clusters of images of 8 x 8, each a bar at an angle."""

    name = "bernoulli_mixture"
    nouns: ClassVar = ("Clusters", "cluster", "feature")
    columns_are_words: ClassVar = False

    def __init__(self, clusters=12):
        super().__init__(clusters, 64)
        y, x = np.mgrid[-1:1:8j, -1:1:8j]
        angles = np.pi * np.arange(clusters) / clusters
        self.rows = np.array([np.exp(-8 * (x * np.cos(a) + y * np.sin(a)) ** 2).ravel() for a in angles])
        del self.vocabulary_
        self.scores_ = []


class MadeMeans(Made):
    """Clusters with means of any sign."""

    name = "gaussian_mixture"
    nouns: ClassVar = ("Clusters", "cluster", "feature")
    columns_are_words: ClassVar = False
    rows_are_means: ClassVar = True

    def __init__(self, clusters=4):
        super().__init__(clusters, 5)
        self.rows = np.random.default_rng(3).normal(size=(clusters, 5))
        self.vocabulary_ = np.array(["height", "width", "depth", "weight", "age"], dtype=object)

    def column_widths(self):
        return np.ones(5)


class MadeSpectra(Made):
    """Factors whose columns are frequencies."""

    name = "gamma_process_nmf"
    nouns: ClassVar = ("Factors", "factor", "feature")
    columns_are_words: ClassVar = False
    has_spectra: ClassVar = True

    def __init__(self, factors=6):
        super().__init__(factors, 50)
        places = np.linspace(5, 45, factors)
        self.rows = np.array([np.exp(-((np.arange(50) - place) ** 2) / 8.0) for place in places])
        self.rows /= self.rows.sum(axis=1, keepdims=True)
        del self.vocabulary_


def documents_of(made, count=90):
    """Return counts, and ids, titles, dates, groups and beginnings of documents, each of mostly one topic."""
    rng = np.random.default_rng(1)
    main = rng.integers(0, len(made.shares), count)
    counts = np.array([rng.multinomial(60, made.rows[k]) for k in main])
    names = made.vocabulary_

    def beginnings(rows, length):
        text = {row: " ".join(names[v] for v in np.repeat(np.arange(len(names)), counts[row])) for row in rows}
        return {row: text[row].capitalize()[:length] for row in rows}

    return {
        "data": counts,
        "names": [f"id-{row}" for row in range(count)],
        "titles": [f"On {names[made.rows[k].argmax()]}, part {row}" for row, k in enumerate(main)],
        "dates": [f"{2015 + row % 7}-{1 + row % 12:02d}-03" if row % 9 else "" for row in range(count)],
        "groups": [("north", "south", "east")[row % 3] for row in range(count)],
        "beginnings": beginnings,
    }

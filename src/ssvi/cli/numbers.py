"""Commands with tables of numbers: whether a model can take them, and what is said of them."""

from __future__ import annotations

from typing import Any

import numpy as np


def check_numbers(estimator: Any, corpus: Any, where: str) -> None:
    """Raise unless a model can take the numbers of a table: what is missing, what is negative, more than one."""
    values = corpus.documents.counts
    if not _takes_missing(estimator):
        what = "it must be known, since {name} takes no missing values: fill it in, or leave the row out"
        _refuse(estimator, corpus, where, np.isnan(values), what)
    if getattr(estimator, "rows_are_means", False):
        return
    if getattr(estimator, "binarize", 0.0) is None:
        what = "{name} is for zeros and ones: --set binarize=0.5, say, makes larger numbers ones"
        _refuse(estimator, corpus, where, values != 1, what)
    elif not hasattr(estimator, "binarize"):
        _refuse(estimator, corpus, where, values < 0, "{name} is for numbers of 0 or more: gaussian_mixture takes any")


def _takes_missing(estimator: Any) -> bool:
    return bool(estimator.__sklearn_tags__().input_tags.allow_nan)


def _refuse(estimator: Any, corpus: Any, where: str, faulty: Any, what: str) -> None:
    """Raise if there is a faulty number, and say where the first one stands."""
    places = np.flatnonzero(faulty)
    if not len(places):
        return
    documents, place = corpus.documents, int(places[0])
    row = int(np.searchsorted(documents.indptr, place, side="right"))
    column, value = int(documents.words[place]), documents.counts[place]
    named = repr(corpus.vocabulary[column]) if corpus.vocabulary else str(column + 1)
    shown = "nothing stands there" if np.isnan(value) else f"there is {value:g}"
    raise ValueError(f"{where}, row {row}, column {named}: {shown}, and {what.format(name=estimator.name)}.")


def count_missing(corpus: Any) -> int:
    """Return how many numbers of a table are missing."""
    return int(np.isnan(corpus.documents.counts).sum()) if corpus.is_table else 0


def notes_on_numbers(estimator: Any, corpus: Any) -> list[str]:
    """Return what a person should know of the numbers of a table before a fit begins."""
    limit = getattr(estimator, "binarize", None)
    if not corpus.is_table or limit is None or bool((corpus.documents.counts == 1).all()):
        return []
    return [
        f"{estimator.name} is for zeros and ones: numbers above {limit:g} count as one, all others as zero; --set "
        "binarize=5 draws the line elsewhere."
    ]

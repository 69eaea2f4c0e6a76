"""The page: facts as JSON, a script that shows them, and a style, all in one file."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

import ssvi
from ssvi.files.atomic import write_atomically
from ssvi.files.models import column_names
from ssvi.report.components import Components, count_in_words, image_shape, plane, similar, spread
from ssvi.typing import Array

_MOST_PIXELS = 4_096  # of an image of one component
_MOST_POINTS = 400  # of a curve
_DOCUMENTS = 5  # that stand for a component
_LETTERS = 160  # of each of them
Beginnings = Callable[[Collection[int], int], Mapping[int, str]]


def write_report(
    estimator: Any,
    path: str | os.PathLike[str],
    *,
    data: Any = None,
    names: Sequence[str] | None = None,
    beginnings: Beginnings | None = None,
    shape: tuple[int, int] | None = None,
    title: str | None = None,
) -> None:
    """Write a page about a fitted estimator.

    Parameters
    ----------
    estimator
        A fitted estimator of this library.
    path
        The .html file.
    data : matrix, optional
        Documents of which some are to stand for each component; a factorisation also shows their activations.
    names : sequence of str, optional
        Their names.
    beginnings : function, optional
        Called with rows and a length: returns how these documents begin, by their rows.
    shape : (height, width), optional
        Of rows that are images; a square is found out.
    title : str, optional
        What the page is called.

    """
    facts = gather_facts(estimator, data=data, names=names, beginnings=beginnings, shape=shape, title=title)
    content = render(facts)
    write_atomically(Path(path), lambda file: file.write(content))


def gather_facts(
    estimator: Any,
    *,
    data: Any = None,
    names: Sequence[str] | None = None,
    beginnings: Beginnings | None = None,
    shape: tuple[int, int] | None = None,
    title: str | None = None,
) -> dict[str, Any]:
    """Return all that the page shows, as plain values."""
    parts = Components.used_by(estimator)
    heading, component, column = estimator.nouns
    distances = parts.distances()
    no_image = estimator.columns_are_words or estimator.rows_are_means
    size = image_shape(estimator.n_features_in_, shape) if shape or not no_image else None
    images = size is not None and size[0] * size[1] <= _MOST_PIXELS
    words, radii = column_names(estimator), 0.03 + 0.25 * np.sqrt(parts.shares)
    points = spread(plane(distances), radii)
    reach = max(1.2, float((np.abs(points) + radii[:, None]).max(initial=0.0)) + 0.02)
    weights = None if data is None else estimator.component_weights(data)
    examples = _examples(parts, weights, names, beginnings)
    curves = estimator.has_spectra
    rows = [
        {
            "number": int(parts.numbers[k]),
            "share": _round(parts.shares[k]),
            "x": _round(points[k, 0]),
            "y": _round(points[k, 1]),
            "radius": _round(radii[k]),
            "similar": [[other, _round(distances[k, other])] for other in similar(distances, k)],
            "words": [
                [
                    words[v],
                    _round(parts.rows[k, v]),
                    _round(parts.overall[v]),
                    _round(parts.deviations[k, v]),
                    *([_round(parts.standing(k)[v])] if parts.are_means else []),
                ]
                for v in parts.candidates(k)
            ],
            "image": _rounded(parts.rows[k]) if images else None,
            "spectrum": _rounded(_thinned(parts.rows[k])) if curves and not images else None,
            "activations": _rounded(_thinned(weights[:, parts.numbers[k]])) if curves and weights is not None else None,
            "examples": examples[k],
        }
        for k in range(len(parts.shares))
    ]
    return {
        "title": title or heading,
        "names": {"component": component, "column": column},
        "facts": _facts(estimator),
        "shape": list(size) if images and size else None,
        "means": parts.are_means,
        "components": rows,
        "reach": _round(reach),
        "curve": [[_round(seconds), _round(score)] for seconds, score in getattr(estimator, "scores_", [])],
    }


def render(facts: dict[str, Any]) -> str:
    """Return the page as HTML."""
    assets = resources.files("ssvi.report") / "assets"
    page, style, script = (
        (assets / name).read_text(encoding="utf-8") for name in ("page.html", "style.css", "script.js")
    )
    # Inside a script element only "<" could end the text; JSON has another way to write it.
    data = json.dumps(facts, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    title = facts["title"].replace("&", "&amp;").replace("<", "&lt;")
    parts = {"title": title, "style": style, "script": script, "data": data}
    return re.sub(r"\{\{(\w+)\}\}", lambda mark: parts[mark[1]], page)


def _facts(estimator: Any) -> list[list[str]]:
    """Return lines about the fit."""
    seconds = sum(step.seconds for step in estimator.history_)
    scores, rows = getattr(estimator, "scores_", []), "documents" if estimator.columns_are_words else "rows"
    return [
        ["model", estimator.name + count_in_words(estimator)],
        ["data", f"{estimator._n_distinct:,} {rows}, {estimator.n_features_in_:,} {estimator.nouns[2]}s"],
        *([["held-out score", f"{scores[-1][1]:.4f}"]] if scores else []),
        ["fit", f"{estimator.n_batch_iter_:,} steps, {seconds:.1f} s, seed {estimator.random_state_}"],
        ["made by", f"ssvi {ssvi.__version__}"],
    ]


def _examples(
    parts: Components, weights: Array | None, names: Sequence[str] | None, beginnings: Beginnings | None
) -> list[list[list[Any]]]:
    """Return, for each component, the names of the documents that have most of it, how much, and how they begin."""
    if weights is None:
        return [[] for _ in parts.shares]
    shares = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    called = [f"document {row + 1}" for row in range(len(shares))] if names is None else names
    if len(called) != len(shares):
        raise ValueError(f"names has {len(called):,} entries, and the data {len(shares):,} rows.")
    first = {int(k): np.argsort(-shares[:, k], kind="stable")[:_DOCUMENTS].tolist() for k in parts.numbers}
    rows = {row for own in first.values() for row in own}
    texts = {} if beginnings is None else beginnings(rows, _LETTERS)
    return [[[called[row], _round(shares[row, k]), texts.get(row, "")] for row in own] for k, own in first.items()]


def _thinned(values: Array) -> Array:
    """Return a curve of at most so many points as can be told apart, each the mean of a stretch."""
    if len(values) <= _MOST_POINTS:
        return values
    return np.array([stretch.mean() for stretch in np.array_split(values, _MOST_POINTS)])


def _rounded(values: Array) -> list[float]:
    return [_round(value) for value in values]


def _round(value: float) -> float:
    """Return a number to five digits: the page need not be larger than what can be seen of it."""
    return float(f"{float(value):.5g}") if np.isfinite(value) else 0.0

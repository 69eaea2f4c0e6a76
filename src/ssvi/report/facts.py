"""All that a page shows of a fitted model, as plain values for its script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import ssvi
from ssvi.batches.sources import Source
from ssvi.files.models import vocabulary_of
from ssvi.report.components import Components, count_in_words, image_shape
from ssvi.report.corpus import Beginnings, CorpusFacts, coherence
from ssvi.report.layout import Arrangement, arrange, hierarchy, nearest
from ssvi.report.packing import all_rounded, pack, places, rounded, shades
from ssvi.report.together import LEAST_TIE, TIES_EACH, Together
from ssvi.typing import Array

_MOST_PIXELS = 4_096  # of an image of one component
_MOST_POINTS = 400  # of a curve
_MOST_COLUMNS = 6_000  # that can be looked up, beside those that some component shows
_OWN_COMPONENTS = 6  # of a column
_BRANCHES = 8  # of the hierarchy, each with a colour
_SIMILAR = 5
_MOST_PAIRS = 1_000  # components of which all pairs are on the page


def gather_facts(
    estimator: Any,
    *,
    data: Any = None,
    names: Sequence[str] | None = None,
    titles: Sequence[str] | None = None,
    dates: Sequence[Any] | None = None,
    groups: Sequence[str] | None = None,
    beginnings: Beginnings | None = None,
    shape: tuple[int, int] | None = None,
    title: str | None = None,
) -> dict[str, Any]:
    """Return all that the page shows, as plain values; the parameters are those of `write_report`."""
    parts = Components.used_by(estimator)
    size = _image_size(estimator, shape)
    facts = {
        "title": title or estimator.nouns[0],
        "names": _nouns(estimator),
        "facts": _facts(estimator),
        "score": _score(estimator),
        "shape": size,
        "means": parts.are_means,
        **_components(estimator, parts),
        **_together(estimator, parts),
        **_columns(parts, vocabulary_of(estimator)),
        **_pictures(estimator, parts, images=size is not None),
    }
    if isinstance(data, Source):
        facts |= _streamed(estimator, parts, data)
    elif data is not None:
        noun = _nouns(estimator)["row"]
        corpus = CorpusFacts(estimator.component_weights(data), names, titles, dates, groups, beginnings, noun)
        facts |= _corpus(estimator, parts, corpus, data, activations="spectra" in facts or size is not None)
    return facts | {"first": parts.worth_reading_first(facts.get("coherence"))}


def _nouns(estimator: Any) -> dict[str, str]:
    heading, component, column = estimator.nouns
    row = "document" if estimator.columns_are_words else "row"
    return {"components": heading, "component": component, "column": column, "row": row}


def _components(estimator: Any, parts: Components) -> dict[str, Any]:
    """Return the components, where they stand, and how alike they are."""
    distances = parts.distances()
    arrangements, best, share = arrange(distances)
    tree, likeness = hierarchy(distances), parts.likeness(distances)
    similar, branches = nearest(distances, min(_SIMILAR, len(distances) - 1)), tree.branches(_BRANCHES)
    names, marks = vocabulary_of(estimator), parts.marks()
    labels = parts.labels(names)
    rows = [
        {
            "number": int(parts.numbers[k]),
            "label": labels[k],
            "given": bool(parts.given and parts.given[k]),
            "said": parts.said_by(k, labels[k], names),
            "share": rounded(parts.shares[k]),
            "branch": branches[k],
            "marks": marks[k],
            "similar": [[int(other), rounded(likeness[k, other], 3)] for other in similar[k]],
        }
        for k in range(len(parts.shares))
    ]
    return {
        "components": rows,
        "maps": {name: _packed_map(own) for name, own in arrangements.items()},
        "map": best,
        "axes": rounded(share, 3),
        "tree": {
            "merges": tree.merges.ravel().tolist(),
            "heights": all_rounded(tree.heights, 4),
            "order": tree.order.tolist(),
        },
        "likeness": shades(likeness[np.triu_indices(len(rows), 1)]) if 2 <= len(rows) <= _MOST_PAIRS else None,
    }


def _packed_map(own: Arrangement) -> dict[str, Any]:
    return {"x": pack(own.points[:, 0], "f4"), "y": pack(own.points[:, 1], "f4"), "kept": rounded(own.kept, 3)}


def _together(estimator: Any, parts: Components) -> dict[str, Any]:
    """Return which components occur together, where the model says it."""
    found = Together.of(estimator, parts.numbers) if len(parts.numbers) <= _MOST_PAIRS else None
    if found is None:
        return {}
    return {
        "together": {
            "map": _packed_map(found.arrangement()),
            "ties": [[a, b, rounded(value, 3)] for a, b, value in found.ties()],
            "each": TIES_EACH,
            "least": LEAST_TIE,
            "values": pack(127.5 * (found.correlations + 1.0), "u1"),
            "order": found.order().tolist(),
        }
    }


def _columns(parts: Components, names: Sequence[str] | None) -> dict[str, Any]:
    """Return the columns that can be looked up, and which of them each component shows."""
    own = [parts.candidates(k) for k in range(len(parts.shares))]
    frequent = np.arange(len(parts.overall)) if parts.are_means else np.argsort(-parts.overall, kind="stable")
    known = np.union1d(np.concatenate(own), frequent[:_MOST_COLUMNS])
    place = np.searchsorted(known, np.concatenate(own))
    lengths = np.cumsum([0, *(len(columns) for columns in own)])
    members, values = _members(parts, known)
    return {
        "columns": {
            "names": None if names is None else [names[v] for v in known],
            "numbers": places(known, len(parts.overall)) if names is None else None,
            "count": len(known),
            "of": len(parts.overall),
            "overall": pack(parts.overall[known], "f4"),
            "widths": pack(_widths(parts)[known], "f4") if parts.are_means else None,
            "parts": places(members, len(parts.shares) + 1),
            "values": pack(values, "f4") if parts.are_means else pack(255.0 * values, "u1"),
            "parts_each": members.shape[1],
        },
        "shown": {
            "starts": lengths.tolist(),
            "columns": places(place, len(known)),
            "weights": pack(np.concatenate([parts.rows[k, columns] for k, columns in enumerate(own)]), "f4"),
            "deviations": pack(np.concatenate([parts.deviations[k, columns] for k, columns in enumerate(own)]), "f4"),
        },
    }


def _members(parts: Components, known: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], Array]:
    """Return the components that have most of each column (1 for the first component, 0 for none), and how much.

    That is the probability of the component given the word; where rows are means, it is the mean.
    """
    count, rows = min(_OWN_COMPONENTS, len(parts.shares)), parts.rows[:, known]
    if parts.are_means:
        said: Array = np.abs(rows - parts.overall[known]) / _widths(parts)[known]
        values = rows
    else:
        said = parts.shares[:, None] * rows
        said = said / np.maximum(said.sum(axis=0), 1e-300)
        values = said
    among = np.argpartition(-said, count - 1, axis=0)[:count]
    order = np.take_along_axis(among, np.argsort(-np.take_along_axis(said, among, 0), axis=0, kind="stable"), 0).T
    found = np.take_along_axis(values.T, order, 1)
    return np.where((found >= 0.01) | parts.are_means, order + 1, 0), found


def _widths(parts: Components) -> Array:
    result: Array = np.broadcast_to(parts.widths, parts.overall.shape)
    return result


def _pictures(estimator: Any, parts: Components, *, images: bool) -> dict[str, Any]:
    """Return components as pictures or curves, where columns have an order."""
    if images:
        return {"images": [shades(np.maximum(row, 0.0)) for row in parts.rows]}
    if estimator.has_spectra:
        return {"spectra": [shades(np.maximum(_thinned(row), 0.0), "u2") for row in parts.rows]}
    return {}


def _corpus(estimator: Any, parts: Components, corpus: CorpusFacts, data: Any, *, activations: bool) -> dict[str, Any]:
    """Return what documents tell of the components."""
    shares = corpus.shares(parts)
    documents, examples = corpus.examples(shares)
    found: dict[str, Any] = {
        "documents": documents,
        "examples": examples,
        "n_documents": len(shares),
        "time": corpus.over_time(shares),
        "groups": corpus.by_group(shares),
    }
    if estimator.columns_are_words:
        found["coherence"] = coherence(parts, data)
    if activations and estimator.has_spectra:
        found["activations"] = [shades(_thinned(corpus.weights[:, k]), "u2") for k in parts.numbers]
    return found


def _streamed(estimator: Any, parts: Components, source: Source) -> dict[str, Any]:
    """Return what the documents of a corpus on disk tell of the components."""
    from ssvi.report.streams import StreamedFacts

    corpus = StreamedFacts(estimator, parts, source)
    documents, examples = corpus.examples()
    found = {
        "documents": documents,
        "examples": examples,
        "n_documents": corpus.n_documents,
        "time": corpus.over_time(),
        "groups": corpus.by_group(),
    }
    return found | ({"coherence": coherence(parts, source)} if estimator.columns_are_words else {})


def _image_size(estimator: Any, shape: tuple[int, int] | None) -> list[int] | None:
    """Return the height and width of rows as images, if they are images of a size that can be shown."""
    if shape is None and (estimator.columns_are_words or estimator.rows_are_means):
        return None
    size = image_shape(estimator.n_features_in_, shape)
    return list(size) if size is not None and size[0] * size[1] <= _MOST_PIXELS else None


def _facts(estimator: Any) -> list[list[str]]:
    """Return lines about the fit."""
    seconds = sum(step.seconds for step in estimator.history_)
    rows = "documents" if estimator.columns_are_words else "rows"
    return [
        ["model", estimator.name + count_in_words(estimator)],
        ["data", f"{estimator._n_distinct:,} {rows}, {estimator.n_features_in_:,} {estimator.nouns[2]}s"],
        ["fit", f"{estimator.n_batch_iter_:,} steps, {seconds:.1f} s, seed {estimator.random_state_}"],
        ["made by", f"ssvi {ssvi.__version__}"],
    ]


def _score(estimator: Any) -> dict[str, Any] | None:
    """Return the held-out score, what it means, and how it came about."""
    scores = getattr(estimator, "scores_", [])
    if not scores:
        return None
    last = float(scores[-1][1])
    curve = [[rounded(seconds), rounded(score, 7)] for seconds, score in scores]
    return {"value": rounded(last, 7), "meaning": estimator.explain_score(last), "curve": curve}


def _thinned(values: Array) -> Array:
    """Return a curve of at most so many points as can be told apart, each the mean of a stretch."""
    if len(values) <= _MOST_POINTS:
        return values
    return np.array([stretch.mean() for stretch in np.array_split(values, _MOST_POINTS)])

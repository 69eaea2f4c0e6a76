"""Fitted estimators on disk: their parameters, what the fit found, its history, and the words of the vocabulary."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any

import numpy as np
import numpy.typing as npt

import ssvi
from ssvi.estimators import registry
from ssvi.files import container
from ssvi.files.checks import check_fitted, check_words
from ssvi.files.codec import Decoder, Encoder
from ssvi.overview import Overview, facts_of

_WHAT = "a saved model"
_LIBRARIES = ("numpy", "scipy", "numba", "scikit-learn", "safetensors")


def save(estimator: Any, path: str | os.PathLike[str], vocabulary: Sequence[str] | None = None) -> None:
    """Write a fitted estimator; `load` gives it back, ready to predict and to go on with `partial_fit`.

    Callbacks and the backend are not saved, and a random generator is saved as the seed that the fit took from it.
    `vocabulary` are the names of the columns; by default those that the fit was given, if it was given any.
    """
    if not estimator.__sklearn_is_fitted__():
        raise ValueError(f"this {type(estimator).__name__} is not fitted yet: there is nothing to save.")
    if not registry.is_known(type(estimator)):
        raise ValueError(
            f"{type(estimator).__name__} is not registered, and a file of it could not be loaded: call ssvi.register("
            f"{type(estimator).__name__}), or give its package an entry point in the group {registry.GROUP!r}."
        )
    parameters = estimator.get_params(deep=False) | {"callbacks": None}
    del parameters["backend"]  # where it was fitted is not part of a model: others may have no such cluster
    if not isinstance(parameters["random_state"], int | None):
        parameters["random_state"] = estimator.random_state_
    fitted = {name: getattr(estimator, name) for name in estimator.saved_attributes if hasattr(estimator, name)}
    if vocabulary is None:
        vocabulary = fitted.get("vocabulary_")
    if vocabulary is not None:
        check_words(vocabulary, estimator.n_features_in_, "the vocabulary")
        fitted["vocabulary_"] = np.array(list(vocabulary), dtype=object)
    encoder = Encoder()
    try:
        text = {
            "kind": "model",
            "class": type(estimator).__name__,
            "package": type(estimator).__module__.partition(".")[0],
            "parameters": encoder.encode(parameters),
            "fitted": encoder.encode(fitted),
            "versions": _versions(),
            "overview": _overview(estimator),
        }
    except TypeError as error:
        raise ValueError(f"this {type(estimator).__name__} cannot be saved: {error}.") from error
    container.write(path, text, encoder.arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Read what `save` wrote. Nothing in the file is run; a file that is damaged or foreign is a `ValueError`.

    Classes that installed packages offer (`ssvi.estimators.registry`) are imported first: a file names one of those
    that are known then, and has no say in what is imported.
    """
    kinds = {kind.__name__: kind for kind in registry.estimators().values()}
    text, arrays = container.read(path, _WHAT)
    try:
        return _restore(text, arrays, kinds)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, MemoryError) as error:
        raise ValueError(f"{os.fspath(path)} is not {_WHAT}: {str(error).rstrip('.')}.") from error


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what a model file says of itself, without building the model."""
    text, arrays = container.read(path, _WHAT)
    return {
        "class": text.get("class"),
        "schema": text.get("schema"),
        "versions": text.get("versions"),
        "arrays": {name: array.shape for name, array in arrays.items()},
    }


def _restore(text: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]], kinds: Mapping[str, Any]) -> Any:
    """Build the estimator that a file holds."""
    if text.get("kind") != "model":
        raise ValueError(f"it is a file of the kind {text.get('kind')!r}")
    if text["class"] not in kinds:
        raise ValueError(_unknown_class(text))
    kind, decoder = kinds[text["class"]], Decoder(arrays)
    parameters, fitted = decoder.decode(text["parameters"]), decoder.decode(text["fitted"])
    for given, known in ((parameters, kind().get_params(deep=False)), (fitted, kind.saved_attributes)):
        unknown = set(given) - set(known)
        if unknown:
            raise ValueError(f"it has entries that a {text['class']} has not: {', '.join(sorted(unknown)[:5])}")
    estimator = kind(**parameters)
    for name, value in fitted.items():
        setattr(estimator, name, value)
    check_fitted(estimator, sum(array.size for array in arrays.values()))
    return estimator


def _unknown_class(text: Mapping[str, Any]) -> str:
    """Return what to do about a class that nobody has registered."""
    shown, package = f"its class is {str(text['class'])[:60]!r}", str(text.get("package", "ssvi"))[:60]
    if package == "ssvi":
        return f"{shown}, which ssvi has not"
    return " ".join(
        [
            f"{shown} of the package {package!r}, which is not registered: install it, or call ssvi.register",
            *registry.failures(),
        ]
    )


def vocabulary_of(estimator: Any) -> tuple[str, ...] | None:
    """Return the names of a model's columns, where it knows them."""
    for name in ("symbols_", "vocabulary_", "feature_names_in_"):
        if hasattr(estimator, name):
            return tuple(str(word) for word in getattr(estimator, name))
    return None


def column_names(estimator: Any) -> tuple[str, ...]:
    """Return the names of a model's columns, or their numbers."""
    return vocabulary_of(estimator) or tuple(str(column) for column in range(estimator.n_features_in_))


def _overview(estimator: Any) -> dict[str, Any]:
    """Return what a file says of its model for those who only want to look at it (`ssvi.files.look`)."""
    has_components = hasattr(estimator, "summarize_components")
    return {"facts": facts_of(estimator), "components": Overview.of(estimator).kept() if has_components else None}


def _versions() -> dict[str, str]:
    """Return the versions of what the file was made with."""
    found = {"ssvi": ssvi.__version__, "python": platform.python_version()}
    for name in _LIBRARIES:
        found[name] = metadata.version(name)
    return found

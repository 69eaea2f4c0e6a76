"""Whether what was read from a file is what a fit leaves behind: types, lengths, numbers and domains.

A file may be whole and still hold something else than it should, because somebody made it so. What is checked here
need not be looked at again by whoever uses the model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from ssvi.checks import is_auto
from ssvi.engine import Info
from ssvi.files.states import check_state
from ssvi.models.lda import ALPHA_RULES
from ssvi.sketches import SIZE
from ssvi.states import check_hyperparameters
from ssvi.states import check_state as check_domains


def check_fitted(estimator: Any, n_numbers: int) -> None:
    """Raise a `ValueError` unless what was read fits together; `n_numbers` is how many numbers the file's arrays have.

    Attributes that no check below knows, of models that bring their own, must be finite wherever they are numbers.
    """
    estimator._check_parameters()
    found = vars(estimator)
    names = (*estimator.saved_attributes, *estimator.passing_attributes)
    missing = [name for name in _ALWAYS if name not in found]
    if missing:
        raise ValueError(f"it has no {', '.join(missing)}")
    sizes = [found["n_features_in_"], found.get("_fitted", {}).get("n_components", 1)]
    if not all(_is_count(size) and 0 < size <= n_numbers for size in sizes):
        raise ValueError("it claims to be larger than the arrays that it holds")
    for name in names:
        if name in found:
            _CHECKS.get(name, _check_numbers)(name, found[name], estimator)
    model = estimator._model()
    for name in _STATES:
        if name in found:
            check_domains(model.blocks(), found[name])
            check_hyperparameters(model, found[name])


def check_words(words: Any, size: int, what: str) -> None:
    """Raise a `ValueError` unless these are as many words as there are columns."""
    if isinstance(words, str) or not isinstance(words, Collection):
        raise ValueError(f"{what} is a {type(words).__name__} and no list of words")
    if len(words) != size:
        raise ValueError(f"{what} has {len(words):,} words, and the model {size:,} columns")
    if not all(isinstance(word, str) for word in words):
        raise ValueError(f"{what} has something in it that is no word")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_positive(value: Any) -> bool:
    return _is_number(value) and 0 < value < math.inf


def _are_probabilities(array: Any, shape: tuple[int, ...]) -> bool:
    return isinstance(array, np.ndarray) and array.shape == shape and bool(((array >= 0) & (array <= 1)).all())


def _is_step(info: Any) -> bool:
    """Tell whether this is what a person sees of a step, in numbers that a step can have."""
    return (
        isinstance(info, Info)
        and all(map(_is_count, (info.step, info.documents_seen, info.guarded, info.merged)))
        and all(
            _is_number(value) and 0 <= value < math.inf for value in (info.step_size, info.population, info.seconds)
        )
        and (info.bound is None or _is_number(info.bound))
    )


def _require(condition: Callable[[Any], bool], wanted: str) -> Callable[[str, Any, Any], None]:
    """Return a check of one attribute."""

    def check(name: str, value: Any, estimator: Any) -> None:
        if not condition(value):
            raise ValueError(f"its {name} is {_shown(value)}, not {wanted}")

    return check


def _shown(value: Any) -> str:
    """Return how an error shows a value: by its kind, unless it is short."""
    text = repr(value)
    return text if len(text) < 40 else f"a {type(value).__name__} of another form"


def _check_words(name: str, value: Any, estimator: Any) -> None:
    check_words(value, estimator.n_features_in_, "the vocabulary" if name == "vocabulary_" else f"its {name}")


def _check_labels(name: str, value: Any, estimator: Any) -> None:
    """Labels are lines of text, one for each component, and "" stands for none."""
    components = getattr(estimator, "n_components", 0)
    lines = isinstance(value, list) and all(isinstance(label, str) and label.isprintable() for label in value)
    if not lines or len(value) != components:
        raise ValueError(f"its labels are not {components:,} lines of text")


def _check_text_options(name: str, value: Any, estimator: Any) -> None:
    from ssvi.data.readers import TextOptions  # seldom wanted

    TextOptions.from_kept(value)


def _check_reading_options(name: str, value: Any, estimator: Any) -> None:
    from ssvi.data.readers.asked import check_asked  # seldom wanted

    check_asked(value)


def _check_sketch(name: str, value: Any, estimator: Any) -> None:
    whole = isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype == np.int64
    if not whole or len(value) > SIZE or bool((value < 0).any()) or bool((np.diff(value) <= 0).any()):
        raise ValueError("its sketch of documents is not one of ascending numbers")


def _check_history(name: str, value: Any, estimator: Any) -> None:
    if not isinstance(value, list) or not all(map(_is_step, value)):
        raise ValueError("its history is not one of steps")


def _check_scores(name: str, value: Any, estimator: Any) -> None:
    pairs = isinstance(value, list | tuple) and all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in value)
    if not pairs or not all(_is_number(number) and math.isfinite(number) for pair in value for number in pair):
        raise ValueError("its scores are not pairs of seconds and a score")


def _check_columns(name: str, value: Any, estimator: Any) -> None:
    if value != estimator.n_features_in_:
        raise ValueError(f"its {name} is {_shown(value)}, and it has {estimator.n_features_in_} columns")


def _check_fixed(name: str, value: Any, estimator: Any) -> None:
    """Check the parameters that a fit cannot change later: all are positive or learned, and one may be several."""
    known, learnable = estimator.get_params(deep=False), getattr(estimator, "_learnable", {})
    for parameter, given in value.items():
        if is_auto(given) and parameter in learnable:
            continue
        numbers = given if isinstance(given, tuple) else (given,)
        if parameter not in known or not all(map(_is_positive, numbers)):
            raise ValueError(f"the {_shown(parameter)} that it was fitted with is {_shown(given)}")


def _check_word_prior(name: str, value: Any, estimator: Any) -> None:
    """Check eta: a positive number, or one for each word, or for each word in each topic."""
    shapes = ((estimator.n_features_in_,), (estimator._fixed["n_components"], estimator.n_features_in_))
    numbers = np.asarray(value)
    is_array = isinstance(value, np.ndarray) and value.shape in shapes and value.dtype == np.float64
    if not (is_array and bool(((numbers > 0) & np.isfinite(numbers)).all())) and not _is_positive(value):
        raise ValueError(f"its {name} is {_shown(value)}, not a positive number, nor one for each word")


def _check_snapshots(name: str, value: Any, estimator: Any) -> None:
    size = estimator._fitted["n_components"]
    shapes = ((size,), (size, estimator.n_features_in_))
    for snapshot in value:
        if len(snapshot) != 2 or not all(map(_are_probabilities, snapshot, shapes)):
            raise ValueError("its snapshots are not pairs of weights and means")


def _check_numbers(name: str, value: Any, estimator: Any) -> None:
    """Check that all numbers in something are finite."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            _check_numbers(name, item, estimator)
    elif isinstance(value, np.ndarray) and value.dtype.kind in "OU":
        return  # text, which the decoder has looked at
    elif isinstance(value, float | np.ndarray) and not np.isfinite(value).all():
        raise ValueError(f"its {name} has numbers that are not finite")


_STATES = ("_state", "_best_state", "_last_look")
_ALWAYS = ("n_features_in_", "random_state_", "_n_distinct", "history_", "_state")
_COUNT = _require(_is_count, "a whole number of 0 or more")
_POSITIVE = _require(_is_positive, "a positive number")
_TRUTH = _require(lambda value: isinstance(value, bool), "True or False")

_CHECKS: dict[str, Callable[[str, Any, Any], None]] = {
    **dict.fromkeys(("n_features_in_", "random_state_", "n_iter_", "_n_distinct"), _COUNT),
    **dict.fromkeys(("feature_names_in_", "vocabulary_"), _check_words),
    "text_options_": _check_text_options,
    "reading_options_": _check_reading_options,
    "known_words_": _require(lambda value: _is_number(value) and 0 <= value <= 1, "a share"),
    "seen_documents_": _check_sketch,
    "labels_": _check_labels,
    "scores_": _check_scores,
    "history_": _check_history,
    # NaN where the local step optimises none, or where nothing was measured.
    **dict.fromkeys(("bound_", "convergence_", "gain_"), _require(_is_number, "a number")),
    "left_out_scores_": _require(
        lambda value: isinstance(value, list) and all(map(_is_number, value)), "a list of numbers"
    ),
    **dict.fromkeys(("converged_", "_ended"), _TRUTH),
    **dict.fromkeys(_STATES, lambda name, value, estimator: check_state(value)),
    "doc_topic_prior_": _require(
        lambda value: (
            isinstance(value, np.ndarray) and value.ndim == 1 and bool(((value > 0) & np.isfinite(value)).all())
        ),
        "a row of positive numbers",
    ),
    "topic_word_prior_": _check_word_prior,
    "inverse_scale_": _POSITIVE,
    "local_step_": _require(lambda value: value in ("gibbs", "mean_field", "metropolis"), "the name of a step"),
    "_n_words": _check_columns,
    "_mean_length": _require(lambda value: _is_number(value) and 0 <= value < math.inf, "a number of words"),
    "_learned": _require(lambda value: value in (None, *ALPHA_RULES), "a way to learn alpha, or None"),
    "_learns_eta": _TRUTH,
    "perplexity_history_": _require(
        lambda value: isinstance(value, list) and all(_is_number(item) and item > 0 for item in value),
        "a list of perplexities",
    ),
    "_fitted": _check_fixed,
    "_snapshots": _check_snapshots,
}

"""What a fit is told of its model: options, and the estimator that they describe."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ssvi.cli.inputs import starting_with
from ssvi.cli.mistakes import model_comes_first

_OPTIONS = {
    "n_components": "--topics or --components",
    "global_step": "--global-step",
    "local_step": "--local-step",
    "max_iter": "--passes",
    "batch_size": "--batch-size",
    "random_state": "--seed",
    "n_jobs": "--jobs",
    "backend": "--backend",
    "early_stopping": "--early-stopping",
    "seed_words": "--seed-words",
}
_ELSEWHERE = {"alpha": "doc_topic_prior", "eta": "topic_word_prior", "beta": "topic_word_prior"}  # in other libraries
_NOT_FOR_COMMANDS = ("callbacks", "verbose")
DEFAULT_COMPONENTS = 50
_ANY_NUMBER_OF_ROWS = 10_000
_COPIES = 4  # of lambda that a fit has at the same time, about


def _estimators() -> Iterable[str]:
    from ssvi.estimators.registry import estimators

    return estimators()


def _global_steps() -> Iterable[str]:
    from ssvi.global_steps.base import GlobalStep
    from ssvi.registry import discover

    return discover("ssvi.global_steps", GlobalStep)


def _local_steps() -> Iterable[str]:
    from ssvi.estimators.registry import local_steps
    from ssvi.local_steps.base import LocalStep
    from ssvi.models.base import Model
    from ssvi.registry import discover

    models = discover("ssvi.models", Model)
    own = {step for model in models for step in discover(f"ssvi.local_steps.{model}", LocalStep)}
    _estimators()  # which makes those of other packages known
    return sorted(own | {step.name for step in local_steps().values()})


ModelName = Annotated[
    str,
    typer.Argument(
        help="lda, hdp, ctm, bernoulli_mixture, gaussian_mixture, gamma_process_nmf, hmm, fhmm, lds, "
        "hierarchical_linear, hierarchical_logistic, hierarchical_probit (with --formula), or one of an installed "
        "package.",
        autocompletion=starting_with(_estimators),
    ),
]
GlobalStepName = Annotated[
    str | None, typer.Option(help="ssvi, ssvi_a, mean_field or map.", autocompletion=starting_with(_global_steps))
]
LocalStepName = Annotated[
    str | None,
    typer.Option(
        help="gibbs, cvb0, mean_field, exact, laplace, variational or metropolis, as the model has it.",
        autocompletion=starting_with(_local_steps),
    ),
]


def _passes(text: str) -> int | str:
    """Return how many passes a text stands for."""
    if text == "auto" or (text.isdecimal() and int(text) >= 1):
        return text if text == "auto" else int(text)
    raise typer.BadParameter(f"{text!r} is neither a whole number of 1 or more nor auto.")


Passes = Annotated[
    Any,
    typer.Option(
        parser=_passes, metavar="<int|auto>", help="Passes over the data; auto goes on until the fit has converged."
    ),
]


def make_estimator(model: str, pairs: Sequence[str], **given: Any) -> Any:
    """Return the estimator of a model with parameters of which those that are None are left as they are.

    `pairs` are further ones, as name=value.
    """
    from ssvi.estimators.registry import estimator_class

    try:
        estimator = estimator_class(model)()
    except KeyError:
        known = _estimators()
        if Path(model).exists():
            raise ValueError(model_comes_first("ssvi fit", model)) from None
        raise ValueError(f"there is no model {model!r}{_near(model, known)}; there are {', '.join(known)}.") from None
    _set_components(estimator, given)
    names = [name for name in estimator.get_params() if name not in (*_OPTIONS, *_NOT_FOR_COMMANDS)]
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator:
            raise ValueError(f"--set takes name=value, such as --set {names[0]}=0.1, not {pair!r}.")
        if name in _OPTIONS:
            raise ValueError(f"--set is not for {name}: that is {_OPTIONS[name]}.")
        if name not in names:
            raise ValueError(f"{model} has no parameter {name!r}{_near(name, names)}; --set has {', '.join(names)}.")
        given[name] = _value(value)
    return estimator.set_params(**{name: value for name, value in given.items() if value is not None})


def _set_components(estimator: Any, given: dict[str, Any]) -> None:
    """Give a model that has a number of components the one that was asked for, or the usual."""
    wanted = given.pop("n_components", None)
    if hasattr(estimator, "n_components"):
        # A cluster of a table's rows has a width that goes by how many there may be: 50 would cut natural ones up.
        is_of_numbers = getattr(type(estimator), "rows_are_means", False) is True
        given["n_components"] = wanted or (estimator.n_components if is_of_numbers else DEFAULT_COMPONENTS)
    elif wanted is not None:
        raise ValueError(f"{estimator.name} has no number of components: leave out --components (--topics).")


def check(estimator: Any) -> None:
    """Refuse, before anything is read, what a fit would refuse of its parameters whatever the data is."""
    from ssvi.estimators.choices import make_backend

    try:
        estimator._check_parameters()
        estimator.total_steps(_ANY_NUMBER_OF_ROWS)
        with make_backend(estimator.backend, estimator.n_jobs):
            pass
    except ValueError as error:
        name, space, rest = str(error).partition(" ")
        raise ValueError(f"{_OPTIONS.get(name, name)}{space}{rest}") from None


def check_memory(estimator: Any, columns: int) -> None:
    """Refuse a fit whose global parameters alone would fill the memory of the machine, where that is known."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return
    components = getattr(estimator, "n_components", 1)
    wanted = 8 * _COPIES * components * columns
    if wanted > memory:
        several = estimator.nouns[0].lower() if hasattr(estimator, "nouns") else "components"
        raise ValueError(
            f"{components:,} {several} of {columns:,} columns take about {wanted / 1e9:,.0f} GB, and the "
            f"machine has {memory / 1e9:,.0f}: fit fewer {several}, or fewer words (--max-words)."
        )


def _near(name: str, names: Any) -> str:
    """Return a question if one of the names looks like it, or means the same to others."""
    same = [own for own in (name.lower(), _ELSEWHERE.get(name)) if own in names]
    found = same or difflib.get_close_matches(name, list(names), n=1)
    return f" (did you mean {found[0]!r}?)" if found else ""


def _value(text: str) -> Any:
    """Return a number, list or truth value that a text stands for, or the text."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return np.array(value, dtype=float) if isinstance(value, list) else value

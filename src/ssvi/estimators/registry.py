"""The classes that commands and model files know by name: those of this package, and those of other people.

Others come by `register`, or by entry points of installed packages in the group "ssvi.models". A model file holds a
class's name and is compared with what is known; what it says never decides what is imported. So all entry points are
loaded before any file is read, or none of them, if nobody asks for a class by its name.
"""

from __future__ import annotations

import inspect
from functools import cache
from importlib import metadata
from typing import Any, TypeVar

from ssvi.registry import discover, discover_one

GROUP = "ssvi.models"
"""The group of entry points: each has the name of a model, and leads to the class of its estimator."""

Kind = TypeVar("Kind", bound=type)

_registered: dict[str, Any] = {}
_failed: dict[str, str] = {}


def register(kind: Kind) -> Kind:
    """Let `ssvi.load` and everything else that goes by names know an estimator's class, in this process.

    It may be used as a decorator. A class that was defined again, as in a notebook, takes the place of its former self;
    any other name that is taken is refused.

    >>> register(dict)
    Traceback (most recent call last):
    ...
    ValueError: dict cannot be registered: it is no subclass of ssvi.estimators.base.StochasticEstimator.
    """
    _check_kind(kind)
    name = _name_of(kind)
    _load_entry_points()
    for other_name, other in estimators().items():
        if _is_former_self(other, kind):
            _registered.pop(other_name, None)
        elif name == other_name or kind.__name__ == other.__name__:
            taken = f"the name {name!r}" if name == other_name else f"the class name {kind.__name__!r}"
            raise ValueError(f"{taken} is taken by {_path(other)}: give {_path(kind)} another.")
    _registered[name] = kind
    return kind


def unregister(kind: type) -> None:
    """Forget a class that was registered."""
    for name in [name for name, other in _registered.items() if other is kind]:
        del _registered[name]


def estimators() -> dict[str, Any]:
    """Return all classes that can be fitted and saved, by the names that commands have for them."""
    _load_entry_points()
    return dict(sorted((_own_estimators() | _registered).items()))


def estimator_class(name: str) -> Any:
    """Return the class of a model's name, or raise a `KeyError`; one that could not be loaded is a `ValueError`."""
    from ssvi.estimators.base import StochasticEstimator

    own = discover_one("ssvi.estimators", StochasticEstimator, name) if name.isidentifier() else None
    if own is not None:  # which nobody else's name can be
        return own
    known = estimators()
    if name not in known and name in _failed:
        raise ValueError(_failed[name])
    return known[name]


def is_known(kind: type) -> bool:
    """Tell whether files can name a class."""
    name = getattr(kind, "name", None)
    if kind.__module__ == f"ssvi.estimators.{name}" and estimator_class(str(name)) is kind:
        return True  # without a look at all the others
    return any(kind is other for other in estimators().values())


def failures() -> list[str]:
    """Return a sentence for each entry point that cannot be used."""
    _load_entry_points()
    return list(_failed.values())


def local_steps() -> dict[str, Any]:
    """Return the local steps of classes that are not of this package, by the names that files have for them."""
    steps = [step for kind in _registered.values() for step in getattr(kind, "local_steps", ())]
    return {f"local_step/{step.model}/{step.name}": step for step in steps}


def _own_estimators() -> dict[str, Any]:
    from ssvi.estimators.base import StochasticEstimator  # which saves itself by way of files, which ask here

    return discover("ssvi.estimators", StochasticEstimator)


@cache
def _load_entry_points() -> None:
    """Import what installed packages offer, once; what cannot be imported does not stand in the way of the rest."""
    for point in sorted(metadata.entry_points(group=GROUP)):
        origin = f"the model {point.name!r} of the package {point.dist.name if point.dist else '?'!r}"
        if point.name in _own_estimators() or point.name in _registered:
            _failed[point.name] = f"{origin} cannot be used: the name is taken."
            continue
        try:
            kind = point.load()
            _check_kind(kind)
            if _name_of(kind) != point.name:
                raise ValueError(f"the class {kind.__name__} has the name {_name_of(kind)!r}")
            if kind.__name__ in [other.__name__ for other in (_own_estimators() | _registered).values()]:
                raise ValueError(f"the class name {kind.__name__!r} is taken")
        except Exception as error:  # whatever somebody else's module does
            reason = str(error).rstrip(".")
            _failed[point.name] = f"{origin} cannot be used: {reason or type(error).__name__}."
        else:
            _registered[point.name] = kind


def _check_kind(kind: Any) -> None:
    """Raise a `ValueError` unless this is the class of an estimator."""
    from ssvi.estimators.base import StochasticEstimator

    shown = getattr(kind, "__name__", repr(kind))
    if not inspect.isclass(kind) or not issubclass(kind, StochasticEstimator):
        wanted = f"{StochasticEstimator.__module__}.{StochasticEstimator.__name__}"
        raise ValueError(f"{shown} cannot be registered: it is no subclass of {wanted}.")
    if inspect.isabstract(kind):
        missing = ", ".join(sorted(kind.__abstractmethods__))
        raise ValueError(f"{shown} cannot be registered: it has no {missing}.")
    if not isinstance(getattr(kind, "name", None), str):
        raise ValueError(f"{shown} cannot be registered: it has no `name` for commands and files.")


def _name_of(kind: Any) -> str:
    return str(kind.name)


def _is_former_self(other: Any, kind: Any) -> bool:
    return _path(other) == _path(kind) and other.__name__ in [known.__name__ for known in _registered.values()]


def _path(kind: Any) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"

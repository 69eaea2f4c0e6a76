"""Finding what a package holds: each family, step and model is a file, and putting the file there is enough."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
from collections.abc import Iterator
from functools import cache
from typing import Any


@cache
def discover(package: str, kind: Any) -> dict[str, Any]:
    """Return the concrete subclasses of `kind` defined in `package` and its subpackages, by their `name`."""
    root = importlib.import_module(package)
    found: dict[str, Any] = {}
    for module_info in pkgutil.walk_packages(root.__path__, f"{package}."):
        for name, value in _classes_in(module_info.name, kind):
            if name in found:
                raise ValueError(f"{package} has two of the name {name!r}: {found[name]} and {value}.")
            found[name] = value
    return dict(sorted(found.items()))


def discover_one(package: str, kind: Any, name: str) -> Any | None:
    """Return the class called `name` if the module of that name has it: no other is imported then."""
    if importlib.util.find_spec(f"{package}.{name}") is None:
        return None
    return dict(_classes_in(f"{package}.{name}", kind)).get(name)


def _classes_in(module_name: str, kind: Any) -> Iterator[tuple[str, Any]]:
    """Yield the concrete subclasses of `kind` that a module defines, with their names: those that have one."""
    for value in vars(importlib.import_module(module_name)).values():
        own = inspect.isclass(value) and issubclass(value, kind) and value.__module__ == module_name
        name = getattr(value, "name", None)
        if own and name is not None and not inspect.isabstract(value):
            yield name, value


def lookup(package: str, kind: Any, name: str, word: str, also: tuple[str, ...] = ()) -> Any:
    """Return the class called `name`, or raise a `ValueError` that lists the known names, and those of `also`."""
    known = discover(package, kind)
    if name not in known:
        names = ", ".join(map(repr, [*known, *also]))
        raise ValueError(f"{word} {name!r} is not known; the known ones are {names}.")
    return known[name]

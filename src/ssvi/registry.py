"""Finding what a package holds: each family, step and model is a file, and putting the file there is enough."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from functools import cache
from typing import TypeVar

Kind = TypeVar("Kind")


@cache
def discover(package: str, kind: type[Kind]) -> dict[str, type[Kind]]:
    """Return the concrete subclasses of `kind` defined in `package` and its subpackages, by their `name`."""
    root = importlib.import_module(package)
    found: dict[str, type[Kind]] = {}
    for module_info in pkgutil.walk_packages(root.__path__, f"{package}."):
        module = importlib.import_module(module_info.name)
        for value in vars(module).values():
            if inspect.isclass(value) and issubclass(value, kind) and value.__module__ == module.__name__:
                if inspect.isabstract(value):
                    continue
                found[value.name] = value  # type: ignore[attr-defined]
    return dict(sorted(found.items()))


def lookup(package: str, kind: type[Kind], name: str, word: str) -> type[Kind]:
    """Return the class called `name`, or raise a `ValueError` that lists the known names."""
    known = discover(package, kind)
    if name not in known:
        raise ValueError(f"{word} {name!r} is not known; the known ones are {', '.join(map(repr, known))}.")
    return known[name]

"""Finding what a package holds: each family, step and model is a file, and putting the file there is enough."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from functools import cache
from typing import Any, cast


@cache
def discover(package: str, kind: Any) -> dict[str, Any]:
    """Return the concrete subclasses of `kind` defined in `package` and its subpackages, by their `name`."""
    root = importlib.import_module(package)
    found: dict[str, Any] = {}
    for module_info in pkgutil.walk_packages(root.__path__, f"{package}."):
        module = importlib.import_module(module_info.name)
        for value in vars(module).values():
            if inspect.isclass(value) and issubclass(value, kind) and value.__module__ == module.__name__:
                if inspect.isabstract(value):
                    continue
                name = cast(Any, value).name
                if name in found:
                    raise ValueError(f"{package} has two of the name {name!r}: {found[name]} and {value}.")
                found[name] = value
    return dict(sorted(found.items()))


def lookup(package: str, kind: Any, name: str, word: str, also: tuple[str, ...] = ()) -> Any:
    """Return the class called `name`, or raise a `ValueError` that lists the known names, and those of `also`."""
    known = discover(package, kind)
    if name not in known:
        names = ", ".join(map(repr, [*known, *also]))
        raise ValueError(f"{word} {name!r} is not known; the known ones are {names}.")
    return known[name]

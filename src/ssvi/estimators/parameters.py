"""Parameters of estimators: declared once, each with its default, its words and its check.

A class that declares parameters is decorated with `with_parameters`. That gives it the constructor that scikit-learn
wants, with every parameter of its bases by name, and the section "Parameters" of its documentation.
"""

from __future__ import annotations

import dataclasses
import inspect
import textwrap
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast, dataclass_transform

from ssvi.checks import require_count

Kind = TypeVar("Kind", bound=type)
Check = Callable[[str, Any], Any]
"""Raises one clear sentence, given the name and the value of a parameter, unless the value will do."""

Attribute = tuple[str, str, str]
"""The name, the kind and the words of an attribute that several estimators have (`shared_attributes` of a class)."""

_ATTRIBUTES = "Attributes\n----------\n"


def parameter(*, default: Any, kind: str, words: str, check: Check | None = None, kw_only: bool = True) -> Any:
    """Declare a parameter.

    Parameters
    ----------
    default
        Its value by default.
    kind, words : str
        What may be given, and what it means, as the documentation has it.
    check : function of name and value, optional
        Raises unless a value will do. It is called when data is given, as scikit-learn has it, not by the constructor.
    kw_only : bool
        Whether it must be given by its name.

    """
    metadata = {"kind": kind, "words": words, "check": check}
    return dataclasses.field(default=default, kw_only=kw_only, metadata=metadata)


def changed(base: Any, name: str, *, default: Any, words: str | None = None, kind: str | None = None) -> Any:
    """Declare a parameter of a base class again, with another default or other words."""
    known = {field.name: field.metadata for field in dataclasses.fields(base)}[name]
    return parameter(default=default, kind=kind or known["kind"], words=words or known["words"], check=known["check"])


@dataclass_transform(kw_only_default=True, field_specifiers=(parameter, changed))
def with_parameters(cls: Kind) -> Kind:
    """Give a class the constructor of its parameters and those of its bases, and write them into its documentation."""
    own = [name for name in inspect.get_annotations(cls) if not name.startswith("_")]  # others are no parameters
    cls.__annotations__ = {name: cls.__annotations__[name] for name in own}
    result: Any = dataclasses.dataclass(eq=False, repr=False, kw_only=True)(cls)
    # What is given without its name comes first, then what the class itself declares, then what its bases do.
    order = list(dict.fromkeys(name for base in cls.__mro__ for name in vars(base).get("__annotations__", ())))
    fields = sorted(dataclasses.fields(result), key=lambda field: (field.kw_only, order.index(field.name)))
    shared = [entry for base in reversed(cls.__mro__) for entry in vars(base).get("shared_attributes", ())]
    result.__doc__ = _documented(cls.__doc__ or "", fields, shared)
    return cast(Kind, result)


def check_parameters(estimator: Any) -> None:
    """Raise one clear sentence if a parameter has a value that will not do."""
    for field in dataclasses.fields(estimator):
        check = field.metadata["check"]
        if check is not None:
            check(field.name, getattr(estimator, field.name))


def optional(check: Check) -> Check:
    """Return a check that None passes too."""

    def checked(name: str, value: Any) -> None:
        if value is not None:
            check(name, value)

    return checked


optional_count = optional(require_count)


def _documented(text: str, fields: Iterable[dataclasses.Field[Any]], attributes: Iterable[Attribute]) -> str:
    """Return documentation with a section of parameters before that of attributes, or at the end.

    Attributes that the class shares with others are added to its own.
    """
    lines = ["Parameters", "----------"]
    for field in fields:
        lines += _entry(field.name, field.metadata["kind"], field.metadata["words"])
    before, heading, after = inspect.cleandoc(text).partition(_ATTRIBUTES)
    own, examples, rest = after.partition("\nExamples\n")
    own_lines = [*own.rstrip().splitlines(), *(line for entry in attributes for line in _entry(*entry))]
    parts = [before.rstrip(), "", *lines, ""] + ([heading + "\n".join(own_lines), ""] if heading else [])
    return "\n".join([*parts, (examples + rest).lstrip("\n")]).rstrip() + "\n"


def _entry(name: str, kind: str, words: str) -> list[str]:
    """Return the lines of a parameter or an attribute."""
    text = " ".join(words.split())
    return [f"{name} : {kind}", *textwrap.wrap(text, 112, initial_indent="    ", subsequent_indent="    ")]

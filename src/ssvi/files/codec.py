"""Python values as JSON and arrays, and back: plain values, arrays, and the few dataclasses that models are made of.

Reading builds nothing but these. A dataclass is found by its name in a fixed list, never by a path to a module, and its
fields go through its own checks.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.adaptive import SignalShare
from ssvi.checks import is_integer
from ssvi.engine import Info, State
from ssvi.estimators import registry
from ssvi.global_steps.base import GlobalStep
from ssvi.local_steps.base import LocalStep
from ssvi.registry import discover
from ssvi.schedules import ConstantSchedule, PowerSchedule

_KINDS = "biuf"  # of arrays: truth values, integers, numbers
_DEEPEST = 50


_PLAIN: dict[str, type[Any]] = {
    "state": State,
    "info": Info,
    "power_schedule": PowerSchedule,
    "constant_schedule": ConstantSchedule,
    "signal_share": SignalShare,
}


def _class_called(name: str) -> type[Any] | None:
    """Return the dataclass that has this name in files, if there is one; local steps of other models stay unread."""
    if name in _PLAIN:
        return _PLAIN[name]
    if name.startswith("global_step/"):
        return discover("ssvi.global_steps", GlobalStep).get(name.partition("/")[2])
    model = name.removeprefix("local_step/").partition("/")[0]
    known = registry.local_steps()
    if model in _models_with_steps():
        own = discover(f"ssvi.local_steps.{model}", LocalStep)
        known = {f"local_step/{model}/{step}": kind for step, kind in own.items()} | known
    return known.get(name)


def _name_of(kind: type[Any]) -> str | None:
    """Return what files call a dataclass, if they may hold it."""
    names = [name for name, plain in _PLAIN.items() if plain is kind]
    if issubclass(kind, GlobalStep):
        names = [f"global_step/{kind.name}"]
    elif issubclass(kind, LocalStep):
        names = [f"local_step/{kind.model}/{kind.name}"]
    return next((name for name in names if _class_called(name) is kind), None)


@cache
def _models_with_steps() -> frozenset[str]:
    import pkgutil

    from ssvi import local_steps

    return frozenset(module.name for module in pkgutil.iter_modules(local_steps.__path__) if module.ispkg)


def _columns(history: list[Info]) -> dict[str, npt.NDArray[Any]]:
    """Return a history as arrays, one a field: as JSON it would be most of a long fit's checkpoints."""
    columns = {field.name: [getattr(info, field.name) for info in history] for field in dataclasses.fields(Info)}
    bounds = columns["bound"]
    columns["has_bound"] = [bound is not None for bound in bounds]
    columns["bound"] = [0.0 if bound is None else bound for bound in bounds]
    return {name: np.array(column) for name, column in columns.items()}


def _infos(columns: dict[str, Any]) -> list[Info]:
    """Return the history that `_columns` made arrays of."""
    known = dataclasses.fields(Info)
    needed = {field.name for field in known if field.default is dataclasses.MISSING} | {"has_bound"}
    complete = needed <= set(columns) <= needed | {field.name for field in known}  # earlier versions had fewer
    if not complete or not all(isinstance(column, np.ndarray) for column in columns.values()):
        raise ValueError("its history is not complete")
    if len({column.shape for column in columns.values()}) != 1 or columns["step"].ndim != 1:
        raise ValueError("its history has columns of different lengths")
    has_bound = columns.pop("has_bound").tolist()
    names, rows = list(columns), zip(*(column.tolist() for column in columns.values()), strict=True)
    infos = [Info(**dict(zip(names, row, strict=True))) for row in rows]
    return [info if has else dataclasses.replace(info, bound=None) for info, has in zip(infos, has_bound, strict=True)]


class Encoder:
    """Turns values into JSON, and keeps their arrays aside."""

    def __init__(self) -> None:
        self.arrays: dict[str, npt.NDArray[Any]] = {}

    def encode(self, value: Any) -> Any:
        """Return the JSON form of a value, or raise a `TypeError`."""
        if value is None or isinstance(value, bool | str | int):
            return value
        if isinstance(value, np.generic):
            return self.encode(value.item())
        if isinstance(value, float):
            return value if math.isfinite(value) else {"number": repr(value)}
        if isinstance(value, list):
            if value and all(type(item) is Info for item in value):
                return {"history": {name: self.encode(column) for name, column in _columns(value).items()}}
            return [self.encode(item) for item in value]
        if isinstance(value, tuple):
            return {"tuple": [self.encode(item) for item in value]}
        if isinstance(value, np.ndarray):
            return self._encode_array(value)
        if isinstance(value, Mapping) and any(is_integer(name) for name in value):
            return {"pairs": [[self.encode(name), self.encode(item)] for name, item in value.items()]}
        if isinstance(value, Mapping):
            return {"mapping": {str(name): self.encode(item) for name, item in value.items()}}
        name = _name_of(type(value))
        if name is not None:
            fields = {field.name: self.encode(getattr(value, field.name)) for field in dataclasses.fields(value)}
            return {"object": name, "fields": fields}
        raise TypeError(f"a {type(value).__name__} cannot be saved")

    def _encode_array(self, value: npt.NDArray[Any]) -> Any:
        if value.dtype.kind in "OU" and value.ndim == 1 and all(isinstance(item, str) for item in value):
            return {"strings": value.tolist()}
        if value.dtype.kind not in _KINDS:
            raise TypeError(f"an array of {value.dtype} cannot be saved")
        name = f"array_{len(self.arrays)}"
        self.arrays[name] = value
        return {"array": name}


class Decoder:
    """Turns JSON back into values."""

    def __init__(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        self._arrays = arrays

    def decode(self, form: Any, depth: int = 0) -> Any:
        """Return the value of a JSON form, or raise a `ValueError`."""
        if depth > _DEEPEST:
            raise ValueError("its text is nested too deeply")
        if form is None or isinstance(form, bool | str | int | float):
            return form
        if isinstance(form, list):
            return [self.decode(item, depth + 1) for item in form]
        if not isinstance(form, dict):
            raise ValueError(f"its text has a {type(form).__name__} where a value should be")
        if set(form) == {"object", "fields"}:
            return self._decode_object(form, depth)
        if len(form) == 1:
            ((kind, content),) = form.items()
            if kind in ("tuple", "strings") and isinstance(content, list):
                return self._decode_sequence(kind, content, depth)
            if kind == "history" and isinstance(content, dict):
                return _infos({name: self.decode(item, depth + 1) for name, item in content.items()})
            if kind == "mapping" and isinstance(content, dict):
                return {name: self.decode(item, depth + 1) for name, item in content.items()}
            if kind == "pairs" and isinstance(content, list):
                return self._decode_pairs(content, depth)
            if kind == "number" and content in ("nan", "inf", "-inf"):
                return float(content)
            if kind == "array" and isinstance(content, str) and content in self._arrays:
                return self._arrays[content]
        raise ValueError(f"its text has an entry that is none of the known forms: {sorted(map(str, form))[:5]}")

    def _decode_sequence(self, kind: str, content: list[Any], depth: int) -> Any:
        if kind == "tuple":
            return tuple(self.decode(item, depth + 1) for item in content)
        if not all(isinstance(item, str) for item in content):
            raise ValueError("its text has a list of strings with something else in it")
        strings = np.empty(len(content), dtype=object)
        strings[:] = content
        return strings

    def _decode_pairs(self, content: list[Any], depth: int) -> dict[str | int, Any]:
        for pair in content:
            if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str | int):
                raise ValueError("its text has a pair of a name or number and a value that is none")
        return {name: self.decode(item, depth + 1) for name, item in content}

    def _decode_object(self, form: Mapping[str, Any], depth: int) -> Any:
        kind, fields = _class_called(str(form["object"])), form["fields"]
        if kind is None or not isinstance(fields, dict):
            raise ValueError(f"it holds an object of the unknown kind {str(form['object'])[:60]!r}")
        try:
            return kind(**{name: self.decode(item, depth + 1) for name, item in fields.items()})
        except TypeError as error:
            raise ValueError(f"its {form['object']} is not complete: {error}") from error

"""Every parameter of every step and schedule is checked when it is set, by one sentence that names it."""

import dataclasses
import inspect

import numpy as np
import pytest

from ssvi import schedules
from ssvi.global_steps.base import GlobalStep
from ssvi.local_steps.base import LocalStep
from ssvi.models.base import Model
from ssvi.registry import discover

STEPS = [
    *discover("ssvi.global_steps", GlobalStep).values(),
    *(
        step
        for model in discover("ssvi.models", Model)
        for step in discover(f"ssvi.local_steps.{model}", LocalStep).values()
    ),
    *(kind for _, kind in inspect.getmembers(schedules, dataclasses.is_dataclass)),
]
NOT_A_NUMBER = ["1", None, True, np.array([1]), np.array([1, 2]), [1], 1j, np.nan, np.inf, -np.inf]
BAD = {
    "int": [*NOT_A_NUMBER, -5, 0, 1.5, 2.0, 2**63],
    "float": [*NOT_A_NUMBER, -1.0, -1e-300],
    "str": ["int8", "int32", "float16", "", "Float32", None, 3, np.float32, np.array(["float32"]), ["float32"]],
    "bool": [0, 1, "yes", None, np.nan, np.array([True])],
}
"""Values that no parameter of a type may have; a parameter of another type needs a line here."""
FIELDS = [(kind, field) for kind in STEPS for field in dataclasses.fields(kind)]


def test_there_are_steps_of_every_kind():
    assert len(STEPS) >= 13
    assert {field.type for _, field in FIELDS} == set(BAD)


@pytest.mark.parametrize("kind", STEPS, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_defaults_and_numbers_of_numpy_are_taken(kind):
    step = kind()
    given = {field.name: getattr(step, field.name) for field in dataclasses.fields(kind)}
    numpy_given = {name: value if isinstance(value, str) else np.array([value])[0] for name, value in given.items()}
    assert kind(**numpy_given) == step


@pytest.mark.parametrize(("kind", "field"), FIELDS, ids=lambda value: getattr(value, "__name__", None) or value.name)
def test_no_bad_value_is_taken(kind, field):
    for value in BAD[field.type]:
        with pytest.raises(ValueError, match=rf"^{field.name} must be [^\n]*, not ") as error:
            kind(**{field.name: value})
        message = str(error.value)
        assert message.endswith(f"not {value!r}.")
        assert ". " not in message.removesuffix(f"{value!r}.")

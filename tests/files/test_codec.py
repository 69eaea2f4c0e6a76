import json
import math

import numpy as np
import pytest

from ssvi.engine import Info
from ssvi.files.codec import Decoder, Encoder, _class_called, _models_with_steps, _name_of
from ssvi.global_steps.base import GlobalStep
from ssvi.global_steps.ssvi import Ssvi
from ssvi.local_steps.base import LocalStep
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.registry import discover
from ssvi.schedules import PowerSchedule


def _back(value):
    encoder = Encoder()
    form = encoder.encode(value)
    return Decoder(encoder.arrays).decode(form)


@pytest.mark.parametrize(
    "value",
    [None, True, 3, -2.5, 1e-300, "wörd", [1, "a", None], (1.0, (2, 3)), {"a": [1], "b": {"c": ()}}, np.float64(0.1)],
    ids=repr,
)
def test_plain_values_come_back(value):
    assert _back(value) == value
    assert type(_back(value)) is (float if isinstance(value, np.floating) else type(value))


def test_numbers_that_json_has_not():
    assert math.isnan(_back(math.nan))
    assert _back([math.inf, -math.inf]) == [math.inf, -math.inf]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8, np.bool_])
def test_arrays_come_back_with_their_type(dtype):
    array = np.arange(6).reshape(2, 3).astype(dtype)
    found = _back({"x": array})["x"]
    np.testing.assert_array_equal(found, array)
    assert found.dtype == dtype


def test_strings_come_back_as_an_array():
    assert _back(np.array(["a", "bé"], dtype=object)).tolist() == ["a", "bé"]


@pytest.mark.parametrize(
    "value",
    [Ssvi(softening=0.7), Gibbs(sweeps=4, kept=2), PowerSchedule(0.6, 3.0), Info(1, 2, 0.5, 3.0, None, 0, 0.1)],
    ids=lambda value: type(value).__name__,
)
def test_known_dataclasses_come_back(value):
    assert _back(value) == value


def test_a_history_comes_back_step_by_step():
    history = [Info(1, 2, 0.5, 3.0, None, 0, 0.1), Info(2, 4, 0.4, 6.0, -12.5, 3, 0.2)]
    encoder = Encoder()
    form = encoder.encode(history)
    assert Decoder(encoder.arrays).decode(form) == history
    form["history"].pop("step")
    with pytest.raises(ValueError, match="its history is not complete"):
        Decoder(encoder.arrays).decode(form)
    assert _back([]) == []


def test_every_step_has_a_name_that_leads_back_to_it():
    kinds = [*discover("ssvi.global_steps", GlobalStep).values(), *_every_local_step()]
    names = [_name_of(kind) for kind in kinds]
    assert [_class_called(name) for name in names] == kinds
    assert {"global_step/map", "local_step/lda/gibbs", "local_step/bernoulli_mixture/exact"} <= set(names)
    assert len(set(names)) == len(names) > 30


def _every_local_step():
    for model in _models_with_steps():
        yield from discover(f"ssvi.local_steps.{model}", LocalStep).values()


@pytest.mark.parametrize("name", ["", "local_step/lda/", "local_step/os/path", "global_step/../x", "lda/gibbs", "list"])
def test_no_other_name_leads_anywhere(name):
    assert _class_called(name) is None


@pytest.mark.parametrize("value", [object(), {1, 2}, lambda: 0, np.array([object()]), 1j])
def test_anything_else_is_refused(value):
    with pytest.raises(TypeError, match="cannot be saved"):
        Encoder().encode(value)


@pytest.mark.parametrize(
    ("form", "fault"),
    [
        ({"object": "os.system", "fields": {"command": "true"}}, "unknown kind 'os.system'"),
        ({"object": "state", "fields": {"nonsense": 1}}, "its state is not complete"),
        ({"object": "local_step/lda/gibbs", "fields": {"sweeps": 0}}, "sweeps must be an integer of 1 or more, not 0"),
        ({"array": "array_7"}, "none of the known forms"),
        ({"strings": ["a", 1]}, "a list of strings with something else"),
        ({"number": "1e5"}, "none of the known forms"),
        ({"a": 1, "b": 2}, "none of the known forms"),
    ],
)
def test_forms_that_nobody_wrote_are_refused(form, fault):
    with pytest.raises(ValueError, match=fault):
        Decoder({}).decode(form)


def test_nesting_has_an_end():
    form = 1
    for _ in range(100):
        form = [form]
    with pytest.raises(ValueError, match="nested too deeply"):
        Decoder({}).decode(form)


def test_mappings_keep_numbers_as_names():
    encoder = Encoder()
    value = {0: ["goal", "match"], "other": [1, 2]}
    form = json.loads(json.dumps(encoder.encode(value)))
    assert Decoder(encoder.arrays).decode(form) == value
    for broken in ([["a"]], [[[1], 2]], ["ab"], [[1.5, 2]]):
        with pytest.raises(ValueError, match="a pair of a name or number and a value that is none"):
            Decoder({}).decode({"pairs": broken})

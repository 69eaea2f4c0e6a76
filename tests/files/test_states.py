from dataclasses import replace

import numpy as np
import pytest

from ssvi.engine import State
from ssvi.files import container
from ssvi.files.states import load_state, save_state

STATE = State(3, 14, 159, {"topics": np.random.default_rng(0).random((3, 5)), "weights": np.array([2.5])})


def test_round_trip(tmp_path):
    path = tmp_path / "state.ssvi"
    save_state(STATE, path)
    loaded = load_state(path)
    assert (loaded.seed, loaded.step, loaded.documents_seen) == (3, 14, 159)
    assert list(loaded.parameters) == ["topics", "weights"]
    for name, lam in STATE.parameters.items():
        np.testing.assert_array_equal(loaded.parameters[name], lam)
    assert [entry.name for entry in tmp_path.iterdir()] == ["state.ssvi"]


def test_a_missing_file_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_state(tmp_path / "nothing.ssvi")


def test_damaged_and_foreign_files_are_refused_by_name(tmp_path):
    whole = tmp_path / "whole.ssvi"
    save_state(STATE, whole)
    content = whole.read_bytes()
    damaged = {"empty": b"", "noise": b"not a state", "cut": content[: len(content) // 2]}
    for name, data in damaged.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ValueError, match=f"{name} is not a saved state"):
            load_state(tmp_path / name)
    container.write(tmp_path / "other", {"kind": "something"}, {})
    with pytest.raises(ValueError, match="other is not a saved state: its kind is 'something'"):
        load_state(tmp_path / "other")


@pytest.mark.parametrize(
    ("field", "value", "fault"),
    [
        ("seed", -1, "its seed is -1"),
        ("step", "3", "its step is '3'"),
        ("parameters", [1.0], "its parameters are not arrays by name"),
        ("totals", {"topics": np.zeros(3, dtype=np.int32)}, "its topics is not an array of doubles"),
    ],
)
def test_states_that_the_engine_could_not_use_are_refused(tmp_path, field, value, fault):
    save_state(replace(STATE, **{field: value}), tmp_path / "state")
    with pytest.raises(ValueError, match=fault):
        load_state(tmp_path / "state")

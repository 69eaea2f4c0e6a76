import json

import numpy as np
import pytest

from ssvi.engine import State
from ssvi.io import load_state, save_state

STATE = State(3, 14, 159, {"topics": np.random.default_rng(0).random((3, 5)), "weights": np.array([2.5])})


def test_round_trip(tmp_path):
    path = tmp_path / "state.npz"
    save_state(STATE, path)
    loaded = load_state(path)
    assert (loaded.seed, loaded.step, loaded.documents_seen) == (3, 14, 159)
    assert list(loaded.parameters) == ["topics", "weights"]
    for name, lam in STATE.parameters.items():
        np.testing.assert_array_equal(loaded.parameters[name], lam)
    assert [entry.name for entry in tmp_path.iterdir()] == ["state.npz"]


def test_a_missing_file_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_state(tmp_path / "nothing.npz")


def test_damaged_and_foreign_files_are_refused_by_name(tmp_path):
    whole = tmp_path / "whole.npz"
    save_state(STATE, whole)
    content = whole.read_bytes()
    damaged = {"empty": b"", "noise": b"not a state", "cut": content[: len(content) // 2]}
    for name, data in damaged.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ValueError, match=f"{name} is not a saved state"):
            load_state(tmp_path / name)
    np.savez(tmp_path / "other.npz", meta=np.array(json.dumps({"format": "something"})))
    with pytest.raises(ValueError, match="its format is 'something'"):
        load_state(tmp_path / "other.npz")


def test_nothing_pickled_is_loaded(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("code ran while a file was loaded",))

    np.savez(tmp_path / "bomb.npz", allow_pickle=True, meta=np.array([Bomb()], dtype=object))
    with pytest.raises(ValueError, match="is not a saved state"):
        load_state(tmp_path / "bomb.npz")

"""Every byte of a file is covered by its checksum."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest

import ssvi
from ssvi.engine import State
from ssvi.files import container
from ssvi.files.states import load_state, save_state

TEXT = {"kind": "something", "words": ["wörd", 'checksum": "00']}
ARRAYS = {"a": np.arange(5.0), "b": np.array([True, False, True]), "empty": np.empty((0, 3))}


def _read(path):
    return container.read(path, "a thing")


def test_what_was_written_is_read(tmp_path):
    container.write(tmp_path / "a", TEXT, ARRAYS)
    text, arrays = _read(tmp_path / "a")
    assert text == TEXT | {"schema": container.SCHEMA}
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)


def test_any_other_program_can_read_it(tmp_path):
    """It is still a safetensors file, checksum and all."""
    from safetensors.numpy import load_file

    container.write(tmp_path / "a", TEXT, ARRAYS)
    np.testing.assert_array_equal(load_file(tmp_path / "a")["a"], ARRAYS["a"])


def test_every_flipped_bit_is_noticed(tmp_path):
    """Of the length, the header with its checksum, the padding and the arrays."""
    path = tmp_path / "a"
    container.write(path, TEXT, ARRAYS)
    whole = path.read_bytes()
    for place in range(len(whole)):
        for bit in range(8):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
            with pytest.raises(ValueError, match="a is not a thing: "):
                _read(path)


@pytest.mark.parametrize(
    "change", [lambda c: c + b"\0", lambda c: c[:-1], lambda c: c[:60], lambda c: c[:8], bytes.upper]
)
def test_more_and_less_is_noticed(tmp_path, change):
    path = tmp_path / "a"
    container.write(path, TEXT, ARRAYS)
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(ValueError, match="a is not a thing: "):
        _read(path)


def test_damage_is_told_in_a_sentence(tmp_path):
    path = tmp_path / "state"
    save_state(State(0, 0, 0, {"topics": np.ones((2, 3))}), path)
    content = bytearray(path.read_bytes())
    content[-1] ^= 64
    path.write_bytes(bytes(content))
    with pytest.raises(
        ValueError, match=r"state is not a saved state: it was damaged after it was written \(its check"
    ):
        load_state(path)


def test_a_file_that_lost_its_checksum_is_no_old_file(tmp_path):
    from safetensors.numpy import save

    old = {"kind": "something", "schema": 1}
    texts = [
        (old, None),
        ({"kind": "something", "schema": 2}, "it has lost its checksum"),
        (old | {"checksum": "0" * 64}, "it has lost its checksum"),
        ({"cheeksum": "0" * 64} | old, "it has lost its checksum"),
        ({"kind": "something", "schema": 3}, "its schema is 3, and this version of ssvi"),
        ({}, "it has lost its checksum"),
    ]
    for text, fault in texts:
        (tmp_path / "a").write_bytes(save(ARRAYS, {"ssvi": json.dumps(text)}))
        if fault is None:
            assert _read(tmp_path / "a")[0] == text
        else:
            with pytest.raises(ValueError, match=fault):
                _read(tmp_path / "a")


def test_old_files_have_none():
    golden = Path(__file__).parent / "golden" / "LatentDirichletAllocation-1.ssvi"
    content = golden.read_bytes()
    (length,) = struct.unpack_from("<Q", content)
    assert b"checksum" not in content[: 8 + length]
    assert ssvi.load(golden).n_components == 3

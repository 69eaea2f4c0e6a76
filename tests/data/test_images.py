"""Reading MNIST's files, whole and damaged."""

import gzip
import struct

import numpy as np
import pytest

from ssvi.data.images import load_digits, read_idx


def _write(path, array):
    header = struct.pack(f">I{array.ndim}I", 0x800 + array.ndim, *array.shape)
    path.write_bytes(gzip.compress(header + array.astype(np.uint8).tobytes()))


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    for part, size in (("train", 12), ("t10k", 5)):
        _write(tmp_path / f"{part}-images-idx3-ubyte.gz", rng.integers(0, 256, (size, 4, 3)))
    _write(tmp_path / "t10k-labels-idx1-ubyte.gz", np.arange(5))
    return tmp_path


def test_images_become_binary_rows(folder):
    digits = load_digits(folder, threshold=0.5)
    assert digits.name == "MNIST"
    assert digits.shape == (4, 3)
    pixels = read_idx(folder / "train-images-idx3-ubyte.gz")
    np.testing.assert_array_equal(digits.train, pixels.reshape(12, 12) > 127.5)
    np.testing.assert_array_equal(digits.test_labels, np.arange(5))


def test_without_mnist_there_are_small_digits(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    digits = load_digits()
    assert digits.shape == (8, 8)
    assert digits.train.shape == (1_500, 64)
    assert digits.test.shape == (297, 64)
    assert set(np.unique(digits.train)) == {0, 1}


def test_damaged_files_are_named(folder):
    path = folder / "train-images-idx3-ubyte.gz"
    whole = path.read_bytes()
    header = struct.pack(">4I", 0x803, 12, 4, 3)
    damage = [
        (whole[: len(whole) // 2], "cannot be read to its end"),
        (gzip.compress(b"\x00\x00\x0d\x03"), "does not begin as an idx file"),
        (gzip.compress(b""), "does not begin as an idx file"),
        (gzip.compress(header + bytes(143)), "should have 144 bytes after its header"),
        (gzip.compress(header + bytes(145)), "should have 144 bytes after its header"),
        (gzip.compress(struct.pack(">4I", 0x803, *[1 << 30] * 3)), "which is too many"),
        (gzip.compress(header[:9]), "cannot be read to its end"),
        (b"no gzip", "cannot be read to its end"),
    ]
    for content, message in damage:
        path.write_bytes(content)
        with pytest.raises(ValueError, match=message) as caught:
            load_digits(folder)
        assert "train-images" in str(caught.value)
    path.unlink()
    with pytest.raises(ValueError, match=r"there is no .*train-images"):
        load_digits(folder)


def test_files_that_do_not_belong_together(folder):
    _write(folder / "t10k-labels-idx1-ubyte.gz", np.arange(4))
    with pytest.raises(ValueError, match="do not belong together"):
        load_digits(folder)

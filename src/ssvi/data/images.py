"""Images of digits: MNIST's files where there are any, and scikit-learn's own small digits where not."""

from __future__ import annotations

import gzip
import math
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

MNIST = Path("..") / "shared" / "data" / "mnist"
"""Where MNIST is looked for, from the working directory."""

_LARGEST = 1 << 30  # bytes: far more than MNIST has, and no more than a damaged header may ask for
_SMALL_TEST = 297  # of scikit-learn's 1,797 digits, the last, as many as are no round number


@dataclass(frozen=True)
class Digits:
    """Binary images, a row each, to train on and to test on, with their labels."""

    name: str
    shape: tuple[int, int]
    train: npt.NDArray[np.int8]
    test: npt.NDArray[np.int8]
    test_labels: npt.NDArray[Any]


def load_digits(folder: Path | None = None, threshold: float = 0.5) -> Digits:
    """Return MNIST from a folder of its files, by default from where it is found, else scikit-learn's digits.

    The files may be compressed. A pixel is 1 where its brightness, from 0 to 1, is above the threshold.
    """
    if folder is None and not MNIST.exists():
        from sklearn.datasets import load_digits as small_digits

        data = small_digits()
        pixels = (data.data > threshold * 16).astype(np.int8)
        train, test = pixels[:-_SMALL_TEST], pixels[-_SMALL_TEST:]
        return Digits("scikit-learn digits", (8, 8), train, test, data.target[-_SMALL_TEST:])
    folder = folder or MNIST
    names = ("train-images-idx3-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
    train, test, labels = (read_idx(_either(folder / name)) for name in names)
    if train.ndim != 3 or train.shape[1:] != test.shape[1:] or labels.shape != test.shape[:1]:
        raise ValueError(f"the files in {folder} do not belong together: their shapes differ.")
    binary = [(part.reshape(len(part), -1) > threshold * 255).astype(np.int8) for part in (train, test)]
    return Digits("MNIST", (train.shape[1], train.shape[2]), binary[0], binary[1], labels)


def _either(path: Path) -> Path:
    """Return a file as it is if it is there, else the compressed one."""
    return path if path.exists() else path.with_name(f"{path.name}.gz")


def read_idx(path: Path) -> npt.NDArray[np.uint8]:
    """Read an array of bytes in MNIST's format, compressed or not."""
    if not path.exists():
        raise ValueError(f"there is no {path}: give a folder with MNIST's files.")
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
            head = file.read(4)
            if len(head) < 4 or head[:3] != b"\x00\x00\x08" or not 1 <= head[3] <= 4:
                raise ValueError(f"{path} does not begin as an idx file of bytes does.")
            sizes = struct.unpack(f">{head[3]}I", file.read(4 * head[3]))
            if math.prod(sizes) > _LARGEST:
                raise ValueError(f"{path} says that it holds {math.prod(sizes)} bytes, which is too many.")
            body = file.read(math.prod(sizes) + 1)
    except (OSError, EOFError, struct.error, zlib.error) as error:
        raise ValueError(f"{path} cannot be read to its end: {error}.") from error
    if len(body) != math.prod(sizes):
        raise ValueError(f"{path} should have {math.prod(sizes)} bytes after its header, and has another number.")
    return np.frombuffer(body, dtype=np.uint8).reshape(sizes)

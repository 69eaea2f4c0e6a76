"""Where benchmarks get their documents: a folder with a count matrix, or the docstrings of this machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ssvi.data import Documents
from ssvi.demo import count_docstrings

DEFAULT = Path(__file__).parent.parent.parent / "shared" / "data" / "wikipedia"


@dataclass(frozen=True)
class Corpus:
    """Documents to train on and documents held out."""

    name: str
    train: Documents
    test: Documents


def load(folder: Path, *, held_out: int = 5_000, shortest: int = 10, most: int | None = None) -> Corpus:
    """Read `folder`/bow.npz (documents x words), or the docstring corpus where that is not there.

    Documents of fewer than `shortest` words are left out; the last `held_out` of the others (a tenth at the most) are
    the test documents, and at most `most` of the rest, from the first, the training documents.
    """
    if (folder / "bow.npz").exists():
        name = folder.name
        counts: Any = sparse.csr_array(sparse.load_npz(folder / "bow.npz"))
    else:
        name, counts = "docstrings", count_docstrings()[0]
    counts = counts[np.asarray(counts.sum(axis=1)).ravel() >= shortest]
    held_out = min(held_out, counts.shape[0] // 10)
    train = counts[: counts.shape[0] - held_out][:most]
    return Corpus(name, Documents.from_matrix(train), Documents.from_matrix(counts[-held_out:]))

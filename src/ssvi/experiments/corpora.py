"""Where experiments get their documents: a count matrix on disk, or the docstrings of this machine."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ssvi.batches.documents import Documents
from ssvi.corpora import DiskCorpus, is_corpus

WIKIPEDIA = Path("..") / "shared" / "data" / "wikipedia"
"""Where English Wikipedia is looked for, from the working directory."""

DOCSTRINGS = Path("docstrings")


@dataclass(frozen=True)
class Corpus:
    """Documents to train on and documents held out."""

    name: str
    train: Any  # Documents, or a corpus on disk
    test: Documents


def default_corpus() -> Path | None:
    """Return the Wikipedia folder where it is found, and None for the docstring corpus where it is not."""
    return WIKIPEDIA if (WIKIPEDIA / "bow.npz").exists() else None


def load(
    path: Path | None,
    *,
    held_out: int = 5_000,
    shortest: int = 10,
    documents: int | None = None,
    shuffled: bool = False,
) -> Corpus:
    """Read a corpus and split it.

    Parameters
    ----------
    path : path or None
        A scipy .npz file of documents x words, a folder with such a file called bow.npz, an LDA-C file (.dat or
        .ldac), or a corpus on disk, which comes into memory; None or "docstrings" for the docstrings of the standard
        library and the installed packages.
    held_out : int
        How many documents are for testing: the last ones, at most a tenth of all.
    shortest : int
        Documents of fewer words are left out.
    documents : int, optional
        How many of the others, from the first, are for training; all by default.
    shuffled : bool
        Take them in an order by chance, always the same: in some corpora the last documents are of another time.

    """
    if path is None or (path == DOCSTRINGS and not path.exists()):
        name, counts = _docstrings()
    else:
        name, counts = path.resolve().stem, _matrix(path)
    counts = counts[np.asarray(counts.sum(axis=1)).ravel() >= shortest]
    if shuffled:
        counts = counts[np.random.default_rng(0).permutation(counts.shape[0])]
    held_out = min(held_out, counts.shape[0] // 10)
    if held_out < 1:
        raise ValueError(
            f"{path or 'the docstring corpus'} has {counts.shape[0]} documents of {shortest} words or more, too few to "
            "hold any out: give at least 10."
        )
    train = counts[: counts.shape[0] - held_out][:documents]
    return Corpus(name, Documents.from_matrix(train), Documents.from_matrix(counts[counts.shape[0] - held_out :]))


def load_streamed(
    path: Path | None, *, held_out: int = 5_000, shortest: int = 10, documents: int | None = None
) -> Corpus:
    """Do what `load` does; of a corpus on disk, the documents for training stay there, and short ones among them."""
    if path is None or not is_corpus(path):
        return load(path, held_out=held_out, shortest=shortest, documents=documents)
    disk = DiskCorpus(path)
    rest = len(disk) - min(held_out, len(disk) // 10)
    test = disk.slice(rest, len(disk))
    test = test.take(np.flatnonzero(test.lengths() >= shortest))
    if not len(test):
        raise ValueError(f"{path} has no documents of {shortest} words or more among its last ones to hold out.")
    return Corpus(path.resolve().stem, disk.first(min(rest, documents or rest)), test)


def _docstrings() -> tuple[str, Any]:
    from ssvi.demo import count_docstrings  # brings scikit-learn, which reading a matrix does without

    counts = count_docstrings()[0]
    order = np.random.default_rng(0).permutation(counts.shape[0])  # modules of one package stand together
    return "docstrings", counts[order]


def _matrix(path: Path) -> Any:
    if is_corpus(path):
        return sparse.csr_array(DiskCorpus(path).to_matrix())
    file = path / "bow.npz" if path.is_dir() else path
    if file.suffix in (".dat", ".ldac") and file.is_file():
        from ssvi.data.readers import read_corpus

        return sparse.csr_array(read_corpus(file, format="ldac").documents.to_matrix())
    if not file.exists():
        raise ValueError(f"there is no {file}: give a .npz file of documents x words counts, or a folder with bow.npz.")
    try:
        counts: Any = sparse.csr_array(sparse.load_npz(file))
    except (ValueError, OSError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{file} is not a sparse matrix as scipy.sparse.save_npz writes it: {error}.") from error
    if not np.isfinite(counts.data).all() or counts.data.min(initial=0) < 0:
        raise ValueError(f"{file} has counts that are negative or not numbers: give documents x words counts.")
    return counts

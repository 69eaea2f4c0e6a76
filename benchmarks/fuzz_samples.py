"""Small files of every kind that is read, and ways to damage them.

A checkpoint is a file like `LatentDirichletAllocation.checkpoint`: the model's name tells of which fit it is
(`fit_of_a_checkpoint`).
"""

from __future__ import annotations

import gzip
import io
import struct
import tempfile
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

_WORDS = tuple(f"word{i}" for i in range(12))
_MODELS = ("LatentDirichletAllocation", "BernoulliMixture", "GammaProcessNMF")
_OWN = (".ssvi", ".checkpoint")  # files with a checksum of their own
_ODD_NUMBERS = (0.0, -0.0, -1.0, float("nan"), float("inf"), float("-inf"), 1e308, -1e308, 1e-320, 1e-30, 1e30)
_EDGES = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**63 - 1, 2**63, 2**64 - 1)


def write_samples(folder: Path) -> None:
    """Write one small file or more of every kind."""
    counts = _counts()
    texts = [" ".join(np.repeat(_WORDS, row)) for row in counts]
    _write_models(folder, counts)
    _write_lines(folder, counts, texts)
    _write_tables(folder, counts, texts)
    _write_cells(folder, counts)


def _write_models(folder: Path, counts: npt.NDArray[np.int64]) -> None:
    import ssvi
    from ssvi.files import Checkpoints

    for name in _MODELS:
        data = (counts > 0).astype(int) if name == "BernoulliMixture" else counts
        getattr(ssvi, name)(3, max_iter=2, random_state=0).fit(data).save(folder / f"{name}.ssvi", _WORDS)
        with tempfile.TemporaryDirectory() as own:
            keeper = Checkpoints(own, every=2)
            fit_of_a_checkpoint(name, keeper)
            keeper.files()[0].replace(folder / f"{name}.checkpoint")


def fit_of_a_checkpoint(name: str, keeper: Any) -> Any:
    """Fit a model by six steps, from a checkpoint if there is one; return it."""
    import ssvi

    counts = _counts()
    data = (counts > 0).astype(int) if name == "BernoulliMixture" else counts
    settings = {"learning_method": "online", "batch_size": 10, "max_iter": 2, "verbose": 0, "early_stopping": True}
    model = getattr(ssvi, name)(3, random_state=0, callbacks=[keeper], **settings)
    return model.fit(data, X_val=data[:8])


def _counts() -> npt.NDArray[np.int64]:
    return np.random.default_rng(0).poisson(0.6, (30, 12))


def _write_lines(folder: Path, counts: npt.NDArray[np.int64], texts: list[str]) -> None:
    from ssvi.batches.documents import Documents
    from ssvi.data.readers import Corpus, write_corpus

    corpus = Corpus(Documents.from_matrix(counts), _WORDS)
    for name in ("a.npz", "a.mtx", "a.ldac", "docword.a.txt", "a.mtx.gz", "docword.b.txt.gz"):
        write_corpus(corpus, folder / name)
    (folder / "a.txt").write_text("\n".join(texts))
    (folder / "a.txt.gz").write_bytes(gzip.compress("\n".join(texts).encode(), mtime=0))
    (folder / "a.csv").write_text("id,text\n" + "\n".join(f'{i},"{text}"' for i, text in enumerate(texts)))
    (folder / "a.jsonl").write_text("\n".join(f'{{"text": "{text}"}}' for text in texts))
    (folder / "a.json").write_text("[" + ",\n".join(f'{{"text": "{text}"}}' for text in texts) + "]")
    (folder / "a.svmlight").write_text("\n".join(f"0 {i % 7 + 1}:2 {i % 5 + 9}:1" for i in range(30)))


def _write_tables(folder: Path, counts: npt.NDArray[np.int64], texts: list[str]) -> None:
    import pyarrow
    from pyarrow import ipc, parquet

    docs, words = np.nonzero(counts)
    rows = [np.flatnonzero(row) for row in counts]
    tables = {
        "text": pyarrow.table({"id": [f"d{i}" for i in range(len(texts))], "text": texts}),
        "triples": pyarrow.table(
            {"doc": docs, "word": [_WORDS[word] for word in words], "count": counts[docs, words].astype(float)}
        ),
        "lists": pyarrow.table({"words": rows, "counts": [row[own] for row, own in zip(counts, rows, strict=True)]}),
    }
    packings = {"text": "zstd", "triples": "none", "lists": "gzip"}
    for name, table in tables.items():
        parquet.write_table(table, folder / f"{name}.parquet", compression=packings[name], row_group_size=20)
        packing = ipc.IpcWriteOptions(compression="lz4" if name == "lists" else None)
        new = ipc.new_stream if name == "text" else ipc.new_file
        with new(str(folder / f"{name}.arrow"), table.schema, options=packing) as writer:
            writer.write_table(table, max_chunksize=20)


def _write_cells(folder: Path, counts: npt.NDArray[np.int64]) -> None:
    import anndata
    from scipy import sparse

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        anndata.AnnData(sparse.csr_matrix(counts.astype(np.float32))).write_h5ad(folder / "sparse.h5ad")
        anndata.AnnData(counts.astype(np.float32)).write_h5ad(folder / "dense.h5ad", compression="gzip")


def mutate(sample: Path, rng: np.random.Generator) -> tuple[bytes, bool]:
    """Return a file with one to five changes, and whether they must be noticed, since its own checksum tells.

    Of a packed file they are half the time inside, with fitting checksums; of one of ours they have a fitting checksum
    half the time, and are a single flipped bit some of the time.
    """
    content = sample.read_bytes()
    inside = rng.random() < 0.5
    if sample.suffix in _OWN:
        if inside:
            return _sealed(_change(content, rng) if rng.random() < 0.5 else _change_numbers(content, rng)), False
        changed = _flip(content, rng) if rng.random() < 0.3 else _change(content, rng)
        return changed, changed != content
    return _mutate_others(sample, content, rng, inside=inside), False


def _sealed(content: bytes) -> bytes:
    from ssvi.files.container import seal

    return seal(content)


def _change_numbers(content: bytes, rng: np.random.Generator) -> bytes:
    """Put numbers that no fit finds in one to five places of the arrays, which follow the header."""
    changed, start = bytearray(content), 8 + int.from_bytes(content[:8], "little")
    for _ in range(int(rng.integers(1, 6))):
        place = start + 8 * int(rng.integers((len(content) - start) // 8))
        changed[place : place + 8] = struct.pack("<d", _ODD_NUMBERS[int(rng.integers(len(_ODD_NUMBERS)))])
    return bytes(changed)


def _flip(content: bytes, rng: np.random.Generator) -> bytes:
    """Flip one bit."""
    changed = bytearray(content)
    changed[int(rng.integers(len(changed)))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _mutate_others(sample: Path, content: bytes, rng: np.random.Generator, *, inside: bool) -> bytes:
    if inside and sample.suffix == ".gz":
        return gzip.compress(_change(gzip.decompress(content), rng), 1, mtime=0)
    if inside and sample.suffix == ".npz":
        return _change_member(content, rng)
    return _change(content, rng)


def _change_member(content: bytes, rng: np.random.Generator) -> bytes:
    """Change one file of a zip archive."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(target, "w") as new:
        chosen = int(rng.integers(len(old.namelist())))
        for place, name in enumerate(old.namelist()):
            new.writestr(name, _change(old.read(name), rng) if place == chosen else old.read(name))
    return target.getvalue()


def _change(content: bytes, rng: np.random.Generator) -> bytes:
    """Change bytes in one to five places; half the time only such that all others stay where they were."""
    changed = bytearray(content)
    ways = 3 if rng.random() < 0.5 else 8  # formats that say where things are refuse most others at once
    for _ in range(int(rng.integers(1, 6))):
        at, span = int(rng.integers(len(changed) + 1)), int(rng.integers(1, 60))
        way = int(rng.integers(ways))
        if way == 0:
            changed[at : at + 1] = rng.bytes(len(changed[at : at + 1]))
        elif way == 1:
            changed[at : at + 1] = bytes(byte ^ 1 << int(rng.integers(8)) for byte in changed[at : at + 1])
        elif way == 2:
            number = _edge(rng)[: len(changed) - at]
            changed[at : at + len(number)] = number
        elif way == 3:
            del changed[at : at + span]
        elif way == 4:
            changed[at:at] = changed[at : at + span]
        elif way == 5:
            changed[at:at] = rng.bytes(span)
        elif way == 6:
            changed[at:at] = b"9" * int(rng.integers(1, 20))
        else:
            del changed[at:]
    return bytes(changed)


def _edge(rng: np.random.Generator) -> bytes:
    """Return a number at the edge of what sizes can be, as binary formats write it."""
    size: Any = rng.choice([1, 2, 4, 8])
    number = _EDGES[int(rng.integers(len(_EDGES)))] % (1 << 8 * int(size))
    return number.to_bytes(int(size), "little")

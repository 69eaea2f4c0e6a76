"""What a file is, by its first bytes: for messages that name the true cause where something else was wanted."""

from __future__ import annotations

import difflib
import gzip
import io
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

HEAD = 512
"""So many first bytes are enough for `kind_of_bytes`."""


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Attributes
    ----------
    name : str
        What it is, with its article.
    advice : str
        What to do with it if documents are wanted.
    format : str, optional
        The format of corpora that it may be read as.

    """

    name: str
    advice: str
    format: str | None = None


_UNPACK = "unpack it, and give the file or folder that comes out"
_TEXT = "save it as plain text first"
_NO_TEXT = "give files of text"
MODEL = Kind("a model that ssvi wrote", "give documents here, and the model where a command asks for one")
_PDF = Kind("a PDF document", "turn it into text first, with pdftotext for instance")
_IMAGE, _SOUND, _VIDEO = (Kind(name, _NO_TEXT) for name in ("an image", "a sound file", "a video"))
_PICKLE = Kind("a Python pickle, which could run any program", "save its texts or counts in another form")
_NPZ = Kind("a file of NumPy arrays (.npz)", "give it a name that ends in .npz, or its `format`, npz", "npz")
_ZIP = Kind("a zip archive", _UNPACK)
GZIP = Kind("a gzip file", _UNPACK)

_STARTS = (
    (b"%PDF-", _PDF),
    (b"%!PS", Kind("a PostScript document", "turn it into text first, with ps2ascii for instance")),
    (b"{\\rtf", Kind("a rich text document (.rtf)", _TEXT)),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Kind("an old Office document (.doc, .xls or .ppt)", _TEXT)),
    (b"\x89PNG\r\n\x1a\n", _IMAGE),
    (b"\xff\xd8\xff", _IMAGE),
    (b"GIF87a", _IMAGE),
    (b"GIF89a", _IMAGE),
    (b"II*\x00", _IMAGE),
    (b"MM\x00*", _IMAGE),
    (b"ID3", _SOUND),
    (b"OggS", _SOUND),
    (b"fLaC", _SOUND),
    (b"\x1aE\xdf\xa3", _VIDEO),
    (b"BZh", Kind("a bzip2 file", _UNPACK)),
    (b"\xfd7zXZ\x00", Kind("an xz file", _UNPACK)),
    (b"\x28\xb5\x2f\xfd", Kind("a Zstandard file", _UNPACK)),
    (b"7z\xbc\xaf\x27\x1c", Kind("a 7z archive", _UNPACK)),
    (b"Rar!\x1a\x07", Kind("a RAR archive", _UNPACK)),
    (b"SQLite format 3\x00", Kind("an SQLite database", "export the texts as CSV first")),
    (b"\x89HDF\r\n\x1a\n", Kind("an HDF5 file", "give its `format`, h5ad, if AnnData wrote it", "h5ad")),
    (b"PAR1", Kind("a Parquet file", "give its `format`, parquet", "parquet")),
    (b"ARROW1", Kind("an Arrow file", "give its `format`, arrow", "arrow")),
    (b"\x93NUMPY", Kind("a NumPy array (.npy)", "save it as a sparse matrix with scipy.sparse.save_npz")),
    (b"%%MatrixMarket", Kind("a Matrix Market file", "give its `format`, mtx", "mtx")),
    (b"\x7fELF", Kind("a program", _NO_TEXT)),
    (b"\xca\xfe\xba\xbe", Kind("a program", _NO_TEXT)),
)
_OFFICE = (
    ("word/", Kind("a Word document (.docx)", _TEXT)),
    ("xl/", Kind("an Excel workbook (.xlsx)", "save the sheet as CSV first")),
    ("ppt/", Kind("a PowerPoint file (.pptx)", _TEXT)),
    ("META-INF/container.xml", Kind("an e-book (.epub)", _TEXT)),
    ("content.xml", Kind("an OpenDocument file (.odt or .ods)", _TEXT)),
)
_RIFF = {b"WEBP": _IMAGE, b"WAVE": _SOUND, b"AVI ": _VIDEO}
_NEVER_TEXT = (b"%PDF-", b"%!PS", b"{\\rtf", b"%%MatrixMarket")  # nobody begins a text like this; with "ID3", one may
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b"))
_CLOSE = 0.8  # from 0, nothing in common, to 1
_PICKLE_PROTOCOLS = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")


def close_name(path: Path) -> str:
    """Return a question, in brackets, if a file or folder beside a path that is not there has nearly its name."""
    try:
        names = [own.name for own in path.parent.iterdir()]
    except OSError:
        return ""
    near = difflib.get_close_matches(path.name, names, n=1, cutoff=_CLOSE)
    return f" (did you mean {path.parent / near[0]}?)" if near else ""


def kind_of_bytes(head: bytes) -> Kind | None:
    """Return what a file is that begins like this, None if it may be text or anything else."""
    for start, kind in _STARTS:
        if head.startswith(start) and (start in _NEVER_TEXT or not start.isascii() or _is_binary(head)):
            return kind
    if head.startswith(b"RIFF") and _is_binary(head):
        return _RIFF.get(head[8:12])
    if head[4:8] == b"ftyp" and _is_binary(head):
        return _VIDEO
    if head[8:].startswith(b'{"__metadata__":{"ssvi"'):
        return MODEL
    if head[8:].startswith((b'{"__metadata__"', b'{"')) and head[3:8] == bytes(5):
        return Kind("a safetensors file of another program", "give documents, or counts of words")
    if head.startswith(b"PK\x03\x04"):
        return _ZIP
    if head.startswith(b"\x1f\x8b"):
        return GZIP
    if head[257:262] == b"ustar":
        return Kind("a tar archive", _UNPACK)
    if head.startswith(_PICKLE_PROTOCOLS) and b"\x00" in head:
        return _PICKLE
    return None


def _is_binary(head: bytes) -> bool:
    """Tell whether there are bytes that text has not."""
    return len(head.translate(None, _CONTROLS)) < len(head)


def looks_like_text(head: bytes) -> bool:
    """Tell whether these first bytes of a file may be text in UTF-8, whose last character may be cut."""
    if _is_binary(head):
        return False
    return not any(byte >= 0x80 for byte in head) or _decodes(head)


def _decodes(head: bytes) -> bool:
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start > len(head) - 4
    return True


def kind_of(path: Path) -> Kind | None:
    """Return what a file is, looking into zip and gzip; None if it may be text or anything else, or is no file."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError:
        return None
    kind = kind_of_bytes(head)
    if kind is _ZIP:
        return _kind_of_zip(path)
    if kind is GZIP:
        return _kind_of_gzip(path)
    return kind


def _kind_of_zip(path: Path) -> Kind:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return _ZIP
    if names and all(name.endswith(".npy") for name in names):
        return _NPZ
    return next((kind for mark, kind in _OFFICE if any(name.startswith(mark) for name in names)), _ZIP)


def _kind_of_gzip(path: Path) -> Kind | None:
    """Return what is in a gzip file, where that is known: such files are read as what is in them."""
    try:
        with gzip.open(path, "rb") as file:
            inside = kind_of_bytes(file.read(HEAD))
    except (OSError, EOFError, zlib.error):
        return None
    if inside is None:
        return None
    return Kind(f"{inside.name} in gzip", inside.advice, inside.format)


def head_of(stream: io.BufferedReader) -> bytes:
    """Return the first bytes of a stream that nothing was read from yet, without reading them."""
    return stream.peek(HEAD)[:HEAD]

"""What files are, by their first bytes."""

import gzip
import io
import pickle
import tarfile
import zipfile

import numpy as np
import pytest
from scipy import sparse

import ssvi
from ssvi.file_kinds import kind_of, kind_of_bytes, looks_like_text


def _zip(path, *names):
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "x")


def _tar(path, mode):
    with tarfile.open(path, mode) as archive:
        info = tarfile.TarInfo("a.txt")
        info.size = 3
        archive.addfile(info, io.BytesIO(b"cat"))


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"%PDF-1.7\nrest", "a PDF document"),
        (b"\x89PNG\r\n\x1a\n\0\0", "an image"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "an image"),
        (b"GIF89a\x01\0\x01\0", "an image"),
        (b"RIFF\x24\0\0\0WAVEfmt ", "a sound file"),
        (b"RIFF\x24\0\0\0WEBPVP8 ", "an image"),
        (b"\0\0\0\x20ftypisom\0", "a video"),
        (b"ID3\x04\0\0", "a sound file"),
        (b"BZh91AY&SY\x00\x01", "a bzip2 file"),
        (b"\xfd7zXZ\0\0", "an xz file"),
        (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office document (.doc, .xls or .ppt)"),
        (b"{\\rtf1\\ansi", "a rich text document (.rtf)"),
        (b"\x93NUMPY\x01\0", "a NumPy array (.npy)"),
        (b"PAR1\x15\x04\x15", "a Parquet file"),
        (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
        (b"%%MatrixMarket matrix", "a Matrix Market file"),
        (b"\x7fELF\x02\x01", "a program"),
    ],
)
def test_first_bytes(head, name):
    assert kind_of_bytes(head).name == name


@pytest.mark.parametrize(
    "text",
    [b"ID3 tags are in music files", b"BZh is no word", b"RIFFs and solos, WAVE after WAVE", b"PAR1 of the road",
     b"", b"cat", b"PK is a keeper", b"MM*", "\u00e9t\u00e9".encode(), b"\xef\xbb\xbftext", b"text\nsome words\n"],
)  # fmt: skip
def test_text_is_text_whatever_it_begins_with(text):
    assert kind_of_bytes(text) is None
    assert looks_like_text(text)


def test_archives_and_what_is_in_them(tmp_path):
    for name, inner, kind in [
        ("a.zip", ["a.txt"], "a zip archive"),
        ("a.docx", ["[Content_Types].xml", "word/document.xml"], "a Word document (.docx)"),
        ("a.xlsx", ["xl/workbook.xml"], "an Excel workbook (.xlsx)"),
        ("a.odt", ["mimetype", "content.xml"], "an OpenDocument file (.odt or .ods)"),
        ("a.epub", ["mimetype", "META-INF/container.xml"], "an e-book (.epub)"),
    ]:
        _zip(tmp_path / name, *inner)
        assert kind_of(tmp_path / name).name == kind
    sparse.save_npz(tmp_path / "a.npz", sparse.csr_array(np.eye(2)))
    assert kind_of(tmp_path / "a.npz").format == "npz"
    _tar(tmp_path / "a.tar", "w")
    assert kind_of(tmp_path / "a.tar").name == "a tar archive"
    _tar(tmp_path / "a.tar.gz", "w:gz")
    assert kind_of(tmp_path / "a.tar.gz").name == "a tar archive in gzip"
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"cat dog"))
    assert kind_of(tmp_path / "a.txt.gz") is None
    (tmp_path / "broken.gz").write_bytes(gzip.compress(b"cat dog" * 100)[:12])
    assert kind_of(tmp_path / "broken.gz") is None
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 and nothing")
    assert kind_of(tmp_path / "broken.zip").name == "a zip archive"
    assert kind_of(tmp_path / "nothing") is None


def test_models_and_pickles(tmp_path):
    model = ssvi.LatentDirichletAllocation(2, max_iter=1, random_state=0).fit(np.ones((4, 3), dtype=int))
    model.save(tmp_path / "m.ssvi")
    assert kind_of(tmp_path / "m.ssvi").name == "a model that ssvi wrote"
    (tmp_path / "a.pkl").write_bytes(pickle.dumps({"a": np.zeros(3)}))
    assert "pickle" in kind_of(tmp_path / "a.pkl").name


def test_what_may_be_text():
    assert not looks_like_text(b"\x00\x01")
    assert not looks_like_text(b"\xff\xfe\x41 and more of it")
    assert looks_like_text(("x" * 511 + "\u00e9").encode()[:512])  # its last character is cut

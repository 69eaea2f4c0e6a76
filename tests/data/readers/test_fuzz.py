"""Whatever the bytes, a reader succeeds or says in a ValueError or an OSError, which names the file, what is wrong."""

import gzip
import io

import numpy as np
import pytest
from scipy import sparse

from ssvi.data.readers import read_corpus

FILES = 300
PIECES = [
    b"\n",
    b"\r",
    b"\0",
    b" ",
    b",",
    b":",
    b'"',
    b"-1",
    b"nan",
    b"inf",
    b"1e999",
    b"9" * 25,
    b"\xff\xfe",
    b"{",
    b"%",
]


def _npz(save=sparse.save_npz, **options):
    buffer = io.BytesIO()
    save(buffer, sparse.csr_array(np.arange(12).reshape(3, 4) % 5), **options)
    return buffer.getvalue()


def _table(kind, columns):
    pyarrow = pytest.importorskip("pyarrow")
    sink = pyarrow.BufferOutputStream()
    table = pyarrow.table(columns)
    if kind == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, sink)
    else:
        with pytest.importorskip("pyarrow.ipc").new_file(sink, table.schema) as writer:
            writer.write_table(table)
    return sink.getvalue().to_pybytes()


TEXTS = {"text": ["cat dog", "dog bird", "bird"], "id": ["x", "y", "z"]}
TRIPLES = {"doc": [0, 0, 1], "word": ["a", "b", "b"], "count": [1, 2, 3]}
LISTS = {"words": [[0, 1], [], [1]], "counts": [[1, 2], [], [3]]}
CONTENTS = {
    "a.txt": lambda: b"cat dog\nbird caf\xc3\xa9\n\ncat\n",
    "a.txt.gz": lambda: gzip.compress(b"cat dog\nbird caf\xc3\xa9\n\ncat\n", mtime=0),
    "a.csv": lambda: b'id,text\n1,"cat, dog"\n2,bird\n',
    "a.tsv": lambda: b"id\ttext\n1\tcat dog\n2\tbird\n",
    "a.jsonl": lambda: b'{"id": 1, "text": "cat"}\n{"id": 2, "text": "dog"}\n',
    "a.json": lambda: b'[{"id": 1, "date": "1999", "text": "cat"},\n {"id": 2, "text": "dog"}]\n',
    "b.csv": lambda: b'sep=;\nid;date;text\n1;May 1999;"cat; dog"\n2;3/5/1999;bird\n',
    "a.npz": lambda: _npz(compressed=False),
    "b.npz": lambda: _npz(compressed=True),
    "a.mtx": lambda: b"%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 4\n2 3 1.5\n1 2 2\n",
    "b.mtx": lambda: b"%%MatrixMarket matrix array integer general\n% x\n2 2\n1\n0\n3\n4\n",
    "docword.a.txt": lambda: b"2\n3\n3\n1 1 4\n2 3 1\n1 2 2\n",
    "docword.a.txt.gz": lambda: gzip.compress(b"2\n3\n3\n1 1 4\n2 3 1\n1 2 2\n", mtime=0),
    "a.ldac": lambda: b"2 1:2 3:1\n0\n1 0:3\n4 0:1 1:1 2:1 3:1\n",
    "a.svmlight": lambda: b"1 2:2 4:1\n-1 # x\n1 qid:3 1:3.5\n",
    "a.parquet": lambda: _table("parquet", TEXTS),
    "b.parquet": lambda: _table("parquet", LISTS),
    "a.arrow": lambda: _table("arrow", TEXTS),
    "b.arrow": lambda: _table("arrow", TRIPLES),
    "c.arrow": lambda: _table("arrow", LISTS),
}


def _mutated(rng, content):
    data = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        place, other = (int(own) for own in rng.integers(0, len(data) + 1, 2))
        match rng.integers(0, 5):
            case 0:
                del data[place:]
            case 1:
                data[place : place + 1] = bytes([rng.integers(0, 256)])
            case 2:
                data[place:place] = PIECES[rng.integers(0, len(PIECES))]
            case 3:
                del data[min(place, other) : max(place, other)]
            case 4:
                data[place:place] = data[other : other + 8]
    return bytes(data)


def _reads_or_explains(path, **options):
    try:
        corpus = read_corpus(path, **options)
    except (ValueError, OSError) as error:
        if not any(str(own) in str(error) for own in (path, *options.values())):
            pytest.fail(f"the file is not named: {error}")
        return False
    documents = corpus.documents
    assert np.isfinite(documents.counts).all()
    assert documents.counts.min(initial=0) >= 0
    assert documents.words.max(initial=-1) < documents.n_words
    assert corpus.vocabulary is None or len(corpus.vocabulary) == documents.n_words
    assert all(len(texts) == len(documents) for texts in corpus.info.known().values())
    return True


@pytest.mark.parametrize("name", CONTENTS)
def test_arbitrary_bytes(tmp_path, name):
    rng = np.random.default_rng(sum(name.encode()))
    path, content = tmp_path / name, CONTENTS[name]()
    path.write_bytes(content)
    assert _reads_or_explains(path)
    failures = 0
    for _ in range(FILES):
        path.write_bytes(_mutated(rng, content))
        failures += not _reads_or_explains(path)
    assert failures > 0
    path.write_bytes(rng.bytes(300))
    _reads_or_explains(path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.npz.documents.csv", b'document,id,title\n1,x,"a, b"\n2,y,c\n3,z,d\n'),
        ("a.npz.text.json", b'{"lowercase": true, "stop_words": ["a"], "longest_run": 2, "phrases": [[["a", "b"]]]}'),
    ],
)
def test_what_lies_beside_counts(tmp_path, name, content):
    rng = np.random.default_rng(1)
    path, beside = tmp_path / "a.npz", tmp_path / name
    path.write_bytes(_npz(compressed=False))
    beside.write_bytes(content)
    assert _reads_or_explains(path)
    for _ in range(100):
        beside.write_bytes(_mutated(rng, content))
        _reads_or_explains(path)


def test_vocabularies(tmp_path):
    rng = np.random.default_rng(0)
    path, words = tmp_path / "a.txt", tmp_path / "words.txt"
    path.write_bytes(b"cat dog bird")
    for _ in range(50):
        words.write_bytes(_mutated(rng, b"cat\ndog\nbird\n"))
        _reads_or_explains(path, vocabulary=words)

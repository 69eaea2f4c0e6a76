import json
import os
import pickle
import resource
import shutil
import signal

import numpy as np
import pytest
from tests.corpora.samples import counts, write

from ssvi.batches.documents import Documents
from ssvi.corpora import CorpusWriter, DiskCorpus, is_corpus, writer
from ssvi.data.readers import CorpusError, DocumentInfo


def same(documents, matrix):
    return (documents.to_matrix() != matrix).nnz == 0


@pytest.fixture
def matrix():
    return counts()


@pytest.fixture
def folder(tmp_path, matrix, monkeypatch):
    return write(tmp_path / "corpus", matrix, monkeypatch, vocabulary=[f"word{i}" for i in range(60)])


def test_what_was_written_is_read(folder, matrix):
    corpus = DiskCorpus(folder)
    assert len(corpus) == 900
    assert corpus.n_words == 60
    assert same(corpus.slice(0, 900), matrix)
    assert same(corpus.slice(123, 321), matrix[123:321])
    rows = np.random.default_rng(0).permutation(900)[:40]
    assert same(corpus.take(rows), matrix[rows])
    assert corpus.vocabulary[:2] == ("word0", "word1")
    assert corpus.block_sizes.tolist() == [50] * 18
    assert [len(shard.blocks) for shard in corpus.index.shards] == [4, 4, 4, 4, 2]
    assert np.array_equal(corpus.column_sums(), matrix.sum(axis=0))
    assert list(corpus.check())[-1] == 900


def test_sizes_are_those_of_the_documents(folder, matrix):
    corpus, lengths = DiskCorpus(folder), Documents.from_matrix(matrix).lengths()
    assert corpus.sizes.tokens == lengths.sum()
    assert corpus.longest() == lengths.max()
    assert corpus.sizes.entries == matrix.nnz
    assert corpus.sizes.empty == (lengths == 0).sum()
    assert corpus.is_whole()
    assert corpus.mean_length() == lengths.mean()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fractions_stay_as_they_are(tmp_path, monkeypatch, matrix, dtype):
    fractions = matrix.astype(dtype) / dtype(3)
    corpus = DiskCorpus(write(tmp_path / "fractions", fractions, monkeypatch))
    assert not corpus.is_whole()
    assert same(corpus.slice(0, 900), fractions)


def test_many_words_and_long_documents(tmp_path, monkeypatch):
    monkeypatch.setattr(writer, "ENTRIES", 300)
    rng = np.random.default_rng(0)
    indptr = np.concatenate([[0], np.cumsum(rng.integers(0, 500, 40))])
    words = np.concatenate([np.sort(rng.choice(100_000, n, replace=False)) for n in np.diff(indptr)])
    documents = Documents(indptr, words, np.ones(len(words), np.int64), 100_000)
    with CorpusWriter(tmp_path / "long", 100_000) as new:
        new.add(documents)
    corpus = DiskCorpus(tmp_path / "long")
    assert same(corpus.slice(0, 40), documents.to_matrix())
    first = np.cumsum(corpus.block_sizes) - corpus.block_sizes
    held = np.add.reduceat(documents.costs(), first)
    assert all(entries <= 300 or rows == 1 for entries, rows in zip(held, corpus.block_sizes, strict=True))


def test_it_can_be_sent_and_reads_places_anywhere(folder, matrix):
    corpus = DiskCorpus(folder)
    sent = pickle.loads(pickle.dumps(corpus))
    for place in corpus.places(200, 0, 0):
        here, there = corpus.read(place), sent.read(pickle.loads(pickle.dumps(place)))
        assert same(here, there.to_matrix())
        assert np.array_equal(DiskCorpus(folder).costs(place), here.costs())
        half = corpus.read(place.slice(20, 90))
        assert same(half, here.to_matrix()[20:90])


def test_loaded_it_has_the_same_order(folder):
    corpus = DiskCorpus(folder)
    loaded = corpus.load()
    assert loaded.content_hash == corpus.content_hash
    for place in corpus.places(123, 5, 2):
        assert same(corpus.read(place), loaded.read(place).to_matrix())


def test_ids_titles_dates_and_groups(tmp_path, monkeypatch, matrix):
    info = DocumentInfo(tuple(f"id {i}" for i in range(900)), None, ("2024", "") * 450, ("é", "b", "c") * 300)
    corpus = DiskCorpus(write(tmp_path / "known", matrix, monkeypatch, info=info))
    assert corpus.info() == info
    assert corpus.info(99, 301).ids == info.ids[99:301]
    assert corpus.info(names=["date"]).known() == {"date": info.dates}


def test_documents_that_are_set_aside(folder, matrix):
    corpus = DiskCorpus(folder)
    rest, aside = corpus.set_aside(100, 7)
    assert len(rest) == 800
    assert len(aside) == 100
    both = np.vstack([rest.slice(0, 800).to_matrix().toarray(), aside.to_matrix().toarray()])
    assert sorted(map(tuple, both)) == sorted(map(tuple, matrix.toarray()))
    assert rest.total_length() == rest.slice(0, 800).total_length()
    again, _ = corpus.set_aside(100, 7)
    assert again.content_hash == rest.content_hash != corpus.set_aside(100, 8)[0].content_hash != corpus.content_hash
    assert sum(len(place) for place in rest.places(60, 0, 0)) == 800


def test_the_first_documents(folder, matrix):
    first = DiskCorpus(folder).first(333)
    assert len(first) == 333
    assert same(first.slice(0, 333), matrix[:333])
    assert {piece.block for place in first.places(60, 0, 0) for piece in place.pieces} == set(range(7))


def test_an_address_of_fsspec(matrix, monkeypatch):
    write("memory://corpora/news", matrix, monkeypatch, vocabulary=[f"word{i}" for i in range(60)])
    assert is_corpus("memory://corpora/news")
    assert not is_corpus("memory://corpora/others")
    corpus = DiskCorpus("memory://corpora/news")
    assert same(pickle.loads(pickle.dumps(corpus)).slice(0, 900), matrix)
    with pytest.raises(CorpusError, match="there already"):
        write("memory://corpora/news", matrix, monkeypatch)
    with pytest.raises(CorpusError, match=r"memory://corpora/others is no corpus, it has no index\.json"):
        DiskCorpus("memory://corpora/others")


def test_a_missing_shard_is_named(folder):
    (folder / "shard-00002.parquet").unlink()
    with pytest.raises(CorpusError, match=r"there is no .*shard-00002\.parquet"):
        DiskCorpus(folder)


def test_a_truncated_shard_is_named(folder):
    shard = folder / "shard-00001.parquet"
    shard.write_bytes(shard.read_bytes()[:-100])
    with pytest.raises(CorpusError, match=r"shard-00001\.parquet has .* bytes and not .*, so it is cut short"):
        DiskCorpus(folder)


def test_a_shard_of_another_vocabulary_is_named(folder, tmp_path, monkeypatch):
    other = write(tmp_path / "other", counts(words=61), monkeypatch)
    shard, corpus = other / "shard-00001.parquet", DiskCorpus(folder)  # looked at before the shard is replaced
    shutil.copy(shard, folder / shard.name)
    with pytest.raises(CorpusError, match=r"shard-00001\.parquet is a shard over another, of 61 words and not 60,"):
        corpus.slice(0, 900)


def test_a_shard_of_another_corpus_is_named(folder, tmp_path, monkeypatch):
    other = write(tmp_path / "other", counts(seed=1), monkeypatch, vocabulary=[f"word{i}" for i in range(60)])
    corpus = DiskCorpus(folder)
    shutil.copy(other / "shard-00001.parquet", folder / "shard-00001.parquet")
    with pytest.raises(CorpusError, match=r"shard-00001\.parquet is not the shard that the index tells of"):
        corpus.slice(0, 900)


@pytest.mark.parametrize("where", [0.01, 0.15, 0.3])
def test_a_byte_that_changes_while_the_corpus_is_in_use_is_noticed(folder, where):
    corpus, shard = DiskCorpus(folder), folder / "shard-00003.parquet"
    corpus.read_block(15)  # the file is open from here on
    data = bytearray(shard.read_bytes())
    for place in range(int(where * len(data)), int(where * len(data)) + 40):
        data[place] ^= 0x55
    with shard.open("r+b") as file:
        file.write(data)
    with pytest.raises(CorpusError, match=r"block \d of .*shard-00003\.parquet (is not what was written|cannot be)"):
        list(corpus.check())


def test_another_vocabulary_file_is_noticed(folder):
    (folder / "vocabulary.txt").write_text("".join(f"other{i}\n" for i in range(60)))
    with pytest.raises(CorpusError, match=r"vocabulary\.txt is not the vocabulary"):
        DiskCorpus(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda index: "{", "it is not JSON"),
        (lambda index: "[]", "is no index of a corpus"),
        (lambda index: json.dumps(index | {"version": 9}), "version 9 of the format"),
        (lambda index: json.dumps(index | {"documents": 1}), "do not add up"),
        (lambda index: json.dumps({name: value for name, value in index.items() if name != "words"}), "damaged"),
        (lambda index: json.dumps(index | {"shards": [index["shards"][0] | {"file": "../x"}]}), "damaged"),
    ],
)
def test_a_bad_index_is_refused(folder, change, message):
    path = folder / "index.json"
    path.write_text(change(json.loads(path.read_text())))
    with pytest.raises(CorpusError, match=message):
        DiskCorpus(folder)


def test_what_is_no_corpus(tmp_path):
    with pytest.raises(CorpusError, match=r"is no corpus, it is not there"):
        DiskCorpus(tmp_path / "nothing")
    with pytest.raises(CorpusError, match=r"is no corpus, it has no index\.json in it"):
        DiskCorpus(tmp_path)
    assert not is_corpus(tmp_path)


def interrupted(new, documents):
    new.add(documents)
    raise KeyboardInterrupt


def test_nothing_is_left_of_a_corpus_that_was_not_finished(tmp_path, matrix):
    documents = Documents.from_matrix(matrix)
    with pytest.raises(KeyboardInterrupt), CorpusWriter(tmp_path / "new", 60) as new:
        interrupted(new, documents)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(CorpusError, match="no documents"), CorpusWriter(tmp_path / "new", 60):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_is_full_is_named_and_nothing_is_left(tmp_path, monkeypatch):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))  # no file can grow beyond this
    try:
        with pytest.raises(CorpusError, match=r"new could not be written, there is no more room"):
            write(tmp_path / "new", counts(20_000), monkeypatch, rows=1_000, blocks=100)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_something_in_it_is_left_alone(folder, matrix, monkeypatch, tmp_path):
    before = sorted(folder.iterdir())
    with pytest.raises(CorpusError, match="is there already, a folder with something in it"):
        write(folder, matrix, monkeypatch)
    assert sorted(folder.iterdir()) == before
    with pytest.raises(CorpusError, match="there is no folder"):
        write(tmp_path / "no" / "such", matrix, monkeypatch)


def test_what_a_killed_build_has_left_is_removed_by_the_next(tmp_path, matrix, monkeypatch):
    child = os.fork()
    if not child:
        new = CorpusWriter(tmp_path / "new", 60).__enter__()
        new.add(Documents.from_matrix(matrix))
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert [path.name for path in tmp_path.iterdir()] == [f".unfinished-new-{child}"]
    write(tmp_path / "new", matrix, monkeypatch)
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def test_documents_that_do_not_fit_are_refused(tmp_path, matrix):
    documents = Documents.from_matrix(matrix)
    with (
        pytest.raises(CorpusError, match="over 60 words came to a corpus over 61"),
        CorpusWriter(tmp_path / "a", 61) as w,
    ):
        w.add(documents)
    with pytest.raises(CorpusError, match="3 words and the corpus 60"):
        CorpusWriter(tmp_path / "a", 60, ["a", "b", "c"])
    negative = Documents(documents.indptr, documents.words, -documents.counts, 60)
    with pytest.raises(ValueError, match="Negative values"), CorpusWriter(tmp_path / "a", 60) as w:
        w.add(negative)
    assert list(tmp_path.iterdir()) == []

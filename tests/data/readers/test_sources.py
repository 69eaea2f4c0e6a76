"""Documents of several files, folders and patterns."""

import json

import pytest
from tests.data.readers.helpers import dense, write

from ssvi.data.readers import read_corpus
from ssvi.data.readers.sources import expand


def test_several_sources_are_read_one_after_the_other(tmp_path):
    write(tmp_path / "a.txt", "cat\ndog\n")
    write(tmp_path / "b.csv", "id,text,date\n7,bird,1999\n")
    write(tmp_path / "c.jsonl.gz", json.dumps({"title": "A cat", "text": "cat cat"}))
    calls = []
    paths = [tmp_path / "a.txt", tmp_path / "b.csv", tmp_path / "c.jsonl.gz"]
    corpus = read_corpus(paths, progress=lambda *call: calls.append(call))
    assert corpus.vocabulary == ("bird", "cat", "dog")
    assert dense(corpus).tolist() == [[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 2, 0]]
    assert corpus.info.ids == ("", "", "7", "")
    assert corpus.info.titles == ("", "", "", "A cat")
    assert corpus.info.dates == ("", "", "1999", "")
    assert corpus.info.groups == ("a.txt", "a.txt", "b.csv", "c.jsonl.gz")
    total = sum(path.stat().st_size for path in paths)
    assert calls[-1] == (total, total)
    assert calls == sorted(calls)


def test_patterns(tmp_path, monkeypatch):
    (tmp_path / "x" / "y").mkdir(parents=True)
    for name in ("b.txt", "a.txt", "x/c.txt", "x/y/d.txt", "e[1].txt"):
        write(tmp_path / name, "cat\n")
    monkeypatch.chdir(tmp_path)
    assert [path.as_posix() for path in expand("*.txt")] == ["a.txt", "b.txt", "e[1].txt"]
    assert [path.as_posix() for path in expand("**/*.txt")][-2:] == ["x/c.txt", "x/y/d.txt"]
    assert [path.as_posix() for path in expand(["b.txt", "*.txt"])] == ["b.txt", "a.txt", "e[1].txt"]  # each once
    assert [path.as_posix() for path in expand("e[1].txt")] == ["e[1].txt"]  # a file that is there is no pattern
    with pytest.raises(ValueError, match=r"no file is called like '\*\.csv': check the pattern"):
        expand("*.csv")
    with pytest.raises(ValueError, match="there is nothing to read"):
        read_corpus([])


def test_files_can_be_documents(tmp_path):
    for name in ("sport/1.txt", "sport/2.txt", "law/1.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write(tmp_path / name, "cat\ndog\n")
    corpus = read_corpus(str(tmp_path / "*" / "*.txt"), format="file")
    assert len(corpus.documents) == 3
    assert corpus.info.groups == ("law", "sport", "sport")
    whole = read_corpus(tmp_path)
    assert whole.info.groups == ("law", "sport", "sport")
    assert whole.info.ids == ("law/1.txt", "sport/1.txt", "sport/2.txt")
    two = read_corpus([tmp_path / "law", tmp_path / "sport"])
    assert two.info.ids[0] == f"{tmp_path.as_posix()}/law/1.txt"
    assert two.info.groups == ("law", "sport", "sport")


def test_links_are_followed_and_loops_are_not(tmp_path):
    real, folder = tmp_path / "real", tmp_path / "folder"
    (real / "inner").mkdir(parents=True)
    folder.mkdir()
    write(real / "a.txt", "cat")
    write(real / "inner" / "b.txt", "dog")
    (real / "inner" / "up").symlink_to(real)  # a folder that holds itself
    (folder / "link").symlink_to(real)
    (folder / "again").symlink_to(real)  # read once
    (folder / "one.txt").symlink_to(real / "a.txt")
    (folder / "lost.txt").symlink_to(tmp_path / "nowhere")
    corpus = read_corpus(folder)
    assert corpus.info.ids == ("again/a.txt", "again/inner/b.txt", "one.txt")
    assert corpus.notes == (f"1 links in {folder} lead nowhere and were left out.",)
    (tmp_path / "only").mkdir()
    (tmp_path / "only" / "lost").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ValueError, match=r"only has links that lead nowhere and no files in it \(1 of them\)"):
        read_corpus(tmp_path / "only")


def test_a_folder_of_tables_is_no_folder_of_texts(tmp_path):
    write(tmp_path / "a.jsonl", '{"text": "cat"}')
    write(tmp_path / "b.csv", "text\ncat")
    with pytest.raises(ValueError, match=r"holds \.jsonl files, which have many documents each: .*'.*/\*\.jsonl'"):
        read_corpus(tmp_path)
    assert len(read_corpus([tmp_path / "a.jsonl", tmp_path / "b.csv"]).documents) == 2


def test_counts_of_several_files(tmp_path):
    write(tmp_path / "a.ldac", "1 0:2\n")
    write(tmp_path / "b.ldac", "1 1:3\n2 0:1 1:1\n")
    for name in ("a.ldac.vocab.txt", "b.ldac.vocab.txt"):
        write(tmp_path / name, "cat\ndog\n")
    corpus = read_corpus(str(tmp_path / "*.ldac"))
    assert dense(corpus).tolist() == [[2, 0], [0, 3], [1, 1]]
    assert corpus.info.groups == ("a.ldac", "b.ldac", "b.ldac")
    write(tmp_path / "b.ldac.vocab.txt", "sun\nsea\n")
    with pytest.raises(ValueError, match=r"b\.ldac has other words than .*a\.ldac"):
        read_corpus(str(tmp_path / "*.ldac"))
    write(tmp_path / "c.txt", "cat")
    with pytest.raises(ValueError, match=r"a\.ldac holds counts and .*c\.txt text: read one or the other"):
        read_corpus([tmp_path / "a.ldac", tmp_path / "c.txt"])


def test_many_files_of_lines_are_worth_a_word(tmp_path):
    for i in range(11):
        write(tmp_path / f"{i}.txt", "cat\n")
    assert "with the `format` file each file is one" in read_corpus(str(tmp_path / "*.txt")).notes[0]
    assert read_corpus(str(tmp_path / "*.txt"), format="file").notes == ()

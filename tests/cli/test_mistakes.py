"""Mistakes that people make: each is answered by one line that names the true cause and the way out."""
# ruff: noqa: E501  (a mistake and its answer stand on one line)

import json
import pickle
import shutil
import signal
import sys
import tarfile
import zipfile

import numpy as np
import pytest
from scipy import sparse
from tests.cli.helpers import run

import ssvi
from ssvi.cli import main


@pytest.fixture(scope="module")
def things(tmp_path_factory):
    """A folder of things that are given to commands and should not be, and some that should."""
    folder = tmp_path_factory.mktemp("things")
    counts = np.random.default_rng(0).poisson(0.6, (60, 12))
    model = ssvi.LatentDirichletAllocation(3, max_iter=1, random_state=0).fit(counts)
    model.save(folder / "model.ssvi", [f"word{i}" for i in range(12)])
    model.save(folder / "wordless.ssvi")
    sparse.save_npz(folder / "counts.npz", sparse.csr_array(counts))
    (folder / "good.txt").write_text("\n".join(f"word{i % 12} word{i * 7 % 12}" for i in range(60)))
    contents = {
        "paper.pdf": b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n1 0 obj",
        "paper.txt": b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n1 0 obj",
        "photo.txt": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        "photo.jpg": b"\xff\xd8\xff\xe0\0\x10JFIF\0",
        "song.csv": b"ID3\x04\0\0\0\0\0\x23TSSE",
        "old.doc": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100),
        "table.csv": b"PAR1\x15\x04\x15\x00\x00",
        "empty.txt": b"",
        "header.csv": b"date,title,text\n",
        "numbers.csv": b"x,y\n1.5,2\n3,4\n",
        "wide.txt": "cat dog\n".encode("utf-16"),
        "latin.txt": "caf\u00e9 noir\n".encode("latin-1"),
        "lines.json": b'{\n  "text": "cat"\n}\n',
        "broken.jsonl": b'{"text": "cat"}\n{"text": "dog"\n',
        "two.csv": b"first,second\ncat,dog\n",
        "rows.csv": b"id,text\n" + b"".join(b"%d,cat\n" % number for number in range(10, 40)),
        "odd.csv": b"id,text\n1,cat\n2,dog,bird\n",
        "stop.txt": b"the of and\n" * 30,
        "single.txt": b"ships at sea\n",
        "undated.jsonl": b'{"text": "word1 word2", "date": "once upon a time"}\n' * 9,
        "vocabulary.txt": b"word1\nword2\n",
        "twice.txt": b"word1\nword1\n",
        "unheard.txt": b"unheard\nof\n",
        "numbers.mtx": b"1 2 3\n",
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    with zipfile.ZipFile(folder / "texts.zip", "w") as archive:
        archive.writestr("a.txt", "cat")
    with zipfile.ZipFile(folder / "letter.docx", "w") as archive:
        archive.writestr("word/document.xml", "<xml/>")
    with tarfile.open(folder / "texts.tar.gz", "w:gz") as archive:
        archive.add(folder / "good.txt", "good.txt")
    (folder / "frame.pkl").write_bytes(pickle.dumps(np.zeros(3)))
    np.save(folder / "array.npy", counts)
    shutil.copy(folder / "texts.tar.gz", folder / "texts.txt.gz")
    (folder / "cut.ssvi").write_bytes((folder / "model.ssvi").read_bytes()[:200])
    (folder / "link.txt").symlink_to(folder / "nowhere")
    (folder / "tables").mkdir()
    (folder / "tables" / "a.csv").write_text("text\ncat\n")
    (folder / "mixed").mkdir()
    (folder / "mixed" / "a.txt").write_text("cat")
    (folder / "mixed" / "b.pdf").write_bytes(contents["paper.pdf"])
    return folder


FIT = ["fit", "lda", "--topics", "2", "--jobs", "1", "--output", "NEW"]


@pytest.mark.parametrize(
    ("command", "parts"),
    [
        # What is given as text and is none.
        ([*FIT, "paper.pdf"], ["paper.pdf is a PDF document, not text: turn it into text first, with pdftotext"]),
        ([*FIT, "paper.txt"], ["paper.txt is a PDF document, not text"]),
        ([*FIT, "photo.txt"], ["photo.txt is an image, not text: give files of text"]),
        ([*FIT, "photo.jpg"], ["photo.jpg is an image, not text"]),
        ([*FIT, "song.csv"], ["song.csv is a sound file, not text"]),
        ([*FIT, "old.doc"], ["old.doc is an old Office document (.doc, .xls or .ppt), not text: save it as plain text"]),
        ([*FIT, "letter.docx"], ["letter.docx is a Word document (.docx), not text: save it as plain text"]),
        ([*FIT, "texts.zip"], ["texts.zip is a zip archive, not text: unpack it, and give the file or folder"]),
        ([*FIT, "texts.txt.gz"], ["texts.txt.gz is a tar archive in gzip, not text: unpack it"]),
        ([*FIT, "frame.pkl"], ["frame.pkl is a Python pickle, which could run any program, not text"]),
        ([*FIT, "array.npy"], ["array.npy is a NumPy array (.npy), not text: save it as a sparse matrix"]),
        ([*FIT, "table.csv"], ["table.csv is a Parquet file, not text: give its --format, parquet"]),
        ([*FIT, "mixed"], ["b.pdf is a PDF document, not text"]),
        ([*FIT, "model.ssvi"], ["model.ssvi is a model that ssvi wrote, not text: give documents here"]),
        ([*FIT, "numbers.mtx"], ["numbers.mtx, line 1: '1 2 3' is not a line such as '%%MatrixMarket"]),
        # What is given as a model and is none.
        (["topics", "counts.npz"], ["counts.npz is not a saved model: it is a file of NumPy arrays", "corpora come after"]),
        (["score", "good.txt", "model.ssvi"], ["good.txt is not a saved model, and model.ssvi is one: the two are swapped", "as in ssvi score model.ssvi good.txt"]),
        (["documents", "two.csv", "model.ssvi", "--topic", "1"], ["the two are swapped", "ssvi documents model.ssvi two.csv"]),
        (["score", "good.txt", "counts.npz"], ["good.txt is not a saved model: it is text"]),
        (["predict", "model.ssvi", "two.csv"], ["model.ssvi is no regression by a formula, so that there is nothing to predict"]),
        (["info", "paper.pdf"], ["paper.pdf is not a saved model: it is a PDF document."]),
        (["topics", "cut.ssvi"], ["cut.ssvi is not a saved model: it does not begin as one, or is cut short"]),
        (["fit", "good.txt", "counts.npz", "-o", "NEW"], ["good.txt is something to read, and the name of a model comes first"]),
        (["fit", "good.txt", "-o", "NEW"], ["the name of a model comes first: ssvi fit lda good.txt"]),
        (["fit", "no/*.txt", "-o", "NEW"], ["the name of a model comes first: ssvi fit lda no/*.txt"]),
        (["choose", "good.txt"], ["the name of a model comes first: ssvi choose lda good.txt"]),
        (["fit", "lda", "-o", "NEW"], ["there is nothing to read", "ssvi fit lda articles.jsonl"]),
        # Paths, patterns and formats.
        ([*FIT, "nothing.txt"], ["there is no ", "nothing.txt: check the path"]),
        ([*FIT, "god.txt"], ["there is no god.txt (did you mean good.txt?): check the path"]),
        (["topics", "modle.ssvi"], ["there is no file modle.ssvi (did you mean model.ssvi?): check the path"]),
        (["fit", "hmm", "god.txt", "-o", "NEW"], ["there is no file god.txt (did you mean good.txt?)"]),
        (["fit", "hmm", "mixed", "-o", "NEW"], ["mixed is a folder, and models of sequences read one file: .npz or .npy"]),
        ([*FIT, "no*.csv"], ["no file is called like", "check the pattern"]),
        ([*FIT, "link.txt"], ["link.txt is a link that leads nowhere: mend it"]),
        ([*FIT, "header.csv"], ["header.csv has no rows, and so no documents: give a file that has some"]),
        ([*FIT, "numbers.csv"], ["numbers.csv holds numbers, and words", "gaussian_mixture` is for tables of numbers", "is given as --column (of 'x', 'y')"]),
        (["transform", "model.ssvi", "good.txt"], ["--output (-o) is missing. -o weights.csv writes a table, and -o - prints it."]),
        ([*FIT, "empty.txt"], ["empty.txt is empty: give a file with documents"]),
        ([*FIT, "tables"], ["tables holds .csv files, which have many documents each: give them by a pattern"]),
        ([*FIT, "good.txt", "counts.npz"], ["counts.npz holds counts and", "good.txt text: read one or the other"]),
        ([*FIT, "good.txt", "--format", "word"], ["there is no format 'word': give one of text,"]),
        ([*FIT, "good.txt", "--format", "folder"], ["is a file, and the format 'folder' wants a folder"]),
        ([*FIT, "single.txt"], ["single.txt gives no counts of words: it is a single document", "on a line, or into a file, of its own"]),
        ([*FIT, "https://example.org/a.txt"], ["is an address, and only files of this machine are read: download it first"]),
        (["topics", "nothing.ssvi"], ["there is no file nothing.ssvi: check the path"]),
        (["topics", "mixed"], ["mixed is a folder, and a file is wanted"]),
        # Options.
        ([*FIT, "good.txt", "--topics", "many"], ["--topics: this is no whole number. See ssvi fit --help"]),
        ([*FIT, "good.txt", "--topics", "0"], ["--topics: it must be 1 or more."]),
        ([*FIT, "good.txt", "--held-out", "0.9"], ["--held-out: it must be 0.5 or less."]),
        (["fit", "lda", "good.txt"], ["--output (-o) is missing."]),
        ([*FIT, "good.txt", "--topic", "5"], ["there is no option --topic (did you mean --topics?)"]),
        ([*FIT, "good.txt", "--topcs", "5"], ["there is no option --topcs (did you mean --topics?). See ssvi fit --help."]),
        (["report", "model.ssvi", "--corpus"], ["--corpus has nothing behind it: give its value. See ssvi report --help."]),
        ([*FIT, "good.txt", "--iterations", "5"], ["there is no option --iterations (did you mean --passes?)"]),
        ([*FIT, "good.txt", "--workers", "5"], ["there is no option --workers (did you mean --jobs?)"]),
        (["info", "m.ssvi", "--epochs", "5"], ["there is no option --epochs. See ssvi info --help."]),
        ([*FIT, "good.txt", "--set", "alpha=1"], ["lda has no parameter 'alpha' (did you mean 'doc_topic_prior'?)"]),
        (["fit", "LDA", "good.txt", "-o", "NEW"], ["there is no model 'LDA' (did you mean 'lda'?)"]),
        (["report", "model.ssvi", "good.txt"], ["this is more than the command takes: good.txt. Documents are given as --corpus FILE."]),
        (["documents", "model.ssvi", "undated.jsonl", "--by", "date"], ["undated.jsonl has no dates that can be read", "written as 2024-05-31"]),
        # Encodings and damage.
        ([*FIT, "wide.txt"], ["wide.txt, line 1: byte 0xff is not valid in utf-8: give the file's --encoding, such as 'utf-16'"]),
        ([*FIT, "latin.txt"], ["latin.txt, line 1: byte 0xe9 is not valid in utf-8: give the file's --encoding"]),
        ([*FIT, "good.txt", "--encoding", "klingon"], ["there is no encoding of text 'klingon'"]),
        ([*FIT, "lines.json"], ["lines.json, line 1: this is not JSON", "put each object on a line of its own"]),
        ([*FIT, "broken.jsonl"], ["broken.jsonl, line 2: this is not JSON", "mend the line or remove it"]),
        # Tables and their columns.
        ([*FIT, "two.csv"], ["two.csv does not tell which column holds the text: give one of its columns ('first', 'second') as --column"]),
        ([*FIT, "two.csv", "--column", "First"], ["two.csv has no column 'First' (did you mean 'first'?): give one of its columns"]),
        ([*FIT, "rows.csv", "--column", "id"], ["rows.csv gives no counts of words: its documents are numbers and no text", "as --column"]),
        ([*FIT, "two.csv", "--column", "third"], ["two.csv has no column 'third'"]),
        ([*FIT, "two.csv", "--column", "first", "--date-column", "when"], ["has no column 'when'", "as --date-column"]),
        ([*FIT, "odd.csv"], ["odd.csv, line 3: there are 3 fields and not 2 as in the header", "--delimiter"]),
        ([*FIT, "odd.csv", "--delimiter", ";;"], ["a delimiter is one character, such as ';' or a tab, not ';;'"]),
        ([*FIT, "good.txt", "--column", "text"], ["good.txt is read as text, which has no columns: leave out --column"]),
        # Words.
        ([*FIT, "stop.txt"], ["stop.txt gives no counts of words: there are no words in it, or stop words only"]),
        ([*FIT, "good.txt", "--min-df", "50", "--max-df", "3"], ["no word is in at least 50 and at most 3 of its documents"]),
        ([*FIT, "good.txt", "--stop-words", "klingon"], ["--stop-words: there is no language and no file 'klingon'"]),
        ([*FIT, "good.txt", "--segment", "klingon"], ["segment must be 'chinese' or 'japanese'"]),
        ([*FIT, "good.txt", "--vocabulary", "twice.txt"], ["twice.txt cannot be the vocabulary: 'word1' is in the vocabulary twice"]),
        ([*FIT, "good.txt", "--vocabulary", "unheard.txt"], ["good.txt has no word of the vocabulary: check both"]),
        ([*FIT, "good.txt", "--vocabulary", "vocabulary.txt", "--phrases"], ["--phrases looks for terms, and --vocabulary has them"]),
        ([*FIT, "counts.npz", "--phrases", "--strip-html"], ["holds counts, and --phrases, --strip-html is for text"]),
        (["transform", "wordless.ssvi", "good.txt", "-o", "-"], ["this model has no words, so it cannot read the text of"]),
        # Labels and tables of topics.
        (["label", "model.ssvi", "7=Sport"], ["there is no topic 7:", "has 0 to 2"]),
        (["label", "model.ssvi", "Sport"], ["a label is given as NUMBER=LABEL", "not 'Sport'"]),
        (["label", "model.ssvi", "1=two\nlines"], ["a label is one line of at most 200 characters"]),
        (["label", "model.ssvi", "--from", "nothing.csv"], ["there is no file", "--from is a .csv file with columns"]),
        (["label", "model.ssvi", "--from", "two.csv"], ["two.csv has no column 'label'"]),
        (["topics", "model.ssvi", "-o", "topics.xls"], ["--output must end in .csv, not 'topics.xls'"]),
    ],
)  # fmt: skip
def test_one_line_says_what_is_wrong_and_what_to_do(things, tmp_path, monkeypatch, refused, command, parts):
    monkeypatch.chdir(things)
    before = sorted(path.name for path in things.iterdir())
    line = refused(*(str(tmp_path / "new.ssvi") if part == "NEW" else part for part in command))
    for part in parts:
        assert part in line
    assert line.startswith("ssvi: ")
    assert line.endswith((".", "?"))
    assert sorted(path.name for path in things.iterdir()) == before
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--jobs", "0"], "--jobs must be an integer but 0 (1 is one thread, -1 all processors), not 0"),
        (["--set", "learning_offset=-5"], "learning_offset"),
        (["--global-step", "magic"], "--global-step 'magic' is not known; the known ones are 'map', 'mean_field'"),
    ],
)
def test_parameters_are_refused_before_anything_is_read(things, tmp_path, monkeypatch, refused, options, message):
    monkeypatch.setattr("ssvi.cli.reading.Reading.read", lambda *_, **__: pytest.fail("it has begun to read"))
    assert message in refused("fit", "lda", things / "good.txt", "-o", tmp_path / "m.ssvi", *options)


def test_what_used_to_be_refused_is_read(things, tmp_path):
    folder = tmp_path / "links"
    folder.mkdir()
    for i in range(3):
        (folder / f"{i}.txt").symlink_to(things / "good.txt")
    (tmp_path / "a.json").write_text(json.dumps([{"text": "cat dog"}, {"text": "dog bird"}]))
    (tmp_path / "a.csv").write_text("id;text\n1;cat, dog\n2;dog\n")
    for path, documents in ((folder, 3), (tmp_path / "a.json", 2), (tmp_path / "a.csv", 2)):
        facts = json.loads(run("corpus", "inspect", path, "--json", "--min-df", 1, "--max-df", 1.0).stdout)
        assert facts["documents"] == documents


@pytest.fixture
def heard_interrupts():
    """Let Ctrl-C be heard: a job in the background, as tests may be, has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard_interrupts")
def test_a_reading_that_is_interrupted_says_so(things, tmp_path, monkeypatch, capsys):
    def interrupted(*arguments, progress, **options):
        progress(30, 100)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("ssvi.data.readers.read_corpus", interrupted)
    for command in (
        ["fit", "lda", things / "good.txt", "-o", tmp_path / "m.ssvi"],
        ["corpus", "inspect", things / "good.txt"],
    ):
        monkeypatch.setattr(sys, "argv", ["ssvi", *map(str, command)])
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 130
        said = capsys.readouterr().err
        assert (
            said
            == f"ssvi: interrupted while reading {things / 'good.txt'} (30% of it was read), and nothing was written.\n"
        )


def test_many_topics_for_few_documents_and_documents_without_words(tmp_path):
    lines = ["cat dog", "dog bird", "cat bird", "the of", "unique1"] * 4
    lines[4::5] = [f"unique{i}" for i in range(4)]
    (tmp_path / "a.txt").write_text("\n".join(lines))
    result = run(
        "fit", "lda", tmp_path / "a.txt", "--topics", 50, "--passes", 1, "--jobs", 1, "-o", tmp_path / "m.ssvi"
    )
    notes = [line for line in result.stderr.splitlines() if line.startswith("ssvi: note:")]
    assert notes == [
        "ssvi: note: 8 of 20 documents (40%) have no words left: see --min-df, --max-df and --stop-words.",
        "ssvi: note: 12 of 20 documents are exact copies of others, and what they are about counts too much: --drop-copies "
        "leaves them out.",
        "ssvi: note: 50 topics are many for 20 documents, and most will be copies or noise: --topics 4 is the most to try.",
    ]
    assert "8 of them (40%) without any words left" in result.stdout


def test_tags_capital_letters_and_missing_spaces_are_told_of(tmp_path):
    (tmp_path / "a.txt").write_text("cat<br/>dog\n\u732b\u3068\u72ac\n" * 5, encoding="utf-8")
    (tmp_path / "words.txt").write_text("Cat\ndog\n\u732b\u3068\u72ac\n", encoding="utf-8")
    result = run("corpus", "inspect", tmp_path / "a.txt", "--vocabulary", tmp_path / "words.txt")
    assert "ssvi: note: there are HTML tags in the text: --strip-html takes them out." in result.stderr
    assert "such as 'Cat', have capital letters and are never found" in result.stderr
    assert "--segment, chinese or japanese, cuts it into words" in result.stderr

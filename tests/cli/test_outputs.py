"""Where commands write to: places that are of no use, pipes that are closed, encodings, spreadsheets, warnings."""

import csv
import io
import json
import os
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from tests.cli.helpers import run

import ssvi
from ssvi.cli.display import text_cell
from ssvi.cli.inputs import print_json

COUNTS = np.random.default_rng(0).poisson(0.6, (60, 12))


@pytest.fixture
def model(tmp_path):
    """A model of three topics with a hundred words, some of which are not of ASCII."""
    counts = np.random.default_rng(0).poisson(0.3, (60, 100))
    words = [f"wörd{i}" for i in range(100)]
    path = tmp_path / "model.ssvi"
    ssvi.LatentDirichletAllocation(3, max_iter=1, random_state=0).fit(counts).save(path, words)
    return path


def _command(*arguments, **options):
    return subprocess.Popen([sys.executable, "-m", "ssvi", *map(str, arguments)], stderr=subprocess.PIPE, **options)


def _places_of_no_use(folder):
    loop, dangling, file = folder / "loop.ssvi", folder / "dangling.ssvi", folder / "file"
    loop.symlink_to(loop)
    dangling.symlink_to(folder / "no" / "model.ssvi")
    file.write_text("mine")
    return [loop, dangling, folder / "none" / "m.ssvi", folder, file / "m.ssvi", folder / ("x" * 300)]


def test_places_of_no_use_are_found_before_the_fit(counts, tmp_path, refused, monkeypatch):
    monkeypatch.setattr("ssvi.cli.reading.Reading.read", lambda *_, **__: pytest.fail("it has begun to read"))
    faults = ["link to where nothing can be written", "link to where nothing can be written", "there is no folder",
              "is a folder", "there is no folder", "File name too long"]  # fmt: skip
    places = _places_of_no_use(tmp_path)
    before = sorted(os.listdir(tmp_path))
    for place, fault in zip(places, faults, strict=True):
        assert fault in refused("fit", "lda", counts, "-k", 2, "-o", place)
    assert sorted(os.listdir(tmp_path)) == before


def test_a_read_only_place_is_found_before_the_fit(counts, tmp_path, refused, monkeypatch):
    """Stands for a file system that is mounted read-only: whoever runs this may be allowed everything else."""

    def read_only(folder):
        raise OSError(30, "Read-only file system", str(folder))

    monkeypatch.setattr("ssvi.files.atomic.try_folder", read_only)
    monkeypatch.setattr("ssvi.cli.inputs.try_folder", read_only)
    line = refused("fit", "lda", counts, "-k", 2, "-o", tmp_path / "m.ssvi")
    assert "cannot be written (Read-only file system): give another name or folder" in line
    monkeypatch.setattr("ssvi.files.atomic.try_folder", lambda folder: None)
    line = refused("fit", "lda", counts, "-k", 2, "-o", tmp_path / "m.ssvi", "--checkpoint", tmp_path / "a" / "b")
    assert f"{tmp_path} cannot be written to (Read-only file system): give checkpoints another folder" in line


def test_a_link_to_a_file_that_is_not_there_yet_can_be_written_to(counts, tmp_path):
    link = tmp_path / "link.ssvi"
    link.symlink_to(tmp_path / "later.ssvi")
    assert run("fit", "lda", counts, "-k", 2, "--passes", 1, "--jobs", 1, "-o", link, "--quiet").exit_code == 0
    assert link.is_symlink()
    assert len(ssvi.load(tmp_path / "later.ssvi").components_) == 2


def test_checkpoints_need_a_folder(counts, tmp_path, refused):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nowhere")
    for place in (counts, link, counts / "checkpoints"):
        line = refused("fit", "lda", counts, "-k", 2, "-o", tmp_path / "m.ssvi", "--checkpoint", place)
        assert "is no folder: --checkpoint is a folder for checkpoints" in line


def test_resuming_passes_over_what_is_no_file_and_says_so_in_lines(counts, tmp_path):
    folder, path = tmp_path / "checkpoints", tmp_path / "m.ssvi"
    (folder / "step-000000007.ssvi").mkdir(parents=True)
    (folder / "step-000000008.ssvi").symlink_to(tmp_path / "nowhere")
    arguments = ["fit", "lda", counts, "-k", 2, "--passes", 1, "--jobs", 1, "-o", path, "--checkpoint", folder]
    process = _command(*arguments, "--resume", "--quiet", text=True)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0
    assert [line.split(" is passed over: ")[1] for line in said.splitlines()] == [
        "No such file or directory.",
        "Is a directory.",
    ]
    assert all(line.startswith("ssvi: ") for line in said.splitlines())
    ssvi.load(path)


def test_a_model_of_a_data_frame_is_used_without_a_warning(tmp_path, refused):
    names = [f"word{i}" for i in range(12)]
    path, source = tmp_path / "m.ssvi", tmp_path / "counts.npz"
    frame = pd.DataFrame(COUNTS, columns=names)
    ssvi.LatentDirichletAllocation(3, max_iter=1, random_state=0).fit(frame).save(path)
    sparse.save_npz(source, sparse.csr_array(COUNTS))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run("score", path, source, "--jobs", 1).exit_code == 0
        assert run("transform", path, source, "--jobs", 1, "-o", tmp_path / "w.csv").exit_code == 0
        words = json.loads(run("topics", path, "--json").stdout)[0]["words"]
        assert json.loads(run("info", path, "--json").stdout)["vocabulary"]
    assert set(words) < set(names)


def test_a_closed_pipe_ends_a_command_quietly(model):
    reader, writer = os.pipe()
    os.close(reader)
    process = _command("topics", model, stdout=writer)
    os.close(writer)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (1, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no device that is always full")
def test_a_full_disk_behind_standard_output_is_one_line(model):
    with open("/dev/full", "wb") as full:
        process = _command("topics", model, stdout=full, text=True)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 2
    assert said == "ssvi: [Errno 28] No space left on device\n"


def test_standard_output_may_be_closed(model):
    command = [sys.executable, "-m", "ssvi", "topics", str(model)]
    result = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *command], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize(("encoding", "seen"), [("ascii", "wörd".encode()), ("iso8859-7", b"w\\xf6rd")])
def test_output_that_has_not_all_letters(model, tmp_path, encoding, seen):
    """ASCII is taken for UTF-8, as by other tools in Python; any other encoding gets escapes."""
    source = tmp_path / "names.csv"
    source.write_text("id,text\nwörd,wörd1 wörd2\n", encoding="utf-8")
    arguments = ["transform", model, source, "-o", "-", "-q"]
    process = _command(*arguments, stdout=subprocess.PIPE, env=os.environ | {"PYTHONIOENCODING": encoding})
    written, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (0, b"")
    assert written.splitlines()[1].startswith(b"1," + seen + b",")


def test_json_is_json_in_any_encoding(monkeypatch):
    for encoding in ("utf-8", "iso8859-7"):
        output = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(output, encoding=encoding, errors="backslashreplace"))
        print_json(["wörd"])
        sys.stdout.flush()
        assert json.loads(output.getvalue().decode(encoding)) == ["wörd"]


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
        ("+1+2", "'+1+2"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"),
        ("-7.1", "-7.1"),
        ("+4e5", "+4e5"),
        ("a=b", "a=b"),
        ("'quoted", "'quoted"),
        ("", ""),
    ],
)
def test_texts_that_a_spreadsheet_would_run_have_an_apostrophe(text, cell):
    assert text_cell(text) == cell


def test_names_of_documents_and_words_are_no_formulas(tmp_path):
    path, source, weights = tmp_path / "m.ssvi", tmp_path / "texts.csv", tmp_path / "w.csv"
    words = ["=word0", *(f"word{i}" for i in range(1, 12))]
    counts = COUNTS.copy()
    counts[:, 0] += 50
    ssvi.LatentDirichletAllocation(3, max_iter=1, random_state=0).fit(counts).save(path, words)
    rows = [["id", "text"], ["=1+1", "word1"], ["plain", "word2"], ["-7", "word3"]]
    with source.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    assert run("transform", path, source, "-o", weights, "--jobs", 1).exit_code == 0
    with weights.open(newline="") as file:
        rows = [row[:2] for row in csv.reader(file)]
        assert rows == [["document", "id"], ["1", "'=1+1"], ["2", "plain"], ["3", "-7"]]
    assert "\t'=word0 word" in run("topics", path).stdout
    assert json.loads(run("topics", path, "--json").stdout)[0]["words"][0] == "=word0"

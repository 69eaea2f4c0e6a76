"""The command line, in this process and as a process of its own."""

import subprocess
import sys

import pytest
from scipy import sparse
from tests.cli.helpers import run

import ssvi
from ssvi.cli import main
from ssvi.experiments.base import Experiment
from ssvi.registry import discover

TINY = ["--topics", "3", "--batch-size", "100", "--test-documents", "30", "--evaluations", "2", "--seeds", "1"]


def test_every_experiment_has_a_command_with_help():
    for name in discover("ssvi.experiments", Experiment):
        result = run("reproduce", name, "--help")
        assert result.exit_code == 0
        assert f"ssvi reproduce {name}" in result.output
        assert "--paper" in result.output


def test_reproduce_writes_measurements_and_a_figure(corpus_file, tmp_path):
    arguments = ["reproduce", "lda-matrix", "--corpus", corpus_file, "--output", tmp_path / "out", *TINY]
    arguments += ["--algorithm", "ssvi_a:gibbs", "--algorithm", "map:cvb0", "--eta", "0.1"]
    result = run(*arguments)
    assert result.exit_code == 0
    assert "map:cvb0" in result.stdout
    written = {"measurements.csv", "conditions.json", "summary.md", "figure.png"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == written
    assert "| map:cvb0 | -" in (tmp_path / "out" / "summary.md").read_text()
    before = (tmp_path / "out" / "measurements.csv").read_bytes()
    assert run(*arguments).exit_code == 0  # all is there already
    assert (tmp_path / "out" / "measurements.csv").read_bytes() == before
    assert run(*arguments, "--restart").exit_code == 0
    assert len((tmp_path / "out" / "measurements.csv").read_text().splitlines()) == 5


def test_restart_removes_only_what_it_wrote(corpus_file, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    arguments = ["reproduce", "lda-heldout", "--corpus", corpus_file, "--output", tmp_path, *TINY]
    result = run(*arguments, "--algorithm", "sgrld", "--eta", "0.1", "--restart")
    assert result.exit_code == 0
    assert (tmp_path / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--corpus", "nowhere.npz"], "there is no nowhere.npz"),
        (["--evaluator", "guess"], "evaluator 'guess' is not known"),
        (["--jobs", "0"], "jobs must be a number of threads"),
        (["--algorithm", "gibbs", "--corpus", "CORPUS"], "algorithm 'gibbs' is not known"),
    ],
)
def test_what_a_user_can_mend_is_one_line(arguments, message, corpus_file, tmp_path, monkeypatch, capsys):
    arguments = [str(corpus_file) if argument == "CORPUS" else argument for argument in arguments]
    command = ["ssvi", "reproduce", "lda-heldout", "--output", str(tmp_path), *arguments]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    shown = capsys.readouterr().err
    assert shown.startswith("ssvi: ")
    assert message in shown
    assert shown.count("\n") == 1


DUMP = """<mediawiki><siteinfo/>
<page><title>Dogs</title><ns>0</ns><revision><text>A '''dog''' barks; [[a|dogs]] bark at a cat.</text></revision></page>
<page><title>Talk:Dogs</title><ns>1</ns><revision><text>dog dog dog</text></revision></page>
<page><title>Cats</title><ns>0</ns><revision><text>A cat is a cat.</text></revision></page>
</mediawiki>
"""


def test_a_wikipedia_dump_becomes_a_corpus(tmp_path):
    (tmp_path / "dump.xml").write_text(DUMP)
    (tmp_path / "words.txt").write_text("cat\ndog\nbarks\n")
    command = ["corpus", "wikipedia", tmp_path / "dump.xml", "--vocabulary", tmp_path / "words.txt"]
    result = run(*command, "--output", tmp_path / "out", "--shortest", "1")
    assert result.exit_code == 0
    assert "2 articles over 3 words" in result.stdout
    assert sparse.load_npz(tmp_path / "out" / "bow.npz").toarray().tolist() == [[1, 1, 1], [2, 0, 0]]


def test_a_truncated_dump_is_one_line(tmp_path, monkeypatch, capsys):
    (tmp_path / "dump.xml").write_text(DUMP[:120])
    (tmp_path / "words.txt").write_text("cat\n")
    command = ["corpus", "wikipedia", tmp_path / "dump.xml", "--vocabulary", tmp_path / "words.txt"]
    monkeypatch.setattr(sys, "argv", ["ssvi", *map(str, command), "--output", str(tmp_path / "out")])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    assert "in the middle of the page 'Dogs': download the dump again." in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_version_and_an_unknown_command():
    assert run("--version").output == f"ssvi {ssvi.__version__}\n"
    assert run("frobnicate").exit_code == 2


def test_it_is_a_program():
    result = subprocess.run([sys.executable, "-m", "ssvi", "--version"], capture_output=True, text=True, check=True)
    assert result.stdout.startswith("ssvi ")

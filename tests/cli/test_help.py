"""What commands say of themselves, how shells complete them, and how mistakes in options are met."""

import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ssvi.cli import main
from ssvi.cli.app import app, load_command
from ssvi.cli.short_help import FIRST
from ssvi.data.readers import FORMATS
from ssvi.estimators.registry import estimators
from ssvi.experiments.base import Experiment
from ssvi.global_steps.base import GlobalStep
from ssvi.local_steps.base import LocalStep
from ssvi.registry import discover

COMMANDS = [
    [], ["fit"], ["choose"], ["topics"], ["documents"], ["transform"], ["score"], ["report"], ["info"], ["demo"],
    *(["corpus", name] for name in ("build", "convert", "inspect", "formats", "wikipedia")),
    *(["reproduce", name] for name in discover("ssvi.experiments", Experiment)),
]  # fmt: skip
LOCAL_STEPS = {step for model in estimators() for step in discover(f"ssvi.local_steps.{model}", LocalStep)}


def _help(*arguments, option="--help", columns=300):
    result = CliRunner(env={"COLUMNS": str(columns)}).invoke(app, [*arguments, option])
    assert result.exit_code == 0
    return result.stdout


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_a_help_with_an_example(command):
    assert f"Example: {' '.join(['ssvi', *command])}" in _help(*command)


def test_the_help_of_fit_names_all_that_there_is():
    text = _help("fit", option="--help-all")
    for name in [*estimators(), *discover("ssvi.global_steps", GlobalStep), *LOCAL_STEPS]:
        assert name in text


@pytest.mark.parametrize("command", FIRST)
def test_the_first_help_fits_a_screen_and_leads_to_all_of_it(command):
    short, whole = _help(command, columns=80), _help(command, option="--help-all")
    lines = short.splitlines()
    assert len(lines) <= 45
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith(f"Usage: ssvi {command} MODEL SOURCE...")
    parameters = load_command(command).params
    names = [own.name for own in parameters]
    assert set(FIRST[command]) < set(names)
    assert f"--help-all        All options: {len(names) - len(FIRST[command]) - 1} more" in short
    for own in parameters:
        option = next((name for name in own.opts if name.startswith("--")), own.name.upper())
        is_there = re.search(rf"  (-\w, )?{re.escape(option)}(\.\.\.)?\s", short) is not None
        assert is_there == (own.name in (*FIRST[command], "help_all"))
        assert option.lower() in whole


@pytest.mark.parametrize("command", FIRST)
def test_every_option_is_in_the_documentation(command):
    page = (Path(__file__).parents[2] / "docs" / "command_line.md").read_text(encoding="utf-8")
    options = [own.opts for own in load_command(command).params if own.param_type_name == "option"]
    assert [names[0] for names in options if not any(f"`{name}" in page or f" {name}" in page for name in names)] == []


def test_options_that_the_first_help_leaves_out_are_completed(monkeypatch, capsys):
    place = {"_SSVI_COMPLETE": "complete_bash", "COMP_WORDS": "ssvi fit lda --seg", "COMP_CWORD": "3"}
    for name, value in place.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "argv", ["ssvi"])
    with pytest.raises(SystemExit):
        main()
    assert capsys.readouterr().out.split() == ["--segment"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("ssvi f", {"fit"}),
        ("ssvi fit ", set(estimators())),
        ("ssvi fit lda --global-step s", {"ssvi", "ssvi_a"}),
        ("ssvi fit lda --local-step ", LOCAL_STEPS),
        ("ssvi score model --format ", set(FORMATS)),
        ("ssvi score model --format parq", {"parquet"}),
    ],
)
def test_shells_complete_names(words, expected, monkeypatch, capsys):
    place = {"_SSVI_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    for name, value in place.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "argv", ["ssvi"])
    with pytest.raises(SystemExit):
        main()
    assert set(capsys.readouterr().out.split()) == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "lda", "x", "-o", "y", "--topics", "many"], "--topics"),
        (["fit", "lda", "x", "-o", "y", "--passes", "0"], "--passes"),
        (["fit", "lda"], "there is nothing to read"),
        (["fit", "lda", "x", "-o", "y", "--nonsense"], "there is no option --nonsense"),
        (["fot"], "there is no command 'fot'"),
        (["corpus", "mend"], "there is no command 'mend'"),
    ],
)
def test_a_bad_option_is_one_line(arguments, message, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["ssvi", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    assert (ended.value.code, said.out) == (2, "")
    assert said.err.startswith("ssvi: ")
    assert said.err.count("\n") == 1
    assert message in said.err
    assert "--help." in said.err


def test_without_anything_there_is_the_help(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["ssvi"])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    assert ended.value.code == 2
    assert "Usage: ssvi" in said.out + said.err


def test_other_errors_are_not_hidden(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["ssvi", "info", "model"])
    monkeypatch.setattr("ssvi.files.look.Look.at", lambda path: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main()

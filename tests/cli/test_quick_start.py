"""What commands import: none waits for what it does not need."""

import inspect
import subprocess
import sys

import pytest
from tests.cli.helpers import run

from ssvi.cli.app import COMMANDS, load_command

HEAVY = {"matplotlib", "numba", "numpy", "pandas", "scipy", "sklearn"}
SHOW_MODULES = """
import sys
sys.argv = ["ssvi", *sys.argv[1:]]
from ssvi.cli import main
try:
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
print("modules", *sorted(sys.modules))
"""


def _modules(*arguments):
    """Return the modules that a command has imported when it ends."""
    command = [sys.executable, "-c", SHOW_MODULES, *map(str, arguments)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return set(output.splitlines()[-1].split()[1:])


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_the_help_of_all_commands_imports_none_of_them(option):
    modules = _modules(option)
    assert not modules & HEAVY
    assert {name for name in modules if name.startswith("ssvi.cli.")} == {"ssvi.cli.app"}


def test_the_help_of_a_small_command_imports_no_library_of_numbers():
    assert not _modules("demo", "--help") & HEAVY


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_all_commands_says_of_each_what_its_own_help_begins_with(name):
    first = inspect.cleandoc(load_command(name).help).split("\n\n")[0]
    assert COMMANDS[name][1] == " ".join(first.split())


def test_topics_imports_neither_other_commands_nor_experiments(tmp_path, texts):
    model = tmp_path / "model.ssvi"
    assert run("fit", "lda", texts, "-k", 3, "--passes", 1, "-o", model).exit_code == 0
    modules = _modules("topics", model)
    own = {name for name in modules if name.startswith("ssvi.")}
    assert {name for name in own if name.startswith("ssvi.cli.")} == {
        "ssvi.cli.app", "ssvi.cli.display", "ssvi.cli.inputs", "ssvi.cli.labels",
    }  # fmt: skip
    assert not {name for name in own if name.startswith(("ssvi.experiments", "ssvi.plots"))}
    assert not {"ssvi.report.page", "ssvi.report.facts", "matplotlib"} & modules

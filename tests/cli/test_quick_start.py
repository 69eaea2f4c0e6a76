"""What commands import: none waits for what it does not need."""

import inspect
import subprocess
import sys
from json import loads

import numpy as np
import pytest
from tests.cli.helpers import run

from ssvi import LatentDirichletAllocation
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
    assert {name for name in modules if name.startswith("ssvi.cli.")} == {"ssvi.cli.app", "ssvi.cli.mistakes"}


@pytest.mark.parametrize("command", ["demo", "fit"])
def test_the_help_of_a_command_imports_no_library_that_it_does_not_need(command):
    assert not _modules(command, "--help") & (HEAVY - {"numpy"})


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_all_commands_says_of_each_what_its_own_help_begins_with(name):
    first = inspect.cleandoc(load_command(name).help).split("\n\n")[0]
    assert COMMANDS[name][1] == " ".join(first.split())


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.ssvi"
    counts = np.random.default_rng(0).poisson(0.6, (40, 6))
    words = ["apple", "pear", "plum", "wheel", "brake", "engine"]
    LatentDirichletAllocation(3, max_iter=2, random_state=0, n_jobs=1).fit(counts).save(path, words)
    return path


@pytest.mark.parametrize("command", [("topics",), ("label",), ("label", "0=Fruit"), ("info",)])
def test_commands_that_show_a_model_do_not_wait_for_what_fits_one(model, command):
    modules = _modules(command[0], model, *command[1:])
    assert not modules & (HEAVY - {"numpy"})
    assert {name for name in modules if name.startswith("ssvi.cli.")} <= {
        "ssvi.cli.app", "ssvi.cli.display", "ssvi.cli.info", "ssvi.cli.inputs", "ssvi.cli.labels", "ssvi.cli.listing",
        "ssvi.cli.mistakes",
    }  # fmt: skip


def test_what_a_file_says_of_itself_is_what_the_model_says(model):
    """With other options than the usual ones the model is loaded: the same words must come out of it."""
    quick, whole = run("topics", model, "--words", 4, "--json"), run("topics", model, "--words", 51, "--json")
    whole = [
        {**line, "words": line["words"][:4], "distinctive": line["distinctive"][:4]} for line in loads(whole.stdout)
    ]
    assert loads(quick.stdout) == whole

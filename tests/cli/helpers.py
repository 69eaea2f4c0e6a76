"""Commands in this process and in others, and the words of the small corpus."""

import multiprocessing
import sys

from tests.kinds import WITH_COMPONENTS
from typer.testing import CliRunner

from ssvi.cli import main
from ssvi.cli.app import app
from ssvi.estimators.sequences import SequenceEstimator

OF_ROWS = sorted(name for name, kind in WITH_COMPONENTS.items() if not issubclass(kind, SequenceEstimator))
"""Models of rows that have no order; those of sequences and regressions have tests of their own."""
WORDS = [f"{theme}{'abcdefgh'[i]}" for theme in ("sport", "music", "law") for i in range(8)]


_PROCESSES = multiprocessing.get_context("forkserver")  # which imports all that it can once, and not for each process
_PROCESSES.set_forkserver_preload(["ssvi.cli.app", *{kind.__module__ for kind in WITH_COMPONENTS.values()}])


def start(*arguments):
    """Return a process of its own that runs a command."""
    process = _PROCESSES.Process(target=_run_main, args=(list(map(str, arguments)),), daemon=True)
    process.start()
    return process


def _run_main(arguments):
    sys.argv = ["ssvi", *arguments]
    main()


def run(*arguments):
    """Return what a command said and how it ended."""
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)

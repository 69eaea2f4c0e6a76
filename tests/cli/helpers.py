"""Commands in this process, and the words of the small corpus."""

from tests.kinds import WITH_COMPONENTS
from typer.testing import CliRunner

from ssvi.cli.app import app
from ssvi.estimators.sequences import SequenceEstimator

OF_ROWS = sorted(name for name, kind in WITH_COMPONENTS.items() if not issubclass(kind, SequenceEstimator))
"""Models of rows that have no order; those of sequences and regressions have tests of their own."""
WORDS = [f"{theme}{'abcdefgh'[i]}" for theme in ("sport", "music", "law") for i in range(8)]


def run(*arguments):
    """Return what a command said and how it ended."""
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)

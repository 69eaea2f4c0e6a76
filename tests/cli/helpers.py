"""Commands in this process, and the words of the small corpus."""

from typer.testing import CliRunner

from ssvi.cli.app import app

WORDS = [f"{theme}{'abcdefgh'[i]}" for theme in ("sport", "music", "law") for i in range(8)]


def run(*arguments):
    """Return what a command said and how it ended."""
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)

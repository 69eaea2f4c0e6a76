"""The `ssvi` command."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

_MISTAKE = 2


def main() -> None:
    """Run the command; anything a user can mend is one line on standard error, without a traceback."""
    from ssvi.cli.app import app
    from ssvi.engine import FitError

    try:
        code = app(prog_name="ssvi", standalone_mode=False)
    except (ValueError, OSError, FitError) as error:
        _refuse(str(error))
    except Exception as error:
        # What the parser of options raises has no public name in all versions of it.
        if not hasattr(error, "format_message"):
            raise
        _refuse_options(error)
    raise SystemExit(code if isinstance(code, int) else 0)


def _refuse(sentence: str) -> NoReturn:
    sys.stderr.write(f"ssvi: {sentence}\n")
    raise SystemExit(_MISTAKE) from None


def _refuse_options(error: Any) -> NoReturn:
    """Say what is wrong with the options; if there are none at all, show the help."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        raise SystemExit(_MISTAKE) from None
    sentence = error.format_message()
    command = error.ctx.command_path if getattr(error, "ctx", None) else "ssvi"
    end = "" if sentence.endswith((".", "?")) else "."
    _refuse(f"{sentence}{end} See {command} --help.")

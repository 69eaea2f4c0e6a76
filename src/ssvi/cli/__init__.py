"""The `ssvi` command."""

from __future__ import annotations

import re
import sys
from typing import Any, NoReturn

INTERRUPTED = 130
_MISTAKE = 2


def main() -> None:
    """Run the command; anything a user can mend is one line on standard error, without a traceback."""
    try:
        from ssvi.cli.app import app
        from ssvi.engine import FitError

        try:
            code = app(prog_name="ssvi", standalone_mode=False)
        except (ValueError, FitError) as error:
            _refuse(_with_options(str(error)))
    except KeyboardInterrupt:
        sys.stderr.write("ssvi: interrupted.\n")
        raise SystemExit(INTERRUPTED) from None
    except OSError as error:
        _refuse(_without_number(error))
    except Exception as error:
        # What the parser of options raises has no public name in all versions of it.
        if not hasattr(error, "format_message"):
            raise
        _refuse_options(error)
    raise SystemExit(code if isinstance(code, int) else 0)


def _with_options(sentence: str) -> str:
    """Return a sentence of the library with the names of options where it has names of arguments."""
    return re.sub(r"`(format|column|encoding|vocabulary)`", r"--\1", sentence)


def _without_number(error: OSError) -> str:
    """Return what the system says of a file, in the order of a sentence."""
    if error.filename is None or error.strerror is None:
        return str(error)
    # Files have this name while they are being written.
    return f"{str(error.filename).removesuffix('.partial')}: {error.strerror}."


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

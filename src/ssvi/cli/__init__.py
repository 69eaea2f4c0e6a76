"""The `ssvi` command."""

from __future__ import annotations

import codecs
import gc
import io
import os
import re
import sys
import warnings
from typing import Any, NoReturn

from ssvi.cli import mistakes

INTERRUPTED = 130
_MISTAKE = 2
_ARGUMENTS = (
    "format|encoding|vocabulary|delimiter|segment|strip_html|drop_copies|drop_repeated|stop_words|min_df|max_df|"
    "(?:id_|title_|date_|group_)?column"
)
# Objects that are made before garbage is looked for: imports make many and drop none, and with Python's own number a
# fifteenth of a command's time goes into looking through them.
_FEW_COLLECTIONS = 10_000
_NOBODY_READS = 1  # the reader of a pipe has gone; the parser of options has this code for it too


class InterruptedCommand(Exception):  # noqa: N818  (it is no error)
    """Ctrl-C, under a name that the parser of options lets pass; its argument says what was interrupted."""


def main() -> None:
    """Run the command; anything a user can mend is one line on standard error, without a traceback."""
    gc.set_threshold(_FEW_COLLECTIONS)
    _prepare_streams()
    with warnings.catch_warnings():
        warnings.showwarning = _say_warning
        try:
            code = _run()
            sys.stdout.flush()  # here, where an error can still be told
        except BrokenPipeError:
            _leave_quietly()
        except OSError as error:
            _refuse(mistakes.of_files(error))
    raise SystemExit(code)


def _run() -> int:
    """Run the command and return its code, or raise what the system says of files and pipes."""
    try:
        from ssvi.cli.app import app
        from ssvi.errors import FitError

        try:
            code = app(prog_name="ssvi", standalone_mode=False)
        except (ValueError, FitError) as error:
            _refuse(with_options(str(error)))
    except (KeyboardInterrupt, InterruptedCommand) as interrupt:
        sys.stderr.write(f"ssvi: {' '.join(['interrupted', *map(str, interrupt.args)])}.\n")
        raise SystemExit(INTERRUPTED) from None
    except OSError:
        raise
    except Exception as error:
        # What the parser of options raises has no public name in all versions of it.
        if not hasattr(error, "format_message"):
            raise
        _refuse_options(error)
    return code if isinstance(code, int) else 0


def _prepare_streams() -> None:
    """Let there be an output, and let it take any character, as an escape where its encoding has none.

    ASCII becomes UTF-8, as the parser of options has it for what goes through its own `echo`.
    """
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        is_ascii = codecs.lookup(sys.stdout.encoding).name == "ascii"
        errors = "backslashreplace" if sys.stdout.errors == "strict" else sys.stdout.errors
        sys.stdout.reconfigure(encoding="utf-8" if is_ascii else None, errors=errors)


def _say_warning(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
    """Say a warning as commands say things, without the place in the code that it comes from."""
    sys.stderr.write(f"ssvi: {with_options(' '.join(str(message).split()))}\n")


def _leave_quietly() -> NoReturn:
    """End as tools do whose reader has gone, and keep the interpreter from writing to it once more."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(nowhere, stream.fileno())
    raise SystemExit(_NOBODY_READS) from None


def with_options(sentence: str) -> str:
    """Return a sentence of the library with the names of options where it has names of arguments."""
    sentence = sentence.replace("`max_iter`", "--passes")
    sentence = re.sub(r"\bn_components=(\d+)", r"--topics \1", sentence)
    sentence = re.sub(r"^(local|global)_step ", r"--\1-step ", sentence)
    return re.sub(rf"`({_ARGUMENTS})`", lambda found: "--" + found[1].replace("_", "-"), sentence)


def _refuse(sentence: str) -> NoReturn:
    sys.stderr.write(f"ssvi: {sentence}\n")
    raise SystemExit(_MISTAKE) from None


def _refuse_options(error: Any) -> NoReturn:
    """Say what is wrong with the options; if there are none at all, show the help."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        raise SystemExit(_MISTAKE) from None
    _refuse(mistakes.of_options(error))

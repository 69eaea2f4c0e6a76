"""The `ssvi` command."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command; anything a user can mend is one line on standard error, without a traceback."""
    from ssvi.cli.app import app
    from ssvi.engine import FitError

    try:
        app()
    except (ValueError, OSError, FitError) as error:
        sys.stderr.write(f"ssvi: {error}\n")
        raise SystemExit(2) from None

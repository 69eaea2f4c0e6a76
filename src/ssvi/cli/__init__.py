"""The `ssvi` command."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command; anything a user can mend is one line on standard error, without a traceback."""
    from ssvi.cli.app import app

    try:
        app(standalone_mode=True)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted.\n")
        raise SystemExit(130) from None
    except (ValueError, OSError) as error:
        sys.stderr.write(f"ssvi: {error}\n")
        raise SystemExit(2) from None

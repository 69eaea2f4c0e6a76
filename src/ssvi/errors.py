"""What goes wrong in a fit, by a name that needs nothing else to be imported."""

from __future__ import annotations


class FitError(RuntimeError):
    """A fit went wrong and was stopped; the message names the block and the step."""


class BackendError(FitError):
    """The place where local steps run cannot be reached or has failed; the message says what to do."""

"""Where the local step of a minibatch runs."""

from ssvi.backends.base import Backend
from ssvi.backends.threads import Threads

__all__ = ["Backend", "Threads"]

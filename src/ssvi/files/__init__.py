"""What is kept on disk: models and states, as arrays and JSON in one file that runs no code when it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssvi.lazy import lazy_names

if TYPE_CHECKING:
    from ssvi.files.checkpoints import Checkpoints
    from ssvi.files.models import load, save
    from ssvi.files.states import load_state, save_state

__all__ = ["Checkpoints", "load", "load_state", "save", "save_state"]

# Whoever only writes a file, or looks at one, does not wait for the models.
__getattr__ = lazy_names(
    __name__,
    {
        "Checkpoints": "ssvi.files.checkpoints",
        "load": "ssvi.files.models",
        "save": "ssvi.files.models",
        "load_state": "ssvi.files.states",
        "save_state": "ssvi.files.states",
    },
)

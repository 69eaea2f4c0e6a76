"""What is kept on disk: models and states, as arrays and JSON in one file that runs no code when it is read."""

from ssvi.files.checkpoints import Checkpoints
from ssvi.files.models import load, save
from ssvi.files.states import load_state, save_state

__all__ = ["Checkpoints", "load", "load_state", "save", "save_state"]

"""Models: one file a model, with its blocks, its start and its simulation."""

from typing import TYPE_CHECKING

from ssvi.lazy import lazy_names

if TYPE_CHECKING:
    from ssvi.models.base import Block, Model

__all__ = ["Block", "Model"]

# What is done with components (`merging`) needs no compiler, and those who only look at them do not wait for it.
__getattr__ = lazy_names(__name__, dict.fromkeys(__all__, "ssvi.models.base"))

"""Shapes of data: what a minibatch of documents, rows, sequences or their parts, ratings or groups is.

Each can be counted (`len`), cut (`slice`), sampled (`take`) and weighed (`costs`): that is all that the engine and the
backends ask. What lies in them is a matter of the model's local steps; `group` hands out one group after another to
those that are written for one.
"""

from ssvi.batches.documents import Documents
from ssvi.batches.frames import Frames
from ssvi.batches.groups import Groups
from ssvi.batches.minibatches import minibatches
from ssvi.batches.ratings import Ratings
from ssvi.batches.rows import DenseRows
from ssvi.batches.sequences import Sequences
from ssvi.batches.subchains import Subchains

__all__ = ["DenseRows", "Documents", "Frames", "Groups", "Ratings", "Sequences", "Subchains", "minibatches"]

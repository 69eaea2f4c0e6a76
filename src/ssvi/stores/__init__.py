"""How lambda of a block is held while a fit runs: what a step of the engine does to one block.

A `WholeStore` sees and moves all of a block in every step. A minibatch may touch a part of a block only: some rows of
it (the factors of the items that were rated), or some coordinates of all its distributions (the words of the topics).
`RowStore` and `CoordinateStore` show a global step that part. All else just shrinks towards its prior, and that is put
off until somebody looks at it; see `PutOff`.
"""

from ssvi.stores.base import Store, Update
from ssvi.stores.choice import make_store
from ssvi.stores.coordinates import CoordinateStore
from ssvi.stores.put_off import PutOff
from ssvi.stores.rows import RowStore
from ssvi.stores.whole import WholeStore

__all__ = ["CoordinateStore", "PutOff", "RowStore", "Store", "Update", "WholeStore", "make_store"]

"""What is compiled when the package is installed (`hatch_build.py`), so that first fits of topics compile nothing.

It is what topics by Gibbs sampling need in fits, `transform` and scores. Each part is for a process of its own, and
both take about the same time.

    python -m ssvi.at_install documents FOLDER
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from scipy import sparse

from ssvi import ahead
from ssvi.batches.documents import Documents
from ssvi.evaluation.document_completion import document_completion
from ssvi.evaluation.left_out import LeftOut
from ssvi.global_steps.ssvi import Ssvi
from ssvi.local_steps.hdp.gibbs import Gibbs
from ssvi.models.hdp import HDP
from ssvi.numerics import shipped

DENSE, SPARSE = 20, 400  # numbers of topics, one for each kernel that samples them


def compile_documents() -> None:
    """Compile what is done with documents: sample their topics, and score them."""
    for n_topics in (DENSE, SPARSE):
        ahead.compile_documents(n_topics)
    from_scikit_learn = sparse.csr_array(np.eye(3, ahead.WORDS, dtype=np.int64) * 4)  # whose indices have 32 bits
    document_completion(np.full((DENSE, ahead.WORDS), 1.0 / ahead.WORDS), np.full(DENSE, 0.1), from_scikit_learn)
    LeftOut(Documents.of(from_scikit_learn)).score(np.ones((DENSE, ahead.WORDS)), 0.1, np.full(DENSE, 0.1))
    _fit_hierarchical_topics(DENSE)


def compile_topics() -> None:
    """Compile what is done with topics: show them to the documents, and move them."""
    for step in ("ssvi", "ssvi_a", "map", "mean_field"):
        ahead.compile_topics(DENSE, step)
    ahead.compile_topics(SPARSE, "ssvi")
    _fit_hierarchical_topics(SPARSE)


def _fit_hierarchical_topics(n_topics: int) -> None:
    model = HDP(ahead.WORDS, n_topics, 1.0, 1.0, 0.02, HDP.learnable, evenness=1.0, half_way=True)
    ahead.fit_briefly(model, Gibbs(), Ssvi(averaging=7.0, warm_sweeps=1.0, draw_softening=1.0))


PARTS: Mapping[str, Callable[[], None]] = {"documents": compile_documents, "topics": compile_topics}


def main(part: str, folder: str) -> None:
    """Compile one part into a folder."""
    gc.disable()  # as in `ahead`: looking for garbage takes more than it gives
    shipped.add_to(Path(folder))
    PARTS[part]()


if __name__ == "__main__":
    main(*sys.argv[1:])

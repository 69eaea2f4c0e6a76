"""Peak memory of a fit over a corpus in memory: its documents, a few arrays of topics x words, and the interpreter.

Each fit runs in a process of its own, which tells its largest resident size at the end.

    python -m benchmarks.memory_peak
"""

from __future__ import annotations

import argparse
import subprocess
import sys

from benchmarks.common import Report, arguments
from ssvi.experiments import corpora

_FIT = """
import resource, sys
import numpy as np
from scipy import sparse
from ssvi import LatentDirichletAllocation
from ssvi.experiments import corpora
from pathlib import Path
path, documents, topics, step, wide, threads = sys.argv[1:]
counts = corpora.load(Path(path) if path != "None" else None, documents=int(documents)).train
matrix = sparse.csr_array((counts.counts, counts.words, counts.indptr), shape=(len(counts), counts.n_words))
matrix.resize((matrix.shape[0], max(int(wide), matrix.shape[1])))
del counts
model = LatentDirichletAllocation(int(topics), global_step=step, max_iter=1, n_jobs=int(threads), verbose=0)
model.fit(matrix[:2_000])  # loads the kernels
corpus = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
model.fit(matrix)
peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(corpus, 8 * matrix.shape[1] * int(topics), peak)
"""


def main() -> None:
    """Fit in processes of their own; compare each with what is allowed."""
    options = _options()
    report = Report(options, "memory_peak")
    for step in ("ssvi_a", "ssvi"):
        for topics, words in ((100, 0), (100, 100_000)):
            corpus, topics_size, peak = _measure(options, topics, step, words)
            allowed = corpus + 6 * topics_size + 200e6
            report.add(
                global_step=step,
                topics=topics,
                words=topics_size // (8 * topics),
                corpus_mb=corpus / 1e6,
                array_mb=topics_size / 1e6,
                peak_mb=peak / 1e6,
                allowed_mb=allowed / 1e6,
                ratio=peak / allowed,
            )
    report.show()


def _measure(options: argparse.Namespace, topics: int, step: str, words: int) -> tuple[int, int, int]:
    """Return the bytes of the corpus, of one array of topics x words, and of the process at its largest."""
    arguments = [options.corpus, options.documents, topics, step, words, options.threads]
    output = subprocess.run(
        [sys.executable, "-c", _FIT, *map(str, arguments)], check=True, capture_output=True, text=True
    ).stdout
    corpus, size, peak = (int(value) for value in output.split())
    return corpus, size, peak


def _options() -> argparse.Namespace:
    options = arguments(__doc__).parse_args()
    options.corpus = options.corpus or corpora.DOCSTRINGS
    return options


if __name__ == "__main__":
    main()

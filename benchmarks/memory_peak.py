"""Peak memory of a fit over a corpus in memory: its documents, a few arrays of topics x words, and the interpreter.

Each fit runs in a process of its own, which tells its largest resident size at the end. The estimator brings
scikit-learn along, and that imports scipy.stats, and pandas if it is installed; the engine needs neither.

    python -m benchmarks.memory_peak
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

from scipy import sparse

from benchmarks.common import Report, arguments, load

_TOPICS = 100

_START = """
import re, sys
from pathlib import Path
from scipy import sparse
path, topics, step, threads = sys.argv[1:]
def peak():  # not getrusage, which also knows the process that this one was forked from
    return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
matrix = sparse.csr_array(sparse.load_npz(path))
"""
_END = """
fit(matrix[:2_000])  # loads the kernels
before = peak()
fit(matrix)
print(before, peak())
"""
_ESTIMATOR = """
from ssvi import LatentDirichletAllocation
model = LatentDirichletAllocation(int(topics), global_step=step, max_iter=1, n_jobs=int(threads), verbose=0)
fit = model.fit
"""
_ENGINE = """
import numpy as np
from ssvi import engine
from ssvi.backends import Threads
from ssvi.batches.documents import Documents
from ssvi.global_steps.base import GlobalStep
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.models.lda import LDA
from ssvi.registry import discover
steps = discover("ssvi.global_steps", GlobalStep)
def fit(matrix):
    documents, model = Documents.from_matrix(matrix), LDA(matrix.shape[1], np.full(int(topics), 0.1), 0.01)
    problem = engine.Problem(
        model, Gibbs(), steps[step](), population=len(documents), backend=Threads(int(threads))
    )
    engine.run(problem, engine.init(model, 0), documents, sweeps=1, batch_size=min(4_000, len(documents)))
"""


def main() -> None:
    """Fit in processes of their own; compare each with what is allowed."""
    options = arguments(__doc__).parse_args()
    report, documents = Report(options, "memory_peak"), load(options).train
    for n_words in (documents.n_words, 100_000):
        matrix = documents.to_matrix()
        matrix.resize((matrix.shape[0], max(n_words, matrix.shape[1])))
        corpus = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
        array = 8 * _TOPICS * matrix.shape[1]
        allowed = corpus + 6 * array + 200e6
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "corpus.npz"
            sparse.save_npz(path, matrix, compressed=False)
            for interface, step in product(("estimator", "engine"), ("ssvi_a", "ssvi")):
                before, peak = _measure(path, interface, step, options)
                report.add(
                    interface=interface,
                    global_step=step,
                    words=matrix.shape[1],
                    corpus_mb=corpus / 1e6,
                    array_mb=array / 1e6,
                    before_mb=before / 1e6,
                    peak_mb=peak / 1e6,
                    allowed_mb=allowed / 1e6,
                    ratio=peak / allowed,
                )
    report.show()
    print("before: the process with the corpus, all libraries and kernels, and after a fit of 2,000 documents")


def _measure(path: Path, interface: str, step: str, options: argparse.Namespace) -> list[int]:
    """Return the largest resident size of a process before the fit and after it."""
    program = _START + (_ESTIMATOR if interface == "estimator" else _ENGINE) + _END
    command = [sys.executable, "-c", program, str(path), str(_TOPICS), step, str(options.threads)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [int(value) for value in output.split()]


if __name__ == "__main__":
    main()

"""Peak memory of a fit over a corpus in memory: its documents, a few arrays of topics x words, and the interpreter.

Each fit runs in a process of its own, which tells its largest resident size at the end.

    python -m benchmarks.memory_peak
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from scipy import sparse

from benchmarks.common import Report, arguments, load
from benchmarks.peers import as_matrix

_TOPICS = 100

_FIT = """
import re, sys
from pathlib import Path
from scipy import sparse
from ssvi import LatentDirichletAllocation
path, topics, step, threads = sys.argv[1:]
def peak():  # not getrusage, which also knows the process that this one was forked from
    return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
matrix = sparse.csr_array(sparse.load_npz(path))
model = LatentDirichletAllocation(int(topics), global_step=step, max_iter=1, n_jobs=int(threads), verbose=0)
model.fit(matrix[:2_000])  # loads the kernels
before = peak()
model.fit(matrix)
print(before, peak())
"""


def main() -> None:
    """Fit in processes of their own; compare each with what is allowed."""
    options = arguments(__doc__).parse_args()
    report, documents = Report(options, "memory_peak"), load(options).train
    for n_words in (documents.n_words, 100_000):
        matrix = as_matrix(documents)
        matrix.resize((matrix.shape[0], max(n_words, matrix.shape[1])))
        corpus = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
        array = 8 * _TOPICS * matrix.shape[1]
        allowed = corpus + 6 * array + 200e6
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "corpus.npz"
            sparse.save_npz(path, matrix, compressed=False)
            for step in ("ssvi_a", "ssvi"):
                before, peak = _measure(path, step, options)
                report.add(
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


def _measure(path: Path, step: str, options: argparse.Namespace) -> list[int]:
    """Return the largest resident size of a process before the fit and after it."""
    command = [sys.executable, "-c", _FIT, str(path), str(_TOPICS), step, str(options.threads)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [int(value) for value in output.split()]


if __name__ == "__main__":
    main()

"""Peak memory and the time of a step of hidden Markov models, from 10^5 to 10^7 time points.

    python -m benchmarks.sequence_memory [--points 100000 1000000 10000000] [--threads 2]

Numbers lie in a file on disk. Each fit runs in a process of its own, which tells its largest resident size:

- stream, one: one long sequence, read and fitted a piece of 100,000 time points at a time (`partial_fit`), which is cut
  into subchains;
- stream, many: sequences of 100 time points, read and fitted in such pieces as well;
- fit, many: all in memory, one pass by minibatches. The data itself is then in memory, more than once; what should not
  grow is the time of a step.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

import numpy as np

_COLUMNS, _PIECE, _LENGTH = 2, 100_000, 100
_KINDS = ("stream, one", "stream, many", "fit, many")

_PROGRAM = """
import re, sys
import numpy as np
from pathlib import Path
from ssvi import HiddenMarkovModel
path, kind, points, columns, piece, length, threads = sys.argv[1:4] + [int(value) for value in sys.argv[4:]]
points = int(points)
model = HiddenMarkovModel(5, n_init=1, max_iter=1, batch_size=20_000, n_jobs=threads, random_state=0, verbose=0)
def lengths(rows):
    return None if kind == "stream, one" else np.full(len(rows) // length, length)
if kind == "fit, many":
    rows = np.fromfile(path, count=points * columns).reshape(-1, columns)
    model.fit(rows, lengths(rows))
else:
    for begin in range(0, points, piece):
        count = min(piece, points - begin)
        rows = np.fromfile(path, count=count * columns, offset=8 * begin * columns).reshape(-1, columns)
        model.partial_fit(rows, lengths(rows))
peak = int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024
seconds = [info.seconds for info in model.history_]
print(peak, len(seconds), np.median(seconds), np.sort(model.means_[:, 0]).round(1).tolist(), sep=";")
"""


def write_numbers(path: Path, points: int) -> None:
    """Write a chain of five states that mostly stays where it is, seen with noise, a piece at a time."""
    rng, state = np.random.default_rng(0), 0
    with path.open("wb") as stream:
        for begin in range(0, points, _PIECE):
            count = min(_PIECE, points - begin)
            states = (state + np.cumsum((rng.random(count) < 0.1) * rng.integers(1, 5, count))) % 5
            state = int(states[-1])
            places = np.stack([states, -states], axis=1) * 3.0
            (places + rng.normal(size=(count, _COLUMNS))).tofile(stream)


def measure(path: Path, kind: str, points: int, threads: int) -> list[str]:
    """Return a line of the table."""
    sizes = [str(size) for size in (points, _COLUMNS, _PIECE, _LENGTH, threads)]
    command = [sys.executable, "-c", _PROGRAM, str(path), kind, *sizes]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    peak, steps, seconds, means = output.strip().split(";")
    return [kind, f"{points:,}", f"{float(peak):.0f}", steps, f"{1e3 * float(seconds):.1f}", means]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--kinds", nargs="+", choices=_KINDS, default=list(_KINDS))
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "numbers"
        write_numbers(path, max(options.points))
        print(" | ".join(["", "time points", "peak MB", "steps", "ms a step", "means"]))
        for kind, points in product(options.kinds, options.points):
            print(" | ".join(measure(path, kind, points, options.threads)), flush=True)


if __name__ == "__main__":
    main()

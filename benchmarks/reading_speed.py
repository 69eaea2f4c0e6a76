"""Reading text, one document a line, against scikit-learn's CountVectorizer alone on the same lines.

python -m benchmarks.reading_speed
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import Report, in_turns
from ssvi.data.readers import TextOptions, read_corpus


def main() -> None:
    """Write lines of words that follow Zipf's law; read them both ways, in turns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output", type=Path, default=Path("results") / "bench", help="where the table goes")
    options = parser.parse_args()
    report = Report(options, "reading_speed")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lines.txt"
        _write(path, options.lines)
        calls: list[Callable[[], Any]] = [lambda: _alone(path), lambda: read_corpus(path, text=TextOptions(min_df=2))]
        alone, ours = in_turns(calls, options.repeats)
    report.add(lines=options.lines, count_vectorizer=alone, read_corpus=ours, ratio=ours / alone)
    report.show()


def _write(path: Path, lines: int) -> None:
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(50_000)])
    chances = 1.0 / np.arange(1, len(words) + 1)
    with path.open("w", encoding="utf-8") as file:
        for start in range(0, lines, 100_000):
            count = min(100_000, lines - start)
            drawn = words[rng.choice(len(words), size=(count, 12), p=chances / chances.sum())]
            file.writelines(" ".join(line) + "\n" for line in drawn)


def _alone(path: Path) -> Any:
    """Count the words of the same lines by scikit-learn."""
    from sklearn.feature_extraction.text import CountVectorizer

    with path.open(encoding="utf-8") as lines:
        return CountVectorizer(stop_words="english", min_df=2).fit_transform(lines)


if __name__ == "__main__":
    main()

"""Reading text, one document a line, against scikit-learn's CountVectorizer alone on the same lines; and JSON lines.

Seconds are of processor time.

python -m benchmarks.reading_speed
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import Report
from ssvi.data.readers import TextOptions, read_corpus


def main() -> None:
    """Write lines of words that follow Zipf's law; read them both ways, in turns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--json-lines", type=int, default=273_000, help="of about 670 bytes each")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output", type=Path, default=Path("results") / "bench", help="where the table goes")
    options = parser.parse_args()
    report = Report(options, "reading_speed")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lines.txt"
        _write(path, options.lines)
        calls: list[Callable[[], Any]] = [lambda: _alone(path), lambda: read_corpus(path, text=TextOptions(min_df=2))]
        alone, ours = _best_in_turns(calls, options.repeats)
        report.add(what="lines", lines=options.lines, count_vectorizer=alone, read_corpus=ours, ratio=ours / alone)
        records = Path(folder) / "records.jsonl"
        _write_records(records, options.json_lines)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        (seconds,) = _best_in_turns([lambda: read_corpus(records, text=TextOptions(min_df=2, max_df=0.5))], 1)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        megabytes = records.stat().st_size / 1e6
        report.add(what=f"JSON lines, {megabytes:.0f} MB; memory grew by {grown:.0f} MB", lines=options.json_lines,
                   read_corpus=seconds)  # fmt: skip
    report.show()


def _best_in_turns(calls: list[Callable[[], Any]], repeats: int) -> list[float]:
    """Return the fewest seconds of processor time that each call took, which other programs disturb least."""
    best = [np.inf] * len(calls)
    for _ in range(repeats):
        for place, call in enumerate(calls):
            before = time.process_time()
            call()
            best[place] = min(best[place], time.process_time() - before)
    return best


def _write_records(path: Path, lines: int) -> None:
    """Write JSON objects with an id, a title and a text of some hundred words; as in English, half are stop words."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    rng = np.random.default_rng(1)
    words = np.array([*sorted(ENGLISH_STOP_WORDS), *(f"word{i}" for i in range(200_000))])
    chances = 1.0 / np.arange(1, len(words) + 1)
    with path.open("w", encoding="utf-8") as file:
        for start in range(0, lines, 10_000):
            count = min(10_000, lines - start)
            drawn = words[rng.choice(len(words), size=(count, 92), p=chances / chances.sum())]
            for number, line in enumerate(drawn, start):
                record = {"id": number, "title": " ".join(line[:3]), "text": " ".join(line)}
                file.write(json.dumps(record) + "\n")


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

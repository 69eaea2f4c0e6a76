"""From a folder of short texts to a report, as a newcomer meets it: two commands, and kernels not compiled yet.

The texts are docstrings of this machine, each a file; if there are too few of them they are taken again.

    python -m benchmarks.first_report
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path

from benchmarks.common import Report
from ssvi.data.docstrings import default_folders, docstring_corpus, python_files


def main() -> None:
    """Write the texts, then fit and report with an empty cache of kernels, and fit again with a full one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--output", type=Path, default=Path("results") / "bench", help="where the table goes")
    options = parser.parse_args()
    report = Report(options, "first_report")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts = folder / "texts"
        texts.mkdir()
        for number, text in enumerate(islice(cycle(docstring_corpus(python_files(default_folders()))), options.files)):
            (texts / f"{number:06d}.txt").write_text(text, encoding="utf-8")
        model, page = folder / "topics.ssvi", folder / "report.html"
        fit = ["fit", "lda", str(texts), "--topics", str(options.topics), "--output", str(model), "--quiet"]
        first = _seconds(folder, *fit)
        shown = _seconds(folder, "report", str(model), "--output", str(page), "--quiet")
        again = _seconds(folder, *fit)
        report.add(
            files=options.files, topics=options.topics, fit=first, report=shown, both=first + shown, fit_again=again,
            page_kilobytes=page.stat().st_size / 1_000,
        )  # fmt: skip
    report.show()


def _seconds(folder: Path, *arguments: str) -> float:
    """Run a command with a cache of kernels of its own; return how long it took, start-up and all."""
    started = time.perf_counter()
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder / "kernels")}
    subprocess.run([sys.executable, "-m", "ssvi", *arguments], check=True, env=environment)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()

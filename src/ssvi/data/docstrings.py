"""Real text that is on every machine: the docstrings of the standard library and of installed packages.

Source files are parsed with `ast` and never imported, so nothing of theirs runs.
"""

from __future__ import annotations

import ast
import os
import site
import sysconfig
import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

_SKIPPED_FOLDERS = {"test", "tests", "testing", "idle_test", "site-packages", "dist-packages", "__pycache__"}
_LARGEST_FILE = 1_000_000  # bytes; larger ones are generated tables


def default_folders() -> list[Path]:
    """Return the folders of the standard library and of installed packages."""
    found = [sysconfig.get_paths()["stdlib"], sysconfig.get_paths()["purelib"], *site.getsitepackages()]
    unique = dict.fromkeys(Path(folder).resolve() for folder in found)
    return [folder for folder in unique if folder.is_dir()]


def python_files(folders: Iterable[Path], most: int | None = None) -> list[Path]:
    """Return the Python files below some folders, without tests, in a fixed order: all, or the first `most`."""
    files: dict[Path, None] = {}
    for path in chain.from_iterable(map(_files_below, folders)):
        if most is not None and len(files) >= most:
            break
        files[Path(path)] = None
    return list(files)


def _files_below(folder: str | Path) -> Iterator[str]:
    """Yield the Python files below a folder by their names, and look into no folder before its turn."""
    try:
        with os.scandir(folder) as entries:
            ordered = sorted(entries, key=lambda entry: entry.name)
    except PermissionError:
        return
    for entry in ordered:
        if entry.is_dir(follow_symlinks=False):
            if entry.name not in _SKIPPED_FOLDERS:
                yield from _files_below(entry.path)
        elif entry.name.endswith(".py") and entry.stat().st_size <= _LARGEST_FILE:
            yield entry.path


def docstrings(path: Path) -> Iterator[str]:
    """Yield the docstrings of a file's module, classes and functions; none if it is not valid Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # other people's escape sequences
            tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, OSError, RecursionError, MemoryError):
        return
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield text
        # Definitions stand in statements only: expressions, most of the tree, need not be walked.
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            children = getattr(node, name, ())
            waiting.extend(children if isinstance(children, list) else ())


def docstring_corpus(
    files: Iterable[Path], *, shortest: int = 40, report: Callable[[int], None] = lambda done: None
) -> list[str]:
    """Return the distinct docstrings of some files that have at least `shortest` words, in a fixed order.

    `report` is told after each file how many have been read.
    """
    texts: dict[str, None] = {}
    for done, path in enumerate(files, start=1):
        for text in docstrings(path):
            if len(text.split()) >= shortest:
                texts[text] = None
        report(done)
    return list(texts)

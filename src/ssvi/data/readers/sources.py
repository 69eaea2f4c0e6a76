"""Where documents come from: files, folders and patterns of names, one or many."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from ssvi.data.readers.base import CorpusError, Progress

_TABLES = {".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".arrow", ".feather", ".npz", ".mtx"}
PathLike = str | os.PathLike[str]


def expand(paths: PathLike | Iterable[PathLike]) -> list[Path]:
    """Return the files and folders that some paths and patterns (`*.txt`, `**/*.json`) stand for, each once.

    A path that is there is itself, whatever characters it has. Those of a pattern are in the order of their names.
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not given:
        raise CorpusError("there is nothing to read: give a file or a folder.")
    found = [path for own in given for path in _expand_one(os.fspath(own))]
    return list(dict.fromkeys(found))


def _expand_one(given: str) -> list[Path]:
    path = Path(given)
    if path.exists() or path.is_symlink() or not glob.has_magic(given):
        return [path]
    found = sorted(glob.glob(given, recursive=True))
    if not found:
        raise CorpusError(f"no file is called like {given!r}: check the pattern.")
    return [Path(own) for own in found]


def files_below(folder: Path) -> tuple[list[tuple[str, Path]], int]:
    """Return the files under a folder with their names in it, sorted, and how many links in it lead nowhere.

    Links are followed; a folder that several lead to, or that holds itself, is gone through once. What is hidden is
    left out.
    """
    found, seen, lost = [], {_identity(folder)}, 0
    for place, inner, own in os.walk(folder, followlinks=True):
        inner[:] = sorted(name for name in inner if not name.startswith(".") and _is_new(Path(place, name), seen))
        for name in own:
            file = Path(place, name)
            if name.startswith("."):
                continue
            if file.is_file():
                found.append((file.relative_to(folder).as_posix(), file))
            elif file.is_symlink() and not file.exists():
                lost += 1
    _refuse_tables(folder, found)
    if not found:
        why = f"has links that lead nowhere and no files in it ({lost:,} of them)" if lost else "has no files in it"
        raise CorpusError(f"{folder} {why}: give a folder of text files.")
    return sorted(found), lost


def _refuse_tables(folder: Path, found: Sequence[tuple[str, Path]]) -> None:
    """Refuse a folder of tables, each of which would be taken for one document."""
    suffixes = {file.suffix.lower() for _, file in found}
    if found and suffixes <= _TABLES:
        suffix = found[0][1].suffix
        raise CorpusError(
            f"{folder} holds {suffix} files, which have many documents each: give them by a pattern, "
            f"'{folder}/*{suffix}'."
        )


def _identity(folder: Path) -> tuple[int, int]:
    about = folder.stat()
    return about.st_dev, about.st_ino


def _is_new(folder: Path, seen: set[tuple[int, int]]) -> bool:
    own = _identity(folder)
    if own in seen:
        return False
    seen.add(own)
    return True


def sizes(paths: Sequence[Path]) -> list[int]:
    """Return how many bytes each file has, and each folder's files."""
    return [
        sum(file.stat().st_size for _, file in files_below(path)[0]) if path.is_dir() else path.stat().st_size
        for path in paths
    ]


def shared_progress(progress: Progress | None, all_sizes: Sequence[int], number: int) -> Progress | None:
    """Return what tells of one of several sources as a part of all."""
    if progress is None or len(all_sizes) == 1:
        return progress
    before, total = sum(all_sizes[:number]), sum(all_sizes)
    return lambda done, _: progress(min(before + done, total), total)


def in_words(paths: Sequence[Path]) -> str:
    """Return what is read, for messages: the path, or the first of several and how many there are."""
    return str(paths[0]) if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1:,} other{'s' * (len(paths) > 2)}"

"""What commands share: options, bars while they work, places to write to, models."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn

from ssvi.files.atomic import check_place, try_folder


def starting_with(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return what completes a half-written name in a shell; the names are looked up only then."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return complete


ModelFile = Annotated[Path, typer.Argument(help="A file that `ssvi fit` wrote.")]
ColumnNames = Annotated[
    Path | None, typer.Option("--vocabulary", help="Words of the columns, one a line, for a model that has none.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
BackendName = Annotated[
    str,
    typer.Option(
        help="Where documents are handled: threads, ray (a local Ray), or ray:ADDRESS (a cluster at host:port or auto)."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object for scripts.")]


@contextmanager
def busy(label: str, *, quiet: bool) -> Iterator[None]:
    """Show on a terminal that something is being done whose end is not known."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield
        return
    with console.status(label):
        yield


@contextmanager
def bar(label: str, *, quiet: bool, counted: ProgressColumn | None = None) -> Iterator[Any]:
    """Show on a terminal how much has been done: bytes, or what a column says."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), counted or DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=quiet or not console.is_terminal, transient=True) as progress:
        task = progress.add_task(label, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def check_output(output: Path, *sources: Path | None) -> None:
    """Find out before the work whether its result has a place, and whether it would take that of something else."""
    if output.is_dir():
        raise ValueError(f"{output} is a folder: --output is the file to write.")
    if not output.parent.is_dir():
        raise ValueError(f"there is no folder {output.parent} to write {output.name} to.")
    if output.exists() and not output.is_file():
        raise ValueError(f"{output} is no ordinary file: give another name.")
    if any(
        source is not None and source.exists() and output.exists() and output.samefile(source) for source in sources
    ):
        raise ValueError(f"{output} is what is to be read: give the result another name.")
    try:
        check_place(output)
    except OSError as error:
        what = "is a link to where nothing can be written" if output.is_symlink() else "cannot be written"
        raise ValueError(f"{output} {what} ({error.strerror}): give another name or folder.") from None


def check_folder(folder: Path, option: str, what: str) -> None:
    """Find out before the work whether files can be put into a folder, which need not be there yet."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists() or path.is_symlink())
    if not there.is_dir():
        raise ValueError(f"{there} is no folder: {option} is a folder for {what}.")
    try:
        try_folder(there)
    except OSError as error:
        raise ValueError(f"{there} cannot be written to ({error.strerror}): give {what} another folder.") from None


def print_json(value: Any) -> None:
    """Print a value as one line of JSON; with escapes for other than ASCII where the output is not UTF-8."""
    is_utf8 = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "") == "utf8"
    typer.echo(json.dumps(value, ensure_ascii=not is_utf8))


def load_model(path: Path) -> Any:
    """Read a model file for a command, which has the columns in the model's order and knows their names as words."""
    from ssvi.files.models import load  # which brings scikit-learn: commands that only show a model do without

    estimator = load(path)
    names = vars(estimator).pop("feature_names_in_", None)  # scikit-learn would want a data frame with them
    if names is not None and not hasattr(estimator, "vocabulary_"):
        estimator.vocabulary_ = names
    return estimator


def named(estimator: Any, vocabulary: Path | None) -> Any:
    """Return a model with the words of a file, if one is given."""
    if vocabulary is not None:
        estimator.vocabulary_ = words_from(vocabulary, estimator.n_features_in_)
    return estimator


def words_from(vocabulary: Path, columns: int) -> list[str]:
    """Return the words of a file, one for each column of a model."""
    from ssvi.data.readers import read_vocabulary

    words = read_vocabulary(vocabulary)
    if len(words) != columns:
        raise ValueError(f"{vocabulary} has {len(words):,} words, and the model {columns:,} columns.")
    return list(words)

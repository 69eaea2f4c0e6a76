"""What commands that read data share: their options, and bars while they read and work."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn

from ssvi.files.models import vocabulary_of

if TYPE_CHECKING:
    from ssvi.data.readers import Corpus


def starting_with(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return what completes a half-written name in a shell; the names are looked up only then."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return complete


def _formats() -> Iterable[str]:
    from ssvi.data.readers import FORMATS

    return FORMATS


def _of_input(*names: str, **settings: Any) -> Any:
    return typer.Option(*names, rich_help_panel="Input", **settings)


def _of_text(**settings: Any) -> Any:
    return typer.Option(rich_help_panel="Text", **settings)


Input = Annotated[Path, typer.Argument(help="A file or folder; `ssvi corpus formats` lists what can be read.")]
Format = Annotated[
    str | None,
    _of_input("--format", help="Of the input, if its name does not tell.", autocompletion=starting_with(_formats)),
]
Column = Annotated[str | None, _of_input(help="Column or key of the text in tables and JSON lines.")]
Vocabulary = Annotated[Path | None, _of_input(help="The words to count, one a line.")]
Encoding = Annotated[str, _of_input(help="Of text.")]
StopWords = Annotated[str, _of_text(help="english, none, or a file of words, one a line.")]
Ngrams = Annotated[int, _of_text(min=1, max=20, help="The longest run of words that is a term.")]
MinDf = Annotated[float, _of_text(min=0.0, help="Leave out words of fewer documents (below 1: a share of them).")]
MaxDf = Annotated[float, _of_text(min=0.0, help="Leave out words of more documents (to 1: a share of them).")]
MaxWords = Annotated[int | None, _of_text(min=1, help="Keep so many words, the most frequent.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object for scripts.")]


@dataclass(frozen=True)
class Reading:
    """How an input is to be read."""

    path: Path
    format: str | None = None
    column: str | None = None
    vocabulary: Path | None = None
    encoding: str = "utf-8"
    text: Any = None

    def read(self, *, quiet: bool) -> Corpus:
        """Read it, with a bar if it takes a while."""
        from ssvi.data.readers import TextOptions, read_corpus

        with bar(f"reading {self.path.name}", quiet=quiet) as advance:
            return read_corpus(
                self.path,
                format=self.format,
                column=self.column,
                vocabulary=self.vocabulary,
                text=self.text or TextOptions(),
                progress=advance,
                encoding=self.encoding,
            )

    def over(self, estimator: Any) -> Reading:
        """Return how to read it over the words of a fitted model, where it has words."""
        from ssvi.data.readers import TextOptions

        words = vocabulary_of(estimator)
        if words is None:
            return self
        text = TextOptions.for_words(words, getattr(estimator, "text_options_", None))
        return dataclasses.replace(self, text=text)


def text_options(stop_words: str, ngrams: int, min_df: float, max_df: float, max_words: int | None) -> Any:
    """Return how text becomes words, from the options of a command."""
    from ssvi.data.readers import TextOptions, read_vocabulary

    words: Any = {"english": "english", "none": None}.get(stop_words, stop_words)
    if isinstance(words, str) and words != "english":
        words = tuple(read_vocabulary(Path(words), "utf-8"))
    return TextOptions(
        stop_words=words,
        ngram_range=(1, ngrams),
        min_df=int(min_df) if min_df >= 1 else min_df,
        max_df=int(max_df) if max_df > 1 else max_df,
        max_features=max_words,
    )


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

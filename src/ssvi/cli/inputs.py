"""What commands that read data share: their options, and bars while they read and work."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn

from ssvi.files.atomic import check_place
from ssvi.files.models import load, vocabulary_of

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
StopWords = Annotated[
    str | None, _of_text(help="english, none, or a file of words, one a line.", show_default="english")
]
Ngrams = Annotated[
    int | None, _of_text(min=1, max=20, help="The longest run of words that is a term.", show_default="1")
]
MinDf = Annotated[
    float | None,
    _of_text(min=0.0, help="Leave out words of fewer documents (below 1: a share of them).", show_default="2"),
]
MaxDf = Annotated[
    float | None,
    _of_text(min=0.0, help="Leave out words of more documents (to 1: a share of them).", show_default="0.5"),
]
MaxWords = Annotated[int | None, _of_text(min=1, help="Keep so many words, the most frequent.")]
ColumnNames = Annotated[
    Path | None, typer.Option("--vocabulary", help="Words of the columns, one a line, for a model that has none.")
]
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
    given: tuple[str, ...] = ()
    """Options that are for text only."""

    def read(self, *, quiet: bool) -> Corpus:
        """Read it, with a bar if it takes a while."""
        from ssvi.data.readers import TextOptions, read_corpus

        with bar(f"reading {self.path.name}", quiet=quiet) as advance:
            corpus = read_corpus(
                self.path,
                format=self.format,
                column=self.column,
                vocabulary=self.vocabulary,
                text=self.text or TextOptions(),
                progress=advance,
                encoding=self.encoding,
            )
        if corpus.text is None and self.given:
            raise ValueError(f"{self.path} holds counts, and {', '.join(self.given)} is for text: leave it out.")
        return corpus

    def beginnings(self, rows: Collection[int], length: int) -> Mapping[int, str]:
        """Return how some documents of a corpus of text begin; nothing for tables that are not read by lines."""
        from ssvi.data.readers.base import TEXT_FORMATS, guess_format
        from ssvi.data.readers.text import read_beginnings

        format = self.format or guess_format(self.path)
        if format not in TEXT_FORMATS:
            return {}
        return read_beginnings(self.path, rows, length, format, self.column, self.encoding)

    def over(self, estimator: Any) -> Reading:
        """Return how to read it over the words of a fitted model, where it has words."""
        from ssvi.data.readers import TextOptions

        words = vocabulary_of(estimator)
        if words is None:
            return self
        text = TextOptions.for_words(words, getattr(estimator, "text_options_", None))
        return dataclasses.replace(self, text=text)


def text_options(
    stop_words: str | None, ngrams: int | None, min_df: float | None, max_df: float | None, max_words: int | None
) -> dict[str, Any]:
    """Return how text becomes words, from the options of a command, and which were given: parts of a Reading."""
    from ssvi.data.readers import TextOptions

    options = {
        "--stop-words": stop_words, "--ngrams": ngrams, "--min-df": min_df, "--max-df": max_df, "--max-words": max_words
    }  # fmt: skip
    least, most = 2.0 if min_df is None else min_df, 0.5 if max_df is None else max_df
    text = TextOptions(
        stop_words=_stop_words(stop_words or "english"),
        ngram_range=(1, ngrams or 1),
        min_df=int(least) if least >= 1 else least,
        max_df=int(most) if most > 1 else most,
        max_features=max_words,
    )
    return {"text": text, "given": tuple(name for name, value in options.items() if value is not None)}


def _stop_words(choice: str) -> Any:
    """Return the words to leave out: a list that is known, none, or those of a file."""
    from ssvi.data.readers import read_vocabulary

    if choice in ("english", "none"):
        return {"english": "english", "none": None}[choice]
    if not Path(choice).is_file():
        raise ValueError(f"--stop-words is english, none, or a file of words, and there is no file {choice}.")
    return tuple(read_vocabulary(Path(choice), "utf-8"))


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


def print_json(value: Any) -> None:
    """Print a value as one line of JSON; with escapes for other than ASCII where the output is not UTF-8."""
    is_utf8 = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "") == "utf8"
    typer.echo(json.dumps(value, ensure_ascii=not is_utf8))


def load_model(path: Path) -> Any:
    """Read a model file for a command, which has the columns in the model's order and knows their names as words."""
    estimator = load(path)
    names = vars(estimator).pop("feature_names_in_", None)  # scikit-learn would want a data frame with them
    if names is not None and not hasattr(estimator, "vocabulary_"):
        estimator.vocabulary_ = names
    return estimator


def named(estimator: Any, vocabulary: Path | None) -> Any:
    """Return a model with the words of a file, if one is given."""
    if vocabulary is not None:
        from ssvi.data.readers import read_vocabulary

        words = read_vocabulary(vocabulary)
        if len(words) != estimator.n_features_in_:
            raise ValueError(
                f"{vocabulary} has {len(words):,} words, and the model {estimator.n_features_in_:,} columns."
            )
        estimator.vocabulary_ = words
    return estimator

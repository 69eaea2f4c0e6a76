"""How commands read data: the options that they share, and what these make of an input."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ssvi.cli.inputs import bar, starting_with
from ssvi.cli.mistakes import refuse_swapped

if TYPE_CHECKING:
    from ssvi.data.readers import Corpus

_DELIMITERS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}


def _formats() -> Iterable[str]:
    from ssvi.data.readers import FORMATS

    return FORMATS


def _of_input(*names: str, **settings: Any) -> Any:
    return typer.Option(*names, rich_help_panel="Input", **settings)


def _of_text(*names: str, **settings: Any) -> Any:
    return typer.Option(*names, rich_help_panel="Text", **settings)


Inputs = Annotated[
    list[Path],
    typer.Argument(
        help="Files, folders or patterns such as 'news/*.csv'; `ssvi corpus formats` lists what can be read.",
        show_default=False,
    ),
]
Vocabulary = Annotated[Path | None, _of_input(help="The words to count, one a line.")]
MinDf = Annotated[
    float | None,
    _of_text(min=0.0, help="Leave out words of fewer documents (below 1: a share of them).", show_default="2"),
]
MaxDf = Annotated[
    float | None,
    _of_text(min=0.0, help="Leave out words of more documents (to 1: a share of them).", show_default="0.5"),
]
MaxWords = Annotated[int | None, _of_text(min=1, help="Keep so many words, the most frequent.")]


@dataclass(frozen=True)
class Reading:
    """How an input is to be read."""

    paths: tuple[Path, ...] = ()
    format: str | None = None
    vocabulary: Path | None = None
    encoding: str = "utf-8"
    columns: Mapping[str, str | None] = dataclasses.field(default_factory=dict)
    """The names of columns and the delimiter, as `read_corpus` calls them."""
    text: Any = None
    given: tuple[str, ...] = ()
    """Options that are for text only."""
    preferred: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """What the fit of a model was asked for: it holds where nothing else is, and the input has it."""
    found: str | None = None
    """The format that was found to be meant, where none is asked for."""

    def at(self, paths: Sequence[Path]) -> Reading:
        """Return how to read some paths."""
        return dataclasses.replace(self, paths=tuple(paths))

    @property
    def where(self) -> str:
        """What is read, for messages."""
        from ssvi.data.readers.sources import in_words

        return in_words(self.paths)

    def options(self) -> list[str]:
        """Return the options of `how_to_read` that were given, as they are typed."""
        given = {"format": self.format, **self.columns}
        typed = [part for name, value in given.items() if value is not None
                 for part in (f"--{name.replace('_', '-')}", value)]  # fmt: skip
        return typed + (["--encoding", self.encoding] if self.encoding != "utf-8" else [])

    def read(self, *, quiet: bool) -> Corpus:
        """Read it, with a bar if it takes a while; what a person should know of it is said."""
        from ssvi.data.readers import TextOptions, read_corpus

        progress = _Progress()
        try:
            with bar(f"reading {self.where}", quiet=quiet) as advance:
                corpus = read_corpus(
                    self.paths,
                    format=self.format or self.found,
                    vocabulary=self.vocabulary,
                    text=self.text or TextOptions(),
                    progress=progress.with_bar(advance),
                    encoding=self.encoding,
                    preferred=self.preferred,
                    **self.columns,
                )
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                f"while reading {self.where}{progress.in_words()}, and nothing was written"
            ) from None
        if corpus.text is None and self.given:
            what = "numbers" if corpus.is_table else "counts"
            raise ValueError(f"{self.where} holds {what}, and {', '.join(self.given)} is for text: leave it out.")
        return corpus

    def beginnings(self, rows: Collection[int], length: int) -> Mapping[int, str]:
        """Return how some documents of a corpus of text begin."""
        from ssvi.data.readers import sources_of
        from ssvi.data.readers.asked import format_before
        from ssvi.data.readers.columns import columns_of
        from ssvi.data.readers.text import read_beginnings

        columns = columns_of(self.columns, self.preferred)
        without_html = self.text is not None and self.text.strip_html
        sources = sources_of(self.paths, self.format or format_before(self.preferred, self.paths))
        return read_beginnings(sources, rows, length, columns, self.encoding, without_html=without_html)

    def over(self, estimator: Any) -> Reading:
        """Return how to read it over the words of a fitted model, where it has words, and as its fit was asked to."""
        from ssvi.data.readers import TextOptions
        from ssvi.files.models import vocabulary_of

        words, own = vocabulary_of(estimator), self.as_before(estimator).by(estimator)
        if words is None:
            return own
        text = TextOptions.for_words(words, getattr(estimator, "text_options_", None))
        return dataclasses.replace(own, text=text)

    def by(self, estimator: Any) -> Reading:
        """Return how a model reads it: one of numbers takes a table for numbers, unless another format is asked for."""
        from ssvi.data.readers import numbers_format
        from ssvi.data.readers.asked import format_before

        if self.format or format_before(self.preferred, self.paths) or getattr(estimator, "columns_are_words", False):
            return self
        is_of_numbers = bool(getattr(estimator, "rows_are_means", False))
        asked = {name: self.columns.get(name) for name in ("column", "delimiter")}
        found = numbers_format(self.paths, must_be_numbers=is_of_numbers, encoding=self.encoding, **asked)
        return dataclasses.replace(self, found=found)

    def as_before(self, estimator: Any) -> Reading:
        """Return how to read it as the fit of a model was asked to, wherever nothing else is asked for now."""
        return dataclasses.replace(self, preferred=getattr(estimator, "reading_options_", {}))


class _Progress:
    """How much of an input was read, for whoever interrupts it."""

    def __init__(self) -> None:
        self._done, self._total = 0, 0

    def with_bar(self, advance: Callable[[int, int | None], None]) -> Callable[[int, int | None], None]:
        def report(done: int, total: int | None) -> None:
            self._done, self._total = done, total or 0
            advance(done, total)

        return report

    def in_words(self) -> str:
        """Return the share that was read, in brackets, where it is known."""
        return f" ({100 * self._done // self._total}% of it was read)" if self._total else ""


def how_to_read(
    format: Annotated[
        str | None,
        _of_input(
            "--format", help="Format of the input, if its name does not tell.", autocompletion=starting_with(_formats)
        ),
    ] = None,
    column: Annotated[str | None, _of_input(help="Column or key of the text in tables and JSON.")] = None,
    id_column: Annotated[str | None, _of_input(help="Column or key of a document's id.", show_default="id")] = None,
    title_column: Annotated[str | None, _of_input(help="Column or key of its title.", show_default="title")] = None,
    date_column: Annotated[str | None, _of_input(help="Column or key of its date.", show_default="date")] = None,
    group_column: Annotated[
        str | None, _of_input(help="Column or key of the group it belongs to.", show_default="group")
    ] = None,
    delimiter: Annotated[
        str | None,
        _of_input(help="What stands between columns: a character, or tab.", show_default="as the file has it"),
    ] = None,
    encoding: Annotated[str, _of_input(help="Encoding of the text.")] = "utf-8",
) -> Reading:
    """Return how an input is read, from the options of a command."""
    columns = {
        "column": column, "id_column": id_column, "title_column": title_column, "date_column": date_column,
        "group_column": group_column, "delimiter": _DELIMITERS.get(delimiter or "", delimiter),
    }  # fmt: skip
    return Reading(format=format, encoding=encoding, columns=columns)


def how_to_count(
    vocabulary: Vocabulary = None,
    stop_words: Annotated[
        str | None,
        _of_text(
            help="Languages (english, german, ...), files of a word a line, or none; several with commas between.",
            show_default="english",
        ),
    ] = None,
    ngrams: Annotated[
        int | None, _of_text(min=1, max=20, help="The longest run of words that is a term.", show_default="1")
    ] = None,
    min_df: MinDf = None,
    max_df: MaxDf = None,
    max_words: MaxWords = None,
    phrases: Annotated[
        bool, _of_text("--phrases", help="Take words that stand together more often than by chance for one: new york.")
    ] = False,
    strip_html: Annotated[bool, _of_text("--strip-html", help="Take tags out of the text.")] = False,
    no_numbers: Annotated[bool, _of_text("--no-numbers", help="Leave out words without letters.")] = False,
    segment: Annotated[str | None, _of_text(help="Cut text without spaces into words: chinese or japanese.")] = None,
    drop_copies: Annotated[
        bool, _of_text("--drop-copies", help="Leave out documents that are exact copies of others.")
    ] = False,
    drop_repeated: Annotated[
        bool, _of_text("--drop-repeated", help="Take out lines and sentences that stand in a tenth of the documents.")
    ] = False,
    **reading: Any,
) -> Reading:
    """Return how an input is read and its words are counted, from the options of a command."""
    from ssvi.data.readers import PhraseRule, TextOptions

    options = {
        "--stop-words": stop_words, "--ngrams": ngrams, "--min-df": min_df, "--max-df": max_df,
        "--max-words": max_words, "--phrases": phrases or None, "--strip-html": strip_html or None,
        "--no-numbers": no_numbers or None, "--segment": segment, "--drop-copies": drop_copies or None,
        "--drop-repeated": drop_repeated or None,
    }  # fmt: skip
    least, most = 2.0 if min_df is None else min_df, 0.5 if max_df is None else max_df
    if phrases and vocabulary is not None:
        raise ValueError("--phrases looks for terms, and --vocabulary has them: leave out one of the two.")
    language, words = _stop_words(stop_words or "english")
    text = TextOptions(
        stop_words=language,
        more_stop_words=words,
        ngram_range=(1, ngrams or 1),
        min_df=int(least) if least >= 1 else least,
        max_df=int(most) if most > 1 else most,
        max_features=max_words,
        phrases=PhraseRule() if phrases else None,
        strip_html=strip_html,
        numbers=not no_numbers,
        pieces=language is None and not words,
        segment=segment,
        drop_copies=drop_copies,
        drop_repeated=drop_repeated,
    )
    text.words_to_leave_out()  # which may want a package that is not there: better told before anything is read
    given = tuple(name for name, value in options.items() if value is not None)
    return dataclasses.replace(how_to_read(**reading), vocabulary=vocabulary, text=text, given=given)


def _stop_words(choice: str) -> tuple[Any, tuple[str, ...]]:
    """Return the words to leave out: a language or none, and further words of files and other languages."""
    from ssvi.data.readers import read_vocabulary
    from ssvi.data.readers.languages import LANGUAGES, PIECES, stop_words_of

    language, words = None, []
    for part in choice.split(","):
        name = part.lower()
        if name in LANGUAGES and language is None:
            language = name
        elif name in LANGUAGES:
            words += sorted(stop_words_of(name) | PIECES.get(name, frozenset()))
        elif Path(part).is_file():
            words += read_vocabulary(Path(part), "utf-8")
        elif name != "none":
            raise ValueError(
                f"--stop-words: there is no language and no file {part!r}; languages are {', '.join(LANGUAGES)}."
            )
    return language, tuple(words)


def reads(
    template: Callable[..., Reading], *, later: bool = False
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of `how_to_read` or `how_to_count`; it gets what they make as its `reading`.

    If it comes `later`, it gets a function that makes it: what options of text mean takes some time to import.
    """
    added: dict[str, inspect.Parameter] = {}
    for function in (template, how_to_read):
        added |= inspect.signature(function, eval_str=True).parameters
    options = [option for option in added.values() if option.kind is not inspect.Parameter.VAR_KEYWORD]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True)
        shown = [one for parameter in own.parameters.values()
                 for one in (options if parameter.name == "reading" else [parameter])]  # fmt: skip

        @functools.wraps(command)
        def run(**given: Any) -> None:
            refuse_swapped(command.__name__, given.get("model"), given.get("source"))
            parts = {option.name: given.pop(option.name) for option in options}
            make = functools.partial(template, **parts)
            command(**given, reading=make if later else make())

        keyword_only = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in shown]
        run.__signature__ = own.replace(parameters=keyword_only)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in shown} | {"return": None}
        del run.__wrapped__
        return run

    return decorate

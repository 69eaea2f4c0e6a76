"""`ssvi corpus`: documents into the form that the other commands read."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from ssvi.cli import inputs
from ssvi.cli.reading import Inputs, Reading, Vocabulary, how_to_count, how_to_read, reads, say_notes

corpus = typer.Typer(help="Make, convert and look at corpora.", no_args_is_help=True, add_completion=False)


@corpus.callback()
def options() -> None:
    """Hold the commands together."""


@corpus.command()
@reads(how_to_count)
def build(
    source: Inputs,
    reading: Reading,
    output: Annotated[Path, typer.Option("--output", "-o", help="A .npz, .mtx, .ldac or docword file to write.")],
    output_format: Annotated[str | None, typer.Option(help="npz, mtx, uci or ldac, if the name does not tell.")] = None,
    quiet: inputs.Quiet = False,
) -> None:
    """Count the words of texts once, for many fits: the vocabulary goes beside the counts.

    Example: ssvi corpus build articles.jsonl --max-words 20000 --output articles.npz
    """
    _write(reading.at(source), output, output_format, quiet=quiet)


@corpus.command()
@reads(how_to_read)
def convert(
    source: Inputs,
    reading: Reading,
    output: Annotated[Path, typer.Argument(help="A .npz, .mtx, .ldac or docword file to write.")],
    vocabulary: Vocabulary = None,
    output_format: Annotated[str | None, typer.Option(help="npz, mtx, uci or ldac, if the name does not tell.")] = None,
    quiet: inputs.Quiet = False,
) -> None:
    """Turn counts of one format into another.

    Example: ssvi corpus convert docword.nips.txt.gz nips.npz
    """
    counts = dataclasses.replace(reading.at(source), vocabulary=vocabulary)
    _write(counts, output, output_format, quiet=quiet, counts_only=True)


@corpus.command()
@reads(how_to_count)
def inspect(
    source: Inputs,
    reading: Reading,
    as_json: inputs.AsJson = False,
) -> None:
    """Print how many documents and words there are, how long documents are, and the most frequent words.

    Text becomes words as it does for `ssvi fit`, with the same options.

    Example: ssvi corpus inspect articles.jsonl
    """
    corpus = reading.at(source).read(quiet=as_json)
    say_notes(corpus.notes, quiet=as_json)
    documents, lengths, sums = corpus.documents, corpus.documents.lengths(), corpus.documents.column_sums()
    top = np.argsort(-sums, kind="stable")[:10]
    facts = {
        "documents": len(documents),
        "columns": documents.n_words,
        "entries": int(documents.costs().sum()),
        "total": float(sums.sum()),
        "length_median": float(np.median(lengths)) if len(lengths) else 0.0,
        "length_largest": float(lengths.max(initial=0.0)),
        "empty_documents": int((lengths == 0).sum()),
        "known_of_documents": list(corpus.info.known()),
        "most_frequent": [corpus.vocabulary[v] if corpus.vocabulary else str(v) for v in top],
    }
    if as_json:
        inputs.print_json(facts)
        return
    for name, value in facts.items():
        shown = " ".join(value) if isinstance(value, list) else f"{value:,.10g}"
        typer.echo(f"{name.replace('_', ' ')}: {shown}")


@corpus.command()
def formats() -> None:
    """List what can be read.

    Example: ssvi corpus formats
    """
    from ssvi.data.readers import FORMATS
    from ssvi.data.readers.base import ENDINGS

    for name in FORMATS:
        typer.echo(f"{name:<10}{ENDINGS[name]}")


def _write(reading: Reading, output: Path, format: str | None, *, quiet: bool, counts_only: bool = False) -> None:
    from ssvi.data.readers import write_corpus

    inputs.check_output(output, *reading.paths)
    corpus = reading.read(quiet=quiet)
    say_notes(corpus.notes, quiet=quiet)
    if counts_only and corpus.text is not None:
        raise ValueError(f"{reading.where} holds text: `ssvi corpus build` counts its words.")
    write_corpus(corpus, output, format)
    if not quiet:
        typer.echo(f"{output}: {len(corpus.documents):,} documents over {corpus.documents.n_words:,} words")


@corpus.command()
def wikipedia(
    dump: Annotated[Path, typer.Argument(help="pages-articles.xml, as it is or in bz2.")],
    vocabulary: Annotated[Path, typer.Option(help="The words to count, one a line.")],
    output: Annotated[Path, typer.Option(help="The folder to write.")],
    shortest: Annotated[int, typer.Option(help="Leave out articles with fewer words of the vocabulary.")] = 10,
    most: Annotated[int | None, typer.Option(help="Stop after so many articles.")] = None,
) -> None:
    """Count the words of a Wikipedia XML dump.

    Example: ssvi corpus wikipedia enwiki-pages-articles.xml.bz2 --vocabulary vocab.txt --output wikipedia
    """
    from ssvi.data.wikipedia import save_dump

    words = vocabulary.read_text(encoding="utf-8").split()
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(f"reading {dump.name}", total=dump.stat().st_size)
        count = save_dump(
            dump, words, output, shortest=shortest, most=most, report=lambda done: progress.update(task, completed=done)
        )
    typer.echo(f"{count:,} articles over {len(words):,} words: {output}")

"""`ssvi corpus`: documents into the form that the other commands read."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ssvi.batches.sources import Source
from ssvi.cli import inputs
from ssvi.cli.display import say_notes
from ssvi.cli.reading import Inputs, Reading, Vocabulary, how_to_count, how_to_read, reads

corpus = typer.Typer(help="Make, convert and look at corpora.", no_args_is_help=True, add_completion=False)


@corpus.callback()
def options() -> None:
    """Hold the commands together."""


@corpus.command()
@reads(how_to_count)
def build(
    source: Inputs,
    reading: Reading,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="A .npz, .mtx, .ldac or docword file to write, or a folder for a corpus on disk."
        ),
    ],
    output_format: Annotated[
        str | None, typer.Option(help="npz, mtx, uci, ldac or corpus, if the name does not tell.")
    ] = None,
    quiet: inputs.Quiet = False,
) -> None:
    """Count the words of texts once, for many fits: the vocabulary goes beside the counts.

    A name without an ending is a folder of Parquet shards, which may be larger than memory.

    Example: ssvi corpus build articles.jsonl --max-words 20000 --output articles
    """
    if output_format == "corpus" or (output_format is None and _is_folder(output)):
        _build_on_disk(reading.at(source), output, quiet=quiet)
    else:
        _write(reading.at(source), output, output_format, quiet=quiet)


def _is_folder(output: Path) -> bool:
    """Tell whether a name to write to is that of a corpus on disk: an address, or one without an ending."""
    from ssvi.corpora.folders import is_url

    return is_url(output) or not output.suffix


def _build_on_disk(reading: Reading, output: Path, *, quiet: bool) -> None:
    from ssvi.corpora.building import build_corpus
    from ssvi.data.readers import TextOptions

    options = {"format": reading.format, "vocabulary": reading.vocabulary, "encoding": reading.encoding}
    given = {**options, **reading.columns, "text": reading.text or TextOptions()}
    with inputs.bar(f"reading {reading.where}", quiet=quiet) as advance:
        built = build_corpus(reading.paths, output, progress=advance, **given)
    say_notes(built.notes, quiet=quiet)
    _say_written(output, quiet=quiet)


def _say_written(output: Path, *, quiet: bool) -> None:
    from ssvi.corpora import DiskCorpus

    if not quiet:
        disk = DiskCorpus(output)
        size = sum(shard.bytes for shard in disk.index.shards)
        typer.echo(
            f"{disk.path}: {len(disk):,} documents over {disk.n_words:,} words, {disk.mean_length():,.1f} words in the "
            f"mean, {size / 1e6:,.1f} MB in {len(disk.index.shards):,} shards"
        )


@corpus.command()
def simulate(
    output: Annotated[Path, typer.Argument(help="The folder to write.")],
    documents: Annotated[int, typer.Option("--documents", "-n", min=1, help="How many documents.")] = 100_000,
    words: Annotated[int, typer.Option(min=1, help="The size of the vocabulary.")] = 8_000,
    topics: Annotated[int, typer.Option("--topics", "-k", min=1, help="How many topics.")] = 100,
    length: Annotated[float, typer.Option(help="Words of a document, in the mean.")] = 100.0,
    alpha: Annotated[float, typer.Option(help="Prior of a document's topic weights.")] = 0.1,
    eta: Annotated[float, typer.Option(help="Prior of a topic's words.")] = 0.05,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same corpus.")] = 0,
    jobs: Annotated[int, typer.Option(help="Threads; -1 is one for each processor.")] = -1,
    quiet: inputs.Quiet = False,
) -> None:
    """Write a corpus on disk whose documents latent Dirichlet allocation has drawn.

    Example: ssvi corpus simulate million --documents 1000000
    """
    from ssvi.corpora import simulation

    setting = simulation.Simulation(documents, words, topics, length, alpha, eta, seed)
    with inputs.bar("drawing documents", quiet=quiet, counted=MofNCompleteColumn()) as advance:
        simulation.simulate(setting, output, n_jobs=jobs, progress=lambda done: advance(done, documents))
    _say_written(output, quiet=quiet)


@corpus.command()
def info(
    path: Annotated[Path, typer.Argument(help="A corpus on disk: a folder, or an address of fsspec.")],
    check: Annotated[bool, typer.Option("--check", help="Read all of it, and see that it is sound.")] = False,
    as_json: inputs.AsJson = False,
) -> None:
    """Print what the index of a corpus on disk says.

    Example: ssvi corpus info articles
    """
    from ssvi.corpora import DiskCorpus

    disk = DiskCorpus(path)
    if check:
        with inputs.bar("reading", quiet=as_json, counted=MofNCompleteColumn()) as advance:
            for done in disk.check():
                advance(done, len(disk))
    facts = {
        "path": disk.path,
        "documents": len(disk),
        "columns": disk.n_words,
        "entries": disk.sizes.entries,
        "total": disk.sizes.tokens,
        "length_mean": disk.mean_length(),
        "length_largest": disk.sizes.longest,
        "empty_documents": disk.sizes.empty,
        "whole_counts": disk.is_whole(),
        "vocabulary": disk.vocabulary is not None,
        "known_of_documents": list(disk.index.known),
        "shards": len(disk.index.shards),
        "blocks": len(disk.block_sizes),
        "bytes": sum(shard.bytes for shard in disk.index.shards),
        "hash": disk.content_hash,
        "checked": check,
    }
    if as_json:
        inputs.print_json(facts)
        return
    for name, value in facts.items():
        plain = isinstance(value, str | bool | list)
        shown = (" ".join(value) if isinstance(value, list) else str(value)) if plain else f"{value:,.10g}"
        typer.echo(f"{name.replace('_', ' ')}: {shown}")


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
    documents: Any = corpus.documents
    lengths, sums = documents.lengths(), documents.column_sums()
    top = np.argsort(-sums, kind="stable")[:10]
    facts = {
        "documents": len(documents),
        "columns": documents.n_words,
        "entries": documents.sizes.entries if isinstance(documents, Source) else int(documents.costs().sum()),
        "total": float(sums.sum()),
        "length_median": float(np.median(lengths)) if len(lengths) else 0.0,
        "length_largest": float(lengths.max(initial=0.0)),
        "empty_documents": int((lengths == 0).sum()),
        "known_of_documents": list(corpus.info.part(0, 1).known()),
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
    output_format: Annotated[
        str, typer.Option(help="npz: one matrix, bow.npz, made in memory. corpus: a corpus on disk, of any size.")
    ] = "npz",
) -> None:
    """Count the words of a Wikipedia XML dump.

    Example: ssvi corpus wikipedia enwiki-pages-articles.xml.bz2 --vocabulary vocab.txt --output wikipedia
    """
    from ssvi.data.wikipedia import save_dump, write_dump

    if output_format not in ("npz", "corpus"):
        raise ValueError(f"--output-format is npz or corpus, not {output_format!r}.")
    save = save_dump if output_format == "npz" else write_dump
    words = vocabulary.read_text(encoding="utf-8").split()
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(f"reading {dump.name}", total=dump.stat().st_size)
        count = save(
            dump, words, output, shortest=shortest, most=most, report=lambda done: progress.update(task, completed=done)
        )
    typer.echo(f"{count:,} articles over {len(words):,} words: {output}")

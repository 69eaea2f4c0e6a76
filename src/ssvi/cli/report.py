"""`ssvi report`: a page about a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ssvi.batches.sources import Source
from ssvi.cli import inputs, sequences
from ssvi.cli.inputs import ModelFile
from ssvi.cli.reading import Reading, how_to_read, reads
from ssvi.cli.use import read_over


@reads(how_to_read)
def report(
    model: ModelFile,
    reading: Reading,
    output: Annotated[Path, typer.Option("--output", "-o", help="The .html file to write.")] = Path("report.html"),
    corpus: Annotated[
        list[Path] | None,
        typer.Option(help="Documents to show for each topic or component, or sequences to show; may be repeated."),
    ] = None,
    shape: Annotated[
        str | None, typer.Option(help="HEIGHTxWIDTH of rows that are images; not needed for squares.")
    ] = None,
    vocabulary: inputs.ColumnNames = None,
    title: Annotated[str | None, typer.Option(help="What the page is called.")] = None,
    quiet: inputs.Quiet = False,
) -> None:
    """Write one HTML page about a model, to be opened in any browser; it loads nothing from anywhere.

    Example: ssvi report topics.ssvi --corpus articles.jsonl --output report.html
    """
    from ssvi.report import write_report

    if output.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"--output must end in .html, not {output.name!r}.")
    inputs.check_output(output, model, *(corpus or []))
    estimator, given = inputs.named(inputs.load_model(model), vocabulary), dict[str, Any]()
    if corpus and sequences.is_for_sequences(estimator):
        title = title or _name(corpus)
        found = sequences.read(reading.at(corpus), estimator, quiet=quiet)
        given = {"data": found.values, "lengths": found.lengths, "names": found.names, "times": found.times}
    elif corpus:
        title = title or f"{estimator.nouns[0]} of {_name(corpus)}"
        reading = reading.at(corpus).over(estimator)
        documents = read_over(estimator, reading, quiet=quiet)
        given = _told(documents, "document" if estimator.columns_are_words else "row")
        if documents.text is not None:
            given["beginnings"] = reading.beginnings
    with inputs.busy("writing the report", quiet=quiet):
        write_report(estimator, output, shape=_shape(shape), title=title, **given)
    if not quiet:
        typer.echo(f"{output}: open it in a browser")


def _name(corpus: list[Path]) -> str:
    """Return what a page calls a corpus."""
    others = f" and {len(corpus) - 1} more" if len(corpus) > 1 else ""
    return corpus[0].absolute().name + others


def _told(documents: Any, noun: str) -> dict[str, Any]:
    """Return what a report is told of documents; those on disk tell themselves."""
    if isinstance(documents.documents, Source):
        return {"data": documents.documents}
    info, rows = documents.info, range(len(documents.documents))
    return {
        "data": documents.documents.to_matrix(), "titles": info.titles, "dates": info.dates, "groups": info.groups,
        "names": [(info.ids and info.ids[row]) or f"{noun} {row + 1}" for row in rows],
    }  # fmt: skip


def _shape(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    parts = text.lower().split("x")
    if len(parts) != 2 or not all(part.isdigit() and int(part) for part in parts):
        raise ValueError(f"--shape is HEIGHTxWIDTH, like 28x28, not {text!r}.")
    return int(parts[0]), int(parts[1])

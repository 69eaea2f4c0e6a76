"""`ssvi topics` and `ssvi label`: what a model's topics are about, and what they are called."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ssvi.cli import inputs
from ssvi.cli.display import print_table, say_notes, text_cell
from ssvi.cli.inputs import ModelFile
from ssvi.cli.listing import print_tabs
from ssvi.files.atomic import write_atomically
from ssvi.files.look import Look, keep_labels
from ssvi.labels import MARKS, RELEVANCE, beside

_COLUMNS = ("component", "share", "label", "distinctive", "words", "marks")
_LONGEST_LABEL = 200


def topics(
    model: ModelFile,
    words: Annotated[int, typer.Option(min=1, help="Words of each topic.")] = 10,
    relevance: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="1 shows the most probable words, 0 those that others have least of."),
    ] = RELEVANCE,
    vocabulary: inputs.ColumnNames = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A .csv file to write instead.")] = None,
    as_json: inputs.AsJson = False,
) -> None:
    """Print the topics of a model, or the components it uses, the largest first: labels, distinctive words, and marks.

    Marks are `junk` (a mix of all the others), `dust` (hardly any of the data), `common` (what most documents have) and
    `copy of #n` (nearly the same as topic n, which is larger).

    Example: ssvi topics topics.ssvi --words 12
    """
    if output is not None:
        if output.suffix.lower() != ".csv":
            raise ValueError(f"--output must end in .csv, not {output.name!r}.")
        inputs.check_output(output, model, vocabulary)
    look = Look.at(model, words, relevance)
    overview = look.components()
    if vocabulary is not None:
        look = look.with_words(inputs.words_from(vocabulary, overview.columns))
    lines = overview.described(look.words, look.given, words)
    nameless = f"{model} has no words, and these are numbers of columns: --vocabulary FILE, a word a line, names them."
    say_notes([] if look.words else [nameless], quiet=as_json)
    if output is not None:
        write_atomically(output, lambda file: _write_csv(file, lines))
        typer.echo(f"{output}: {len(lines):,} {overview.nouns[0].lower()}")
    elif as_json:
        inputs.print_json(lines)
    elif not sys.stdout.isatty():
        print_tabs([_in_columns(line, overview.nouns[1]) for line in lines])
    else:
        _show(f"{model.name}: {overview.name}", overview.nouns[1], lines, look.given)


def _in_columns(line: dict[str, Any], noun: str) -> dict[str, str]:
    """Return what other programs get of a topic, by the names of columns."""
    return {
        noun: str(line["component"]), "share": f"{line['share']:.4f}", "words": " ".join(line["words"]),
        "label": line["label"], "distinctive": ", ".join(line["distinctive"]), "marks": ", ".join(line["marks"]),
    }  # fmt: skip


def _write_csv(file: Any, lines: list[dict[str, Any]]) -> None:
    writer = csv.writer(file)
    writer.writerow(_COLUMNS)
    for line in lines:
        texts = [line["label"], *(", ".join(line[name]) for name in ("distinctive", "words", "marks"))]
        writer.writerow([line["component"], f"{line['share']:.6g}", *map(text_cell, texts)])


def _show(title: str, noun: str, lines: list[dict[str, Any]], given: list[str] | None) -> None:
    """Print topics as a table: beside a label that was made of words, the words that come after these."""
    shown = [
        {
            noun: str(line["component"]), "share": f"{line['share']:.3f}", "label": line["label"],
            "words": ", ".join(
                beside(line["label"], line["distinctive"], given=bool(given and given[line["component"]]))
            ),
            "marks": ", ".join(line["marks"]),
        }
        for line in lines
    ]  # fmt: skip
    there = {name for line in shown for name in line if line[name]} | {"label"}
    names = [name for name in shown[0] if name in there]
    called = {"words": "words" if any(given or []) else "further words"}
    print_table(title, [called.get(name, name) for name in names], [[line[name] for name in names] for line in shown])
    marks = {mark for line in lines for mark in line["marks"]}
    told = [f"{mark}: {meaning}" for mark, meaning in MARKS.items() if mark in marks]
    if told:
        typer.echo(f"marks: {'; '.join(told)}")


def label(
    model: ModelFile,
    labels: Annotated[
        list[str] | None, typer.Argument(help="NUMBER=LABEL, any number of them; NUMBER= takes a label away.")
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--from", help="A .csv file with columns component and label, as `ssvi topics -o` writes it."),
    ] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Take all labels away first.")] = False,
    as_json: inputs.AsJson = False,
) -> None:
    """Give topics labels of your own, kept in the model file, and print these; without any, what all are called.

    Example: ssvi label topics.ssvi 7="Oil prices" 12=Courts
    """
    look = Look.at(model)
    overview = look.components()
    given = list(look.given or [""] * overview.components)
    automatic = {line["component"]: line["label"] for line in overview.described(look.words)}
    if clear:
        given = [""] * len(given)
    wanted = {} if source is None else _from_file(source)
    wanted |= dict(_pair(text) for text in labels or [])
    for number, text in wanted.items():
        if not 0 <= number < len(given):
            raise ValueError(f"there is no {overview.nouns[1]} {number}: {model} has 0 to {len(given) - 1}.")
        given[number] = "" if text == automatic.get(number) else text
    if wanted or clear:
        inputs.check_output(model)
        keep_labels(model, given)
    lines = overview.described(look.words, given)
    shown = [(line["component"], line["label"], bool(given[line["component"]])) for line in lines]
    if as_json:
        inputs.print_json([{"component": number, "label": name, "given": own} for number, name, own in shown])
        return
    changed = set(wanted) if wanted and not clear else set(range(len(given)))
    for number, name, own in shown:
        if number in changed:
            typer.echo(f"{number}\t{text_cell(name)}" + ("" if own else "\t(from its words)"))
    if wanted and not clear:
        sys.stderr.write(f"ssvi: `ssvi label {model}` prints what all {overview.nouns[0].lower()} are called.\n")


def _pair(text: str) -> tuple[int, str]:
    number, separator, name = text.partition("=")
    if not separator or not number.strip().isdecimal():
        raise ValueError(f'a label is given as NUMBER=LABEL, such as 7="Oil prices", not {text!r}.')
    return int(number), _checked(name)


def _checked(name: str) -> str:
    name = name.strip()
    if len(name) > _LONGEST_LABEL or not name.isprintable():
        raise ValueError(f"a label is one line of at most {_LONGEST_LABEL} characters, not {name[:40]!r}...")
    return name


def _from_file(path: Path) -> dict[int, str]:
    """Read labels from a table, by commas or what stands between its columns."""
    from ssvi.data.readers.columns import Columns, Gathered
    from ssvi.data.readers.delimited import table_documents
    from ssvi.data.readers.lines import Source

    gathered = Gathered()
    if not path.is_file():
        raise ValueError(f"there is no file {path}: --from is a .csv file with columns component and label.")
    with Source(path) as source:
        columns = Columns(text="label", id="component")
        names = list(table_documents(source, "csv", columns, "utf-8", gathered))
    found = {}
    for number, name in zip(gathered.lists["id"], names, strict=True):
        if not number.strip().isdecimal():
            raise ValueError(f"{path}: {number!r} is no number of a topic or component.")
        found[int(number)] = _checked(_without_apostrophe(name))
    return found


def _without_apostrophe(name: str) -> str:
    """Return a label without the apostrophe that kept a spreadsheet from running it."""
    return name[1:] if name.startswith("'") and text_cell(name[1:]) == name else name

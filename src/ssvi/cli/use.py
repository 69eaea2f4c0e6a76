"""What is done with a model file: apply it to other data, score it."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.progress import MofNCompleteColumn

from ssvi.batches.sources import Source
from ssvi.cli import inputs, sequences
from ssvi.cli.display import say_notes, text_cell
from ssvi.cli.familiarity import of_another_kind
from ssvi.cli.inputs import ModelFile
from ssvi.cli.numbers import check_numbers
from ssvi.cli.reading import Inputs, Reading, how_to_read, reads
from ssvi.cli.seen import notes_on_seen, share_of_fit
from ssvi.files.atomic import write_atomically
from ssvi.files.models import vocabulary_of

_ROWS_AT_ONCE = 10_000


@reads(how_to_read)
def transform(
    model: ModelFile,
    source: Inputs,
    reading: Reading,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="A .csv or .npy file to write, or - for CSV on standard output.")
    ],
    jobs: Annotated[int, typer.Option(help="Threads; -1 is one for each processor.")] = -1,
    backend: inputs.BackendName = "threads",
    quiet: inputs.Quiet = False,
) -> None:
    """Write the topic weights (or component probabilities, or activations) of each document.

    Example: ssvi transform topics.ssvi new.jsonl --output weights.csv
    """
    if str(output) != "-":
        if output.suffix not in (".csv", ".npy"):
            raise ValueError(f"--output must end in .csv or .npy, or be - for standard output, not {output.name!r}.")
        inputs.check_output(output, model, *source)
    estimator = inputs.load_model(model).set_params(n_jobs=jobs, backend=backend)
    if sequences.is_for_sequences(estimator):
        _write_states(estimator, reading.at(source), output, quiet=quiet)
        return
    corpus = read_over(estimator, reading.at(source), quiet=quiet)
    rows, noun = len(corpus.documents), "component" if hasattr(estimator, "component_weights") else "column"
    chosen = estimator.written_components() if noun == "component" else None
    parts = _Chosen(chosen, weight_parts(estimator, corpus.documents, quiet=quiet))
    if str(output) == "-":
        _write_rows(sys.stdout, corpus.info, noun, parts)
        return
    if output.suffix == ".npy":
        write_atomically(output, lambda file: _write_array(file, rows, parts), "wb")
    else:
        write_atomically(output, lambda file: _write_rows(file, corpus.info, noun, parts))
    if not quiet:
        several = estimator.nouns[0].lower() if noun == "component" else f"{noun}s"
        typer.echo(f"{output}: {rows:,} documents x {len(parts.numbers):,} {several}")


@reads(how_to_read)
def score(
    model: ModelFile,
    source: Inputs,
    reading: Reading,
    jobs: Annotated[int, typer.Option(help="Threads; -1 is one for each processor.")] = -1,
    backend: inputs.BackendName = "threads",
    as_json: inputs.AsJson = False,
) -> None:
    """Print the score of documents under a model: higher is better.

    For topics it is the mean log probability of a word of one half of a document given its other half, for mixtures
    that of a row, for factorisations a lower bound of that of an entry. On a terminal a sentence says what that means.

    Example: ssvi score topics.ssvi held_out.jsonl
    """
    estimator = inputs.load_model(model).set_params(n_jobs=jobs, backend=backend)
    if sequences.is_for_sequences(estimator):
        data = sequences.read(reading.at(source), estimator)
        value, count = float(estimator.score(data.values, data.lengths)), dict[str, Any](sequences=len(data.lengths))
    else:
        corpus = read_over(estimator, reading.at(source), quiet=as_json)
        with inputs.busy("scoring", quiet=as_json):
            value = float(estimator.score(as_data(corpus.documents)))
        seen = share_of_fit(estimator, corpus.documents)
        rows = "documents" if getattr(estimator, "columns_are_words", False) else "rows"
        notes = notes_on_seen(seen, rows)
        say_notes(notes, quiet=as_json)
        meaning = _meaning(estimator, value, were_seen=bool(notes))
        count = {"documents": len(corpus.documents), "share_in_fit": seen, "meaning": meaning, "notes": notes}
    if as_json:
        inputs.print_json({"score": value, **count})
    else:
        typer.echo(f"{value:.6f}")
        if count.get("meaning") and sys.stdout.isatty():  # for other programs there is the number alone
            typer.echo(count["meaning"])


def _meaning(estimator: Any, score: float, *, were_seen: bool) -> str | None:
    """Return what a score of words means, in a sentence; None for other models."""
    if not getattr(estimator, "columns_are_words", False):
        return None
    sentence: str = estimator.explain_score(score)
    return sentence.replace(" that the fit did not see", "") if were_seen else sentence


def _write_states(estimator: Any, reading: Reading, output: Path, *, quiet: bool) -> None:
    """Write each time point's sequence, most probable state and probabilities of states."""
    data = sequences.read(reading, estimator, quiet=quiet)
    if hasattr(estimator, "summarize_components"):
        found = estimator.component_weights(data.values, data.lengths)
        columns = ["state", *(f"state_{k}" for k in range(found.shape[1]))]
        table, what = np.column_stack([estimator.predict(data.values, data.lengths), found]), "states"
    else:
        columns, table = sequences.state_columns(estimator, data)
        found, what = table, "columns"
    if output.suffix == ".npy":
        write_atomically(output, lambda file: np.save(file, found, allow_pickle=False), "wb")
    elif str(output) == "-":
        _write_path(sys.stdout, data.lengths, columns, table)
    else:
        write_atomically(output, lambda file: _write_path(file, data.lengths, columns, table))
    if not quiet and str(output) != "-":
        typer.echo(f"{output}: {len(found):,} time points x {found.shape[1]:,} {what}")


def _write_path(file: Any, lengths: Any, columns: list[str], table: Any) -> None:
    """Write a row for each time point: its sequence and its time, counted from 1, and what is said of its states."""
    writer = csv.writer(file)
    writer.writerow(["sequence", "time", *columns])
    places = [(n + 1, t + 1) for n, length in enumerate(lengths) for t in range(length)]
    for place, row in zip(places, table, strict=True):
        writer.writerow([*place, *(f"{value:.6g}" for value in row)])


def read_over(estimator: Any, reading: Reading, *, quiet: bool) -> Any:
    """Read documents over the columns of a model."""
    corpus = reading.over(estimator).read(quiet=quiet)
    # How text is cleaned was decided by the fit.
    say_notes([note for note in corpus.notes if "`strip_html`" not in note], quiet=quiet)
    stranger = None if quiet else of_another_kind(estimator, corpus, reading.where)
    say_notes([stranger] if stranger else [], quiet=quiet)
    if corpus.text is not None and vocabulary_of(estimator) is None:
        raise ValueError(f"this model has no words, so it cannot read the text of {reading.where}: give it counts.")
    if corpus.is_table:
        check_numbers(estimator, corpus, reading.where)
    wanted, found = estimator.n_features_in_, corpus.documents.n_words
    if found != wanted:
        raise ValueError(f"{reading.where} has {found:,} columns, and the model was fitted to {wanted:,}.")
    return corpus


def as_data(documents: Any) -> Any:
    """Return documents as estimators take them: a matrix, or a corpus on disk as it is."""
    return documents if isinstance(documents, Source) else documents.to_matrix()


def weights_of(estimator: Any, documents: Any, *, quiet: bool) -> Any:
    """Return the components' weights of every row, with a bar."""
    return np.concatenate([weights for _, weights in weight_parts(estimator, documents, quiet=quiet)])


def weight_parts(estimator: Any, documents: Any, *, quiet: bool) -> Iterator[tuple[int, Any]]:
    """Yield the components' weights of all rows, with a bar: so many rows at a time, each with the number of its first.

    Those of a row do not depend on the other rows. A model that has no components has a `transform`.
    """
    rows, apply = len(documents), getattr(estimator, "component_weights", None) or estimator.transform
    with inputs.bar("transforming", quiet=quiet, counted=MofNCompleteColumn()) as advance:
        for start in range(0, rows, _ROWS_AT_ONCE):
            stop = min(start + _ROWS_AT_ONCE, rows)
            yield start, apply(documents.slice(start, stop).to_matrix())
            advance(stop, rows)


class _Chosen:
    """The weights of some of the components, part by part; `numbers` are theirs, once a part was seen."""

    def __init__(self, numbers: Sequence[int] | None, parts: Iterator[tuple[int, Any]]) -> None:
        self.numbers: Sequence[int] = [] if numbers is None else list(numbers)
        self._every, self._parts = numbers is None, parts

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        for start, weights in self._parts:
            if self._every:
                self.numbers = range(weights.shape[1])
            yield start, weights[:, self.numbers]


def _write_rows(file: Any, info: Any, noun: str, parts: _Chosen) -> None:
    """Write a row for each document: its number, counted from 1, what else is known of it, and its weights."""
    writer, names = csv.writer(file), list[str]()
    for start, weights in parts:
        known = info.part(start, start + len(weights)).known()
        if not start:
            names = list(known)
            writer.writerow(["document", *names, *(f"{noun}_{k}" for k in parts.numbers)])
        for place, row in enumerate(weights):
            about = [text_cell(known[name][place] if name in known else "") for name in names]
            writer.writerow([start + place + 1, *about, *(f"{value:.6g}" for value in row)])


def _write_array(file: Any, rows: int, parts: _Chosen) -> None:
    """Write what `numpy.save` writes, as it comes."""
    for start, weights in parts:
        if not start:
            header = {"descr": weights.dtype.str, "fortran_order": False, "shape": (rows, weights.shape[1])}
            np.lib.format.write_array_header_1_0(file, header)
        file.write(np.ascontiguousarray(weights).tobytes())

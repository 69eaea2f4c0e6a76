"""What is done with a model file: apply it to other data, score it, ask what it is."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.progress import MofNCompleteColumn

from ssvi.cli import inputs
from ssvi.cli.display import text_cell
from ssvi.cli.inputs import ModelFile
from ssvi.cli.reading import Inputs, Reading, how_to_read, reads, say_notes
from ssvi.files.atomic import write_atomically
from ssvi.files.models import describe, vocabulary_of
from ssvi.report.components import component_counts

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
    quiet: inputs.Quiet = False,
) -> None:
    """Write the topic weights (or component probabilities, or activations) of each document.

    Example: ssvi transform topics.ssvi new.jsonl --output weights.csv
    """
    if str(output) != "-":
        if output.suffix not in (".csv", ".npy"):
            raise ValueError(f"--output must end in .csv or .npy, or be - for standard output, not {output.name!r}.")
        inputs.check_output(output, model, *source)
    estimator = inputs.load_model(model).set_params(n_jobs=jobs)
    corpus = read_over(estimator, reading.at(source), quiet=quiet)
    weights = weights_of(estimator, corpus.documents.to_matrix(), quiet=quiet)
    noun = "component" if hasattr(estimator, "component_weights") else "column"
    written = estimator.written_components() if noun == "component" else None
    chosen = range(weights.shape[1]) if written is None else written
    columns, weights = [f"{noun}_{k}" for k in chosen], weights[:, chosen]
    if str(output) == "-":
        _write_rows(sys.stdout, corpus.info, columns, weights)
        return
    if output.suffix == ".npy":
        write_atomically(output, lambda file: np.save(file, weights, allow_pickle=False), "wb")
    else:
        write_atomically(output, lambda file: _write_rows(file, corpus.info, columns, weights))
    if not quiet:
        typer.echo(f"{output}: {len(weights):,} documents x {weights.shape[1]:,} {noun}s")


@reads(how_to_read)
def score(
    model: ModelFile,
    source: Inputs,
    reading: Reading,
    jobs: Annotated[int, typer.Option(help="Threads; -1 is one for each processor.")] = -1,
    as_json: inputs.AsJson = False,
) -> None:
    """Print the score of documents under a model: higher is better.

    For topics it is the mean log probability of a word of one half of a document given its other half, for mixtures
    that of a row, for factorisations a lower bound of that of an entry.

    Example: ssvi score topics.ssvi held_out.jsonl
    """
    estimator = inputs.load_model(model).set_params(n_jobs=jobs)
    corpus = read_over(estimator, reading.at(source), quiet=as_json)
    with inputs.busy("scoring", quiet=as_json):
        value = float(estimator.score(corpus.documents.to_matrix()))
    if as_json:
        inputs.print_json({"score": value, "documents": len(corpus.documents)})
    else:
        typer.echo(f"{value:.6f}")


def info(model: ModelFile, as_json: inputs.AsJson = False) -> None:
    """Print what a model file holds.

    Example: ssvi info topics.ssvi
    """
    about, estimator = describe(model), inputs.load_model(model)
    parameters = {name: value for name, value in estimator.get_params(deep=False).items() if name != "callbacks"}
    facts = {
        "file": str(model),
        "class": about["class"],
        "schema": about["schema"],
        "documents": estimator._n_distinct,
        "columns": estimator.n_features_in_,
        "vocabulary": vocabulary_of(estimator) is not None,
        **component_counts(estimator),
        "held_out_score": estimator.scores_[-1][1] if getattr(estimator, "scores_", []) else None,
        "seed": estimator.random_state_,
        "steps": estimator.n_batch_iter_,
        "seconds": round(sum(step.seconds for step in estimator.history_), 3),
        "text": getattr(estimator, "text_options_", None),
        "parameters": {name: _plain(value) for name, value in parameters.items()},
        "versions": about["versions"],
    }
    if as_json:
        inputs.print_json(facts)
        return
    for name, value in facts.items():
        shown = "  ".join(f"{key}={item}" for key, item in value.items()) if isinstance(value, dict) else value
        typer.echo(f"{name}: {shown}")


def read_over(estimator: Any, reading: Reading, *, quiet: bool) -> Any:
    """Read documents over the columns of a model."""
    corpus = reading.over(estimator).read(quiet=quiet)
    say_notes(corpus.notes, quiet=quiet)
    if corpus.text is not None and vocabulary_of(estimator) is None:
        raise ValueError(f"this model has no words, so it cannot read the text of {reading.where}: give it counts.")
    wanted, found = estimator.n_features_in_, corpus.documents.n_words
    if found != wanted:
        raise ValueError(f"{reading.where} has {found:,} columns, and the model was fitted to {wanted:,}.")
    return corpus


def weights_of(estimator: Any, matrix: Any, *, quiet: bool) -> Any:
    """Return the components' weights of every row, with a bar. Those of a row do not depend on the other rows.

    A model that has no components has a `transform`.
    """
    parts, rows = [], matrix.shape[0]
    apply = getattr(estimator, "component_weights", None) or estimator.transform
    with inputs.bar("transforming", quiet=quiet, counted=MofNCompleteColumn()) as advance:
        for start in range(0, rows, _ROWS_AT_ONCE):
            parts.append(apply(matrix[start : start + _ROWS_AT_ONCE]))
            advance(min(start + _ROWS_AT_ONCE, rows), rows)
    return np.concatenate(parts)


def _write_rows(file: Any, info: Any, columns: list[str], weights: Any) -> None:
    """Write a row for each document: its number, counted from 1, what else is known of it, and its weights."""
    known = info.known()
    writer = csv.writer(file)
    writer.writerow(["document", *known, *columns])
    for number, row in enumerate(weights):
        about = [text_cell(texts[number]) for texts in known.values()]
        writer.writerow([number + 1, *about, *(f"{value:.6g}" for value in row)])


def _plain(value: Any) -> Any:
    """Return a parameter in a form that JSON has."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return value.tolist() if isinstance(value, np.ndarray) else str(value)

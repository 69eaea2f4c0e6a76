"""`ssvi update`: a model file goes on with further documents."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ssvi.batches.sources import Source
from ssvi.cli import inputs
from ssvi.cli.display import say_notes
from ssvi.cli.fitting import check_model
from ssvi.cli.inputs import ModelFile
from ssvi.cli.reading import Inputs, MaxDf, MaxWords, MinDf, Reading, Vocabulary, how_to_read, reads
from ssvi.cli.seen import keep_seen, notes_on_updates, share_of_fit
from ssvi.cli.use import as_data, read_over
from ssvi.files.models import vocabulary_of
from ssvi.report.components import component_counts, count_in_words


@reads(how_to_read)
def update(
    model: ModelFile,
    source: Inputs,
    reading: Reading,
    output: Annotated[Path, typer.Option("--output", "-o", help="The model file to write; it may be the same.")],
    grow: Annotated[
        bool | None,
        typer.Option(
            "--grow-vocabulary/--keep-vocabulary",
            help="Take in words that the model does not know.",
            show_default="as before",
        ),
    ] = None,
    memory: Annotated[float | None, typer.Option(min=1, help="Let the model be of the last so many documents.")] = None,
    batch_size: Annotated[int | None, typer.Option(min=1, help="Documents in a minibatch.")] = None,
    jobs: Annotated[int, typer.Option(help="Threads; -1 is one for each processor.")] = -1,
    backend: inputs.BackendName = "threads",
    vocabulary: Vocabulary = None,
    min_df: MinDf = None,
    max_df: MaxDf = None,
    max_words: MaxWords = None,
    quiet: inputs.Quiet = False,
    as_json: inputs.AsJson = False,
) -> None:
    """Continue a fit with more documents; each counts as a new one.

    The documents are scored first, by the model as it was: where that falls, the data has changed. The held-out score
    of the first fit is forgotten. Limits on words are for those that are new.

    Example: ssvi update topics.ssvi june.jsonl --output topics.ssvi --memory 100000 --grow-vocabulary
    """
    inputs.check_output(output, *source, vocabulary)
    check_model(output)
    estimator = inputs.load_model(model)
    given = {"grow_vocabulary": grow, "memory": memory, "batch_size": batch_size, "n_jobs": jobs, "backend": backend}
    given = {name: value for name, value in given.items() if value is not None}
    if grow is not None and not hasattr(estimator, "grow_vocabulary"):
        raise ValueError(f"{estimator.name} has no vocabulary that could grow: leave out --grow-vocabulary.")
    estimator.set_params(verbose=0 if quiet or as_json else "auto", **given)
    limits = {"min_df": min_df, "max_df": max_df, "max_words": max_words}
    reading = dataclasses.replace(reading.at(source), vocabulary=vocabulary)
    X, names = _documents(estimator, reading, limits, quiet=quiet or as_json)
    rows = len(X) if isinstance(X, Source) else X.shape[0]
    seen = share_of_fit(estimator, X if names is None else _in_columns(estimator, X, names))
    notes = notes_on_updates(seen, "documents" if getattr(estimator, "columns_are_words", False) else "rows")
    say_notes(notes, quiet=quiet or as_json)
    before, columns = _score(estimator, X, names), estimator.n_features_in_
    estimator.partial_fit(X) if names is None else estimator.partial_fit(X, vocabulary=names)
    if hasattr(estimator, "seen_documents_"):  # files of before have none, and it would be of these documents only
        keep_seen(estimator, X if names is None else _in_columns(estimator, X, names))
    estimator.save(output)
    facts = {
        "output": str(output), "model": estimator.name, **component_counts(estimator), "documents": rows,
        "columns": estimator.n_features_in_, "new_columns": estimator.n_features_in_ - columns,
        "steps": estimator.n_batch_iter_, "score_before": before, "share_in_fit": seen,
        "notes": notes,
    }  # fmt: skip
    if as_json:
        inputs.print_json(facts)
    elif not quiet:
        scored = "" if before is None else f", scored {before:.4f} before"
        typer.echo(
            f"{output}: {estimator.name}{count_in_words(estimator)}, continued with {rows:,} documents{scored}; "
            f"{estimator.n_features_in_:,} columns, {facts['new_columns']:,} of them new"
        )


def _documents(
    estimator: Any, reading: Reading, limits: dict[str, Any], *, quiet: bool
) -> tuple[Any, tuple[str, ...] | None]:
    """Return documents x columns, and the columns' names if they are to be matched by them."""
    known = vocabulary_of(estimator)
    if not getattr(estimator, "grow_vocabulary", False):
        given = [f"--{name.replace('_', '-')}" for name, value in limits.items() if value is not None]
        if given:
            raise ValueError(f"{', '.join(given)} is for new words, which need --grow-vocabulary.")
        return as_data(read_over(estimator, reading, quiet=quiet).documents), None
    from ssvi.data.readers import TextOptions

    kept = getattr(estimator, "text_options_", None)
    text = TextOptions() if kept is None else TextOptions.from_kept(kept)
    corpus = dataclasses.replace(reading.as_before(estimator), text=text).read(quiet=quiet)
    if corpus.text is not None and known is None:
        raise ValueError(f"this model has no words, so it cannot read the text of {reading.where}: give it counts.")
    X, names = corpus.documents.to_matrix(), corpus.vocabulary
    if names is None or known is None:
        return X, None
    chosen = _chosen(X, names, set(known), **limits) if corpus.text is not None else np.arange(len(names))
    return X[:, chosen], tuple(names[column] for column in chosen)


def _chosen(
    X: Any, names: tuple[str, ...], known: set[str], min_df: float | None, max_df: float | None, max_words: int | None
) -> Any:
    """Return the columns of words that are known, or frequent enough to be new words, and not too frequent."""
    documents = np.bincount(X.indices, minlength=X.shape[1])
    least, most = 2.0 if min_df is None else min_df, 0.5 if max_df is None else max_df
    fewest, largest = least if least >= 1 else least * X.shape[0], most if most > 1 else most * X.shape[0]
    is_known = np.array([name in known for name in names])
    is_new = ~is_known & (documents >= fewest) & (documents <= largest)
    if max_words is not None and is_new.sum() > max_words:
        new = np.flatnonzero(is_new)
        is_new[new[np.argsort(-X.sum(axis=0)[new], kind="stable")[max_words:]]] = False
    return np.flatnonzero(is_known | is_new)


def _score(estimator: Any, X: Any, names: tuple[str, ...] | None) -> float | None:
    """Return the score of documents that the model has not seen yet; None where there is nothing to score."""
    if names is not None:
        X = _in_columns(estimator, X, names)
    try:
        score = float(estimator.score(X if isinstance(X, Source) else X[:, : estimator.n_features_in_]))
    except ValueError:  # no word that the model knows, for one
        return None
    return score if np.isfinite(score) else None


def _in_columns(estimator: Any, X: Any, names: tuple[str, ...]) -> Any:
    """Return documents over the columns of a model; words that it does not know are left out."""
    from ssvi.estimators.columns import places_of, put_into_columns

    return put_into_columns(X, places_of(names, vocabulary_of(estimator) or ()), estimator.n_features_in_)

"""`ssvi documents`: those that have a topic, are like another or have some words; topics over time and by group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ssvi import lookup
from ssvi.cli import inputs
from ssvi.cli.inputs import ModelFile
from ssvi.cli.listing import PICTURES, check_outputs, cut_at_a_word, show_blocks, write_csv
from ssvi.cli.naming import document_named, topics_named, words_named
from ssvi.cli.reading import Inputs, Reading, how_to_read, reads
from ssvi.cli.trends import tell_trends, trends_of
from ssvi.cli.use import read_over, weight_parts
from ssvi.files.models import column_names, vocabulary_of
from ssvi.periods import UNITS
from ssvi.report.components import Components
from ssvi.tallies import Best
from ssvi.typing import Array

Shares = Iterable[tuple[int, Array]]
"""Documents' shares of topics part by part, each with the number of its first document."""

_OWN_TOPICS = 3  # of a document that are named beside it
_LEAST = 0.05  # share of such a one
_LETTERS = 120  # of a document's beginning


@reads(how_to_read)
def documents(
    model: ModelFile,
    source: Inputs,
    reading: Reading,
    topic: Annotated[
        list[str] | None,
        typer.Option(
            "--topic",
            "-t",
            help="Documents with most of this topic (its number or label) or of several (3,7). With --by, only these.",
        ),
    ] = None,
    like: Annotated[
        str | None, typer.Option(help="Documents like this one: its number, counted from 1, its id or its title.")
    ] = None,
    search: Annotated[str | None, typer.Option(help="Documents with these words, the best first.")] = None,
    by: Annotated[
        str | None, typer.Option(help=f"Topics over time or by group: date, group, or {', '.join(UNITS)}.")
    ] = None,
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many documents.")] = 10,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A .csv file to write; with --by also .png, .svg, .pdf."),
    ] = None,
    jobs: Annotated[int, typer.Option(help="Threads; -1 is one for each processor.")] = -1,
    as_json: inputs.AsJson = False,
    quiet: inputs.Quiet = False,
) -> None:
    """List documents by a topic, by likeness or by words; or show topics over time and by group.

    Example: ssvi documents topics.ssvi articles.jsonl --topic 7
    """
    _check_choice(topic, like, search, by)
    if output is not None:
        check_outputs([output], [".csv", *PICTURES] if by else [".csv"], model, *source)
    estimator = inputs.load_model(model).set_params(n_jobs=jobs)
    parts = Components.used_by(estimator)
    labels = _labels(estimator, parts)
    chosen = topics_named(topic or [], labels, parts.noun, model)
    question = _Question(chosen, like, search, count)
    reading = reading.at(source).over(estimator)
    corpus = read_over(estimator, reading, quiet=quiet or as_json)
    question.find_out(corpus, estimator, reading, quiet=quiet or as_json)
    parts_of = weight_parts(estimator, corpus.documents, quiet=quiet or as_json)
    all_shares = ((start, lookup.shares_of(weights)) for start, weights in parts_of)
    if by is not None:
        found = trends_of(all_shares, corpus.info, by, reading.where)
        tell_trends(
            found, labels, chosen or list(labels), f"{reading.where} by {by}", output,
            noun=parts.noun, as_json=as_json, quiet=quiet,
        )  # fmt: skip
    else:
        title, lines = question.answer(corpus, all_shares, labels, reading)
        _tell(f"documents {title}", lines, output, as_json=as_json, quiet=quiet)


@dataclass
class _Question:
    """Which documents are asked for."""

    topics: Sequence[int]
    like: str | None
    search: str | None
    count: int
    row: int = -1
    columns: Sequence[int] = ()

    def find_out(self, corpus: Any, estimator: Any, reading: Reading, *, quiet: bool) -> None:
        """Find the document or the words that are meant, before anything takes long."""
        if self.like is not None:
            self.row = document_named(self.like, corpus)
        if self.search is not None:
            self.columns = words_named(self.search, estimator, reading, quiet=quiet)

    def answer(
        self, corpus: Any, all_shares: Shares, labels: dict[int, str], reading: Reading
    ) -> tuple[str, list[dict[str, Any]]]:
        """Return what is listed, in words, and a line for each document."""
        if self.topics:
            called = " and ".join(f"{number} ({labels[number]})" for number in self.topics)
            found, own = self._with_most(all_shares)
            name, title = "share", f"with most of {called}"
        else:
            shares = np.concatenate([part for _, part in all_shares])
            name, found, title = self._found(corpus, shares)
            own = {int(row): shares[row] for row in found.rows}
        begin = reading.beginnings(found.rows.tolist(), _LETTERS + 1) if corpus.text is not None else {}
        lines = []
        for at, value in zip(found.rows.tolist(), found.values, strict=True):
            known = corpus.info.part(at, at + 1).known()
            line = {"document": at + 1, **{key: texts[0] for key, texts in known.items()}, name: float(value)}
            line["topics"] = _own_topics(own[at], labels)
            lines.append(line | ({"text": cut_at_a_word(begin[at], _LETTERS)} if at in begin else {}))
        return title, lines

    def _with_most(self, all_shares: Shares) -> tuple[lookup.Found, dict[int, Array]]:
        """Return the documents with most of the topics, and the shares of each, in one pass over all of them."""
        best, own = Best(1, self.count), dict[int, Array]()
        for start, shares in all_shares:
            best.see(start, shares[:, list(self.topics)].sum(axis=1, keepdims=True))
            kept = (int(row) for row in best.rows[0] if row >= 0)
            own = {row: own[row] if row < start else shares[row - start].copy() for row in kept}
        return best.found(), own

    def _found(self, corpus: Any, shares: Array) -> tuple[str, lookup.Found, str]:
        matrix = corpus.documents.to_matrix()
        if self.like is not None:
            found = lookup.most_like(shares, matrix, self.row, self.count)
            return "likeness", found, f"like {corpus.info.called(self.row)}"
        return "score", lookup.with_words(matrix, self.columns, self.count), f"with {self.search}"


def _tell(title: str, lines: Sequence[dict[str, Any]], output: Path | None, *, as_json: bool, quiet: bool) -> None:
    """Write or print documents."""
    if output is not None:
        write_csv(output, lines)
    if as_json:
        inputs.print_json(lines)
    elif output is not None and not quiet:
        typer.echo(f"{output}: {len(lines):,} documents")
    elif output is None:
        show_blocks(title, lines)


def _check_choice(topic: Any, like: str | None, search: str | None, by: str | None) -> None:
    """Refuse a question that is none, or several at once."""
    given = {"--topic": topic, "--like": like, "--search": search, "--by": by}
    asked = [name for name, value in given.items() if value]
    if not asked:
        raise ValueError("say which documents: --topic 7, --like 123 or --search 'oil price'; or --by date or group.")
    if len(asked) > 1 and asked != ["--topic", "--by"]:
        raise ValueError(f"{' and '.join(asked)} are questions of their own: ask one at a time.")
    if by is not None and by not in ("date", "group", *UNITS):
        raise ValueError(f"--by is date, group, {', '.join(UNITS[:-1])} or {UNITS[-1]}, not {by!r}.")


def _labels(estimator: Any, parts: Components) -> dict[int, str]:
    """Return the labels of the components in use by their numbers, the largest first."""
    names = column_names(estimator) if vocabulary_of(estimator) else None
    return {int(number): label for number, label in zip(parts.numbers, parts.labels(names), strict=True)}


def _own_topics(shares: Array, labels: dict[int, str]) -> str:
    """Return a document's largest topics: numbers, shares and labels."""
    largest = sorted(labels, key=lambda number: -shares[number])[:_OWN_TOPICS]
    return "; ".join(f"{k} {labels[k]} {shares[k]:.0%}" for k in largest if shares[k] >= _LEAST)

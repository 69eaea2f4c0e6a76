"""`ssvi serve`: a page on this machine to try a model with."""

from __future__ import annotations

import ipaddress
import signal
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ssvi.cli import inputs
from ssvi.cli.inputs import ModelFile
from ssvi.cli.reading import Reading, how_to_read, reads
from ssvi.cli.use import read_over, weights_of

_BEGINNING = 200  # letters of a document


@reads(how_to_read)
def serve(
    model: ModelFile,
    reading: Reading,
    corpus: Annotated[
        list[Path] | None, typer.Argument(help="Documents to find similar ones in; files, folders or patterns.")
    ] = None,
    host: Annotated[
        str, typer.Option(help="The address to answer at; anything but this machine's own opens it to others.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65_535, help="The port to answer at; 0 takes any that is free.")
    ] = 8000,
    most_bytes: Annotated[int, typer.Option(min=100, max=100_000_000, help="The longest text, in bytes.")] = 1_000_000,
    most_seconds: Annotated[float, typer.Option(min=0.1, help="The longest time for a text.")] = 30.0,
    jobs: Annotated[int, typer.Option(help="Threads; -1 is one for each processor.")] = -1,
    quiet: inputs.Quiet = False,
) -> None:
    """Open a page on this machine to paste texts into, and see what a model says of them.

    The page shows a text's topics, which word comes from which, its score, and similar documents if there is a corpus.
    The same as JSON: POST {"text": "..."} to /api/text, with the header Content-Type: application/json. Ctrl-C ends it.

    Example: ssvi serve topics.ssvi articles.jsonl
    """
    from ssvi.serve.answers import Answers
    from ssvi.serve.server import Server

    estimator = inputs.load_model(model).set_params(n_jobs=jobs)
    answers = Answers(estimator, model.name)
    if corpus:
        answers.compare_with(_documents(estimator, reading.at(corpus), quiet=quiet))
    try:
        server = Server(answers, host, port, most_bytes=most_bytes, most_seconds=most_seconds)
    except OSError as error:
        raise ValueError(
            f"there is no serving at {host}, port {port} ({error.strerror}): give another --port (0 takes any), "
            "or another --host."
        ) from None
    if not quiet and not _is_own(host):
        sys.stderr.write("ssvi: note: whoever reaches this machine can use this page.\n")
    with server:
        if not quiet:
            typer.echo(f"{server.address} shows what {model.name} says of a text; Ctrl-C ends it")
            sys.stdout.flush()
        _run(server)


def _run(server: Any) -> None:
    """Answer requests until somebody ends it, by Ctrl-C or as services are ended."""

    def end(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.stderr.write("ssvi: the page is closed.\n")
    finally:
        signal.signal(signal.SIGTERM, before)


def _documents(estimator: Any, reading: Reading, *, quiet: bool) -> Any:
    """Read documents and return their weights, and what is to be shown of each."""
    from ssvi.serve.answers import KnownDocuments

    reading = reading.over(estimator)
    corpus = read_over(estimator, reading, quiet=quiet)
    weights = weights_of(estimator, corpus.documents, quiet=quiet)
    known = corpus.info.known()
    beginnings = {} if corpus.text is None else reading.beginnings(range(len(weights)), _BEGINNING)
    about = [
        {"number": row + 1, **{name: texts[row] for name, texts in known.items() if texts[row]}}
        | ({"beginning": beginnings[row]} if beginnings.get(row) else {})
        for row in range(len(weights))
    ]
    return KnownDocuments(weights, about)


def _is_own(host: str) -> bool:
    """Tell whether an address can be reached from this machine only."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

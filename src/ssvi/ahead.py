"""Kernels compiled by other processes before the first fit on a machine needs them, while this one reads its data.

A first fit of topics spends most of its time in the compiler, which keeps the interpreter to itself, so that threads do
not help. The compiler's results are kept on disk (`ssvi.numerics.compile`), where this process finds them. There are
two parts, of about the same time: what documents need, and what topics need. Both compile a kernel that they share for
the same types, so that they do not get into each other's way on disk.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

WORDS, _DOCUMENTS = 60, 24  # as few as take every step of a fit


@contextmanager
def compiling(model: str, n_topics: int, local_step: str, global_step: str) -> Iterator[Callable[[], None]]:
    """Compile in the background what a fit will need; the function that is returned waits until all is there.

    Nothing is done for other models than topics by Gibbs sampling, where there is one processor, and where the kernels
    have been compiled before. What goes wrong in the background is compiled again by whoever needs it.
    """
    wanted = (
        model in ("lda", "hdp")
        and local_step in ("auto", "gibbs")
        and global_step in ("auto", "ssvi", "ssvi_a", "map", "mean_field")
        and (os.cpu_count() or 1) > 1
    )
    processes = []
    if wanted and not is_compiled(n_topics):
        step = "ssvi" if global_step == "auto" else global_step
        processes = start_processes((compile_documents, n_topics), (compile_topics, n_topics, step))

    def wait() -> None:
        for process in processes:
            process.join()

    try:
        yield wait
    finally:
        for process in processes:
            process.kill()
            process.join()


def start_processes(*parts: tuple[Any, ...]) -> list[Any]:
    """Start a process for each part, a function and its arguments.

    On Linux they part from this one, and begin with all that it has imported; but not if it has other threads, which
    would be missing there in the middle of their work.
    """
    parting = sys.platform == "linux" and threading.active_count() == 1
    if parting:
        _get_ready()
    context: Any = multiprocessing.get_context("fork" if parting else "spawn")
    processes = [context.Process(target=_in_background, args=part, daemon=True) for part in parts]
    for process in processes:
        process.start()
    return processes


def _get_ready() -> None:
    """Import what all parts need, and let the compiler set itself up, which it does with its first kernel."""
    from ssvi import engine
    from ssvi.evaluation import document_completion
    from ssvi.numerics.random import scramble

    assert engine, document_completion
    scramble(np.uint64(0))


def _in_background(part: Callable[..., None], *arguments: Any) -> None:
    """Do one part, silently; for so short a time, to look for garbage takes more than it gives."""
    gc.disable()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    part(*arguments)


def is_compiled(n_topics: int) -> bool:
    """Tell whether the kernel that takes longest is there; True where nothing is compiled.

    It may have come with the installation, or be in numba's cache, newer than its source.
    """
    from ssvi.local_steps.lda import gibbs_dense, gibbs_sparse
    from ssvi.local_steps.lda.gibbs import Gibbs
    from ssvi.numerics.shipped import shelf

    kernel: Any = (gibbs_dense if Gibbs().is_dense(n_topics) else gibbs_sparse)._sample
    folder = getattr(getattr(kernel, "stats", None), "cache_path", None)
    if folder is None or shelf().holds(kernel.py_func):
        return True
    source = Path(kernel.py_func.__code__.co_filename)
    kept = [path.stat().st_mtime for path in Path(folder).glob(f"{source.stem}.{kernel.__name__}-*.nbi")]
    return bool(kept) and max(kept) >= source.stat().st_mtime


def compile_documents(n_topics: int) -> None:
    """Compile what a fit does with documents: sample their topics, and score some.

    Before that, what topics need late, and after it, what they need at the end: the other part has most to do.
    """
    from ssvi.evaluation.document_completion import document_completion
    from ssvi.families.dirichlet import Dirichlet
    from ssvi.numerics.gamma_slopes import slopes
    from ssvi.numerics.special import inverse_trigamma_growth, trigamma

    slopes(np.ones(2), np.zeros(2), np.zeros(2))
    inverse_trigamma_growth(trigamma(1.0), 1.0)
    document_completion(np.full((n_topics, WORDS), 1.0 / WORDS), np.full(n_topics, 0.1), _documents())
    Dirichlet().mean_stats(np.ones((n_topics, WORDS)))  # for `convergence_`


def compile_topics(n_topics: int, global_step: str) -> None:
    """Compile what a fit does with topics: show them to the documents, and move them."""
    from ssvi.global_steps.base import GlobalStep
    from ssvi.models.lda import LDA
    from ssvi.registry import lookup

    step = lookup("ssvi.global_steps", GlobalStep, global_step, "global_step")()
    if global_step in ("ssvi", "ssvi_a"):
        step = replace(step, averaging=7.0, warm_sweeps=1.0, draw_softening=1.0)
    fit_briefly(LDA(WORDS, np.full(n_topics, 0.1), 0.02, "auto"), _made_up_counts(), step)


def fit_briefly(model: Any, local_step: Any, global_step: Any) -> None:
    """Fit a model of topics over `WORDS` words for as long as it takes to have taken every step of a fit."""
    from ssvi import engine
    from ssvi.backends.threads import Threads

    data = _documents()
    problem = engine.Problem(model, local_step, global_step, population=_DOCUMENTS, backend=Threads(1))
    engine.run(problem, engine.init(model, 0, data), data, sweeps=3, batch_size=_DOCUMENTS // 3)


def _documents() -> Any:
    """Return a few documents with whole numbers, as the readers make them; no minibatch of them has all words."""
    from ssvi.batches.documents import Documents

    counts = np.random.default_rng(0).poisson(0.1, (_DOCUMENTS, WORDS))
    counts[:, 0] = 1
    rows, words = np.nonzero(counts)
    indptr = np.searchsorted(rows, np.arange(_DOCUMENTS + 1)).astype(np.int64)
    return Documents(indptr, words.astype(np.int64), counts[rows, words].astype(np.int64), WORDS)


def _made_up_counts() -> Any:
    """Return a local step that takes no time to compile: it puts words into topics without looking at them."""
    from ssvi.local_steps.lda.gibbs import Gibbs

    @dataclass(frozen=True)
    class MadeUpCounts(Gibbs):
        def _sample(
            self, prepared: Any, start: int, stop: int, keys: Any, into: Mapping[str, Any], tallies: Any
        ) -> None:
            into["topics"][...] = 1

    return MadeUpCounts(sweeps=1, kept=1)

"""What `ssvi fit` says when it is done: what was read, how the score moved, what topics are like, what to do next."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ssvi.batches.sources import Source
from ssvi.cli.numbers import count_missing, notes_on_numbers
from ssvi.cli.repeats import has_repeated, notes_on_repeats, repeats_in_facts, repeats_in_words
from ssvi.evaluation.coherence import document_npmi, top_words, topic_diversity
from ssvi.evaluation.trend import trend_of
from ssvi.files.models import vocabulary_of
from ssvi.report.components import Components, component_counts, count_in_words

if TYPE_CHECKING:
    from ssvi.cli.reading import Reading
    from ssvi.data.readers import Corpus
    from ssvi.data.readers.options import TextOptions

_TOP = 10  # words of a topic that coherence and diversity go by
_MOST_NAMED = 5  # topics in a line
_MANY_EMPTY = 0.05  # of the documents are worth a note
_TOGETHER = 0.05  # the coherence of a topic that hangs together: of words by chance, one in a hundred has it
_SAMPLED = 50_000  # documents of a corpus on disk that coherence goes by
_SMALLEST_GAIN = 0.001  # nats that are worth a number
_FEW_DOCUMENTS = 5  # for a topic
_MANY_NUMBERS = 0.03  # of all words


def notes_before(estimator: Any, corpus: Corpus) -> list[str]:
    """Return what a person should know before a fit begins."""
    n, empty = len(corpus.documents), count_empty(corpus)
    notes = list(corpus.notes)
    if empty > _MANY_EMPTY * n:
        why = ": see --min-df, --max-df and --stop-words" if corpus.text is not None else ""
        notes.append(f"{empty:,} of {n:,} documents ({_percent(empty, n)}) have no words left{why}.")
    notes += notes_on_numbers(estimator, corpus) + notes_on_repeats(corpus)
    numbers = _share_of_numbers(corpus)
    if numbers > _MANY_NUMBERS:
        notes.append(f"{100 * numbers:.0f}% of the words are numbers, which make topics of their own: --no-numbers.")
    components = getattr(estimator, "n_components", 0)
    if getattr(estimator, "columns_are_words", False) and n < _FEW_DOCUMENTS * components:
        fewer = max(2, n // _FEW_DOCUMENTS)
        notes.append(
            f"{components:,} {estimator.nouns[1]}s are many for {n:,} documents, and most will be copies or noise: "
            f"--topics {fewer} is the most to try."
        )
    return notes


def _share_of_numbers(corpus: Corpus) -> float:
    """Return which part of all words of a text are numbers; 0 for a corpus on disk, and where they were wanted."""
    documents: Any = corpus.documents
    if corpus.text is None or not corpus.text.numbers or corpus.vocabulary is None or isinstance(documents, Source):
        return 0.0
    are_numbers = np.array([word.isdecimal() for word in corpus.vocabulary], dtype=bool)
    if not are_numbers.any():
        return 0.0
    return float(documents.counts[are_numbers[documents.words]].sum() / max(documents.counts.sum(), 1))


def count_empty(corpus: Corpus) -> int:
    """Return how many documents have no words."""
    documents: Any = corpus.documents
    if corpus.is_table:
        return 0
    return documents.sizes.empty if isinstance(documents, Source) else int((documents.lengths() == 0).sum())


def summarize(
    estimator: Any,
    corpus: Corpus,
    output: Path,
    score: float | None,
    seconds: float,
    next_steps: Sequence[str],
    *,
    stopped: bool = False,
) -> dict[str, Any]:
    """Return all that is said of a fit, as plain values; it may have been `stopped` before its end."""
    return {
        "output": str(output),
        "model": estimator.name,
        **component_counts(estimator),
        "documents": estimator._n_distinct,
        "columns": estimator.n_features_in_,
        "steps": estimator.n_batch_iter_,
        "seconds": round(seconds, 3),
        "held_out_score": score,
        "converged": estimator.converged_,
        "convergence": None if math.isnan(estimator.convergence_) else estimator.convergence_,
        "gain": None if math.isnan(estimator.gain_) else estimator.gain_,
        "read": _read(corpus) | ({"missing": count_missing(corpus)} if corpus.is_table else {}),
        "trend": trend_of(estimator, stopped=stopped),
        "quality": quality(estimator, corpus),
        "notes": notes_before(estimator, corpus),
        "next": list(next_steps),
    }


def _read(corpus: Corpus) -> dict[str, Any]:
    text, words = corpus.text, corpus.words
    return {
        "documents": len(corpus.documents),
        "empty_documents": count_empty(corpus),
        "columns": corpus.documents.n_words,
        "cleaning": None if text is None else cleaning(text),
        "words": None if words is None else {
            "found": words.found, "rare": words.rare, "frequent": words.frequent, "beyond": words.beyond,
            "kept": words.kept,
        },
        "known": list(corpus.info.part(0, 1).known()),
        **repeats_in_facts(corpus),
    }  # fmt: skip


def cleaning(text: TextOptions) -> list[str]:
    """Return what was done to the text, in words."""
    from ssvi.data.readers.phrases import FoundPhrases

    stop_words = text.stop_words.title() if isinstance(text.stop_words, str) else ""
    found = len(text.phrases) if isinstance(text.phrases, FoundPhrases) else 0
    done = {
        "HTML taken out": text.strip_html,
        f"cut into {(text.segment or '').title()} words": text.segment is not None,
        "lower case": text.lowercase,
        f"{stop_words} stop words left out": bool(stop_words),
        f"{len(text.more_stop_words):,} more words left out": bool(text.more_stop_words),
        "numbers left out": not text.numbers,
        "pieces of words and of numbers (don, ll, 000) left out": not text.pieces and text.numbers,
        "pieces of words (don, ll) left out": not text.pieces and not text.numbers,
        f"{found:,} phrases made one": text.phrases is not None,
        f"runs of up to {text.ngram_range[1]} words": text.ngram_range[1] > 1,
    }
    return [what for what, holds in done.items() if holds]


def quality(estimator: Any, corpus: Corpus) -> dict[str, Any] | None:
    """Return how good components look: coherence and diversity where columns are words, and marks against some."""
    if not hasattr(estimator, "summarize_components"):
        return None
    parts = Components.used_by(estimator)
    found = {int(number): marks for number, marks in zip(parts.numbers, parts.marks(), strict=True) if marks}
    facts: dict[str, Any] = {"coherence": None, "loose": [], "diversity": None, "marks": found}
    if estimator.columns_are_words and parts.rows.shape[1] > 1:
        tops = top_words(parts.rows, min(_TOP, parts.rows.shape[1]))
        facts["diversity"] = topic_diversity(tops)
        documents: Any = corpus.documents
        each = document_npmi(tops, documents.sample(_SAMPLED) if isinstance(documents, Source) else documents)
        if each is not None:
            facts["coherence"] = float(each.mean())
            facts["loose"] = [int(parts.numbers[k]) for k in np.argsort(each) if each[k] < _TOGETHER]
    return facts


def in_lines(facts: dict[str, Any], estimator: Any) -> list[str]:
    """Return the summary for people."""
    scored = "" if facts["held_out_score"] is None else f", held-out score {facts['held_out_score']:.4f}"
    means = estimator.explain_score(facts["held_out_score"]) if scored and hasattr(estimator, "explain_score") else ""
    unnamed = "names, for want of a header" if "missing" in facts["read"] else "words, for want of a --vocabulary"
    named = "" if vocabulary_of(estimator) else f"; columns have numbers and no {unnamed}"
    first = (
        f"{facts['output']}: {facts['model']}{count_in_words(estimator)}, fitted to {facts['documents']:,} x "
        f"{facts['columns']:,} in {facts['steps']} steps, {facts['seconds']:.1f} s{scored}{named}"
    )
    rows = "documents" if getattr(estimator, "columns_are_words", False) or facts["read"]["cleaning"] else "rows"
    rest = {
        "read": _read_line(facts["read"], rows),
        "text": ", ".join(facts["read"]["cleaning"] or []),
        "score": score_line(facts["trend"], rows, estimator) + _convergence(facts, estimator),
        "that is": means[:1].lower() + means[1:],
        estimator.nouns[0].lower() if facts["quality"] else "": _quality_line(
            facts["quality"], estimator, repeats=has_repeated(facts["read"])
        ),
        "next": "; ".join(facts["next"]),
    }
    return [first, *(f"  {name}: {line}" for name, line in rest.items() if line)]


def _read_line(read: dict[str, Any], rows: str) -> str:
    n, empty, words = read["documents"], read["empty_documents"], read["words"]
    line = f"{n:,} {rows}"
    if read.get("missing"):
        line += f", {read['missing']:,} value{'' if read['missing'] == 1 else 's'} missing"
    if empty and rows == "documents":
        line += f", {empty:,} of them ({_percent(empty, n)}) without any words left"
    line += repeats_in_words(read)
    if words is None:
        return line
    why = {
        "in too few documents (--min-df)": words["rare"],
        "in too many (--max-df)": words["frequent"],
        "less frequent than the others (--max-words)": words["beyond"],
    }
    gone = ", ".join(f"{number:,} {reason}" for reason, number in why.items() if number)
    return f"{line}; {words['kept']:,} of {words['found']:,} words kept" + (f": {gone}" if gone else "")


def score_line(moved: dict[str, Any] | None, rows: str = "documents", estimator: Any = None) -> str:
    """Return how held-out scores moved, in words."""
    if moved is None:
        return f"no {rows} were set aside to score by"
    line, direction = f"from {moved['first']:.4f} to {moved['last']:.4f}", moved["direction"]
    if moved.get("stopped_after") is not None:
        return (
            f"{line}; stopped after pass {moved['stopped_after']:,} of {moved['passes_asked']:,}, too early to tell "
            "what more would gain: the same command begins anew, and with --checkpoint FOLDER one that was stopped "
            "goes on by --resume"
        )
    if direction in ("falling", "fell"):
        return line + _fall(moved, estimator)
    if direction == "climbing":
        return f"{line}, and still climbing{_more_passes(moved)}"
    if direction == "settled":
        return f"{line}, and settled: {_little(moved.get('gain_of_as_many_passes') or 0.0)}"
    return f"{line}; too few passes to tell whether it is still climbing"


def _more_passes(moved: dict[str, Any]) -> str:
    """Say how many passes to try; where a fit has ended before those that it was given, more would change nothing."""
    passes, asked = moved["passes"], moved.get("passes_asked", moved["passes"])
    if passes < asked:
        return f" when the fit ended by itself, after pass {passes:,} of {asked:,}"
    return f": try --passes {2 * passes}, which may gain about {moved['gain_of_as_many_passes']:.2g}, or --passes auto"


def _fall(moved: dict[str, Any], estimator: Any) -> str:
    """Say where a score that has fallen was best, and what to do."""
    how = "falling since" if moved["direction"] == "falling" else "below"
    best = f", {how} its best, {moved['best']:.4f} after pass {moved['best_after']:,}"
    if moved["kept_best"]:
        return f"{best}, which --early-stopping has kept"
    several = estimator.nouns[0].lower() if hasattr(estimator, "nouns") and estimator.n_components > 1 else ""
    return f"{best}: --early-stopping keeps the best" + (f", and fewer {several} may score better" if several else "")


def _little(gain: float) -> str:
    """Say how little more passes would gain."""
    return f"as many passes again may gain about {gain:.1g}" if gain >= _SMALLEST_GAIN else "more passes change little"


def _convergence(facts: dict[str, Any], estimator: Any) -> str:
    """Say whether the fit has converged, unless the score says what to do already."""
    if facts["trend"] is not None and facts["trend"].get("stopped_after") is not None:
        return ""
    if facts["trend"] is not None and facts["trend"]["direction"] in ("climbing", "falling", "fell"):
        return ""
    if facts["converged"]:
        return "; the fit has converged"
    if facts["gain"] is not None:  # the fit was to end by it
        if not facts["gain"] > estimator.gain_tol or estimator.early_stopping:
            return ""
        return f"; the last pass still gained about {facts['gain']:.2g}: a larger number of --passes goes on for longer"
    if not (facts["convergence"] or 0.0) > estimator.convergence_tol:
        return ""
    several = estimator.nouns[0].lower() if facts["quality"] else "parameters"
    enough = "for as long as that gains something" if estimator._ends_by_gain else "until they do not"
    return f"; the {several} still move from pass to pass: --passes auto goes on {enough}"


def _quality_line(found: dict[str, Any] | None, estimator: Any, *, repeats: bool = False) -> str:
    if found is None:
        return ""
    parts = [] if found["coherence"] is None else [_coherence_line(found, estimator)]
    if found["diversity"] is not None:
        parts.append(f"diversity {found['diversity']:.2f} (1: no top word is in two topics)")
    noun = estimator.nouns[1]
    marked = [
        f"{noun} {number} is {' and '.join(mark.replace('copy of #', f'a copy of {noun} ') for mark in own)}"
        for number, own in found["marks"].items()
    ]
    if marked:
        parts.append(", ".join(_first_few(marked, "more like these")))
    if any("common" in own for own in found["marks"].values()):
        parts.append(
            "the lines that many documents repeat may make a common one: --drop-repeated takes them out"
            if repeats
            else "words that nearly all documents have make a common one: --stop-words english,FILE drops them"
        )
    return "; ".join(parts)


def _coherence_line(found: dict[str, Any], estimator: Any) -> str:
    """Say how many topics have words that occur together, and which do not."""
    count, loose, noun = estimator.components_in_use(), found["loose"], estimator.nouns[1]
    together = f"all {count:,} hang together" if not loose else f"{count - len(loose):,} of {count:,} hang together"
    line = f"{together} (coherence {found['coherence']:.2f} in the mean; 0: words as by chance, 1: always together)"
    if not loose:
        return line
    *firsts, last = _first_few([str(number) for number in loose], "others")
    named = f"{', '.join(firsts)} and {last}" if firsts else last
    joins = f"{noun} {named} joins" if len(loose) == 1 else f"{noun}s {named} join"
    return f"{line}, {joins} words that do not: fewer {noun}s or more documents make clearer ones"


def _first_few(names: list[str], others: str) -> list[str]:
    """Return as many names as go into a line, and how many others there are."""
    few = len(names) <= _MOST_NAMED + 1  # as "1 others" would take no less room than its name
    return names if few else [*names[:_MOST_NAMED], f"{len(names) - _MOST_NAMED} {others}"]


def next_steps(output: Path, reading: Reading) -> list[str]:
    """Return the commands to type next, with the options of reading; many sources are left to whoever types."""
    model, paths = shlex.quote(str(output)), reading.paths if len(reading.paths) <= _MOST_NAMED else ()
    corpus = "".join(f" --corpus {shlex.quote(str(path))}" for path in paths)
    options = "".join(f" {shlex.quote(part)}" for part in reading.options()) if corpus else ""
    return [f"ssvi topics {model}", f"ssvi report {model}{corpus}{options}"]


def _percent(part: int, whole: int) -> str:
    share = 100 * part / max(whole, 1)
    return f"{share:.0f}%" if share >= 1 else f"{share:.1f}%"

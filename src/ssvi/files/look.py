"""Model files as they show themselves: by their overview, without the model, and the labels that people give.

Files of earlier versions have no overview, and there is none with other options than the usual ones: then the model is
loaded (`ssvi.files.models`), which takes longer.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ssvi.files import container
from ssvi.labels import RELEVANCE
from ssvi.overview import KEPT_WORDS, Overview, facts_of, words_of

_WHAT = "a saved model"


@dataclass(frozen=True)
class Look:
    """What can be shown of a model file.

    Attributes
    ----------
    overview : Overview or None
        Its components; None for a model that has none.
    facts : dict
        What `ssvi info` says.
    words : list of str or None
        The names of the columns, where it has any.
    given : list of str or None
        Labels that people gave its components, "" for none.

    """

    overview: Overview | None
    facts: dict[str, Any]
    words: list[str] | None
    given: list[str] | None

    @classmethod
    def at(cls, path: str | os.PathLike[str], words: int = 10, relevance: float = RELEVANCE) -> Look:
        """Look at a file, for so many words of each component."""
        text = container.read_text(path, _WHAT)
        try:
            look = cls._from_text(text) if words <= KEPT_WORDS and relevance == RELEVANCE else None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{os.fspath(path)} is not {_WHAT}: {str(error).rstrip('.')}.") from error
        return look or cls._from_model(path, text, words, relevance)

    @classmethod
    def _from_text(cls, text: dict[str, Any]) -> Look | None:
        """Return what a file says of itself; None for one that says nothing."""
        if text.get("kind") != "model":
            raise ValueError(f"it is a file of the kind {text.get('kind')!r}")
        kept, fitted = text.get("overview"), text["fitted"]["mapping"]
        if kept is None:
            return None
        overview = None if kept["components"] is None else Overview.from_kept(kept["components"])
        words, given = words_of(fitted), fitted.get("labels_")
        if overview is not None:
            if words is not None and len(words) != overview.columns:
                raise ValueError(f"it has {len(words):,} words and {overview.columns:,} columns")
            _check_labels(given, overview.components)
        return cls(overview, _facts(kept["facts"], text, words), words, given)

    @classmethod
    def _from_model(cls, path: str | os.PathLike[str], text: dict[str, Any], words: int, relevance: float) -> Look:
        from ssvi.files.models import load, vocabulary_of

        estimator = load(path)
        has_components, names = hasattr(estimator, "summarize_components"), vocabulary_of(estimator)
        overview = Overview.of(estimator, words, relevance) if has_components else None
        known = None if names is None else list(names)
        facts = _facts(facts_of(estimator), text, known)
        return cls(overview, facts, known, getattr(estimator, "labels_", None))

    def with_words(self, words: list[str]) -> Look:
        """Return the same with other names of columns."""
        return replace(self, words=words)

    def components(self) -> Overview:
        """Return the components, or raise a `ValueError` if there are none."""
        if self.overview is None:
            raise ValueError(f"{self.facts['class']} has no components to show; `ssvi info` says what it holds.")
        return self.overview


def keep_labels(path: Path, given: list[str]) -> None:
    """Write labels into a model file, whatever else it holds."""
    text, arrays = container.read(path, _WHAT)
    if "overview" in text:
        text["fitted"]["mapping"]["labels_"] = given
        container.write(path, text, arrays)
        return
    from ssvi.files.models import load

    estimator = load(path)
    estimator.labels_ = given
    estimator.save(path)


def _facts(own: dict[str, Any], text: dict[str, Any], words: list[str] | None) -> dict[str, Any]:
    about = {"class": text.get("class"), "schema": text.get("schema"), "vocabulary": words is not None}
    return {**about, **own, "versions": text.get("versions")}


def _check_labels(given: Any, components: int) -> None:
    if given is None:
        return
    lines = isinstance(given, list) and all(isinstance(label, str) and label.isprintable() for label in given)
    if not lines or len(given) != components:
        raise ValueError(f"its labels are not {components:,} lines of text")

"""Checkpoints of a fit: whatever happens to the process, it goes on from the last one and ends with the same bits."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import json
import os
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from ssvi.batches.sources import Source
from ssvi.engine import Info, State
from ssvi.files import container
from ssvi.files.atomic import remove_unfinished
from ssvi.files.checks import check_fitted
from ssvi.files.codec import Decoder, Encoder

_WHAT = "a checkpoint"
_NAME = re.compile(r"step-(\d{9})\.ssvi")
_KEPT = 2
NOT_COMPARED = ("backend", "callbacks", "n_jobs", "verbose")
"""Parameters that do not change what a fit finds."""


class Checkpoints:
    """A callback of estimators: saves the fit every so many steps, and lets `fit` go on from where it stopped.

    >>> LatentDirichletAllocation(50, callbacks=[Checkpoints("folder", every=20)]).fit(X)  # doctest: +SKIP

    If the folder holds checkpoints of the same fit (the same parameters and data), `fit` begins with the last of them.

    Parameters
    ----------
    folder : path
        Where they go. It is made if it is not there. The last two are kept.
    every : int
        Steps between them.

    """

    def __init__(self, folder: str | os.PathLike[str], every: int = 50) -> None:
        if not isinstance(every, int) or every < 1:
            raise ValueError(f"every must be an integer of 1 or more, not {every!r}.")
        self.folder, self.every = Path(folder), every
        self.resumed_at: int | None = None
        self._estimator: Any = None
        self._fingerprint: dict[str, Any] = {}
        self._stop = False

    def begin(self, estimator: Any, data: Any) -> None:
        """Take charge of a fit that is about to make its first step: put it where its last checkpoint was, if any."""
        self._estimator, self._stop, self.resumed_at = estimator, False, None
        self._fingerprint = _fingerprint(estimator, data)
        self.folder.mkdir(parents=True, exist_ok=True)
        remove_unfinished(self.folder)
        for path in reversed(self._named()):
            found = self._read(path)
            if found is not None:
                for name, value in found.items():
                    setattr(estimator, name, value)
                self.resumed_at = estimator._state.step
                return

    def end(self) -> None:
        """Let go of the fit: steps after its loop are not its own."""
        self._estimator = None

    def __call__(self, state: State, info: Info) -> bool:
        """Save the fit if it is time to, or if it is to stop; tell whether it is to stop."""
        if self._estimator is None:
            return False
        if self._stop or info.step % self.every == 0:
            self._save(state)
        return self._stop

    def keep_end(self, state: State) -> None:
        """Save the end of the loop, from which a fit goes on to what comes after it."""
        if not self.files() or state.step % self.every:
            self._save(state)

    def stop_after_this_step(self) -> None:
        """Ask the fit to save itself and stop when its step is over."""
        self._stop = True

    def files(self) -> list[Path]:
        """Return the checkpoints in the folder, the oldest first."""
        return [path for path in self._named() if path.is_file()]

    def _named(self) -> list[Path]:
        """Return whatever has a checkpoint's name, in the order of steps: also folders, and links that lead nowhere."""
        if not self.folder.is_dir():
            return []
        return sorted(path for path in self.folder.iterdir() if _NAME.fullmatch(path.name))

    @property
    def last_step(self) -> int | None:
        """The step of the last checkpoint in the folder."""
        files = self.files()
        return int(files[-1].stem.removeprefix("step-")) if files else None

    def clear(self) -> None:
        """Remove them all."""
        for path in self.files():
            path.unlink(missing_ok=True)

    def _save(self, state: State) -> None:
        """Write a checkpoint, then remove all but the last two. If there is no room for it the fit goes on without."""
        encoder = Encoder()
        names = set(self._attributes()) - {"_state"}
        found = {name: getattr(self._estimator, name) for name in sorted(names) if hasattr(self._estimator, name)}
        text = {
            "kind": "checkpoint",
            "fingerprint": self._fingerprint,
            "fitted": encoder.encode(found | {"_state": state}),
        }
        path = self.folder / f"step-{state.step:09d}.ssvi"
        try:
            container.write(path, text, encoder.arrays)
            # Any that claim to be later were of no use when the fit began, and are not counted.
            for old in [other for other in self.files() if other.name <= path.name][:-_KEPT]:
                old.unlink(missing_ok=True)
        except OSError as error:
            warnings.warn(
                f"the checkpoint of step {state.step} could not be written to {self.folder} ({error.strerror}): "
                "earlier ones are kept, and the fit goes on.",
                RuntimeWarning,
                stacklevel=2,
            )

    def _attributes(self) -> tuple[str, ...]:
        """Return what a checkpoint may hold."""
        return (*self._estimator.saved_attributes, *self._estimator.passing_attributes)

    def _read(self, path: Path) -> dict[str, Any] | None:
        """Return what a checkpoint of this fit holds; None if it is damaged, and an error if it is of another fit."""
        try:
            text, arrays = container.read(path, _WHAT)
            if text.get("kind") != "checkpoint":
                raise ValueError(f"it is a file of the kind {text.get('kind')!r}")
            fingerprint, fitted = dict(text["fingerprint"]), dict(Decoder(arrays).decode(text["fitted"]))
            if not {"_state", "history_"} <= set(fitted):
                raise ValueError("it has no state or no history")
        except OSError as error:
            _say_passed_over(path, error.strerror or error)
            return None
        except (ValueError, KeyError, TypeError) as error:
            _say_passed_over(path, error)
            return None
        others = sorted(name for name in self._fingerprint if self._fingerprint[name] != fingerprint.get(name))
        if others:
            raise ValueError(
                f"{self.folder} holds checkpoints of another fit, with other {', '.join(others)}: "
                "give this one another folder, or remove them."
            )
        unknown = set(fitted) - set(self._attributes())
        if unknown:
            raise ValueError(f"{path} is not {_WHAT} of a {type(self._estimator).__name__}.")
        resumed = copy.copy(self._estimator)
        vars(resumed).update(fitted)
        try:
            check_fitted(resumed, sum(array.size for array in arrays.values()))
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, MemoryError) as error:
            _say_passed_over(path, error)
            return None
        return fitted


def _say_passed_over(path: Path, reason: object) -> None:
    """Say that a checkpoint is of no use, and why."""
    warnings.warn(f"{path} is passed over: {str(reason).rstrip('.')}.", RuntimeWarning, stacklevel=4)


def _fingerprint(estimator: Any, data: Any) -> dict[str, Any]:
    """Return what tells a fit from other fits: its class, its parameters and its data."""
    parameters = estimator.get_params(deep=False)
    if parameters["random_state"] is not None:
        parameters["random_state"] = estimator.random_state_
    # Arrays among the parameters are told apart by their bytes.
    told = {name: digest(value) for name, value in parameters.items() if name not in NOT_COMPARED}
    return {"class": type(estimator).__name__, **told, "data": digest(data)}


def digest(value: Any) -> Any:
    """Return a short text that two values share if they are equal."""
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    digest = hashlib.blake2b(digest_size=16)
    _feed(digest, value)
    return digest.hexdigest()


def _feed(digest: Any, value: Any) -> None:
    if isinstance(value, Source):
        digest.update(value.content_hash.encode())
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        digest.update(type(value).__name__.encode())
        for field in dataclasses.fields(value):
            _feed(digest, getattr(value, field.name))
    elif isinstance(value, np.ndarray):
        digest.update(json.dumps([value.dtype.str, value.shape]).encode())
        digest.update(np.ascontiguousarray(value).view(np.uint8).data)
    elif isinstance(value, list | tuple):
        for item in value:
            _feed(digest, item)
    else:
        digest.update(repr(value).encode())

"""What an experiment is, and how one is run: trial by trial, into a folder, from wherever it was interrupted."""

from __future__ import annotations

import dataclasses
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

from ssvi import files
from ssvi.backends.base import Backend
from ssvi.engine import State
from ssvi.experiments.table import Row, Table
from ssvi.files.atomic import write_atomically

_WRITTEN = ("measurements.csv", "conditions.json", "interrupted.npz", "interrupted.json", "summary.md", "figure.png")


class Reporter:
    """Told how an experiment goes on. This one keeps quiet."""

    def began(self, text: str) -> None:
        """Hear what the data is."""

    def trial(self, number: int, total: int, label: str) -> None:
        """Hear that a trial begins."""

    def advance(self, share: float) -> None:
        """Hear how much of the trial is done."""

    def measured(self, row: Row) -> None:
        """Hear of a new row of the table."""


def option(default: Any, text: str, *, grid: bool = False) -> Any:
    """Declare a field of a setting, with its help. Those of the grid say which trials there are, others how each is."""
    return dataclasses.field(default=default, metadata={"help": text, "grid": grid})


def require(name: str, value: Any, condition: Callable[[Any], bool], wanted: str) -> None:
    """Raise one clear sentence unless the value of an option meets the condition."""
    if not condition(value):
        raise ValueError(f"{name.replace('_', '-')} must be {wanted}, not {value}.")


class Experiment(ABC):
    """A grid of trials, each measured a few times, and the table and figure made of that.

    `Setting` is a frozen dataclass of `option` fields; `settings` holds its instances by name, `quick` and `paper`.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    settings: ClassVar[Mapping[str, Any]]
    unused: ClassVar[frozenset[str]] = frozenset()
    """Fields of the setting that mean nothing here."""

    def check(self, setting: Any) -> None:
        """Raise a `ValueError` if the experiment cannot be run in this setting."""
        return

    @abstractmethod
    def trials(self, setting: Any) -> Sequence[Any]:
        """Return the trials, frozen dataclasses, in the order they are run."""

    @abstractmethod
    def bench(self, setting: Any, backend: Backend) -> Any:
        """Read the data and return what `measure` needs."""

    @abstractmethod
    def measure(self, bench: Any, trial: Any, progress: Checkpoint, reporter: Reporter) -> Iterator[Row]:
        """Run a trial and yield a row each time something is measured, the last when it is done."""

    @abstractmethod
    def is_done(self, bench: Any, rows: Sequence[Row]) -> bool:
        """Tell from a trial's rows whether it was finished."""

    @abstractmethod
    def summary(self, rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
        """Return the headings and lines of the table that a person wants to see."""

    @abstractmethod
    def draw(self, rows: Sequence[Row], path: Path, setting: Any) -> None:
        """Draw the paper's figure from the rows."""

    @abstractmethod
    def data(self, bench: Any) -> Mapping[str, Any]:
        """Return what tells the data from other data, to be noted down with the measurements."""


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """Where a trial that was interrupted can be found."""

    path: Path

    def save(self, trial: Any, state: State, seconds: float) -> None:
        """Put down where a trial stands."""
        files.save_state(state, self.path)
        note = {"trial": dataclasses.asdict(trial), "step": state.step, "seconds": seconds}
        write_atomically(self._note, lambda file: json.dump(note, file))

    def load(self, trial: Any) -> tuple[State, float] | None:
        """Return the state and the seconds of this trial if it is the one that was put down."""
        # A file that is missing, damaged or of another trial means a fresh start, which ends with the same result.
        with suppress(OSError, ValueError, KeyError):
            note = json.loads(self._note.read_text())
            if note["trial"] == dataclasses.asdict(trial):
                state = files.load_state(self.path)
                if state.step == note["step"]:
                    return state, float(note["seconds"])
        return None

    def clear(self) -> None:
        """Forget it."""
        self.path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)

    @property
    def _note(self) -> Path:
        return self.path.with_suffix(".json")


def reproduce(
    experiment: Experiment,
    setting: Any,
    folder: Path,
    backend: Backend,
    reporter: Reporter | None = None,
    *,
    restart: bool = False,
) -> Table:
    """Run what is not yet in the folder's table, or all of it, and return the table.

    Nothing is removed or written before the setting and the data have been checked.
    """
    reporter = reporter or Reporter()
    experiment.check(setting)
    trials = experiment.trials(setting)
    bench = experiment.bench(setting, backend)
    conditions = _conditions(experiment, setting, bench)
    if restart:
        forget(folder)
    table, checkpoint = Table.open(folder / "measurements.csv"), Checkpoint(folder / "interrupted.npz")
    if table.rows:
        _refuse_others(folder, conditions)
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / "conditions.json", lambda file: json.dump(conditions, file, indent=1))
    reporter.began(", ".join(f"{name} {value}" for name, value in experiment.data(bench).items()))
    for number, trial in enumerate(trials, 1):
        key = dataclasses.asdict(trial)
        if experiment.is_done(bench, table.where(**key)):
            continue
        reporter.trial(number, len(trials), " ".join(map(str, key.values())))
        known = {row["step"] for row in table.where(**key)}
        for row in experiment.measure(bench, trial, checkpoint, reporter):
            if row["step"] not in known:
                table.append({**key, **row})
                reporter.measured(table.rows[-1])
    checkpoint.clear()
    return table


def forget(folder: Path) -> None:
    """Remove what an experiment wrote, and nothing else."""
    for name in _WRITTEN:
        (folder / name).unlink(missing_ok=True)


def chosen_rows(table: Table, trials: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the rows of some trials: a folder may hold more than was asked for this time."""
    keys = {tuple(dataclasses.asdict(trial).items()) for trial in trials}
    names = [field.name for field in dataclasses.fields(trials[0])]
    return [row for row in table.rows if tuple((name, row[name]) for name in names) in keys]


def _conditions(experiment: Experiment, setting: Any, bench: Any) -> dict[str, Any]:
    """Return what must be the same for measurements to stand in one table."""
    names = [field.name for field in dataclasses.fields(setting) if not field.metadata["grid"]]
    fields = {name: getattr(setting, name) for name in names if name not in experiment.unused}
    conditions = {"experiment": experiment.name, **fields, **experiment.data(bench)}
    result: dict[str, Any] = json.loads(json.dumps(conditions, default=str))
    return result


def _refuse_others(folder: Path, wanted: Mapping[str, Any]) -> None:
    """Raise if the folder's measurements were taken under other conditions."""
    try:
        found = json.loads((folder / "conditions.json").read_text())
    except (OSError, ValueError) as error:
        raise ValueError(
            f"{folder} holds measurements, but not under which conditions they were taken ({error}): "
            "use another --output, or --restart to measure anew."
        ) from error
    for name, value in wanted.items():
        if found.get(name, value) != value:
            raise ValueError(
                f"{folder} holds measurements with {name} = {found[name]}, and this run has {name} = {value}: "
                "use another --output, or --restart to measure anew."
            )

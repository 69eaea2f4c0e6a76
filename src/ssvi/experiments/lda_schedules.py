"""How much each algorithm minds its settings: scores over priors, delays of the step size, and the population ramp."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from ssvi.experiments import figures
from ssvi.experiments.algorithms import label
from ssvi.experiments.lda import LdaExperiment, LdaSetting
from ssvi.experiments.table import Row, distinct, mean_and_spread, select

_ALGORITHMS = ("mean_field:mean_field", "mean_field:gibbs", "ssvi_a:gibbs", "ssvi:gibbs")
_COLUMNS = ("eta", "decay", "offset", "ramp")


class LdaSchedules(LdaExperiment):
    """eta x tau x ramp for the four variational algorithms; the spread of each, and its best."""

    name = "lda-schedules"
    title = "LDA: how much the settings matter"
    shown = frozenset(_COLUMNS)
    unused = frozenset({"langevin_step", "langevin_delay"})
    settings: ClassVar[Mapping[str, LdaSetting]] = {
        "quick": LdaSetting(
            algorithm=_ALGORITHMS, documents=10_000, test_documents=1_000, topics=50, batch_size=200, sweeps=2,
            eta=(0.01, 0.5), offset=(0.0, 30.0), ramp=("on", "off"), evaluations=1, seeds=1,
        ),
        "paper": LdaSetting(
            algorithm=_ALGORITHMS, test_documents=10_000, offset=(0.0, 10.0, 30.0), ramp=("on", "off"),
            evaluator="chib", evaluations=1, seeds=3,
        ),
    }  # fmt: skip

    def summary(self, rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
        """Return the mean over seeds for each setting and algorithm; below, the spread over settings and the best."""
        means = _means(rows)
        algorithms = distinct(rows, "algorithm")
        settings = list(dict.fromkeys(setting for _, setting in means))
        lines = []
        for setting in settings:
            values = [means.get((algorithm, setting), (float("nan"), float("nan"))) for algorithm in algorithms]
            lines.append([*(f"{value:g}" if isinstance(value, float) else str(value) for value in setting),
                          *(figures.with_spread(*value) for value in values)])  # fmt: skip
        for name, function in (("best", max), ("worst", min), ("spread", lambda scores: max(scores) - min(scores))):
            scores = [[mean for (a, _), (mean, _) in means.items() if a == algorithm] for algorithm in algorithms]
            lines.append([name, "", "", "", *(f"{function(own):.3f}" for own in scores)])
        return [*_COLUMNS, *map(label, algorithms)], lines

    def draw(self, rows: Sequence[Row], path: Path, setting: Any) -> None:
        """Draw a column of points for each algorithm, a point for each setting."""
        means = _means(rows)
        algorithms = distinct(rows, "algorithm")
        etas = distinct(rows, "eta")
        with figures.panels(path, 1, 1, "", "mean log probability per word", width=7.0) as axes:
            panel = axes[0][0]
            panel.set_xticks(range(len(algorithms)), list(map(label, algorithms)))
            for number, algorithm in enumerate(algorithms):
                for (name, setting), (mean, _) in means.items():
                    if name == algorithm:
                        figures.setting_point(panel, number, mean, etas.index(setting[0]), setting[0], setting[3])


def _means(rows: Sequence[Row]) -> dict[tuple[str, tuple[Any, ...]], tuple[float, float]]:
    """Return mean and spread over seeds of the last score, by algorithm and setting."""
    done = select(rows, step=max(row["step"] for row in rows))
    keys = dict.fromkeys((row["algorithm"], tuple(row[name] for name in _COLUMNS)) for row in done)
    return {
        (algorithm, setting): mean_and_spread(
            row["score"] for row in select(done, algorithm=algorithm, **dict(zip(_COLUMNS, setting, strict=True)))
        )
        for algorithm, setting in keys
    }

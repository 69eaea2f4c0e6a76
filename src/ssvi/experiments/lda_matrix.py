"""The appendix's figure: every global step with every local step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from ssvi.experiments import figures
from ssvi.experiments.lda import LdaExperiment, LdaSetting
from ssvi.experiments.table import Row, distinct, mean_and_spread, select

_GLOBAL = ("mean_field", "ssvi", "ssvi_a", "map")
_LOCAL = ("cvb0", "gibbs", "mean_field")
_ALGORITHMS = tuple(f"{above}:{below}" for above in _GLOBAL for below in _LOCAL)


class LdaMatrix(LdaExperiment):
    """{mean-field, SSVI, SSVI-A, MAP} x {CVB0, Gibbs, mean-field}, for several eta."""

    name = "lda-matrix"
    title = "LDA: every global step with every local step (appendix)"
    shown = frozenset({"eta"})
    unused = frozenset({"langevin_step", "langevin_delay"})
    settings: ClassVar[Mapping[str, LdaSetting]] = {
        "quick": LdaSetting(
            algorithm=_ALGORITHMS, documents=10_000, test_documents=1_000, topics=50, batch_size=200, sweeps=2,
            eta=(0.01, 0.1, 1.0), evaluations=5, seeds=3,
        ),
        "paper": LdaSetting(
            algorithm=_ALGORITHMS, test_documents=10_000, eta=(0.01, 0.1, 0.5, 1.0), evaluator="chib",
        ),
    }  # fmt: skip

    def summary(self, rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
        """Return the last score of each pair, mean and spread over seeds, for each eta."""
        done = select(rows, step=max(row["step"] for row in rows))
        etas, lines = distinct(done, "eta"), []
        for algorithm in distinct(done, "algorithm"):
            own = select(done, algorithm=algorithm)
            scores = [mean_and_spread(row["score"] for row in select(own, eta=eta)) for eta in etas]
            seconds, _ = mean_and_spread(row["seconds"] for row in own)
            lines.append([algorithm, *(figures.with_spread(*score) for score in scores), f"{seconds:.0f}"])
        return ["global:local", *(f"eta {eta:g}" for eta in etas), "seconds"], lines

    def draw(self, rows: Sequence[Row], path: Path, setting: Any) -> None:
        """Draw global steps from left to right, local steps from top to bottom, and a line for each eta."""
        pairs = [name.split(":") for name in distinct(rows, "algorithm")]
        columns, lines = list(dict.fromkeys(a for a, _ in pairs)), list(dict.fromkeys(b for _, b in pairs))
        with figures.panels(path, len(lines), len(columns), "seconds", "mean log probability per word") as axes:
            for above, below in pairs:
                panel = axes[lines.index(below)][columns.index(above)]
                panel.set_title(f"{above} : {below}")
                for eta in distinct(rows, "eta"):
                    chosen = select(rows, algorithm=f"{above}:{below}", eta=eta)
                    figures.curve(panel, chosen, eta, f"$\\eta$ = {eta:g}")

"""Figure 2 of the paper: held-out score against wall-clock time, for five algorithms and several priors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from ssvi.experiments import figures
from ssvi.experiments.algorithms import label
from ssvi.experiments.lda import LdaExperiment, LdaSetting
from ssvi.experiments.table import Row, distinct, mean_and_spread, select

_ALGORITHMS = ("mean_field:mean_field", "mean_field:gibbs", "ssvi:gibbs", "ssvi_a:gibbs", "sgrld")


class LdaHeldout(LdaExperiment):
    """SVI, Gibbs-within-SVI, SSVI, SSVI-A and SGRLD, over a grid of eta (and of alpha, if asked for)."""

    name = "lda-heldout"
    title = "LDA: held-out score against time (figure 2)"
    shown = frozenset({"alpha", "eta"})
    takes_sgrld = True
    settings: ClassVar[Mapping[str, LdaSetting]] = {
        "quick": LdaSetting(
            algorithm=_ALGORITHMS, documents=10_000, test_documents=1_000, topics=50, batch_size=200, sweeps=2,
            eta=(0.01, 0.1, 1.0), evaluations=5,
        ),
        "paper": LdaSetting(
            algorithm=_ALGORITHMS, test_documents=10_000, alpha=(0.1, 0.02, 0.5), eta=(0.01, 0.05, 0.1, 0.5, 1.0),
            evaluator="chib",
        ),
    }  # fmt: skip

    def summary(self, rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
        """Return the last score of each algorithm, mean and spread over seeds, for each prior."""
        done = select(rows, step=max(row["step"] for row in rows))
        priors = list(dict.fromkeys((row["alpha"], row["eta"]) for row in done))
        lines = []
        for algorithm in distinct(done, "algorithm"):
            line = [label(algorithm)]
            for alpha, eta in priors:
                chosen = select(done, algorithm=algorithm, alpha=alpha, eta=eta)
                line.append(figures.with_spread(*mean_and_spread(row["score"] for row in chosen)))
            seconds, _ = mean_and_spread(row["seconds"] for row in done if row["algorithm"] == algorithm)
            lines.append([*line, f"{seconds:.0f}"])
        return ["", *(f"alpha {alpha:g}, eta {eta:g}" for alpha, eta in priors), "seconds"], lines

    def draw(self, rows: Sequence[Row], path: Path, setting: Any) -> None:
        """Draw a panel for each prior and a line for each algorithm."""
        alphas, etas = distinct(rows, "alpha"), distinct(rows, "eta")
        with figures.panels(path, len(alphas), len(etas), "seconds", "mean log probability per word") as axes:
            for i, alpha in enumerate(alphas):
                for j, eta in enumerate(etas):
                    axes[i][j].set_title(f"$\\alpha$ = {alpha:g}, $\\eta$ = {eta:g}")
                    for algorithm in distinct(rows, "algorithm"):
                        chosen = select(rows, alpha=alpha, eta=eta, algorithm=algorithm)
                        figures.curve(axes[i][j], chosen, algorithm, label(algorithm))

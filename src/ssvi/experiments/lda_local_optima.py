"""Figure 3 of the paper: the bound that mean-field SVI reaches from what each algorithm found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from ssvi import engine
from ssvi.engine import State
from ssvi.evaluation import mean_field_elbo
from ssvi.experiments import figures
from ssvi.experiments.algorithms import label
from ssvi.experiments.base import Checkpoint, Reporter
from ssvi.experiments.fits import Phase, Start, stops
from ssvi.experiments.lda import LdaBench, LdaExperiment, LdaSetting, LdaTrial
from ssvi.experiments.table import Row, distinct, mean_and_spread, select

_ALGORITHMS = ("mean_field:mean_field", "mean_field:gibbs", "ssvi:gibbs", "ssvi_a:gibbs")
_SVI = "mean_field:mean_field"
_SAMPLE = 10_000  # training documents that the bound is computed on, as many as stand for all


class LdaLocalOptima(LdaExperiment):
    """Fit by each algorithm, then one more sweep of SVI from its lambda; the mean-field ELBO before and after.

    The step sizes of the last sweep go on where those of the fit ended: from the first one again, rho = 1, a single
    minibatch would undo most of what was found. The bound is that of the training documents, estimated on the first
    10,000 of them, and divided by the number of words.
    """

    name = "lda-local-optima"
    title = "LDA: the mean-field bound that SVI reaches from each algorithm's result (figure 3)"
    shown = frozenset({"eta"})
    unused = frozenset({"evaluations", "langevin_step", "langevin_delay"})
    settings: ClassVar[Mapping[str, LdaSetting]] = {
        "quick": LdaSetting(
            algorithm=_ALGORITHMS, documents=10_000, test_documents=1_000, topics=50, batch_size=200, sweeps=2,
            eta=(0.01,),
        ),
        "paper": LdaSetting(algorithm=_ALGORITHMS, test_documents=10_000, eta=(0.01,), evaluator="chib"),
    }  # fmt: skip

    def is_done(self, bench: LdaBench, rows: Sequence[Row]) -> bool:
        """Tell whether the bound after the last sweep was computed."""
        return any(row["stage"] == "after" for row in rows)

    def measure(self, bench: LdaBench, trial: LdaTrial, progress: Checkpoint, reporter: Reporter) -> Iterator[Row]:
        """Yield the bound (and the held-out score) when SVI takes over, and after its sweep."""
        algorithm, svi = bench.algorithm(trial), bench.algorithm(trial, _SVI)
        ends = [bench.total_steps, bench.total_steps + bench.steps_a_sweep]
        phases = [Phase(algorithm.steps, ends[:1]), Phase(svi.steps, ends[1:])]
        start = Start(algorithm.start(trial.seed), bench.corpus.train, bench.setting.batch_size)
        for state, seconds in stops(phases, start, trial, progress, reporter):
            yield {
                "stage": "before" if state.step == ends[0] else "after",
                "step": state.step,
                "seconds": round(seconds, 3),
                "elbo": round(self._bound(bench, trial, state), 6),
                "score": round(bench.held_out(algorithm.topics(state), trial).mean, 6),
            }

    def _bound(self, bench: LdaBench, trial: LdaTrial, state: State) -> float:
        model, train = bench.model(trial), bench.corpus.train
        sample = train.slice(0, min(len(train), _SAMPLE))
        bound = mean_field_elbo(model, state.parameters, sample, backend=bench.backend)
        prior = engine.prior_bound(model, state.parameters)
        # The words of the sample stand for all; the prior's part is there once.
        return (bound.value - prior) / bound.n_words + prior / float(train.total_length())

    def summary(self, rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
        """Return bounds and held-out scores before and after the sweep of SVI, mean and spread over seeds."""
        lines = []
        for algorithm in distinct(rows, "algorithm"):
            for eta in distinct(rows, "eta"):
                own = select(rows, algorithm=algorithm, eta=eta)
                stages = [select(own, stage=stage) for stage in ("before", "after")]
                cells = [mean_and_spread(row[name] for row in stage) for name in ("elbo", "score") for stage in stages]
                lines.append([label(algorithm), f"{eta:g}", *(figures.with_spread(*cell) for cell in cells)])
        return ["began with", "eta", "ELBO before", "ELBO after SVI", "score before", "score after SVI"], lines

    def draw(self, rows: Sequence[Row], path: Path, setting: Any) -> None:
        """Draw the mean of the bounds that SVI reached, with their range."""
        algorithms, etas = distinct(rows, "algorithm"), distinct(rows, "eta")
        with figures.panels(path, 1, len(etas), "SVI began with the result of", "mean-field ELBO per word") as axes:
            for panel, eta in zip(axes[0], etas, strict=True):
                panel.set_title(f"$\\eta$ = {eta:g}")
                panel.set_xticks(range(len(algorithms)), list(map(label, algorithms)), rotation=20)
                for number, algorithm in enumerate(algorithms):
                    bounds = [row["elbo"] for row in select(rows, algorithm=algorithm, eta=eta, stage="after")]
                    figures.range_point(panel, number, bounds)

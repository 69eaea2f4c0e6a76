"""The paper's factorisation experiment: which spectra of a synthetic spectrogram each algorithm finds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ssvi import engine
from ssvi.backends.base import Backend
from ssvi.batches.frames import Frames
from ssvi.engine import Info, Problem, State, Steps
from ssvi.experiments import figures, spectra
from ssvi.experiments.base import Checkpoint, Experiment, Reporter, option, require
from ssvi.experiments.fits import Phase, Start, stops
from ssvi.experiments.table import Row, distinct, mean_and_spread, select
from ssvi.global_steps.mean_field import MeanField
from ssvi.global_steps.ssvi import Ssvi
from ssvi.global_steps.ssvi_a import SsviA
from ssvi.local_steps.gamma_process_nmf.gibbs import Gibbs
from ssvi.local_steps.gamma_process_nmf.mean_field import MeanField as LocalMeanField
from ssvi.models.base import is_active
from ssvi.models.gamma_process_nmf import GammaProcessNMF
from ssvi.numerics.random import derive_key
from ssvi.schedules import ConstantSchedule, PowerSchedule
from ssvi.typing import Array

_LABELS = {"mf": "mean-field", "ssvi_a": "SSVI-A", "ssvi": "SSVI"}
_ACTIVATION_SHAPE = 0.2
_USED = 1e-3  # of the data's total, that a component must account for to count as used
_MATCH = 0.9  # the correlation from which on a spectrum counts as found


@dataclass(frozen=True)
class NmfSetting:
    """The sizes of the data and of the fits."""

    components: int = option(100, "components K of the model")
    bases: int = option(50, "spectra that generate the data")
    features: int = option(257, "frequencies")
    frames: int = option(1_000, "frames")
    most_alike: float = option(0.5, "correlation that no two of the spectra reach")
    iterations: int = option(500, "steps of SSVI-A and SSVI, each over all frames")
    merge: float = option(0.9, "correlation from which on components are made one after them")
    polish: int = option(10, "mean-field steps after that")
    ascent: int = option(200, "steps of mean-field alone")
    whole: int = option(100, "iterations with rho = 1, before rho falls as t^-decay")
    decay: float = option(0.5, "kappa of the steps min(1, (t / whole)^-kappa)")
    sweeps: int = option(20, "Gibbs sweeps a frame")
    ramp: float = option(500.0, "iterations after which SSVI takes its whole correction")
    algorithm: tuple[str, ...] = option(tuple(_LABELS), f"one of {', '.join(_LABELS)}; repeat for several", grid=True)
    scale: tuple[float, ...] = option((0.05,), "what the means are multiplied by; repeat for several", grid=True)
    first_seed: int = option(0, "the seed of the first data set", grid=True)
    seeds: int = option(3, "data sets, with seeds from the first on", grid=True)

    def __post_init__(self) -> None:
        whole = ("components", "bases", "features", "frames", "iterations", "ascent", "whole", "sweeps", "seeds")
        for name in whole:
            require(name, getattr(self, name), lambda value: value >= 1, "1 or more")
        for name in ("polish", "decay", "ramp"):
            require(name, getattr(self, name), lambda value: value >= 0, "0 or more")
        for value in self.scale:
            require("scale", value, lambda value: value > 0, "positive")
        for name in self.algorithm:
            require("algorithm", name, lambda value: value in _LABELS, f"one of {', '.join(_LABELS)}")


@dataclass(frozen=True)
class NmfTrial:
    """One fit of one data set."""

    algorithm: str
    scale: float
    seed: int


@dataclass(frozen=True)
class NmfBench:
    """What trials need."""

    setting: NmfSetting
    backend: Backend

    @property
    def model(self) -> GammaProcessNMF:
        """The model, with the paper's hyperparameters a = 0.25, b = 0.2, alpha = 1, c = 1."""
        setting = self.setting
        return GammaProcessNMF(setting.features, setting.components, 0.25, _ACTIVATION_SHAPE, 1.0, 1.0)

    def data(self, scale: float, seed: int) -> tuple[Array, Frames]:
        """Return the dictionary and a spectrogram of it."""
        setting = self.setting
        truth = true_dictionary(setting, seed)
        rng = np.random.default_rng(derive_key(seed, "nmf", "frames"))
        shape = (setting.frames, setting.bases)
        activations = rng.gamma(_ACTIVATION_SHAPE, 1.0 / _ACTIVATION_SHAPE, shape)
        return truth, Frames.from_matrix(rng.poisson(scale * activations @ truth))

    def problem(self, name: str) -> Problem:
        """Return how an algorithm fits."""
        setting = self.setting
        if name == "mf":
            steps = LocalMeanField(), MeanField(), ConstantSchedule()
            return Problem(self.model, *steps, setting.frames, backend=self.backend)
        return Problem(
            self.model,
            Gibbs(setting.sweeps),
            Ssvi(correction_sweeps=setting.ramp, control_variate=True) if name == "ssvi" else SsviA(),
            PowerSchedule(setting.decay, 0.0, float(setting.whole) ** setting.decay),
            setting.frames,
            backend=self.backend,
        )

    def phases(self, name: str) -> list[Phase]:
        """Return the stretches of an algorithm's fit."""
        setting = self.setting
        if name == "mf":
            return [Phase(self.problem("mf"), [setting.ascent])]
        first = Phase(self.problem(name), [setting.iterations])
        polish = MergeFirst(self.problem("mf"), setting.iterations, setting.merge)
        return [first, Phase(polish, [setting.iterations + setting.polish])] if setting.polish else [first]


@dataclass(frozen=True)
class MergeFirst(Steps):
    """Steps of a problem, before the first of which components that are alike are made one."""

    problem: Problem
    after: int
    alike: float

    def step(self, state: State, batch: Frames) -> tuple[State, Info]:
        """Take a step."""
        model: Any = self.problem.model
        if state.step == self.after:
            state = replace(state, parameters=model.merged(state.parameters, self.alike, _USED))
        return self.problem.step(state, batch)


class Nmf(Experiment):
    """How many of the true spectra are found, by mean-field, SSVI-A and SSVI."""

    name = "nmf"
    title = "GaP-KL-NMF: spectra found"
    settings: ClassVar[Mapping[str, NmfSetting]] = {
        "quick": NmfSetting(seeds=1, iterations=150, ramp=150.0),
        "paper": NmfSetting(),
    }

    def trials(self, setting: NmfSetting) -> Sequence[NmfTrial]:
        """Return every algorithm on every data set."""
        return [
            NmfTrial(name, scale, seed)
            for seed in range(setting.first_seed, setting.first_seed + setting.seeds)
            for scale in setting.scale
            for name in setting.algorithm
        ]

    def bench(self, setting: NmfSetting, backend: Backend) -> NmfBench:
        """Compile what will be timed; data sets are simulated as they are wanted."""
        bench = NmfBench(setting, backend)
        tiny = bench.model.simulate(np.random.default_rng(0), 10)[1]
        for name in _LABELS:
            bench.problem(name).step(engine.init(bench.model, 0), tiny)
        return bench

    def data(self, bench: NmfBench) -> Mapping[str, Any]:
        """Return how the data are made."""
        return {"data": "synthetic spectra of speech-like sounds"}

    def is_done(self, bench: NmfBench, rows: Sequence[Row]) -> bool:
        """Tell whether there is a final row."""
        return any(row["stage"] == "end" for row in rows)

    def measure(self, bench: NmfBench, trial: NmfTrial, progress: Checkpoint, reporter: Reporter) -> Iterator[Row]:
        """Fit, and yield what was found, before and after merging and polish."""
        truth, frames = bench.data(trial.scale, trial.seed)
        phases = bench.phases(trial.algorithm)
        start = Start(engine.init(bench.model, trial.seed), frames, len(frames))
        for state, seconds in stops(phases, start, trial, progress, reporter):
            found, used = matches(bench.model, state, truth)
            yield {
                "step": state.step,
                "stage": "end" if state.step == phases[-1].wanted[-1] else "before merging",
                "seconds": round(seconds, 3),
                "recovered": int(np.count_nonzero(found > _MATCH)),
                "used": used,
                "mean_count": round(float(frames.values.counts.sum() / frames.n_known), 3),
                "correlations": " ".join(f"{value:.4f}" for value in found),
            }

    def summary(self, rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
        """Return spectra found and components used, for each data set."""
        lines = []
        for scale in distinct(rows, "scale"):
            for algorithm in distinct(rows, "algorithm"):
                for stage in ("before merging", "end"):
                    own = select(rows, scale=scale, algorithm=algorithm, stage=stage)
                    if not own:
                        continue
                    name = _LABELS[algorithm] + ("" if stage == "end" else ", before merging")
                    found, used = ("/".join(str(row[column]) for row in own) for column in ("recovered", "used"))
                    count, _ = mean_and_spread(row["mean_count"] for row in own)
                    seconds, _ = mean_and_spread(row["seconds"] for row in own)
                    lines.append([name, f"{scale:g}", f"{count:.3g}", found, used, f"{seconds:.0f}"])
        return ["", "scale", "mean count", f"found (correlation > {_MATCH})", "components used", "seconds"], lines

    def draw(self, rows: Sequence[Row], path: Path, setting: NmfSetting) -> None:
        """Draw the first data set's dictionary in dB, and the sorted correlations for each scale."""
        scales = distinct(rows, "scale")
        with figures.spectra_panels(path, true_dictionary(setting, rows[0]["seed"]), len(scales)) as panels:
            for panel, scale in zip(panels, scales, strict=True):
                own = select(rows, scale=scale, stage="end")
                panel.set_title(f"scale {scale:g} (mean count {own[0]['mean_count']:.2g})")
                for algorithm in distinct(own, "algorithm"):
                    curves = [list(map(float, row["correlations"].split())) for row in select(own, algorithm=algorithm)]
                    figures.sorted_curves(panel, curves, _LABELS[algorithm])


def true_dictionary(setting: NmfSetting, seed: int) -> Array:
    """Return the spectra that generate a data set."""
    rng = np.random.default_rng(derive_key(seed, "nmf", "spectra"))
    return spectra.dictionary(rng, setting.bases, setting.features, setting.most_alike)


def matches(model: GammaProcessNMF, state: State, truth: Array) -> tuple[Array, int]:
    """Return each true spectrum's highest correlation with a component in use, sorted, and how many are in use."""
    used = is_active(model.counts_held(state.parameters), _USED)
    learned = model.mean_dictionary(state.parameters)[used]
    correlations = np.corrcoef(truth, learned)[: len(truth), len(truth) :]
    best: Array = np.sort(correlations.max(axis=1))[::-1]
    return best, int(used.sum())

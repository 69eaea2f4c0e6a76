"""Forms of SSVI's correction, compared: how V eta-hat is brought in, guarded, damped or averaged.

Every form is scored on validation documents (the 5,000 before the test documents), so that what is chosen here can be
reported on documents that had no part in the choice. Scores are mean log probabilities per word by document completion.

    python benchmarks/ssvi_correction.py --documents 95000 --passes 2 --forms ssvi_a ramp_2 plain --seeds 0 1
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ssvi import engine
from ssvi.backends import Threads
from ssvi.batches import Documents
from ssvi.evaluation import document_completion
from ssvi.experiments import corpora
from ssvi.families.dirichlet import Dirichlet
from ssvi.global_steps import GlobalStep
from ssvi.global_steps.base import Clock, View
from ssvi.global_steps.ssvi import Ssvi
from ssvi.global_steps.ssvi_a import SsviA
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.models.base import Block
from ssvi.models.lda import LDA
from ssvi.numerics.random import derive_key
from ssvi.schedules import PowerSchedule
from ssvi.typing import Array

_VALIDATION = 5_000  # at the most a tenth of the training documents


@dataclass(frozen=True)
class ByRows(Ssvi):
    """SSVI whose target is computed as `target` has it, row by row."""

    @property
    def sees_everything(self) -> bool:
        """All columns are needed."""
        return True


@dataclass(frozen=True)
class Blend(ByRows):
    """eta + eta-hat + k (V eta-hat - eta-hat), with the share k left to a subclass."""

    def share(self, lam: Array, eta_hat: Array, corrected: Array, clock: Clock) -> Array | float:
        """Return k: a number, or one for each coordinate."""
        raise NotImplementedError

    def target(self, family: Any, prior: Array, lam: Array, view: View, eta_hat: Array, clock: Clock) -> Array:
        """Return the blend of SSVI-A's target and SSVI's."""
        assert view.draw is not None
        corrected = family.natural_correction(lam, view.draw, eta_hat)
        target: Array = prior + eta_hat + self.share(lam, eta_hat, corrected, clock) * (corrected - eta_hat)
        return target


@dataclass(frozen=True)
class ConstantShare(Blend):
    """The same share of the correction throughout."""

    value: float = 0.5

    def share(self, lam: Array, eta_hat: Array, corrected: Array, clock: Clock) -> float:
        """Return the constant."""
        return self.value


@dataclass(frozen=True)
class SwitchAfter(Blend):
    """SSVI-A for some sweeps, then SSVI."""

    sweeps: float = 1.0

    def share(self, lam: Array, eta_hat: Array, corrected: Array, clock: Clock) -> float:
        """Return 0, then 1."""
        return float(clock.sweeps > self.sweeps)


@dataclass(frozen=True)
class Softened(Blend):
    """Less of the correction where lambda is small, from the first step on: k = lambda / (lambda + scale)."""

    scale: float = 0.3

    def share(self, lam: Array, eta_hat: Array, corrected: Array, clock: Clock) -> Array:
        """Return a share for each coordinate."""
        return lam / (lam + self.scale)


@dataclass(frozen=True)
class Fading(Blend):
    """The same, but going away over two sweeps, with or without a ramp over the first."""

    scale: float = 0.3
    ramp: float = 0.0

    def share(self, lam: Array, eta_hat: Array, corrected: Array, clock: Clock) -> Array:
        """Return a share for each coordinate."""
        ramp = 1.0 if self.ramp == 0 else min(1.0, clock.sweeps / self.ramp)
        return ramp * lam / (lam + self.scale * max(0.0, 1.0 - clock.sweeps / 2.0))


@dataclass(frozen=True)
class FisherDamped(Blend):
    """Less of the correction where the Fisher metric is stiff: k = 1 / (1 + scale^2 psi'(lambda))."""

    scale: float = 0.1

    def share(self, lam: Array, eta_hat: Array, corrected: Array, clock: Clock) -> Array:
        """Return a share for each coordinate."""
        # psi'(x) is between 1/x + 1/(2 x^2) and 1/x + 1/x^2; their middle is close enough for a weight.
        metric = 1.0 / lam + 0.75 / lam**2
        return 1.0 / (1.0 + self.scale**2 * metric)


@dataclass(frozen=True)
class FisherTrust(Blend):
    """Damped by the Fisher metric: a row's correction is shortened to the Fisher norm of what it corrects."""

    radius: float = 1.0

    def share(self, lam: Array, eta_hat: Array, corrected: Array, clock: Clock) -> Array:
        """Return a share for each row."""
        from scipy.special import polygamma

        def norm(x: Array) -> Array:
            total = polygamma(1, lam.sum(axis=-1)) * x.sum(axis=-1) ** 2
            squared: Array = (polygamma(1, lam) * x * x).sum(axis=-1) - total
            return np.sqrt(np.maximum(squared, 0.0))

        share: Array = np.minimum(1.0, self.radius * norm(eta_hat) / np.maximum(norm(corrected - eta_hat), 1e-300))
        return share[:, None]


@dataclass(frozen=True)
class ClippedTarget(ByRows):
    """V eta-hat kept within [0, 2 eta-hat + 1], coordinate by coordinate, before the step."""

    def target(self, family: Any, prior: Array, lam: Array, view: View, eta_hat: Array, clock: Clock) -> Array:
        """Return the clipped target."""
        assert view.draw is not None
        corrected = family.natural_correction(lam, view.draw, eta_hat)
        target: Array = prior + np.clip(corrected, 0.0, 2.0 * eta_hat + 1.0)
        return target


@dataclass(frozen=True)
class AnnealedPrior(ByRows):
    """Full SSVI from the start, on a prior that comes down to eta over some sweeps: a smoother problem first."""

    extra: float = 0.5
    sweeps: float = 1.0

    def target(self, family: Any, prior: Array, lam: Array, view: View, eta_hat: Array, clock: Clock) -> Array:
        """Return the target under the prior of the moment."""
        surplus = self.extra * max(0.0, 1.0 - clock.sweeps / self.sweeps)
        return super().target(family, prior, lam, view, eta_hat, clock) + surplus


FORMS: dict[str, GlobalStep] = {
    "ssvi_a": SsviA(),
    "default": Ssvi(),
    "plain": Ssvi(softening=0, correction_sweeps=0),
    "ramp_1": Ssvi(softening=0, correction_sweeps=1),
    "ramp_2": Ssvi(softening=0, correction_sweeps=2),
    "ramp_4": Ssvi(softening=0, correction_sweeps=4),
    "ramp_2_variate": Ssvi(softening=0, correction_sweeps=2, control_variate=True),
    "default_variate": Ssvi(control_variate=True),
    "switch_1": SwitchAfter(sweeps=1),
    "constant_half": ConstantShare(value=0.5),
    "softened_0.1": Softened(scale=0.1),
    "softened_0.3": Softened(scale=0.3),
    "softened_0.3_variate": Ssvi(correction_sweeps=0, control_variate=True),
    "softened_1": Softened(scale=1.0),
    "softened_1_ramp_1": Ssvi(softening=1.0),
    "fading_0.3": Fading(scale=0.3),
    "fading_0.3_ramp_1": Fading(scale=0.3, ramp=1.0),
    "fading_1": Fading(scale=1.0),
    "fisher_damped_0.1": FisherDamped(scale=0.1),
    "fisher_damped_0.5": FisherDamped(scale=0.5),
    "fisher_trust": FisherTrust(),
    "clipped": ClippedTarget(),
    "annealed_prior": AnnealedPrior(softening=0, correction_sweeps=0),
}


@dataclass(frozen=True)
class LowerFloor(Dirichlet):
    """A guard that lets lambda fall below eta, to this share of it."""

    share: float = 1.0

    def project(self, candidate: Array, current: Array, prior: Array) -> tuple[Array, int]:
        """Keep lambda' above the larger of half of lambda and a share of eta."""
        return super().project(candidate, current, self.share * prior)


@dataclass(frozen=True)
class Guarded(LDA):
    """LDA with that guard."""

    floor: float = 1.0

    def blocks(self) -> Mapping[str, Block]:
        """Return the topics, with the family's guard replaced."""
        return {name: replace(block, family=LowerFloor(self.floor)) for name, block in super().blocks().items()}


@dataclass(frozen=True)
class SeveralDraws(engine.Steps):
    """A draw of beta for each part of a minibatch, and the average of the steps that they give."""

    problem: engine.Problem
    draws: int

    def step(self, state: engine.State, batch: Documents) -> tuple[engine.State, engine.Info]:
        """Take the average step; each part stands for as many documents as the whole minibatch does."""
        if self.draws == 1:
            return self.problem.step(state, batch)
        lam, cuts = np.zeros_like(state.parameters["topics"]), np.linspace(0, len(batch), self.draws + 1).astype(int)
        for part in range(self.draws):
            own = batch.slice(cuts[part], cuts[part + 1])
            seen = state.documents_seen + len(batch) - len(own)
            before = replace(state, seed=derive_key(state.seed, "part", part) >> 1, documents_seen=seen)
            moved, info = self.problem.step(before, own)
            lam += moved.parameters["topics"] / self.draws
        return replace(moved, seed=state.seed, parameters={"topics": lam}, totals={}), info


def main() -> None:
    """Run every combination asked for; one line and one row of the CSV each."""
    options = _options()
    corpus = corpora.load(options.corpus)
    kept = len(corpus.train) - min(_VALIDATION, len(corpus.train) // 10)
    train, validation = (
        corpus.train.slice(0, min(kept, options.documents)),
        corpus.train.slice(kept, len(corpus.train)),
    )
    options.output.parent.mkdir(parents=True, exist_ok=True)
    for seed in options.seeds:
        for eta in options.eta:
            for form in options.forms:
                score, seconds = _fit(options, train, validation, form, eta, seed)
                kind = [corpus.name, form, options.draws, options.floor, eta, seed]
                row = [*kind, options.decay, options.offset, options.passes, score, seconds]
                print(
                    "  ".join(f"{value:.4f}" if isinstance(value, float) else str(value) for value in row), flush=True
                )
                with options.output.open("a", newline="") as file:
                    csv.writer(file).writerow(row)


def _fit(
    options: argparse.Namespace, train: Documents, validation: Documents, form: str, eta: float, seed: int
) -> tuple[float, float]:
    model = Guarded(train.n_words, np.full(options.topics, 0.1), eta, floor=options.floor)
    with Threads(options.jobs) as backend:
        problem = engine.Problem(
            model,
            Gibbs(),
            FORMS[form],
            PowerSchedule(options.decay, options.offset),
            population=len(train),
            ramp=not options.no_ramp,
            backend=backend,
        )
        started = time.perf_counter()
        state = engine.run(
            SeveralDraws(problem, options.draws),
            engine.init(model, seed),
            train,
            sweeps=options.passes,
            batch_size=options.batch_size,
        )
        seconds = time.perf_counter() - started
        score = document_completion(model.mean_topics(state.parameters), model.alpha, validation, backend=backend)
    return score.mean, seconds


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--corpus", type=Path, default=corpora.default_corpus(), help="folder with bow.npz, or docstrings"
    )
    parser.add_argument("--documents", type=int, default=95_000)
    parser.add_argument("--forms", nargs="+", default=list(FORMS), choices=list(FORMS))
    parser.add_argument("--eta", nargs="+", type=float, default=[0.01, 0.1])
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--batch-size", type=int, default=1_000)
    parser.add_argument("--passes", type=int, default=2)
    parser.add_argument("--decay", type=float, default=0.75)
    parser.add_argument("--offset", type=float, default=0.0)
    parser.add_argument("--draws", type=int, default=1, help="draws of beta a minibatch")
    parser.add_argument("--floor", type=float, default=1.0, help="how far lambda may fall, as a share of eta")
    parser.add_argument("--no-ramp", action="store_true")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--output", type=Path, default=Path("results/ssvi_correction.csv"))
    return parser.parse_args()


if __name__ == "__main__":
    main()

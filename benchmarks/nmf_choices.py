"""What the factorisation's settings are worth: spectra found after a number of SSVI-A iterations, form by form.

The data are those of `ssvi reproduce nmf` (seeds from 100 on, which the experiment does not use).

    python benchmarks/nmf_choices.py --iterations 100 --seeds 2
"""

from __future__ import annotations

import argparse
import dataclasses
import time

from ssvi import engine
from ssvi.backends import Threads
from ssvi.engine import Problem, State
from ssvi.experiments.nmf import NmfBench, NmfSetting, matches
from ssvi.global_steps.ssvi_a import SsviA
from ssvi.local_steps.base import LocalStep
from ssvi.local_steps.gamma_process_nmf.gibbs import Gibbs
from ssvi.local_steps.gamma_process_nmf.mean_field import MeanField
from ssvi.schedules import PowerSchedule

_FORMS: dict[str, tuple[LocalStep, float]] = {
    "poisson, 20 sweeps": (Gibbs(20), 100.0),
    "poisson, 5 sweeps": (Gibbs(5), 100.0),
    "poisson, 60 sweeps": (Gibbs(60), 100.0),
    "expected, 20 sweeps": (Gibbs(20, "expected"), 100.0),
    "drawn, 20 sweeps": (Gibbs(20, "drawn"), 100.0),
    "mean-field activations": (MeanField(), 100.0),
    "poisson, rough start": (Gibbs(20), 1.0),
}
_POLISH = (0, 5, 10, 20, 50)


def main() -> None:
    """Print a line for each form, then what merging and mean-field steps do after the first of them."""
    options = _options()
    setting = NmfSetting(iterations=options.iterations)
    with Threads(-1) as backend:
        bench = NmfBench(setting, backend)
        print("form                     found  used  seconds, for each seed")
        for name, (local_step, start_shape) in _FORMS.items():
            cells, first = [], []
            for seed in range(100, 100 + options.seeds):
                started = time.perf_counter()
                state = _fit(bench, local_step, start_shape, seed)
                seconds = time.perf_counter() - started
                found, used = _found(bench, state, seed)
                cells.append(f"{found:5} {used:5} {seconds:7.0f}")
                first.append(state)
            print(f"{name:<23}", "  ".join(cells), flush=True)
            if name == next(iter(_FORMS)):
                polished = first
        for merge in (None, 0.9):
            for seed, state in enumerate(polished, 100):
                _polish(bench, state, seed, merge)


def _fit(bench: NmfBench, local_step: LocalStep, start_shape: float, seed: int) -> State:
    setting = bench.setting
    _, frames = bench.data(0.05, seed)
    model = dataclasses.replace(bench.model, start_shape=start_shape)
    schedule = PowerSchedule(setting.decay, 0.0, float(setting.whole) ** setting.decay)
    problem = Problem(model, local_step, SsviA(), schedule, len(frames), backend=bench.backend)
    start = engine.init(model, seed)
    return engine.run(problem, start, frames, sweeps=setting.iterations, batch_size=len(frames))


def _polish(bench: NmfBench, state: State, seed: int, merge: float | None) -> None:
    _, frames = bench.data(0.05, seed)
    if merge is not None:
        state = dataclasses.replace(state, parameters=bench.model.merged(state.parameters, merge, 1e-3))
    problem = bench.problem("mf")
    cells, done = [], 0
    for count in _POLISH:
        state = engine.follow(problem, state, [frames] * (count - done))
        done = count
        found, used = _found(bench, state, seed)
        cells.append(f"{count}: {found} of {used}")
    before = "merged, then polished" if merge is not None else "polished"
    print(f"seed {seed}, {before}: found of used after", ",  ".join(cells), flush=True)


def _found(bench: NmfBench, state: State, seed: int) -> tuple[int, int]:
    correlations, used = matches(bench.model, state, bench.data(0.05, seed)[0])
    return int((correlations > 0.9).sum()), used


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=2)
    return parser.parse_args()


if __name__ == "__main__":
    main()

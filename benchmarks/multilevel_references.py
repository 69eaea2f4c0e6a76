"""Multilevel regressions against published estimates, reference posteriors and a long Gibbs run.

    python -m benchmarks.multilevel_references --data FOLDER [--only radon ...]

FOLDER has `tables` (sleepstudy.csv, cbpp.csv) and `posteriordb` (eight_schools, sblri, radon_mn, as json). "off" is
the distance of means in the reference's standard errors or deviations, "width" the ratio of deviations.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ssvi import HierarchicalLinearRegression, HierarchicalLogisticRegression
from ssvi.estimators.hierarchical.summaries import named_draws
from ssvi.sampling.chains import Chain
from ssvi.sampling.multilevel import sample_multilevel
from ssvi.typing import Array

_SLEEP = {"Intercept": (251.405, 6.825), "Days": (10.467, 1.546)}
_CBPP = {"Intercept": (-1.398, 0.231), "2": (-0.992, 0.303), "3": (-1.128, 0.323), "4": (-1.580, 0.422)}


def main() -> None:
    """Print a table for each data set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--only", nargs="+", default=["sleepstudy", "cbpp", "sblri", "eight_schools", "radon"])
    parser.add_argument("--sweeps", type=int, default=10_000, help="of the Gibbs sampler")
    options = parser.parse_args()
    runs = {"sleepstudy": _sleepstudy, "cbpp": _cbpp, "sblri": _sblri, "eight_schools": _eight_schools, "radon": _radon}
    for name in options.only:
        print(f"\n{name}")
        runs[name](options)


def _compare(names: Sequence[str], found: Array, wide: Array | None, wanted: Array, spread: Array) -> None:
    """Print one line for each number."""
    for place, name in enumerate(names):
        width = "" if wide is None else f"  width {wide[place] / spread[place]:5.2f}"
        off = (found[place] - wanted[place]) / spread[place]
        print(f"  {name:<22} {found[place]:9.4f}  reference {wanted[place]:9.4f}  off {off:6.3f}{width}")


def _sleepstudy(options: argparse.Namespace) -> None:
    """lme4 by REML."""
    import pandas as pd

    table = pd.read_csv(options.data / "tables" / "sleepstudy.csv")
    model = HierarchicalLinearRegression(formula="Reaction ~ Days + (1 + Days | Subject)", random_state=0).fit(table)
    wanted = np.array(list(_SLEEP.values()))
    _compare(list(_SLEEP), model.coefficients_, None, wanted[:, 0], wanted[:, 1])
    found, known = np.append(model.deviations_, model.noise_deviation_), np.array([24.74, 5.92, 25.59])
    print(f"  deviations {found.round(2)}, lme4 {known}, relative {(found / known - 1).round(3)}")


def _cbpp(options: argparse.Namespace) -> None:
    """lme4 by Laplace's approximation."""
    import pandas as pd

    table, wanted = (
        pd.read_csv(options.data / "tables" / "cbpp.csv", dtype={"period": str}),
        np.array([*_CBPP.values()]),
    )
    for global_step, local_step in (("ssvi", "gibbs"), ("ssvi", "laplace"), ("map", "laplace")):
        model = HierarchicalLogisticRegression(
            formula="incidence | trials(size) ~ period + (1 | herd)", global_step=global_step, local_step=local_step,
            random_state=0,
        ).fit(table)  # fmt: skip
        print(f"  {global_step} with {local_step}: deviation of herds {model.deviations_[0]:.3f}, lme4 0.642")
        _compare(list(_CBPP), model.coefficients_, None, wanted[:, 0], wanted[:, 1])


def _reference(folder: Path, name: str) -> tuple[list[str], Array, Array]:
    """Return names, means and deviations of a reference posterior."""
    means = json.loads((folder / f"{name}.mean_value.json").read_text())
    squares = json.loads((folder / f"{name}.mean_squared_value.json").read_text())
    mean = np.array(means["mean_value"])
    return means["names"], mean, np.sqrt(np.array(squares["mean_squared_value"]) - mean**2)


def _sblri(options: argparse.Namespace) -> None:
    """Five coefficients ~ N(0, 10), a half-normal deviation of the noise of scale 10."""
    folder = options.data / "posteriordb"
    data = json.loads((folder / "sblri.json").read_text())
    model = HierarchicalLinearRegression(
        fit_intercept=False, coefficient_scale=10.0, noise_prior="half_normal", noise_scale=10.0, random_state=0
    ).fit(data["X"], data["y"])
    names, mean, deviation = _reference(folder, "sblri-blr")
    table = model.summary()
    _compare(names, table["mean"].to_numpy(), table["sd"].to_numpy(), mean, deviation)


def _eight_schools(options: argparse.Namespace) -> None:
    """Known noise, mu ~ N(0, 5), tau half-Cauchy of scale 5."""
    import pandas as pd

    folder = options.data / "posteriordb"
    data = json.loads((folder / "eight_schools.json").read_text())
    table = pd.DataFrame({"y": data["y"], "s": data["sigma"], "school": np.arange(8)}).astype(float)
    model = HierarchicalLinearRegression(
        formula="y | se(s) ~ 1 + (1 | school)", coefficient_scale=5.0, deviation_scale=5.0, deviation_degrees=1.0,
        random_state=0,
    ).fit(table)  # fmt: skip
    names, mean, deviation = _reference(folder, "eight_schools-eight_schools_noncentered")
    eta, variance = model._eta(table, None, "error")  # of each school
    scale, summary = model._measures.output, model.summary()
    found = np.concatenate([eta * scale, summary["mean"].to_numpy()])
    wide = np.concatenate([np.sqrt(variance) * scale, summary["sd"].to_numpy()])
    _compare(names, found, wide, mean, deviation)


def _radon(options: argparse.Namespace) -> None:
    """85 counties, with uranium, against a long Gibbs run of the same model."""
    import pandas as pd

    data = json.loads((options.data / "posteriordb" / "radon_mn.json").read_text())
    table = pd.DataFrame({
        "y": data["log_radon"], "floor": data["floor_measure"], "uranium": data["log_uppm"],
        "county": data["county_idx"],
    })  # fmt: skip
    model = HierarchicalLinearRegression(formula="y ~ floor + uranium + (1 + floor | county)", random_state=0).fit(
        table
    )
    gibbs, effects = _gibbs(model, table, options.sweeps)
    ours = named_draws(model)
    names = list(ours)
    _compare(
        names, np.array([ours[name].mean() for name in names]), np.array([ours[name].std() for name in names]),
        np.array([gibbs[name].mean() for name in names]), np.array([gibbs[name].std() for name in names]),
    )  # fmt: skip
    found = model.group_effects()["mean"].to_numpy().reshape(-1, 2)
    off = (found - effects.mean(axis=0)) / effects.std(axis=0)
    width = model.group_effects()["sd"].to_numpy().reshape(-1, 2) / effects.std(axis=0)
    largest, usual = np.abs(off).max(axis=0).round(3), np.sqrt((off**2).mean(axis=0)).round(3)
    print(f"  effects of {len(found)} counties, in deviations: largest {largest}, root mean square {usual}")
    print(f"  widths {width.mean(axis=0).round(2)}")


def _gibbs(model: Any, table: Any, sweeps: int) -> tuple[Mapping[str, Array], Array]:
    """Return draws by name, and of effects, from the sampler, in the data's units."""
    own, data = model._model(), model._table(table, None, None, None, reset=False).data
    modes = {name: block.family.mode_stats(model._state.estimate[name]) for name, block in own.blocks().items()}
    start = {name: block.family.values(modes[name]) for name, block in own.blocks().items()}
    drawn = sample_multilevel(own, data, start, Chain(sweeps // 10, sweeps, 1), 0)
    units, design = model._measures, model._design
    covariances = np.linalg.inv(_unpacked(drawn.values["precision"][:, 0], own.n_varying))
    factors = units.factors(design.varying)
    deviations = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2)) * factors
    found = dict(zip(model.coefficient_names_, (drawn.values["coefficients"][:, 0] * units.factors(design.fixed)).T,
                     strict=True))  # fmt: skip
    names = [design.names[place] for place in design.varying]
    found |= {f"sd({name})": deviations[:, i] for i, name in enumerate(names)}
    roots = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    found[f"corr({names[0]}, {names[1]})"] = covariances[:, 0, 1] / (roots[:, 0] * roots[:, 1])
    found["sd(noise)"] = units.output / np.sqrt(drawn.values["noise"][:, 0])
    return found, drawn.effects * factors


def _unpacked(packed: Array, order: int) -> Array:
    from ssvi.families.symmetric import unpack

    return unpack(packed, order)


if __name__ == "__main__":
    main()

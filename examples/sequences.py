"""Pictures and pages of sequences: the Nile, the sunspots, a made-up geyser and a made-up meter.

pip install 'ssvi[plots]'
python examples/sequences.py --output results/sequences
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from ssvi import FactorialHMM, HiddenMarkovModel, LinearDynamicalSystem, plots
from ssvi.data.series import nile, sunspots
from ssvi.report import write_report


def draw_nile(folder: Path, passes: int | None) -> dict[str, Any]:
    """Fit two states, and linear dynamics, to the Nile; write a page, return pictures."""
    flow, years = nile()[:, None], np.arange(1871, 1971)
    states = HiddenMarkovModel(2, max_iter=passes, random_state=0).fit(flow)
    states.vocabulary_ = ("flow",)
    write_report(states, folder / "nile.html", data=flow, times=[str(year) for year in years], title="The Nile")
    gaps = flow.copy()
    gaps[50:55] = np.nan
    moving = LinearDynamicalSystem(1, max_iter=passes, random_state=0).fit(gaps)
    return {
        "nile_paths": plots.plot_paths(states, flow, times=years, names=["flow"]),
        "nile_forecast": plots.plot_forecast(moving, gaps, 10, names=["Nile"]),
    }


def write_sunspots(folder: Path, passes: int | None) -> None:
    """Fit linear dynamics with a cycle to the sunspots; write a page."""
    spots = sunspots()[:, None]
    cycle = LinearDynamicalSystem(3, max_iter=passes, random_state=0).fit(spots)
    cycle.vocabulary_ = ("sunspots",)
    write_report(cycle, folder / "sunspots.html", data=spots, times=range(1700, 1989), title="Sunspots")


def draw_geyser(passes: int | None) -> dict[str, Any]:
    """Fit three states to eruptions that follow each other as those of a geyser do; return pictures."""
    rng, kinds = np.random.default_rng(0), [0]
    for _ in range(271):
        kinds.append(int(rng.choice(3, p=[[0.05, 0.25, 0.7], [0.4, 0.4, 0.2], [0.6, 0.3, 0.1]][kinds[-1]])))
    rows = np.array([[2.0, 54.0], [3.9, 77.0], [4.5, 82.0]])[kinds] + rng.normal(size=(272, 2)) * [0.3, 5.5]
    model = HiddenMarkovModel(3, max_iter=passes, random_state=0).fit(rows)
    return {
        "geyser_emissions": plots.plot_emissions(model, names=["minutes", "waiting"]),
        "geyser_transitions": plots.plot_transitions(model, kind="graph"),
    }


def draw_house(passes: int | None) -> dict[str, Any]:
    """Fit two chains to a meter that shows the sum of two appliances; return pictures."""
    rng = np.random.default_rng(0)
    kettle, heater = (np.cumsum(rng.random(500) < 0.04) % 2 for _ in range(2))
    meter = (2.0 * kettle + 5.0 * heater + 0.3 * rng.normal(size=500))[:, None]
    house = FactorialHMM(2, n_states=2, max_iter=passes, random_state=0).fit(meter)
    return {"house_paths": plots.plot_paths(house, meter, names=["meter"])}


def main(arguments: list[str] | None = None) -> None:
    """Fit models and draw them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passes", type=int, help="passes over the data; by default what the models have")
    parser.add_argument("--dpi", type=int, default=80, help="how fine the pictures are")
    parser.add_argument("--output", type=Path, default=Path("results/sequences"), help="folder for pictures and pages")
    options = parser.parse_args(arguments)
    options.output.mkdir(parents=True, exist_ok=True)
    write_sunspots(options.output, options.passes)
    pictures = draw_nile(options.output, options.passes) | draw_geyser(options.passes) | draw_house(options.passes)
    for name, axes in pictures.items():
        np.atleast_1d(axes)[0].figure.savefig(options.output / f"{name}.png", dpi=options.dpi)
    print(f"{', '.join(pictures)}, and two pages: {options.output}")


if __name__ == "__main__":
    main()

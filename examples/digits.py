"""Prototypes of handwritten digits: a mixture of Bernoullis that leaves those empty that it does not need.

python examples/digits.py                        MNIST where it is found, else scikit-learn's digits
python examples/digits.py --images FOLDER        MNIST's files
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from ssvi import BernoulliMixture
from ssvi.data.images import Digits, load_digits


def purity(labels: Any, clusters: Any) -> float:
    """Return the share of images whose cluster's most frequent digit is theirs."""
    hits = sum(np.bincount(labels[clusters == cluster]).max() for cluster in np.unique(clusters))
    return float(hits / len(labels))


def draw_prototypes(mixture: BernoulliMixture, digits: Digits, path: Path, most: int = 100) -> None:
    """Draw the means of the heaviest components as images, the heaviest first."""
    from matplotlib.figure import Figure

    heaviest = np.argsort(-mixture.weights_)[: min(most, mixture.n_active_)]
    columns = 20
    lines = -(-len(heaviest) // columns)
    figure = Figure(figsize=(12, 0.62 * lines + 0.1))
    for place, component in enumerate(heaviest):
        axes = figure.add_axes(
            (place % columns / columns, 1 - (place // columns + 1) / lines, 0.95 / columns, 0.95 / lines)
        )
        axes.imshow(mixture.means_[component].reshape(digits.shape), cmap="gray_r", vmin=0, vmax=1)
        axes.axis("off")
    figure.savefig(path, dpi=130)


def main(arguments: list[str] | None = None) -> None:
    """Fit SSVI-A and mean-field, compare them on held-out images, and draw what SSVI-A found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=Path, help="folder with MNIST's files")
    parser.add_argument("--components", type=int, default=100, help="the most components there can be")
    parser.add_argument("--passes", type=int, help="passes over the images (by default what suits their number)")
    parser.add_argument("--output", type=Path, default=Path("results/digits-example"), help="folder for the figure")
    options = parser.parse_args(arguments)
    digits = load_digits(options.images)
    print(f"{digits.name}: {len(digits.train)} images to train on, {len(digits.test)} to test on")
    common: dict[str, Any] = {
        "n_components": options.components, "weight_concentration_prior": 10.0, "max_iter": options.passes,
        "n_jobs": -1, "random_state": 0,
    }  # fmt: skip
    plain = BernoulliMixture(**common, global_step="mean_field", local_step="exact").fit(digits.train)
    ours = BernoulliMixture(**common, global_step="ssvi_a", local_step="gibbs").fit(digits.train)
    for name, mixture in (("mean-field", plain), ("SSVI-A", ours)):
        score, clusters = mixture.score(digits.test), mixture.predict(digits.test)
        print(
            f"{name:10}  log probability of a held-out image {score:8.2f},  {mixture.n_active_} components in use,  "
            f"purity {purity(digits.test_labels, clusters):.3f}"
        )
    options.output.mkdir(parents=True, exist_ok=True)
    draw_prototypes(ours, digits, options.output / "prototypes.png")
    print(f"prototypes: {options.output / 'prototypes.png'}")


if __name__ == "__main__":
    main()

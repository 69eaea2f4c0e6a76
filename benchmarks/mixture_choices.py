"""What the mixture's pairs of steps are worth: held-out log probability, components in use and time, pair by pair.

Each fit is a `BernoulliMixture` as it comes, but for the two steps and K: on images (MNIST's where it is found, else
scikit-learn's digits), few enough for every step to see all of them or by minibatches, and on rows that a mixture of 15
components generated. `averaged` is the score with `snapshots=20`. Each seed has rows of its own; gains over the first
pair of steps are on the same rows, with their standard errors over seeds. Seconds are of one processor's time.

    python -m benchmarks.mixture_choices --seeds 3
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ssvi import BernoulliMixture
from ssvi.batches.documents import Documents
from ssvi.data.images import load_digits
from ssvi.evaluation.mixtures import log_predictive
from ssvi.models.bernoulli_mixture import BernoulliMixture as Model

Rows = tuple[Any, Any]
_PAIRS = ["ssvi_a:gibbs", "ssvi_a:exact", "ssvi:gibbs", "ssvi:exact", "mean_field:exact"]


def main() -> None:
    """Print a line for each kind of data and pair of steps."""
    options = _options()
    digits = load_digits(options.images)
    test = digits.test[:2_000]

    def images(count: int) -> Callable[[int], Rows]:
        return lambda seed: (np.random.default_rng(seed).permutation(digits.train)[:count], test)

    data: dict[str, Callable[[int], Rows]] = {
        "simulated, 500 rows": simulated,
        f"{digits.name}, {options.few} rows": images(options.few),
        f"{digits.name}, {options.many} rows": images(options.many),
    }
    heading = (
        f"{'data':<32}{'steps':<18}{'score':>9}{'averaged':>10}{'gain':>8}{'error':>7}{'averaged':>10}{'error':>7}"
    )
    print(f"{heading}{'used':>6}{'seconds':>9}")
    for name, rows in data.items():
        if options.data in name:
            first = None
            for pair in options.steps or _PAIRS:
                found = np.array([_fit(*rows(seed), pair, seed) for seed in range(options.seeds)])
                first = found if first is None else first
                print(f"{name:<32}{pair:<18}{_line(found, first)}", flush=True)


def _line(found: Any, first: Any) -> str:
    """Return means over seeds, and those of gains over the first pair of steps with their standard errors."""
    gains = (found - first)[:, :2]
    errors = gains.std(axis=0, ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else np.full(2, np.nan)
    score, averaged, used, seconds = found.mean(axis=0)
    cells = [
        f"{score:9.3f}{averaged:10.3f}",
        *(f"{gain:8.3f}{error:7.3f}" for gain, error in zip(gains.mean(axis=0), errors, strict=True)),
    ]
    return f"{'  '.join(cells)}{used:6.0f}{seconds:9.1f}"


def simulated(seed: int) -> Rows:
    """Return rows of a mixture of 15 components over 60 features, to fit and to score."""
    rng = np.random.default_rng(1_000 + seed)
    model = Model(60, 15, 15.0, (0.6, 0.6))
    truth = model.simulate(rng, 1)[0]
    rows = model.sample(truth["weights"][0], truth["components"], rng, 5_500)[0]
    return rows[:500], rows[500:]


def _fit(train: Any, test: Any, pair: str, seed: int) -> tuple[float, float, int, float]:
    """Return the score of one estimate, that of averaged predictions, the components in use and the seconds."""
    global_step, _, local_step = pair.partition(":")
    mixture = BernoulliMixture(50, global_step=global_step, local_step=local_step, snapshots=20, random_state=seed)
    started = time.process_time()
    mixture.fit(train)
    seconds = time.process_time() - started
    plain = float(log_predictive(mixture.weights_, mixture.means_, Documents.from_matrix(test)).mean())
    return plain, mixture.score(test), mixture.n_active_, seconds


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", action="append", help="GLOBAL:LOCAL; repeat for several")
    parser.add_argument("--data", default="", help="only data whose name has this in it")
    parser.add_argument("--images", type=Path, help="folder with MNIST's files")
    parser.add_argument("--few", type=int, default=1_000, help="images where every step sees all")
    parser.add_argument("--many", type=int, default=5_000, help="images where steps go by minibatches")
    return parser.parse_args()


if __name__ == "__main__":
    main()

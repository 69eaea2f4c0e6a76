"""How many clusters a mixture finds, and what averaging its path is worth, by the room that it has and by its seed.

Each line is of `BernoulliMixture` fits that see all rows in every step: scikit-learn's digits, or rows that a mixture
of 15 components generated. `last` is the score of the last lambda, `averaged` that of the average over the path, which
does not change the path, and `merged` that of a fit with `merge_copies=True`; each with the components in use. The
sampler is collapsed Gibbs sampling of the same posterior, with averaged predictions.

    python -m benchmarks.mixture_clusters --seeds 2
"""

from __future__ import annotations

import argparse
import copy
import time
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from benchmarks.mixture_choices import simulated
from ssvi import BernoulliMixture
from ssvi.baselines.collapsed_gibbs import CollapsedGibbsBernoulliMixture

_SWEEPS = 250  # of the sampler


def main() -> None:
    """Print a line for each kind of data, number of components and seed, then one of the sampler."""
    options = _options()
    print(
        f"{'data':<12}{'K':>6}{'seed':>6}{'last':>10}{'averaged':>10}{'used':>6}{'merged':>10}{'used':>6}{'seconds':>9}"
    )
    for name, rows in {"digits": _digits, "simulated": simulated}.items():
        for seed in range(options.seeds):
            train, test = rows(seed)
            for room in options.room:
                line = _fits(train, test, room, seed, options.passes)
                print(f"{name:<12}{room:>6}{seed:>6}{line}", flush=True)
            labels = np.random.default_rng(seed).integers(0, 40, len(train))
            sampler = CollapsedGibbsBernoulliMixture(None, sweeps=_SWEEPS, random_state=seed).fit(train, labels=labels)
            score = float(sampler.score_samples(test).mean())
            print(f"{name:<12}{'':>6}{seed:>6}  the sampler: {score:.3f}, {sampler.n_active_} in use", flush=True)


def _fits(train: Any, test: Any, room: int, seed: int, passes: int) -> str:
    started = time.process_time()
    apart, merged = (
        BernoulliMixture(room, max_iter=passes, merge_copies=merges, random_state=seed, verbose=0).fit(train)
        for merges in (False, True)
    )
    seconds = time.process_time() - started
    last = copy.copy(apart)
    last._state = replace(apart._state, averages={})
    scores = [model.score(test) for model in (last, apart, merged)]
    plain, averaged, joined = (f"{score:10.3f}" for score in scores)
    return f"{plain}{averaged}{apart.n_active_:6}{joined}{merged.n_active_:6}{seconds:9.1f}"


def _digits(seed: int) -> tuple[Any, Any]:
    """Return 1,000 of scikit-learn's digits to fit and 797 to score, in another order for each seed."""
    pixels = np.random.default_rng(seed).permutation((load_digits().data > 7).astype(np.int8))
    return pixels[:1_000], pixels[1_000:]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--room", type=int, nargs="+", default=[20, 50, 100, 200], help="n_components")
    parser.add_argument("--passes", type=int, default=300)
    return parser.parse_args()


if __name__ == "__main__":
    main()

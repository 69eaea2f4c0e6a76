"""Memoized inference (Hughes and Sudderth 2013) against what there is, for mixtures with an exact local step.

Every minibatch's statistics are kept, and replaced when it is seen again: lambda = eta + their sum. There is no step
size.

    python -m benchmarks.memoized
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs

import ssvi
from ssvi import engine
from ssvi.backends import Threads
from ssvi.estimators.choices import make_local_step
from ssvi.global_steps.mean_field import MeanField
from ssvi.models.bernoulli_mixture import BernoulliMixture
from ssvi.numerics.random import derive_keys
from ssvi.typing import Array

SEEDS, PASSES, BATCHES = (0, 1, 2), (1, 2, 5, 10, 20), 20


def memoized(estimator: Any, rows: Any, seed: int, score: Any) -> list[float]:
    """Return the held-out score after some passes, and the number of components in use at the end."""
    model, step, backend = estimator._model(), make_local_step("exact", estimator.name), Threads(1)
    state = engine.init(model, seed, rows)
    order, blocks = np.random.default_rng(seed).permutation(len(rows)), model.blocks()
    parts = [rows.take(np.sort(part)) for part in np.array_split(order, BATCHES)]
    kept: list[dict[str, Array]] = []
    lam, scores, no_keys = dict(state.parameters), [], derive_keys(0, 0)  # nothing is drawn
    for number in range(max(PASSES)):
        for place, part in enumerate(parts):
            views = {name: MeanField().view(block.family, lam[name], no_keys).stats for name, block in blocks.items()}
            result = backend.map_reduce(step, model, views, part, derive_keys(0, len(part)))
            found = {name: np.asarray(result.eta_hat[name]) * result.scale for name in blocks}
            kept[place : place + 1] = [found]
            lam = {name: block.prior + sum(one[name] for one in kept) for name, block in blocks.items()}
        if number + 1 in PASSES:
            scores.append(score(replace(state, parameters=lam)))
    return scores


def stochastic(estimator: Any, X: Any, score: Any) -> list[float]:
    """Return the held-out scores of the estimator's own fit by minibatches."""
    scores: list[float] = []

    def note(state: Any, info: Any) -> None:
        if info.step % BATCHES == 0 and info.step // BATCHES in PASSES:
            scores.append(score(state.complete()))

    estimator.set_params(callbacks=[note], max_iter=max(PASSES), batch_size=-(-X.shape[0] // BATCHES)).fit(X)
    return scores


def bernoulli(seed: int) -> tuple[Any, Any]:
    """Return an estimator, and rows of which the last 2,000 are held out."""
    model = BernoulliMixture(n_features=60, n_components=40, concentration=10.0)
    _, rows = model.simulate(np.random.default_rng(seed), 12_000)
    return ssvi.BernoulliMixture(60, learning_method="online", random_state=seed), rows.to_matrix()


def gaussian(seed: int) -> tuple[Any, Any]:
    """Return an estimator, and rows of which the last 2,000 are held out."""
    X, _ = make_blobs(12_000, 5, centers=20, cluster_std=1.5, random_state=seed)
    return ssvi.GaussianMixture(40, learning_method="online", random_state=seed), X


def main() -> None:
    """Print the mean scores of each way after some passes."""
    for simulate in (bernoulli, gaussian):
        table: dict[str, list[list[float]]] = {}
        for seed in SEEDS:
            estimator, X = simulate(seed)
            train, test = X[:10_000], X[10_000:]
            own = {"default": {}, "mean_field": {"global_step": "mean_field", "local_step": "exact"}}
            fitted = estimator.set_params(max_iter=1).fit(train)

            def score(state: Any, fitted: Any = fitted, test: Any = test) -> float:
                fitted._state = state
                return float(fitted.score(test))

            rows = fitted._rows(train, reset=False)
            table.setdefault("memoized", []).append(memoized(fitted, rows, seed, score))
            for name, parameters in own.items():
                other, _ = simulate(seed)
                table.setdefault(name, []).append(stochastic(other.set_params(**parameters), train, score))
        print(simulate.__name__, "mixture: held-out score after", *PASSES, "passes")
        for name, scores in table.items():
            print(f"  {name:12}", *(f"{value:9.4f}" for value in np.mean(scores, axis=0)))


if __name__ == "__main__":
    main()

"""What learning priors in the fit is worth: held-out scores of five folds, with the usual priors and with learned ones.

Tables are scikit-learn's own, sequences are simulated: few of them, whose states have few followers. Scores are nats a
row, a time point or an outcome; higher is better. "better" is in how many folds learned priors were.

    python -m benchmarks.learned_priors
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning

from ssvi import GaussianMixture, HiddenMarkovModel, HierarchicalLinearRegression, HierarchicalLogisticRegression
from ssvi.models.emissions import PoissonEmission
from ssvi.models.hmm import HMM
from ssvi.typing import Array

_FOLDS = 5
_GAUSSIAN = {"covariance_prior": "auto", "mean_precision_prior": "auto"}
_CHAIN = {"transmat_prior": "auto", "stickiness": "auto", "emission_prior": "auto"}
_LENGTH = 40  # of a simulated sequence


def main() -> None:
    """Print a line for each kind of data and each way to learn."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(f"{'data':<36}{'learned':<42}{'usual':>10}{'learned':>10}{'better':>8}")
    for name, load in {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer}.items():
        rows = load().data
        _line(f"{name}, mixture of Gaussians", _GAUSSIAN, partial(_mixture, rows))
    for name, kind, load in (
        ("breast cancer, logistic", HierarchicalLogisticRegression, load_breast_cancer),
        ("diabetes, linear", HierarchicalLinearRegression, load_diabetes),
    ):
        table = load()
        _line(name, {"coefficient_scale": "auto"}, partial(_regression, kind, table.data, table.target))
    _line("20 sequences, 10 states, counts", _CHAIN, _sequences)


def _line(data: str, learned: dict[str, Any], scores: Callable[[dict[str, Any]], Array]) -> None:
    usual, own = scores({}), scores(learned)
    names = ", ".join(learned)
    print(f"{data:<36}{names:<42}{usual.mean():10.3f}{own.mean():10.3f}{int((own > usual).sum()):8}", flush=True)


def _folds(n: int) -> list[tuple[Any, Any]]:
    places = np.random.default_rng(0).permutation(n) % _FOLDS
    return [(places != fold, places == fold) for fold in range(_FOLDS)]


def _mixture(rows: Array, more: dict[str, Any]) -> Array:
    folds = _folds(len(rows))
    return np.array([GaussianMixture(random_state=0, **more).fit(rows[a]).score(rows[b]) for a, b in folds])


def _regression(kind: Any, rows: Array, y: Array, more: dict[str, Any]) -> Array:
    """Return mean log probabilities of outcomes given the coefficients' medians, y being in its deviations."""
    scores = []
    for a, b in _folds(len(rows)):
        model = kind(random_state=0, **more).fit(rows[a], y[a])
        if kind is HierarchicalLogisticRegression:
            chances = np.clip(model.predict_proba(rows[b])[np.arange(int(b.sum())), y[b]], 1e-12, 1.0)
            scores.append(np.log(chances).mean())
        else:
            rest = (y[b] - model.predict(rows[b])) / y[a].std()
            scores.append(-0.5 * np.log(2.0 * np.pi * np.mean(rest**2)) - 0.5)
    return np.array(scores)


def _sequences(more: dict[str, Any]) -> Array:
    """Return scores of five simulations, of 200 further sequences each."""
    scores, truth = [], HMM(10, PoissonEmission(5, 10, 0.5, (4.0,) * 5), 1.0, 0.1, 2.0)
    for seed in range(_FOLDS):
        rng = np.random.default_rng(seed)
        values, train = truth.simulate(rng, 20, lengths=[_LENGTH] * 20)
        _, test = truth.simulate(rng, 200, values=values, lengths=[_LENGTH] * 200)
        model = HiddenMarkovModel(10, emission="poisson", random_state=0, **more)
        model.fit(train.values, lengths=[_LENGTH] * 20)
        scores.append(model.score(test.values, lengths=[_LENGTH] * 200))
    return np.array(scores)


if __name__ == "__main__":
    main()

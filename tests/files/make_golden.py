"""Writes the model files that later versions must still read: once for each new schema, or estimator, on its first day.

python tests/files/make_golden.py [NAME ...]
"""

import json
import sys
from pathlib import Path

import numpy as np

import ssvi
from ssvi.estimators.registry import estimators
from ssvi.files.container import SCHEMA

FOLDER = Path(__file__).parent / "golden"


def main(names: list[str]) -> None:
    """Fit some estimators, or each, to a few counts, and keep its file and what must come out of it."""
    counts = np.random.default_rng(0).poisson(0.6, (40, 12))
    for name in names or [kind.__name__ for kind in estimators().values() if hasattr(kind(), "n_components")]:
        data = (counts > 0).astype(int) if name == "BernoulliMixture" else counts
        model = getattr(ssvi, name)(3, max_iter=2, random_state=1).fit(data)
        words = [f"wörd{i}" for i in range(12)]
        model.save(FOLDER / f"{name}-{SCHEMA}.ssvi", vocabulary=words)
        expected = {
            "vocabulary": words,
            "parameters": {block: lam.tolist() for block, lam in model._state.parameters.items()},
            "steps": len(model.history_),
        }
        (FOLDER / f"{name}-{SCHEMA}.json").write_text(json.dumps(expected))


if __name__ == "__main__":
    main(sys.argv[1:])

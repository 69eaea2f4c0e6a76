"""Fits with NUMBA_DISABLE_JIT=1, as for a debugger: every kernel runs as plain Python, and the results are the same."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ssvi import BernoulliMixture, GammaProcessNMF, GaussianMixture, LatentDirichletAllocation
from ssvi.global_steps.base import GlobalStep
from ssvi.local_steps.base import LocalStep
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.registry import discover

COUNTS = np.random.default_rng(0).poisson(1.0, (5, 4))
ESTIMATORS = [BernoulliMixture, GammaProcessNMF, GaussianMixture, LatentDirichletAllocation]


def fits():
    """Fit every model by every pair of steps, one pass each; return what each pair makes of the data."""
    results = {}
    for kind in ESTIMATORS:
        data = (COUNTS > 0).astype(float) if kind is BernoulliMixture else COUNTS
        steps, options = [*discover(f"ssvi.local_steps.{kind.name}", LocalStep)], {}
        if kind is LatentDirichletAllocation:
            steps.append(Gibbs(kernel="sparse"))
            options = {"mean_change_tol": 0.0}  # the last bit must not decide where a document ends
        for global_step in discover("ssvi.global_steps", GlobalStep):
            for local_step in steps:
                model = kind(
                    2, global_step=global_step, local_step=local_step, max_iter=1, random_state=0, **options
                ).fit(data)
                results[f"{kind.name}, {global_step}, {local_step}"] = np.ravel(model.component_weights(data)).tolist()
    return results


@pytest.fixture(scope="module")
def uncompiled():
    """What `fits` returns in a process that compiles nothing."""
    code = f"import json; from {__name__} import fits; print(json.dumps(fits()))"
    root = Path(__file__).parent.parent.parent
    paths = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")]))
    child = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": paths}, capture_output=True, text=True,
    )  # fmt: skip
    assert child.returncode == 0, child.stderr
    return json.loads(child.stdout)


def test_every_pair_of_steps_runs_without_the_compiler(uncompiled):
    compiled = fits()
    assert uncompiled.keys() == compiled.keys()
    for name, expected in compiled.items():
        np.testing.assert_allclose(uncompiled[name], expected, rtol=1e-4, err_msg=name)

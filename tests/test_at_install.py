"""What an installation compiles, found by another process: the same bits, and nothing compiled."""

import os
import subprocess
import sys

from ssvi import at_install
from ssvi.local_steps.lda.gibbs import Gibbs

COMPILE = """
import sys
import numpy as np
from ssvi import at_install
from ssvi.numerics.gamma_slopes import slopes

at_install.PARTS = {"small": lambda: slopes(np.ones(2), np.zeros(2), np.zeros(2))}
at_install.main("small", sys.argv[1])
"""
USE = """
import os, sys
from pathlib import Path
import numpy as np
from ssvi.numerics import shipped
from ssvi.numerics.gamma_slopes import slopes

shipped._shelf = shipped.Shelf(Path(sys.argv[1]))
into = np.zeros(50)
slopes(np.linspace(0.1, 9.0, 50), np.linspace(-3.0, 2.0, 50), into)
print(sum(slopes.stats.cache_misses.values()), into.tobytes().hex())
"""


def _python(code, folder, cache):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", code, str(folder)]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.split()


def test_another_process_finds_what_an_installation_compiled_and_gets_the_same_bits(tmp_path):
    _python(COMPILE, tmp_path / "kernels", tmp_path / "first cache")
    compiled, bits = _python(USE, tmp_path / "kernels", tmp_path / "second cache")
    compiled_here, own_bits = _python(USE, tmp_path / "none", tmp_path / "second cache")
    assert (compiled, compiled_here) == ("0", "1")
    assert bits == own_bits


def test_both_samplers_are_compiled():
    assert Gibbs().is_dense(at_install.DENSE)
    assert not Gibbs().is_dense(at_install.SPARSE)

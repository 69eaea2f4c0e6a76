"""Kernels that write their own vector instructions, compiled for other processors than this one."""

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import llvmlite.binding as llvm
import numba
import numpy as np
import pytest

from ssvi.local_steps.lda import gibbs_dense, gibbs_sparse
from ssvi.numerics.bits import fast_exp
from ssvi.numerics.simd import WIDTH

_ROOT = Path(__file__).parent.parent.parent
_DRAWS = "tests/local_steps/lda/test_gibbs_{}.py::test_a_draw_falls_where_plain_sums_say[float32-{}]"
# With a feature of this processor that the target has, so that it can be run here.
_TARGETS = {"x86-64-v2": "sse4.2", "x86-64-v3": "avx2"}


@pytest.mark.parametrize("target", _TARGETS)
def test_kernels_need_no_more_than_the_target_has(target, tmp_path):
    """The tests of the vector code and of draws, with more topics than the dense kernel takes."""
    if platform.machine().lower() not in ("x86_64", "amd64") or not llvm.get_host_cpu_features()[_TARGETS[target]]:
        pytest.skip("this processor cannot run code for that target")
    tests = ["tests/numerics/test_simd.py", _DRAWS.format("sparse", 321), _DRAWS.format("dense", 300)]
    settings = {"NUMBA_CPU_NAME": target, "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": str(tmp_path)}
    child = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests],
        cwd=_ROOT, env={**os.environ, **settings}, capture_output=True, text=True,
    )  # fmt: skip
    assert child.returncode == 0, child.stdout + child.stderr


def _numbers(*shape, dtype=np.float32):
    return numba.typeof(np.zeros(shape, dtype))


def _indices(*shape):
    return _numbers(*shape, dtype=np.uint32)


_KEYS, _SINGLE, _ROWS = _numbers(4, dtype=np.uint64), _numbers(16), _numbers(4, 16)
_WHOLE = numba.types.int64
_KERNELS = {
    "packing": (gibbs_sparse.to_packed, (_ROWS, _numbers(4, WIDTH, dtype=np.uint16))),
    "dense": (
        gibbs_dense._advance,
        (numba.typeof(gibbs_dense.Places.empty(4, 1, np.zeros(16, np.float32))), _indices(32), _indices(64), _SINGLE,
         _SINGLE, _WHOLE, _WHOLE),
    ),
    "sparse": (
        gibbs_sparse._advance,
        (_indices(4, 4), _numbers(4, WIDTH, dtype=np.uint16), _SINGLE, _ROWS, _indices(4, 4), _indices(4, 4), _ROWS,
         _indices(4, 16), _indices(4, 16), _KEYS, _KEYS, _SINGLE, _KEYS, numba.types.boolean, _WHOLE, _WHOLE, _WHOLE),
    ),
    "exponential": (fast_exp, (numba.types.float64,)),
}  # fmt: skip


@pytest.mark.parametrize("name", _KERNELS)
def test_kernels_compile_for_arm(name):
    """They cannot be run here; but they become instructions, and ask for no function that nobody has."""
    function, kinds = _KERNELS[name]
    compiled = numba.njit(nogil=True, error_model="numpy")(function.py_func)
    compiled.compile(kinds)
    # numba's own counting of references is written for this processor: it stays out.
    text = re.sub(
        r"^define [^\n]*@(NRT_decref|NRT_incref)\(.*?^\}\n",
        lambda found: f"declare void @{found[1]}(ptr)\n",
        compiled.inspect_llvm(kinds),
        flags=re.MULTILINE | re.DOTALL,
    )
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    module, machine = llvm.parse_assembly(text), _arm()
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    called = set(re.findall(r"^\s+bl?\s+([A-Za-z_]\w*)", machine.emit_assembly(module), flags=re.MULTILINE))
    unknown = {call for call in called if not re.match(r"_ZN|NRT_|Py|numba_|mem(set|cpy|move)$", call)}
    assert not unknown


def _arm():
    return llvm.Target.from_triple("aarch64-unknown-linux-gnu").create_target_machine(cpu="generic", opt=2)

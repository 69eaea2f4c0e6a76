"""Kernels that come with the installation: used where they fit; where anything differs, as if they were not there."""

import importlib.util
import os
import sys

import llvmlite
import numba
import numpy as np
import pytest

from ssvi.numerics import shipped
from ssvi.numerics.compile import kernel

SOURCE = """
from ssvi.numerics.compile import kernel
from shipping.numbers import FACTOR

@kernel
def times(x):
    return FACTOR * x

def make(number):
    @kernel
    def add(x):
        return x + number
    return add
"""


class Package:
    """A package of one kernel and a number that it takes from another file."""

    def __init__(self, folder, monkeypatch):
        self.folder, self._monkeypatch, self._times = folder / "package", monkeypatch, 0
        self.kernels = folder / "kernels"
        self.folder.mkdir()
        (self.folder / "numbers.py").write_text("FACTOR = 3.0")
        (self.folder / "times.py").write_text(SOURCE)

    def load(self, *, adding=False):
        """Return the kernel as a new process has it, with nothing in numba's own cache."""
        self._times += 1
        self._monkeypatch.setattr(numba.config, "CACHE_DIR", str(self.folder.parent / f"cache-{self._times}"))
        self._monkeypatch.setattr(shipped, "_shelf", shipped.Shelf(self.kernels, self.folder, adding=adding))
        for name in ("numbers", "times"):
            spec = importlib.util.spec_from_file_location(f"shipping.{name}", self.folder / f"{name}.py")
            module = importlib.util.module_from_spec(spec)
            self._monkeypatch.setitem(sys.modules, f"shipping.{name}", module)
            spec.loader.exec_module(module)
        return module.times

    def file(self):
        (path,) = self.kernels.rglob("shipping.times.times-*")
        return path


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package whose kernel has been compiled for numbers, to be shipped."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # whose times have whole seconds
    result = Package(tmp_path, monkeypatch)
    assert result.load(adding=True)(2.0) == 6.0
    return result


def _was_compiled(times, argument=2.0, value=6.0):
    assert times(argument) == value
    hits, misses = (sum(found.values()) for found in (times.stats.cache_hits, times.stats.cache_misses))
    assert (hits, misses) in ((0, 1), (1, 0))
    return misses == 1


def test_a_shipped_kernel_is_not_compiled(package):
    times = package.load()
    assert not _was_compiled(times)
    assert shipped.shelf().holds(times.py_func)
    assert list(package.folder.parent.glob("cache-2/*/*.nb*")) == []


def test_for_other_types_it_is_compiled_and_nothing_is_added(package):
    assert _was_compiled(package.load(), 2, 6.0)
    assert package.file()
    assert list(package.folder.parent.glob("cache-2/*/*.nbc"))


def _other_processor(monkeypatch):
    own = shipped.cpu_target.target_context.codegen()
    triple, _, features = own.magic_tuple()
    monkeypatch.setattr(type(own), "magic_tuple", lambda self: (triple, "i386", features))


DIFFERENCES = {
    "numba": lambda patch: patch.setattr(numba, "__version__", "0.1"),
    "llvmlite": lambda patch: patch.setattr(llvmlite, "__version__", "0.1"),
    "numpy": lambda patch: patch.setattr(np, "__version__", "99.0.1"),
    "python": lambda patch: patch.setattr("importlib.machinery.EXTENSION_SUFFIXES", [".cpython-39-i386.so"]),
    "settings": lambda patch: patch.setattr(numba.config, "BOUNDSCHECK", 1),
    "processor": _other_processor,
}


@pytest.mark.parametrize("difference", DIFFERENCES)
def test_what_was_compiled_for_something_else_is_not_used(package, monkeypatch, difference):
    DIFFERENCES[difference](monkeypatch)
    times = package.load()
    assert _was_compiled(times)
    assert not shipped.shelf().holds(times.py_func)


def test_a_change_of_another_file_makes_it_compile_anew(package):
    (package.folder / "numbers.py").write_text("FACTOR = 4.0")
    assert _was_compiled(package.load(), value=8.0)


def test_a_new_name_of_a_file_is_a_change(package):
    before = shipped.stamp(package.folder)
    (package.folder / "numbers.py").rename(package.folder / "other_numbers.py")
    assert shipped.stamp(package.folder) != before


def test_times_of_files_do_not_matter(package):
    os.utime(package.folder / "times.py", (0, 0))
    (package.folder / "times.txt").write_text("not a source")
    assert not _was_compiled(package.load())


def _flip_a_byte(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


DAMAGES = {
    "empty": lambda content: b"",
    "cut off": lambda content: content[:-100],
    "another byte": _flip_a_byte,
    "no kernel": lambda content: shipped._checksum(b"nothing") + b"nothing",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_passed_over(package, damage):
    path = package.file()
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    assert _was_compiled(package.load())


def test_a_file_that_cannot_be_read_is_passed_over(package):
    path = package.file()
    path.unlink()
    path.mkdir()
    assert _was_compiled(package.load())


def test_functions_of_others_and_those_that_see_variables_of_others_are_not_shipped(package):
    package.load(adding=True)
    assert kernel(lambda x: x + 1)(1.0) == 2.0
    assert sys.modules["shipping.times"].make(2.0)(1.0) == 3.0
    assert package.file()
    assert len(list(package.kernels.rglob("*-*"))) == 1


def test_nothing_is_read_where_nothing_was_shipped(tmp_path, monkeypatch):
    monkeypatch.setattr(shipped, "stamp", lambda package: pytest.fail("sources were read"))
    assert shipped.Shelf(tmp_path / "none").fitting is None


def test_shipped_kernels_can_be_left_alone(monkeypatch):
    monkeypatch.setattr(shipped, "_shelf", None)
    monkeypatch.setenv("SSVI_SHIPPED_KERNELS", "0")
    assert shipped.shelf().fitting is None

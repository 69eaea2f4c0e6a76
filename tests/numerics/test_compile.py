import numba
import pytest

from ssvi.numerics import compile as compiling


def _square(x):
    return x * x


def test_an_installation_that_cannot_be_written_to_caches_in_a_private_folder(monkeypatch, tmp_path):
    real, asked = compiling._Kernel.enable_caching, []

    def enable_caching(self):
        asked.append(numba.config.CACHE_DIR)
        if str(tmp_path / "ssvi-kernels-0") != numba.config.CACHE_DIR:
            raise RuntimeError("cannot cache function: no locator available")
        real(self)

    monkeypatch.setattr(compiling.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(compiling, "private_folder", lambda parent: parent / "ssvi-kernels-0")
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(compiling._Kernel, "enable_caching", enable_caching)
    assert compiling.kernel(_square)(3.0) == 9.0
    assert asked == ["", str(tmp_path / "ssvi-kernels-0")]
    assert list((tmp_path / "ssvi-kernels-0").rglob("*.nbi"))


def test_with_no_place_at_all_kernels_are_compiled_each_time(monkeypatch):
    def enable_caching(self):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(compiling._Kernel, "enable_caching", enable_caching)
    monkeypatch.setattr(compiling, "private_folder", lambda parent: None)
    assert compiling.vector_kernel(_square)(3.0) == 9.0


def test_a_kernel_that_another_calls_is_its_part_and_can_still_be_called(monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    square = compiling.kernel(_square)

    def fourth_power(x):
        return square(square(x))

    assert compiling.kernel(fourth_power)(3.0) == 81.0
    assert not list(tmp_path.rglob("*_square*"))
    assert square(3.0) == 9.0
    assert list(tmp_path.rglob("*_square*"))


@pytest.mark.parametrize("trap", ["open to others", "a link", "a file", "no parent"])
def test_a_folder_that_is_not_private_is_not_used(tmp_path, monkeypatch, trap):
    user = compiling.os.getuid() if hasattr(compiling.os, "getuid") else 0
    place, parent = tmp_path / f"ssvi-kernels-{user}", tmp_path
    if trap == "open to others":
        place.mkdir()
        place.chmod(0o777)
    elif trap == "a link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        place.symlink_to(tmp_path / "elsewhere")
    elif trap == "a file":
        place.write_text("")
    else:
        parent = tmp_path / "missing"
    assert compiling.private_folder(parent) is None


def test_a_private_folder_is_made_once(tmp_path):
    first = compiling.private_folder(tmp_path)
    assert first is not None
    assert first.stat().st_mode & 0o777 == 0o700
    assert compiling.private_folder(tmp_path) == first

"""A fit whose disk is full before it has ended; run in a file system of its own, which is the folder given.

    unshare --mount python full_disk.py FOLDER

It ends without a word if nothing is lost.
"""

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import ssvi
from ssvi.files import Checkpoints

SIZE = 1 << 20
COUNTS = np.random.default_rng(0).poisson(1.0, (60, 2_000))


def model(*callbacks):
    return ssvi.LatentDirichletAllocation(3, max_iter=3, batch_size=10, random_state=0, callbacks=callbacks)


def fill(disk):
    """Leave a tenth of what a checkpoint needs."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"0" * 4_096)
        except OSError:
            file.truncate(ballast.stat().st_size - 3 * 4_096)


def main():
    disk = Path(sys.argv[1])
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(disk)], check=True)
    whole = model().fit(COUNTS)
    whole.save(disk / "model.ssvi")
    before = (disk / "model.ssvi").read_bytes()
    keeper = Checkpoints(disk / "checkpoints", 1)

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        fitted = model(lambda state, info: fill(disk) if info.step == 5 else None, keeper).fit(COUNTS)
    assert [warning.category for warning in said] == [RuntimeWarning] * 14, said
    assert "step 5 could not be written" in str(said[0].message), said[0]
    assert "No space left on device" in str(said[0].message), said[0]
    np.testing.assert_array_equal(fitted.components_, whole.components_)
    assert [path.name for path in keeper.files()] == ["step-000000003.ssvi", "step-000000004.ssvi"]

    with pytest.raises(OSError, match="No space left on device"):
        fitted.save(disk / "model.ssvi")
    assert (disk / "model.ssvi").read_bytes() == before
    assert not list(disk.rglob(".unfinished-*"))

    (disk / "ballast").unlink()
    resumed = model(keeper).fit(COUNTS)
    assert keeper.resumed_at == 4
    np.testing.assert_array_equal(resumed.components_, whole.components_)


if __name__ == "__main__":
    main()

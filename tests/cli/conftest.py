"""Small data for commands, and commands in this process."""

import sys

import numpy as np
import pytest
from scipy import sparse
from tests.cli.helpers import WORDS

from ssvi.cli import main


@pytest.fixture
def texts(tmp_path):
    """300 documents of three themes, one a line."""
    rng = np.random.default_rng(0)
    themes = rng.integers(3, size=300)
    lines = [" ".join(WORDS[8 * theme + word] for word in rng.integers(8, size=20)) for theme in themes]
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def counts(tmp_path):
    """200 rows of zeros and ones as a sparse matrix."""
    path = tmp_path / "counts.npz"
    rows = (np.random.default_rng(1).random((200, 15)) < 0.3).astype(np.int32)
    sparse.save_npz(path, sparse.csr_array(rows))
    return path


@pytest.fixture
def refused(monkeypatch, capsys):
    """Return a function that returns the one line which a command says of a mistake."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["ssvi", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 2
        (line,) = capsys.readouterr().err.splitlines()
        return line

    return run

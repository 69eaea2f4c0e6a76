import math

import pytest

from ssvi.experiments.table import Table, distinct, mean_and_spread, select
from ssvi.files.atomic import write_atomically

ROWS = [
    {"name": "a", "eta": 0.01, "ramp": "on", "step": 3, "flag": True},
    {"name": "b", "eta": 0.5, "ramp": "off", "step": 4, "flag": False},
    {"name": "a", "eta": 0.5, "ramp": "on", "step": 3, "flag": True},
]


def test_rows_come_back_as_they_were(tmp_path):
    table = Table.open(tmp_path / "t.csv")
    for row in ROWS:
        table.append(row)
    again = Table.open(tmp_path / "t.csv")
    assert again.rows == ROWS
    assert again.where(name="a", eta=0.5) == [ROWS[2]]
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_a_failing_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("old")

    def fail(file):
        file.write("half of the n")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, fail)
    assert path.read_text() == "old"


def test_selecting_and_summing_up():
    assert distinct(ROWS, "name") == ["a", "b"]
    assert select(ROWS, ramp="off") == [ROWS[1]]
    assert mean_and_spread([1.0, 3.0]) == (2.0, pytest.approx(math.sqrt(2)))
    mean, spread = mean_and_spread([5.0])
    assert mean == 5.0
    assert math.isnan(spread)

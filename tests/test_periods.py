"""Dates as people write them, and the periods they fall into."""

import datetime

import numpy as np
import pytest

from ssvi.periods import Periods, as_dates, group_means, has_enough, steadied, trust


@pytest.mark.parametrize(
    "date",
    [
        datetime.date(2024, 5, 6), datetime.datetime(2024, 5, 6, 7, 8), np.datetime64("2024-05-06T10"), "2024/05/06",
        "20240506", "2024-05-06T10:00:00+02:00", "2024-05-06T10:00:00Z", "2024-05-06 10:00", "06.05.2024", "6 May 2024",
        "May 6, 2024", "Mon, 06 May 2024 10:00:00 +0000",
    ],
)  # fmt: skip
def test_dates_are_read_as_people_and_programs_write_them(date):
    assert as_dates([date])[0] == np.datetime64("2024-05-06")


def test_what_is_empty_or_cannot_be_read_is_not_known():
    assert np.isnat(as_dates([None, "", "NaT", float("nan"), np.datetime64("NaT")])).all()
    np.testing.assert_array_equal(
        np.isnat(as_dates(["2024", "5/6/2024", "2024-13-01", "soon"])), [False, True, True, True]
    )
    with pytest.raises(ValueError, match="row 2 has the date 'soon': dates are written as 2024, 2024-05 or 2024-05-31"):
        as_dates(["", "soon", "later"])


@pytest.mark.parametrize(
    ("first", "last", "unit", "names"),
    [
        ("2020-02-28", "2020-03-01", "day", ("2020-02-28", "2020-02-29", "2020-03-01")),
        ("2020-01-01", "2020-12-01", "week", ("2019-12-30", "2020-01-06")),  # Mondays
        ("1999-11", "2004-02", "month", ("1999-11", "1999-12", "2000-01")),
        ("1965", "1990", "year", ("1965", "1966")),
        ("1801", "1990", "decade", ("1800s", "1810s")),
        ("1650", "1660", "month", ("1650-01", "1650-02")),
    ],
)
def test_the_finest_periods_that_are_not_too_many(first, last, unit, names):
    periods = Periods.of([first, last] if unit != "month" or first > "1900" else [first, "1655"])
    assert periods.unit == unit
    assert periods.names[: len(names)] == names
    assert periods.counts()[0] == periods.counts()[-1] == 1
    assert periods.counts().sum() == 2


def test_a_unit_can_be_asked_for():
    periods = Periods.of(["2020-03-01", "", "2022-12-31", "2020-05-05"], unit="year")
    assert periods.names == ("2020", "2021", "2022")
    assert periods.places.tolist() == [0, -1, 2, 0]
    np.testing.assert_allclose(periods.means(np.array([[1.0], [9.0], [5.0], [3.0]])), [[2.0], [0.0], [5.0]])
    with pytest.raises(ValueError, match="a period is one of day, week, month, year, decade, not 'hour'"):
        Periods.of(["2020"], unit="hour")
    assert Periods.of(["", None]).names == ()


def test_group_means_are_means():
    rng = np.random.default_rng(0)
    values, places = rng.normal(size=(50, 3)), rng.integers(0, 4, 50)
    for place, row in enumerate(group_means(values, places, 5)):
        expected = values[places == place].mean(axis=0) if place < 4 else np.zeros(3)
        np.testing.assert_allclose(row, expected)


def test_means_of_few_rows_are_drawn_in_to_that_of_all():
    counts, means = np.array([1, 12, 500, 0, 300]), np.array([[0.9], [0.5], [0.02], [0.0], [0.04]])
    np.testing.assert_allclose(trust(counts), [1 / 50, 12 / 50, 1, 0, 1])
    np.testing.assert_array_equal(has_enough(counts), [False, True, True, False, True])
    overall = (0.9 + 6.0 + 10.0 + 12.0) / 813
    expected = [overall + (0.9 - overall) / 50, overall + (0.5 - overall) * 12 / 50, 0.02, 0.0, 0.04]
    np.testing.assert_allclose(steadied(means, counts)[:, 0], expected)


@pytest.mark.parametrize("counts", [[1, 1, 1], [20, 20, 20], [9_000, 700, 60]])
def test_means_are_believed_where_all_have_as_few_rows_or_many(counts):
    means = np.array([0.1, 0.5, 0.3])
    assert has_enough(counts).all()
    np.testing.assert_allclose(steadied(means, counts), means)


def test_a_long_tail_of_single_rows_is_not_what_is_usual():
    counts = np.array([1] * 60 + [400, 600])
    assert has_enough(counts).tolist() == [False] * 60 + [True] * 2
    assert trust([]).tolist() == []
    assert trust([0, 0]).tolist() == [0.0, 0.0]

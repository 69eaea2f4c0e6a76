"""Dates as people write them."""

import datetime

import pytest
from tests.data.readers.helpers import write

from ssvi.data.readers import read_corpus
from ssvi.data.readers.dates import plain_dates


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("1999", "1999"),
        ("1999-5", "1999-05"),
        ("1999-05", "1999-05"),
        ("1999-05-03", "1999-05-03"),
        ("1999/5/3", "1999-05-03"),
        (" 1999-05-03T23:59:59Z ", "1999-05-03"),
        ("1999-05-03 23:59:59+02:00", "1999-05-03"),
        ("19990503", "1999-05-03"),
        ("925689600", ""),  # nine digits are no seconds since 1970 that anybody writes today
        ("1714521600", "2024-05-01"),
        ("1714521600000", "2024-05-01"),
        ("1714521600.25", "2024-05-01"),
        ("May 3, 1999", "1999-05-03"),
        ("3 May 1999", "1999-05-03"),
        ("3rd Sept. 1999", "1999-09-03"),
        ("December 1999", "1999-12"),
        ("Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06"),
        ("3.5.1999", "1999-05-03"),
        ("31/5/1999", "1999-05-31"),
        ("5/31/1999", "1999-05-31"),
        ("3/5/1999", ""),  # nothing tells what comes first
        ("1999-13-01", ""),
        ("2023-02-29", ""),
        ("0000-01-01", ""),
        ("yesterday", ""),
        ("", ""),
    ],
)
def test_forms(text, plain):
    assert plain_dates([text])[0] == (plain,)


def test_every_day_in_every_form():
    for days in range(0, 3000, 17):
        day = datetime.date(1999, 1, 1) + datetime.timedelta(days)
        forms = ["%Y-%m-%d", "%Y%m%d", "%d.%m.%Y", "%d %B %Y", "%b %d, %Y", "%a, %d %b %Y 10:00:00 +0000"]
        assert set(plain_dates([day.strftime(form) for form in forms])[0]) == {day.isoformat()}


def test_other_dates_tell_whether_day_or_month_comes_first():
    assert plain_dates(["3/5/1999", "31/5/1999"])[0] == ("1999-05-03", "1999-05-31")
    assert plain_dates(["3/5/1999", "5/31/1999"])[0] == ("1999-03-05", "1999-05-31")
    both, notes = plain_dates(["3/5/1999", "5/31/1999", "31/5/1999"])
    assert both == ("", "", "")
    assert notes == ["no date could be read, such as '3/5/1999': write dates as 2024-05-31."]


def test_a_corpus_has_plain_dates_and_tells_of_others(tmp_path):
    path = write(tmp_path / "a.csv", "date,text\nMay 1999,cat\nsoon,dog\n,bird\n")
    corpus = read_corpus(path)
    assert corpus.info.dates == ("1999-05", "", "")
    assert corpus.notes == ("1 dates could not be read, such as 'soon': write dates as 2024-05-31.",)
    path = write(tmp_path / "b.csv", "date,text\nsoon,cat\nlater,dog\n")  # a column that is no date after all
    assert (read_corpus(path).info.dates, read_corpus(path).notes) == (None, ())
    assert "no date could be read" in read_corpus(path, date_column="date").notes[0]

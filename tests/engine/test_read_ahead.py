import threading
import time

import pytest

from ssvi.engine.read_ahead import read_ahead


def readers():
    return [thread for thread in threading.enumerate() if thread.name == "ssvi-read-ahead"]


def test_items_come_in_their_order():
    assert list(read_ahead(range(100))) == list(range(100))
    assert list(read_ahead([])) == []
    assert readers() == []


def test_few_are_read_ahead():
    taken = []

    def items():
        for item in range(50):
            taken.append(item)
            yield item

    ahead = read_ahead(items(), most=2)
    for item in range(5):
        assert next(ahead) == item
    time.sleep(0.3)
    assert len(taken) <= 5 + 2 + 1  # two wait, and one is in its hands
    ahead.close()
    assert readers() == []


def test_what_goes_wrong_is_raised_after_what_came_before():
    def items():
        yield 1
        yield 2
        raise ValueError("the disk is gone")

    found = []
    with pytest.raises(ValueError, match="the disk is gone"):
        found.extend(read_ahead(items()))
    assert readers() == []


def test_the_reader_ends_when_whoever_takes_items_does():
    def take():
        for item in read_ahead(range(1_000)):
            if item == 3:
                raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        take()
    assert readers() == []

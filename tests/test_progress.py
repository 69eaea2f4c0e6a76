import io

import numpy as np

from ssvi.engine import Info, State
from ssvi.progress import Progress

STATE = State(0, 1, 1, {"x": np.zeros(1)})


class Terminal(io.StringIO):
    def isatty(self):
        return True


def _info(step):
    return Info(step, step, 0.1, 1.0, None, 0, 0.0)


def test_short_fits_stay_quiet():
    stream = Terminal()
    progress = Progress(3, stream=stream)
    for step in (1, 2, 3):
        progress(STATE, _info(step))
    progress.close()
    assert stream.getvalue() == ""


def test_long_fits_show_a_bar_that_ends_its_line():
    stream = Terminal()
    progress = Progress(4, label="lda", stream=stream)
    progress.started -= 100.0
    progress(STATE, _info(1))
    progress.first, progress.shown = (1, progress.first[1] - 60.0), 0.0
    progress(STATE, _info(2))
    progress(STATE, _info(4))
    progress.close()
    progress.close()
    assert "lda [######..................]  25% step 1/4, 100 s\r" in stream.getvalue()
    assert "lda [############............]  50% step 2/4, 100 s, 120 s left\r" in stream.getvalue()
    assert stream.getvalue().endswith("0 s left\n")
    assert stream.getvalue().count("\n") == 1


def test_plain_lines_where_there_is_no_terminal():
    stream = io.StringIO()
    progress = Progress(4, stream=stream)
    progress.started -= 100.0
    for step in (1, 2, 3, 4):
        progress(STATE, _info(step))
    lines = stream.getvalue().splitlines()
    assert [line.split("step ")[1].split(",")[0] for line in lines] == ["1/4", "4/4"]


def test_a_resumed_fit_counts_its_own_steps():
    stream = Terminal()
    progress = Progress(100, stream=stream)
    progress.started -= 10.0
    progress(STATE, _info(91))
    progress.first, progress.shown = (91, progress.first[1] - 8.0), 0.0
    progress(STATE, _info(92))
    assert "step 92/100, 10 s, 64 s left" in stream.getvalue()

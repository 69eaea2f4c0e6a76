import io

import numpy as np

from ssvi import demo


def test_gather_splits_what_it_reads():
    text = demo.gather(most_files=150, stream=io.StringIO())
    assert text.train.shape[1] == text.test.shape[1] == len(text.words) > 100
    assert text.test.shape[0] == (text.train.shape[0] + text.test.shape[0]) // 10
    assert np.issubdtype(text.train.dtype, np.integer)


def test_the_whole_demonstration(capsys):
    demo.run(topics=5, passes=2, files=150)
    shown = capsys.readouterr()
    assert "Topics found by" in shown.out
    for label, _, _ in demo.PAIRS:
        assert f"\n{label}" in shown.out
        assert f"fitting {label} ..." in shown.err


def test_the_counter_shows_on_terminals_only():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal, plain = Terminal(), io.StringIO()
    for stream in (terminal, plain):
        report = demo._file_counter(60, stream)
        for done in range(1, 61):
            report(done)
    assert terminal.getvalue().endswith("reading docstrings: 60 of 60 files\n")
    assert plain.getvalue() == ""

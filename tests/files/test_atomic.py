import errno
import os

import pytest

from ssvi.files.atomic import write_atomically


def test_a_whole_file_gets_its_name(tmp_path):
    write_atomically(tmp_path / "a.txt", lambda file: file.write("one\ntwo\n"))
    assert (tmp_path / "a.txt").read_text() == "one\ntwo\n"
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_what_was_there_survives_a_failure(tmp_path, error):
    path = tmp_path / "a.bin"
    path.write_bytes(b"before")

    def fail(file):
        file.write(b"half of")
        raise error

    with pytest.raises(type(error)):
        write_atomically(path, fail, "wb")
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["a.bin"]

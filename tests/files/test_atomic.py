import errno
import os

import pytest

from ssvi.files.atomic import check_place, remove_unfinished, write_atomically


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


def test_nobodys_file_is_overwritten(tmp_path):
    """Such as one that happens to have the name of a file that is being written."""
    (tmp_path / "a.txt.partial").write_text("mine")
    seen = []
    write_atomically(tmp_path / "a.txt", lambda file: (seen.extend(os.listdir(tmp_path)), file.write("whole")))
    assert (tmp_path / "a.txt.partial").read_text() == "mine"
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "a.txt.partial"]
    (unfinished,) = set(seen) - {"a.txt.partial"}
    assert unfinished.startswith(".unfinished-")


def test_files_have_the_permissions_of_any_new_file(tmp_path):
    write_atomically(tmp_path / "a", lambda file: file.write("x"))
    (tmp_path / "b").write_text("x")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_errors_name_the_file_that_was_wanted(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "full").write_text("")
    for path in (tmp_path / "none" / "a", tmp_path / "folder"):
        with pytest.raises(OSError, match=f"'{path}'"):
            write_atomically(path, lambda file: file.write("x"))


def test_a_place_is_tried_before_it_is_needed(tmp_path):
    loop, dangling, nowhere = tmp_path / "loop", tmp_path / "dangling", tmp_path / "nowhere"
    loop.symlink_to(loop)
    dangling.symlink_to(tmp_path / "later")
    nowhere.symlink_to(tmp_path / "no" / "folder")
    before = sorted(os.listdir(tmp_path))
    check_place(tmp_path / "new")
    check_place(dangling)  # the file that it leads to can be made
    for path in (loop, nowhere, tmp_path / "no" / "file", tmp_path / ("x" * 300)):
        with pytest.raises(OSError, match=r"\[Errno"):
            check_place(path)
    assert sorted(os.listdir(tmp_path)) == before
    write_atomically(dangling, lambda file: file.write("x"))
    assert (tmp_path / "later").read_text() == "x"


def test_what_killed_processes_left_behind_is_removed_and_nothing_else(tmp_path):
    for name in (".unfinished-" + "0a" * 16, ".unfinished-mine", "unfinished"):
        (tmp_path / name).write_text("")
    remove_unfinished(tmp_path)
    assert sorted(os.listdir(tmp_path)) == [".unfinished-mine", "unfinished"]

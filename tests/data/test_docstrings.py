import json
from pathlib import Path

from ssvi.data.docstrings import default_folders, docstring_corpus, docstrings, python_files

SOURCE = '''"""Module words."""
raise RuntimeError("this file must never be imported")
if True:
    class Thing:
        """Class words."""
        async def method(self):
            """Method words."""
            def inner():
                """Inner words."""
def silent(): pass
'''


def test_docstrings_are_read_and_never_run(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(SOURCE)
    assert sorted(docstrings(path)) == ["Class words.", "Inner words.", "Method words.", "Module words."]


def test_files_that_are_not_python_are_passed_over(tmp_path):
    for name, content in {"broken.py": b"def (", "binary.py": b"\x00\xff", "latin.py": b"'''\xe9'''"}.items():
        (tmp_path / name).write_bytes(content)
        assert list(docstrings(tmp_path / name)) == []
    assert list(docstrings(tmp_path / "missing.py")) == []


def test_python_files_leaves_out_tests(tmp_path):
    for name in ("a.py", "tests/test_a.py", "inner/b.py", "inner/c.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    assert [path.name for path in python_files([tmp_path, tmp_path])] == ["a.py", "b.py"]
    assert [path.name for path in python_files([tmp_path], 1)] == ["a.py"]


def test_corpus_is_distinct_long_enough_and_reported(tmp_path):
    (tmp_path / "one.py").write_text(
        '"""one two three"""\ndef f():\n    """one two three"""\ndef g():\n    """short"""\n'
    )
    seen = []
    assert docstring_corpus(python_files([tmp_path]), shortest=3, report=seen.append) == ["one two three"]
    assert seen == [1]


def test_the_standard_library_is_there():
    assert any((folder / "json").is_dir() for folder in default_folders())
    texts = docstring_corpus([Path(json.__file__)], shortest=10)
    assert any("JSON" in text for text in texts)

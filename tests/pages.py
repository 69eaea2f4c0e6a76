"""Code of the documentation, for tests that run it."""

import re
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"


def code_blocks(name):
    """Return the blocks of Python on a page."""
    return re.findall(r"```python\n(.*?)```", (DOCS / name).read_text(encoding="utf-8"), re.S)


def run_code(code, path):
    """Run code as a file, which kernels have to be in; return what it has defined."""
    path.write_text(code, encoding="utf-8")
    found = {"__name__": path.stem}
    exec(compile(code, str(path), "exec"), found)
    return found

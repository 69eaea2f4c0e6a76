"""The code in the documentation runs as it stands. (Pages whose code takes a while are run by hand.)"""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"


@pytest.mark.parametrize("name", ["interop.md", "scikit_learn.md"])
def test_code_blocks_run(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    if name == "scikit_learn.md":
        pytest.importorskip("sklearn.callback")
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / name).read_text(encoding="utf-8"), re.S)
    assert len(blocks) >= 3
    exec(compile("\n".join(blocks), name, "exec"), {})
    assert capsys.readouterr().out

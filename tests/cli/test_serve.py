"""`ssvi serve`, from its start to Ctrl-C."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request

import numpy as np
import pytest
from tests.cli.helpers import run

from ssvi import BernoulliMixture


@pytest.fixture
def model(texts, tmp_path):
    path = tmp_path / "model.ssvi"
    assert run("fit", "lda", texts, "-k", 3, "--passes", 3, "--quiet", "-o", path).exit_code == 0
    return path


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_serves_until_it_is_ended(model, texts, end):
    # A job in the background, as tests may be, has Ctrl-C ignored, and those it starts have too.
    hear = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    heard = f"{hear}; from ssvi.cli import main; main()"
    command = [sys.executable, "-c", heard, "serve", str(model), str(texts), "--port", "0"]
    environment = os.environ | {"no_proxy": "127.0.0.1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            address = re.match(r"http://127\.0\.0\.1:\d+/", process.stdout.readline())[0]
            body = json.dumps({"text": "sporta sportb Musica"}).encode()
            asked = urllib.request.Request(f"{address}api/text", body, {"Content-Type": "application/json"})
            with urllib.request.urlopen(asked, timeout=60) as response:
                answer = json.load(response)
            process.send_signal(end)
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert answer["words"] == 3
    assert len(answer["similar"]) == 8
    assert all("beginning" in document for document in answer["similar"])
    assert (process.returncode, errors) == (0, "ssvi: the page is closed.\n")


def test_a_model_without_words_is_refused(tmp_path, refused):
    path = tmp_path / "rows.ssvi"
    rows = np.repeat([[1, 0], [0, 1]], 20, axis=0)
    BernoulliMixture(2, max_iter=5, random_state=0, verbose=0).fit(rows).save(path)
    assert "has no words" in refused("serve", path)

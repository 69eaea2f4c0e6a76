"""A small model of text, and a server of it in this process."""

import http.client
import json
import threading
from contextlib import contextmanager

import numpy as np
import pytest

from ssvi import LatentDirichletAllocation
from ssvi.serve.answers import Answers, KnownDocuments
from ssvi.serve.server import Server

THEMES = ("oil price barrel market", "court judge appeal verdict", "goal match team coach")
WORDS = tuple(" ".join(THEMES).split())


@pytest.fixture(scope="session")
def model():
    """Return a model of three themes, whose words hardly mix."""
    rng = np.random.default_rng(0)
    themes = rng.integers(3, size=200)
    counts = np.zeros((200, 12), dtype=int)
    for row, theme in enumerate(themes):
        counts[row, 4 * theme : 4 * theme + 4] = rng.multinomial(20, [0.25] * 4)
    fitted = LatentDirichletAllocation(3, batch_size=50, max_iter=5, random_state=0, verbose=0).fit(counts)
    fitted.vocabulary_ = WORDS
    return fitted


@pytest.fixture
def answers(model):
    """Return answers with a document of each theme to compare with, the titles of which a page must not run."""
    counts = np.zeros((3, 12), dtype=int)
    for theme in range(3):
        counts[theme, 4 * theme : 4 * theme + 4] = 5
    about = [{"number": k + 1, "title": f"<b>about</b> {theme}", "beginning": theme} for k, theme in enumerate(THEMES)]
    made = Answers(model, "made.ssvi")
    made.compare_with(KnownDocuments(model.component_weights(counts), about))
    return made


@contextmanager
def serving(answers, **limits):
    """Answer requests in a thread for as long as it is wanted."""
    with Server(answers, **limits) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def server(answers):
    """Return a server that is running."""
    with serving(answers, most_bytes=5_000) as running:
        yield running


def request(server, method, path, body=None, **headers):
    """Return the status, the headers and the content of an answer, JSON if it is such."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=60)
    try:
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        content = response.read().decode()
        is_json = response.headers.get_content_type() == "application/json"
        return response.status, response.headers, json.loads(content) if is_json else content
    finally:
        connection.close()


def ask(server, text, **headers):
    """Return the status of an answer about a text, and the answer."""
    body = json.dumps({"text": text})
    status, _, answer = request(server, "POST", "/api/text", body, **{"Content_Type": "application/json", **headers})
    return status, answer

"""Requests, good and bad, to a server in this process."""

import json
import socket
import threading

import pytest
from tests.serve.conftest import ask, request, serving

from ssvi.serve.server import Server

JSON = {"Content_Type": "application/json"}


def test_the_page_loads_nothing_and_may_not(server):
    status, headers, page = request(server, "GET", "/")
    assert status == 200
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "made.ssvi" in page
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page


def test_the_model_and_a_text_as_json(server, answers):
    assert request(server, "GET", "/api/model")[2] == answers.model
    assert ask(server, "the court and the judge") == (200, answers.about("the court and the judge"))


def test_other_letters_come_back_as_they_were_sent(server):
    text = "Größe 😀 oil \ud800 price"
    status, answer = ask(server, text)
    assert status == 200
    assert "".join(piece["text"] for piece in answer["pieces"]) == text.replace("\ud800", "?")


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status", "sentence"),
    [
        ("GET", "/etc/passwd", None, {}, 404, "there is nothing here"),
        ("GET", "/../pyproject.toml", None, {}, 404, "there is nothing here"),
        ("GET", "/api/text", None, {}, 405, "takes POST only"),
        ("POST", "/", "{}", JSON, 405, "takes GET only"),
        ("PUT", "/api/text", "{}", JSON, 501, "cannot be answered"),
        ("POST", "/api/text", "{}", {}, 415, "send the header Content-Type: application/json"),
        ("POST", "/api/text", "text=oil", {"Content_Type": "text/plain"}, 415, "not text/plain"),
        ("POST", "/api/text", "{", JSON, 400, "no JSON"),
        ("POST", "/api/text", b"\xff\xfe{", JSON, 400, "no JSON"),
        ("POST", "/api/text", "[" * 4_000, JSON, 400, "no JSON"),
        ("POST", "/api/text", "[]", JSON, 400, "an object with a text"),
        ("POST", "/api/text", '{"text": 3}', JSON, 400, "an object with a text"),
        ("POST", "/api/text", '{"text": " "}', JSON, 422, "is empty"),
        ("POST", "/api/text", '{"text": "zzz"}', JSON, 422, "no word that the model knows"),
        ("POST", "/api/text", '{"text": "%s"}' % ("oil " * 5_000), JSON, 413, "at most 5,000 bytes"),
        ("POST", "/api/text", None, JSON | {"Content_Length": "-1"}, 411, "the length"),
        ("POST", "/api/text", None, JSON | {"Content_Length": "9" * 5_000}, 413, "at most 5,000 bytes"),
        ("GET", "/", None, {"Host": "evil.example"}, 403, "does not answer to the name 'evil.example'"),
        ("POST", "/api/text", '{"text": "oil"}', JSON | {"Host": "evil.example:80"}, 403, "does not answer"),
        ("POST", "/api/text", '{"text": "oil"}', JSON | {"Origin": "http://evil.example"}, 403, "own page only"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_sentence_of_json(server, method, path, body, headers, status, sentence):
    got, sent, answer = request(server, method, path, body, **headers)
    assert (got, sent.get_content_type()) == (status, "application/json")
    assert sentence in answer["error"]
    assert ask(server, "oil")[0] == 200


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1", "[::1]:8000", "192.168.0.7:80"])
def test_addresses_and_the_own_name_are_answered(server, host):
    assert request(server, "GET", "/api/model", Host=host)[0] == 200


def test_its_own_page_may_ask(server):
    host = f"127.0.0.1:{server.server_address[1]}"
    assert ask(server, "oil", Origin=f"http://{host}", Host=host)[0] == 200


def test_what_takes_too_long_is_refused(answers, monkeypatch):
    goes_on = threading.Event()
    monkeypatch.setattr(answers, "about", lambda text: goes_on.wait(60))
    with serving(answers, most_seconds=0.05) as server:
        status, answer = ask(server, "oil")
        goes_on.set()
    assert (status, answer["error"]) == (503, "this took longer than 0.05 seconds: give a shorter text, or try again.")


def test_a_fault_of_the_model_does_not_end_the_server(answers, monkeypatch):
    def fail(text):
        raise ZeroDivisionError("secret")

    with serving(answers) as server:
        with monkeypatch.context() as patched:
            patched.setattr(answers, "about", fail)
            status, answer = ask(server, "oil")
        assert status == 500
        assert "secret" not in json.dumps(answer)
        assert ask(server, "oil")[0] == 200


def test_a_text_that_does_not_come_is_not_waited_for(server, monkeypatch):
    monkeypatch.setattr(server.RequestHandlerClass, "timeout", 0.1)
    with socket.create_connection(server.server_address, timeout=60) as connection:
        lines = ["POST /api/text HTTP/1.0", "Host: localhost", "Content-Type: application/json", "Content-Length: 100"]
        connection.sendall("\r\n".join([*lines, "", '{"text"']).encode())
        answer = b"".join(iter(lambda: connection.recv(4_096), b""))
    assert b" 408 " in answer.split(b"\r\n")[0]


def test_a_port_that_is_taken_is_told(server, answers):
    with pytest.raises(OSError, match="in use"):
        Server(answers, port=server.server_address[1])

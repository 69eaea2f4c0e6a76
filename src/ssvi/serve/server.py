"""The server: a page and two JSON addresses on this machine, with limits on what it takes and how long."""

from __future__ import annotations

import contextlib
import ipaddress
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooLongError
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ssvi.serve.answers import Answers
from ssvi.serve.page import render

MOST_BYTES = 1_000_000
MOST_SECONDS = 30.0
_CONNECTIONS = 32
_DIGITS = 12  # of a length
_MOST_THROWN_AWAY = 1 << 24
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class RefusedError(Exception):
    """A request that is not answered; its status, and a sentence that says why."""

    def __init__(self, status: HTTPStatus, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Server(ThreadingHTTPServer):
    """Answers requests about one model; it reads no files, and keeps and logs no texts.

    One text is looked at after the other. A request that waits and works for more than `most_seconds` in all is
    refused, whatever of it is still under way.
    """

    daemon_threads = True

    def __init__(
        self,
        answers: Answers,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        most_bytes: int = MOST_BYTES,
        most_seconds: float = MOST_SECONDS,
    ) -> None:
        self.answers, self.given_host = answers, host
        self.most_bytes, self.most_seconds = most_bytes, most_seconds
        self.page = render(answers.model, most_bytes).encode()
        self._free = threading.BoundedSemaphore(_CONNECTIONS)
        if ":" in host:
            self.address_family = socket.AF_INET6
        self._worker = ThreadPoolExecutor(1)  # which has no thread before there is work
        super().__init__((host, port), Handler)

    @property
    def address(self) -> str:
        """What to type into a browser."""
        host = f"[{self.given_host}]" if ":" in self.given_host else self.given_host
        return f"http://{host}:{self.server_address[1]}/"

    def look_at(self, text: str) -> dict[str, Any]:
        """Return what the model says of a text, in time, or refuse it."""
        work = self._worker.submit(self.answers.about, text)
        try:
            return work.result(self.most_seconds)
        except TooLongError:
            work.cancel()
            sentence = f"this took longer than {self.most_seconds:g} seconds: give a shorter text, or try again."
            raise RefusedError(HTTPStatus.SERVICE_UNAVAILABLE, sentence) from None
        except ValueError as error:
            raise RefusedError(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)) from None

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread of its own, unless too many are being answered."""
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer, and make room for others."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that has gone away; other errors were answered."""

    def server_close(self) -> None:
        """Let go of the address, and of what is under way."""
        super().server_close()
        self._worker.shutdown(wait=False, cancel_futures=True)


class Handler(BaseHTTPRequestHandler):
    """One request: who asks and for what is checked before anything is read."""

    server: Server
    server_version = "ssvi"
    sys_version = ""
    timeout = 10.0  # seconds that a silent connection is waited for, and a text
    _unread = 0

    def do_GET(self) -> None:
        """Answer with the page, or with what the model is."""
        self._answer({"/": self._page, "/api/model": lambda: self.server.answers.model})

    def do_POST(self) -> None:
        """Answer what the model says of a text."""
        self._answer({"/api/text": self._text})

    def _answer(self, known: dict[str, Callable[[], Any]]) -> None:
        """Send what one of the addresses gives, or why it does not."""
        status, length = HTTPStatus.OK, self.headers.get("Content-Length", "")
        self._unread = int(length) if length.isascii() and length.isdecimal() and len(length) <= _DIGITS else 0
        try:
            self._check_host()
            path = self.path.partition("?")[0]
            if path not in known:
                others = _ADDRESSES.get(path)
                if others is not None:
                    raise RefusedError(HTTPStatus.METHOD_NOT_ALLOWED, f"{path} takes {others} only.")
                raise RefusedError(HTTPStatus.NOT_FOUND, f"there is nothing here; there are {', '.join(_ADDRESSES)}.")
            found = known[path]()
        except RefusedError as refused:
            status, found = refused.status, {"error": str(refused)}
        except TimeoutError:
            status, found = HTTPStatus.REQUEST_TIMEOUT, {"error": "the request did not come to an end in time."}
        except Exception as error:  # the server goes on, and whoever asked should know
            status = HTTPStatus.INTERNAL_SERVER_ERROR
            found = {"error": f"the model could not look at this text ({type(error).__name__})."}
        self._send(status, found)

    def _page(self) -> bytes:
        return self.server.page

    def _text(self) -> dict[str, Any]:
        """Read a text and return what the model says of it."""
        origin, kind = self.headers.get("Origin"), self.headers.get_content_type()
        if origin is not None and origin != f"http://{self.headers.get('Host')}":
            raise RefusedError(HTTPStatus.FORBIDDEN, "texts are taken from this server's own page only.")
        if kind != "application/json":
            sentence = f"a text comes as application/json, not {kind}: send the header Content-Type: application/json."
            raise RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, sentence)
        try:
            given = json.loads(self._body())
        except (ValueError, RecursionError):
            raise RefusedError(HTTPStatus.BAD_REQUEST, 'this is no JSON in UTF-8, such as {"text": "..."}.') from None
        text = given.get("text") if isinstance(given, dict) else None
        if not isinstance(text, str):
            raise RefusedError(HTTPStatus.BAD_REQUEST, 'an object with a text is wanted: {"text": "..."}.')
        if not text.strip():
            raise RefusedError(HTTPStatus.UNPROCESSABLE_ENTITY, "the text is empty.")
        return self.server.look_at(text)

    def _body(self) -> bytes:
        """Read what was announced, if it is not too much."""
        length, most = self.headers.get("Content-Length", ""), self.server.most_bytes
        if not (length.isascii() and length.isdecimal()):
            raise RefusedError(HTTPStatus.LENGTH_REQUIRED, "the length of the text is to be told (Content-Length).")
        if len(length) > _DIGITS or int(length) > most:
            raise RefusedError(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the text is too long: at most {most:,} bytes are taken."
            )
        body = b"".join(self._read(int(length)))
        if len(body) < int(length):
            raise RefusedError(HTTPStatus.BAD_REQUEST, "the text is shorter than was announced.")
        return body

    def _read(self, length: int) -> Iterator[bytes]:
        """Yield so many bytes of the body, or what there is of them; all have to come in time, however slowly."""
        deadline = time.monotonic() + self.timeout
        while length > 0:
            self.connection.settimeout(max(0.001, deadline - time.monotonic()))
            part = self.rfile.read1(min(length, 1 << 16))
            self._unread -= len(part)
            length -= len(part)
            if not part:
                return
            yield part

    def _leave_nothing_unread(self) -> None:
        """Take in what a refused request still sends, within bounds: the answer would be lost with it otherwise."""
        with contextlib.suppress(OSError):
            for _ in self._read(min(self._unread, _MOST_THROWN_AWAY)):
                pass

    def _check_host(self) -> None:
        """Refuse names that somebody else's DNS may have led here: a page from there could read the answers."""
        host = self.headers.get("Host", "")
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
        name = name.strip("[]").lower()
        if name not in ("localhost", self.server.given_host.lower()) and not _is_address(name):
            raise RefusedError(HTTPStatus.FORBIDDEN, f"this server does not answer to the name {name[:60]!r}.")

    def _send(self, status: HTTPStatus, found: Any) -> None:
        self._leave_nothing_unread()
        is_page = isinstance(found, bytes)
        content = (
            found if is_page else json.dumps(found, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
        )
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8" if is_page else "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Say in JSON too what the parser of requests does not take."""
        status = HTTPStatus(code)
        self._send(status, {"error": f"this request cannot be answered: {message or status.phrase}."})

    def log_message(self, format: str, *args: Any) -> None:
        """Write no log: what people paste is theirs."""


_ADDRESSES: dict[str, str] = {"/": "GET", "/api/model": "GET", "/api/text": "POST"}


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True

"""A real HTTP server that takes NDJSON, is stopped and started, and does as badly as it is told."""

import json
import socket
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@dataclass
class Request:
    """What one POST brought. taken: whether it was answered with 2xx, as far as the server knows."""

    path: str
    headers: dict[str, str]
    body: bytes
    taken: bool

    @property
    def ids(self) -> list[str]:
        """The ids of its lines."""
        values = [json.loads(line) for line in self.body.splitlines()]
        return [value.get("event_id") or value["observation_id"] for value in values]


@dataclass
class Receiver:
    """answers: what is answered next, 204 when there is nothing left: a status, or "hang up" after reading it all.

    most_lines: more are answered with 413. poison: a line that holds these words is answered with 400.
    """

    port: int = field(default_factory=free_port)
    context: ssl.SSLContext | None = None
    answers: list[int | str] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    most_lines: int = 10_000
    poison: str = ""
    requests: list[Request] = field(default_factory=list)
    _server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        """Where it listens while it runs."""
        return f"{'https' if self.context else 'http'}://127.0.0.1:{self.port}/ingest"

    @property
    def taken(self) -> list[str]:
        """The ids that it acknowledged, in the order they came."""
        return [identity for request in self.requests if request.taken for identity in request.ids]

    def start(self) -> None:
        """Listens from now on."""
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                answer = receiver.answer(body)
                taken = isinstance(answer, int) and answer < 300
                receiver.requests.append(Request(self.path, dict(self.headers), body, taken))
                if not isinstance(answer, int):
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                self.send_response(answer)
                for key, value in receiver.headers.items():
                    self.send_header(key, value)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Says nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self._server.daemon_threads = True
        if self.context is not None:
            self._server.socket = self.context.wrap_socket(self._server.socket, server_side=True)
            self._server.handle_error = lambda *_: None  # type: ignore[method-assign]  # refused handshakes
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def stop(self) -> None:
        """Nobody listens any more."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def answer(self, body: bytes) -> int | str:
        """What this body is answered with."""
        if body.count(b"\n") > self.most_lines:
            return 413
        if self.poison and self.poison.encode() in body:
            return 400
        return self.answers.pop(0) if self.answers else 204


def running(receiver: Receiver) -> Iterator[Receiver]:
    """Until the end of a test."""
    receiver.start()
    yield receiver
    receiver.stop()

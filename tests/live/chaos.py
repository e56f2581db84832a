"""A proxy on loopback between a sync and an API server, which answers wrongly as often as it is told to.

What it does wrong is what servers, load balancers and networks do: 429, 500, 403 and 410, no answer, half an answer,
something that is no JSON, a watch that is cut in the middle of a line, ends with an error event, or falls silent.
"""

import http.client
import json
import random
import ssl
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HANG_SECONDS = 4.0


class Chaos(ThreadingHTTPServer):
    """The proxy. often: how many of a hundred requests, and of a hundred events of watches, go wrong."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, kubeconfig: Path, seed: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.often = 0.0
        self.done: Counter[str] = Counter()
        self.random = random.Random(seed)
        self.lock = threading.Lock()
        known = json.loads(kubeconfig.read_text())
        self.upstream = known["clusters"][0]["cluster"]["server"].removeprefix("https://")
        user = known["users"][0]["user"]
        self.tls = ssl.create_default_context(cafile=known["clusters"][0]["cluster"]["certificate-authority"])
        self.tls.load_cert_chain(user["client-certificate"], user["client-key"])

    def kubeconfig(self, folder: Path) -> Path:
        """A kubeconfig by which a client comes through here."""
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "chaos", "cluster": {"server": f"http://127.0.0.1:{self.server_port}"}}],
            "users": [{"name": "chaos", "user": {}}],
            "contexts": [{"name": "chaos", "context": {"cluster": "chaos", "user": "chaos"}}],
            "current-context": "chaos",
        }
        path = folder / "chaos.yaml"
        path.write_text(json.dumps(content))
        return path

    def fault(self, kinds: tuple[str, ...]) -> str:
        """What goes wrong this time, or nothing."""
        with self.lock:
            if self.random.random() * 100 >= self.often:
                return ""
            kind = self.random.choice(kinds)
            self.done[kind] += 1
            return kind


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Chaos

    def do_GET(self) -> None:
        """Passes on, or does not."""
        is_watch = "watch=true" in self.path
        fault = self.server.fault(("429", "500", "403", "410", "cut", "hang", "half", "no JSON"))
        self.close_connection = True
        if fault.isdigit():
            self._answer(int(fault), b'{"kind":"Status","message":"chaos"}')
        elif fault == "hang":
            time.sleep(HANG_SECONDS)
        elif fault == "no JSON":
            self._answer(200, b"<html>a load balancer's own page</html>\n")
        elif fault != "cut":
            self._pass_on(is_watch, is_half=fault == "half")

    def _pass_on(self, is_watch: bool, is_half: bool) -> None:
        upstream = http.client.HTTPSConnection(self.server.upstream, context=self.server.tls, timeout=60)
        try:
            upstream.request("GET", self.path, headers={"Accept": "application/json"})
            answer = upstream.getresponse()
            if is_watch and answer.status == 200:
                self._events(answer)
            else:
                self._answer(answer.status, answer.read(), is_half)
        except OSError:
            pass  # the sync went away, or the API server did
        finally:
            upstream.close()

    def _events(self, answer: http.client.HTTPResponse) -> None:
        """A watch, line by line, until one of them goes wrong."""
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()
        while line := answer.readline():
            fault = self.server.fault(("torn", "error event", "too old", "silent", "garbled"))
            if fault == "torn":
                return self._chunk(line[: len(line) // 2])
            if fault in ("error event", "too old"):
                code = 500 if fault == "error event" else 410
                return self._chunk(json.dumps({"type": "ERROR", "object": {"code": code}}).encode() + b"\n")
            if fault == "silent":
                return time.sleep(HANG_SECONDS)
            if fault == "garbled":
                return self._chunk(b'{"type":"MODIFIED","obj\n')
            self._chunk(line)
        self.wfile.write(b"0\r\n\r\n")
        return None

    def _chunk(self, piece: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.flush()

    def _answer(self, status: int, body: bytes, is_half: bool = False) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if is_half else body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Quiet."""


@contextmanager
def between(kubeconfig: Path, seed: int) -> Iterator[Chaos]:
    """A proxy in front of the API server of this kubeconfig (with a client certificate); it begins as an honest one."""
    proxy = Chaos(kubeconfig, seed)
    thread = threading.Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.shutdown()
        proxy.server_close()
        thread.join(10)

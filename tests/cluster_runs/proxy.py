"""A proxy before the API server that refuses, fails, stays silent, or does what was asked and loses the answer."""

import json
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import urllib3

from tests.cluster.bed.control import ControlPlane

REFUSALS = {409: "Conflict", 429: "TooManyRequests", 500: "InternalError", 504: "Timeout"}


@contextmanager
def faulty_proxy(control: ControlPlane, rate: float, seed: int) -> Iterator[tuple[str, dict[str, int]]]:
    """Its address, and how often it did what. rate: of requests that go wrong; watches and reviews go through."""
    chance, counts, lock = random.Random(seed), dict[str, int](), threading.Lock()
    pool = urllib3.PoolManager(ca_certs=str(control.authority.file), retries=False, maxsize=32)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def fault(self) -> str:
            if "watch=true" in self.path or "selfsubjectreviews" in self.path or "/leases" in self.path:
                return ""
            with lock:
                if chance.random() >= rate:
                    return ""
                kinds = ["409", "429", "500", "504", "cut", "lost"]
                kind = chance.choice(kinds if self.command != "GET" else kinds[1:5])
                counts[kind] = counts.get(kind, 0) + 1
                return kind

        def handle_one(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            kind = self.fault()
            if kind == "cut":
                self.close_connection = True
                return
            if kind.isdigit():
                self.answer(int(kind), json.dumps({"kind": "Status", "reason": REFUSALS[int(kind)]}).encode())
                return
            headers = {k: v for k, v in self.headers.items() if k.lower() not in ("host", "content-length")}
            reply = pool.request(
                self.command, control.url + self.path, body=body or None, headers=headers, preload_content=False
            )
            if kind == "lost":
                reply.read()
                self.close_connection = True
            elif "watch=true" in self.path:
                self.stream(reply)
            else:
                self.answer(reply.status, reply.read(decode_content=True))

        def answer(self, code: int, body: bytes) -> None:
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def stream(self, reply: Any) -> None:
            self.send_response(reply.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            with suppress(OSError, urllib3.exceptions.HTTPError):
                for piece in reply.stream(2**16, decode_content=True):
                    self.wfile.write(piece)
                    self.wfile.flush()

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_one  # noqa: N815

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", counts
    finally:
        server.shutdown()
        server.server_close()

"""The web server: waitress, for the demo and for production."""

import errno
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from django.conf import settings
from waitress.server import create_server
from waitress.wasyncore import close_all


class PortInUseError(Exception):
    """The port cannot be had; the text is a sentence for the person who chose it."""


def hold(host: str, port: int) -> socket.socket:
    """Takes the port, so that a busy one is known before any other work is done. Raises PortInUseError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as problem:
        reasons = {
            errno.EADDRINUSE: "is in use by another program",
            errno.EACCES: "may not be used by this account",
            errno.EADDRNOTAVAIL: "is not an address of this machine",
        }
        reason = reasons.get(problem.errno or 0, "cannot be used")
        raise PortInUseError(f"Port {port} on {host} {reason}. Choose another one, as in PORT=8080.") from problem


def serve(application: Any, listener: socket.socket, threads: int = 8) -> None:
    """Answers requests until it is ended; those under way are finished.

    The scheme is what PORTAL_URL says: TLS ends at a proxy in front, and nothing that a client sends can
    change how the portal sees itself.
    """
    connections: dict[int, Any] = {}
    server: Any = create_server(  # type: ignore[no-untyped-call]
        application,
        map=connections,
        sockets=[listener],
        threads=threads,
        ident="",
        url_scheme="https" if settings.BEHIND_TLS else "http",
        clear_untrusted_proxy_headers=True,
        max_request_header_size=65536,
        max_request_body_size=1_048_576,
    )
    try:
        server.run()
    finally:
        close_all(connections)  # type: ignore[no-untyped-call]


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Ctrl-C and SIGTERM end what is inside, without a traceback and with exit code 0.

    Ctrl-C too: a shell that starts a program in the background has it ignored.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        raise SystemExit(0)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

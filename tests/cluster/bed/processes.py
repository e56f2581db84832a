"""Start servers, wait until they answer, stop them by their process id.

A server dies with the process that started it (the kernel sees to it), also when that one is killed; its
output is a file in the bed's folder, and a server that ends too early is an error that shows the last lines
of it. Servers are started from the main thread, because the kernel watches the thread that started them.
"""

import contextlib
import os
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from tests.cluster.bed.ledger import Ledger, sweep_abandoned


class ServerFailed(Exception):
    """A server ended or did not answer in time; the message ends with the last lines it wrote."""


class Server:
    """One running program of the bed."""

    def __init__(self, name: str, process: subprocess.Popen[bytes], log: Path) -> None:
        self.name, self.process, self.log = name, process, log

    @property
    def pid(self) -> int:
        """The process id."""
        return self.process.pid

    def wait_until(self, answers: Callable[[], bool], seconds: float = 60) -> None:
        """Return as soon as `answers()` is true; ServerFailed where the program ends or the time is over."""
        deadline = time.monotonic() + seconds
        while not answers():
            if self.process.poll() is not None:
                raise ServerFailed(f"{self.name} ended with {self.process.returncode}.\n{self.tail()}")
            if time.monotonic() > deadline:
                raise ServerFailed(f"{self.name} did not answer within {seconds:.0f} s.\n{self.tail()}")
            time.sleep(0.05)

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal, for example SIGSTOP to make it hang."""
        self.process.send_signal(number)

    def tail(self, lines: int = 25) -> str:
        """The last lines it wrote."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


class Servers:
    """Everything one bed has running, in the order it was started."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.running: list[Server] = []

    def start(self, name: str, argv: Sequence[str | Path], env: Mapping[str, str] | None = None) -> Server:
        """Start a program in the background; its output goes to logs/NAME.log in the bed's folder."""
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError("A server ends with the thread that started it: start it from the main thread.")
        log = self.ledger.folder / "logs" / f"{name}.log"
        log.parent.mkdir(exist_ok=True)
        with log.open("ab") as out:
            process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "--", *map(str, argv)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=self.ledger.folder,
                env=dict(env) if env is not None else None,
                start_new_session=True,  # Ctrl-C is for the program that owns the bed
            )
        self.ledger.process(name, process.pid)
        server = Server(name, process, log)
        self.running.append(server)
        return server

    def kill(self, server: Server) -> None:
        """End one server before the others, as a crash would."""
        server.process.kill()
        server.process.wait()
        self.running.remove(server)

    def kill_all(self) -> None:
        """End everything at once: nothing in a bed is worth a farewell, so a clean end is a crash too."""
        for server in reversed(self.running):
            server.process.kill()
        for server in self.running:
            server.process.wait()
        self.running.clear()


@contextlib.contextmanager
def bed() -> Iterator[Servers]:
    """A new, empty bed; what a killed one left is removed first, and everything at the end.

    Where `TAU_BED_LOGS` names a folder, the servers' logs are kept there.
    """
    sweep_abandoned()
    ledger = Ledger()
    servers = Servers(ledger)
    try:
        yield servers
    finally:
        servers.kill_all()
        if kept := os.environ.get("TAU_BED_LOGS"):
            shutil.copytree(ledger.folder / "logs", kept, dirs_exist_ok=True)
        ledger.close()


def free_port(address: str = "127.0.0.1") -> int:
    """A port nobody listens on now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((address, 0))
        return int(probe.getsockname()[1])


def answers(url: str, ca: Path | None = None) -> Callable[[], bool]:
    """A question for `Server.wait_until`: does this address answer 200?"""
    context = ssl.create_default_context(cafile=str(ca)) if ca else None

    def ask() -> bool:
        try:
            with urllib.request.urlopen(url, timeout=2, context=context) as reply:
                return bool(reply.status == 200)
        except (OSError, urllib.error.URLError):
            return False

    return ask

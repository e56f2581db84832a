"""Runs a command with DATABASE_URL set to a PostgreSQL server of its own, and removes the server afterwards.

    python tests/with_postgres.py [--optional] COMMAND…

Where no PostgreSQL is installed: exit code 3 and one sentence; with --optional that is not an error (0).
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType


def binaries() -> Path | None:
    """The folder with initdb and postgres, on the PATH or where Debian puts it."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: int(p.parts[-3]))
    return versions[-1].parent if versions else None


def as_user() -> list[str]:
    """PostgreSQL refuses to run as root; then it runs as Debian's `postgres`."""
    return ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []


def quietly(command: list[str]) -> None:
    """Runs it without its output; a failure is an error."""
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def server(programs: Path) -> Iterator[int]:
    """A PostgreSQL server of its own with an empty database `tau` of the user `tau`: its port on loopback."""
    with tempfile.TemporaryDirectory(prefix="tau-pg-", ignore_cleanup_errors=True) as name:
        home = Path(name)
        home.chmod(0o777)
        data = home / "data"
        run = as_user()
        quietly([*run, str(programs / "initdb"), "-D", str(data), "-A", "trust", "-U", "tau", "-E", "UTF8", "-N"])
        port = free_port()
        options = f"-k {home} -h 127.0.0.1 -p {port} -c fsync=off -c synchronous_commit=off"
        control = [*run, str(programs / "pg_ctl"), "-D", str(data), "-w", "-l", str(home / "log")]
        quietly([*control, "-o", options, "start"])
        try:
            quietly([str(programs / "createdb"), "-h", "127.0.0.1", "-p", str(port), "-U", "tau", "tau"])
            yield port
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], stdout=subprocess.DEVNULL)


def main(arguments: list[str]) -> int:
    """The exit code of the command."""
    optional = arguments[:1] == ["--optional"]
    command = arguments[1:] if optional else arguments
    programs = binaries()
    if programs is None:
        print("PostgreSQL is not installed here; this part was tested on SQLite only.", file=sys.stderr)
        return 0 if optional else 3
    signal.signal(signal.SIGTERM, _stop)
    with server(programs) as port:
        url = f"postgresql://tau@127.0.0.1:{port}/tau"
        return subprocess.run(command, env=os.environ | {"DATABASE_URL": url}).returncode


def _stop(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

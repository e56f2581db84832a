"""The folder of one test bed, and the record of what was started outside it.

Every process and every bridge is written down as soon as it is there, so that whoever comes later can remove
what a killed run left: its processes, its containers, their mounts, cgroups and sockets, its bridges and
its files.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PREFIX = "taugrid-bed-"
CGROUPS = Path("/sys/fs/cgroup")
CONTAINER_LOGS = Path("/var/log/containers")


def started_at(pid: int) -> str | None:
    """The kernel's start time of a process, which with the id names it for good; None where it is gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else fields[19]


class Ledger:
    """A new folder whose first entry is the process that owns it."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=PREFIX)).resolve()
        self._write("owner", pid=os.getpid(), start=started_at(os.getpid()))

    def process(self, name: str, pid: int) -> None:
        """Remember a process."""
        self._write("process", name=name, pid=pid, start=started_at(pid))

    def bridge(self, name: str) -> None:
        """Remember a network bridge; call it right after the bridge is made, when it is surely this bed's."""
        self._write("bridge", name=name)

    def close(self) -> None:
        """Stop and remove everything that belongs to this folder, and the folder."""
        sweep(self.folder)

    def _write(self, kind: str, **facts: object) -> None:
        with (self.folder / "ledger").open("a") as out:
            out.write(json.dumps({"kind": kind, **facts}) + "\n")


def sweep_abandoned() -> list[Path]:
    """Remove every bed whose owner is no longer alive; answers their folders."""
    found = []
    for folder in sorted(Path(tempfile.gettempdir()).resolve().glob(f"{PREFIX}*")):
        owner = next((entry for entry in entries(folder) if entry["kind"] == "owner"), None)
        if owner is None:  # either just being made, or its owner died in that moment
            abandoned = time.time() - folder.stat().st_mtime > 60
        else:
            abandoned = started_at(owner["pid"]) != owner["start"]
        if abandoned:
            sweep(folder)
            found.append(folder)
    return found


def sweep(folder: Path) -> None:
    """Remove everything that belongs to one bed. What is already gone is no error."""
    written = list(entries(folder))
    named = [e["pid"] for e in written if e["kind"] == "process" and started_at(e["pid"]) == e["start"]]
    _kill(named)
    while inside := processes_of(folder):  # a shim can still be starting a container when it is killed
        _kill(inside)
    for path in (*shim_sockets(folder), *log_links(folder)):
        path.unlink(missing_ok=True)
    for mount in sorted(mounts_under(folder), reverse=True):
        subprocess.run(["umount", "--lazy", mount], check=False, capture_output=True)
    for entry in written:
        if entry["kind"] == "bridge":
            subprocess.run(["ip", "link", "delete", entry["name"]], check=False, capture_output=True)
    _remove_cgroups(cgroups_of(folder))
    shutil.rmtree(folder, ignore_errors=True)


def processes_of(folder: Path) -> list[int]:
    """A bed's shims, which name its folder on their command line, and containers, which are rooted in it."""
    mark = os.fsencode(f"{folder}/")
    return [
        pid
        for pid in (int(entry) for entry in os.listdir("/proc") if entry.isdigit())
        if pid != os.getpid()
        and (
            (b"containerd-shim" in (words := _read(pid, "cmdline")) and mark in words)
            or any(b" / / " in line and mark in line for line in _read(pid, "mountinfo").splitlines())
        )
    ]


def mounts_under(folder: Path) -> list[str]:
    """Mount points inside a bed's folder, as this process sees them."""
    points = (line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines())
    return [point for point in points if point.startswith(f"{folder}/")]


def cgroups_of(folder: Path) -> list[Path]:
    """The cgroups of a bed's containers, one per hierarchy of cgroup v1 or the one of v2."""
    return [
        group
        for task in _tasks(folder)
        for pattern in (f"*/k8s.io/{task.name}", f"k8s.io/{task.name}")
        for group in CGROUPS.glob(pattern)
    ]


def shim_sockets(folder: Path) -> list[Path]:
    """Shims listen in /run/containerd/s whatever the state folder is, and a killed one leaves its socket."""
    found = set()
    for task in _tasks(folder):
        with contextlib.suppress(OSError, ValueError):  # the shim was killed before it had an address
            address = json.loads((task / "bootstrap.json").read_text())["address"]
            found.add(Path(address.removeprefix("unix://")))
    return sorted(found)


def log_links(folder: Path) -> list[Path]:
    """The kubelet's links to container logs, which it makes at a place it does not let us choose."""
    links = (path for path in CONTAINER_LOGS.glob("*.log") if path.is_symlink())
    return [link for link in links if os.readlink(link).startswith(f"{folder}/")]


def entries(folder: Path) -> Iterator[dict[str, Any]]:
    """What the ledger of a bed says, one entry per process and bridge; nothing where there is none."""
    try:
        lines = (folder / "ledger").read_text().splitlines()
    except FileNotFoundError:
        return
    for line in lines:
        try:
            yield json.loads(line)
        except ValueError:  # the last line of a process killed while writing
            return


def _tasks(folder: Path) -> list[Path]:
    """What each node's containerd keeps about a running container, in a folder named by the container's id."""
    return list(folder.glob("*/containerd/state/io.containerd.runtime.v2.task/k8s.io/*"))


def _kill(pids: list[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    deadline = time.monotonic() + 10
    while any(started_at(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.02)


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def _remove_cgroups(groups: list[Path]) -> None:
    deadline = time.monotonic() + 5
    for group in groups:
        while group.exists() and time.monotonic() < deadline:
            try:
                group.rmdir()
            except OSError:  # the kernel is still emptying it
                time.sleep(0.02)
    for parent in {group.parent for group in groups}:
        with contextlib.suppress(OSError):  # another bed's containers are in it
            parent.rmdir()

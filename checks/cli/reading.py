"""Reading dumps for a command: the options that say which, the verdicts in them, and how a command ends."""

import os
import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import click

from ..contract.reasons import State
from ..dump import Item, read_files, read_stream
from ..snapshot import DumpError, Explained, Snapshot, snapshots
from .terminal import UNREADABLE, Time, complain, printable

BROKEN_PIPE = 141
STYLE = {
    State.PASSED: "green",
    State.FAILED: "red",
    State.STALE: "yellow",
    State.RUNNING: "blue",
    State.UNKNOWN: "dim",
}
Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "-f",
        "--file",
        "files",
        multiple=True,
        required=True,
        metavar="DUMP…",
        help="Dump to read; - is standard input. May be repeated.",
    ),
    click.argument("more", nargs=-1, metavar=""),
    click.option(
        "--evidence",
        type=click.Path(path_type=Path, file_okay=False, exists=True),
        help="Folder of evidence files named by their sha256.",
    ),
    click.option(
        "--cluster", default="", metavar="NAME", help="Cluster the dump is of, where it does not say so itself."
    ),
    click.option("--captured-at", type=Time(), help="When the dump was captured, where it does not say so itself."),
    click.option("--now", type=Time(), help="Judge as if the dump had been captured at this time."),
)


def dump_options(command: Command) -> Command:
    """The options that every command on dumps has."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def items_of(files: list[str]) -> Iterator[Item]:
    """Every object of the files. Raises OSError for a file that cannot be opened."""
    for name in files:
        if name == "-":
            yield from read_stream(sys.stdin.buffer, "standard input")
        else:
            yield from read_files([Path(name)])


def read_snapshots(files: list[str], cluster: str, captured_at: datetime | None) -> list[Snapshot] | int:
    """Every cluster of the dumps by name, or the exit code where they cannot be read (it was said)."""
    try:
        found = snapshots(items_of(files), cluster, captured_at)
    except DumpError as error:
        complain(str(error))
        return 64 if error.usage else UNREADABLE
    except OSError as error:
        complain(f"{error.filename}: {error.strerror}")
        return UNREADABLE
    for problem in dict.fromkeys(problem for snapshot in found for problem in snapshot.problems):
        click.echo(f"tau-check: not read: {printable(problem)}", err=True)
    return sorted(found, key=lambda snapshot: snapshot.cluster)


def read_dump(
    files: list[str], evidence: Path | None, cluster: str, captured_at: datetime | None, now: datetime | None
) -> tuple[list[Explained], datetime] | int:
    """Every check of the dumps and the time they are judged at, or the exit code where that cannot be (it was said)."""
    found = read_snapshots(files, cluster, captured_at or now)
    if isinstance(found, int):
        return found
    as_of = now or max(snapshot.captured_at for snapshot in found)
    return [item for s in found for item in s.explain(now or s.captured_at, evidence)], as_of


def written(write: Callable[[], None]) -> int:
    """Writes to standard output; the exit code where its reader has gone, which is no verdict, else 0."""
    try:
        write()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    return 0


def exit_code(states: list[State]) -> int:
    """0 all Passed (and at least one), 1 something Failed, 2 something not proven."""
    if State.FAILED in states:
        return 1
    return 0 if states and all(state is State.PASSED for state in states) else 2

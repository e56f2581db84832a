"""What a command judges: the checks of dumps (-f), or those of the caller's cluster. Both go the same way from there.

A live cluster is read once, as a dump would be, and judged by this machine's clock.
"""

import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import click

from ..contract.reasons import Reason
from ..evidence.locating import Stores
from ..snapshot import Explained, Snapshot
from .connecting import Caller, cluster_options
from .evidence_options import evidence_from, evidence_options
from .reading import read_snapshots
from .refusals import in_words
from .terminal import Time, complain, printable

Command = TypeVar("Command", bound=Callable[..., Any])
_OPTIONS = (
    click.argument("names", nargs=-1, metavar="[CHECK…]"),
    click.option(
        "-f", "--file", "files", multiple=True, metavar="DUMP…", help="Read dumps instead; - is standard input."
    ),
    click.option("-A", "--all-namespaces", "everywhere", is_flag=True, help="Every namespace of the cluster."),
    click.option(
        "--known-as", default="", metavar="NAME", help="Name of the cluster in its results, where it does not say."
    ),
    click.option("--captured-at", type=Time(), help="When a dump was captured, where it does not say so itself."),
    click.option("--now", type=Time(), help="Judge as if the dump had been captured at this time."),
)
_NAMES = ("names", "files", "everywhere", "known_as", "captured_at", "now", "evidence", "stores")


@dataclass(frozen=True, slots=True)
class Reading:
    """Checks with their verdicts. snapshots: all objects that were read. as_of: the time of the verdicts."""

    explained: list[Explained]
    as_of: datetime
    snapshots: list[Snapshot]
    evidence: Path | Stores | None
    place: str = "in this dump"
    is_guess: bool = False


class Ended(Exception):
    """The command ends with this exit code; what there was to say has been said."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


@dataclass
class Sources:
    """The options of a command that reads dumps or a cluster, not yet followed."""

    caller: Caller
    names: tuple[str, ...]
    files: tuple[str, ...]
    everywhere: bool
    known_as: str
    captured_at: datetime | None
    now: datetime | None
    evidence: Path | None
    stores: tuple[str, ...]

    def read(self) -> Reading:
        """Reads and judges. Raises Ended, ClusterError and usage errors."""
        evidence = evidence_from(self.evidence, self.stores)
        reading = self._dumps(evidence) if self.files else self._live(evidence)
        note_unread(reading, reading.explained)
        return reading

    def _dumps(self, evidence: Path | Stores | None) -> Reading:
        """With -f the other arguments are more dumps, so that a shell's pattern works; --cluster is their cluster."""
        if self.everywhere:
            raise click.UsageError("--all-namespaces: a dump holds the namespaces that it holds")
        found = read_snapshots(
            [*self.files, *self.names], self.known_as or self.caller.cluster, self.captured_at or self.now
        )
        if isinstance(found, int):
            raise Ended(found)
        explained = [item for each in found for item in each.explain(self.now or each.captured_at, evidence)]
        as_of = self.now or max(each.captured_at for each in found)
        place = self.caller.namespace_option
        explained = [item for item in explained if place in ("", item.namespace)]
        return Reading(explained, as_of, found, evidence)

    def _live(self, evidence: Path | Stores | None) -> Reading:
        if self.now or self.captured_at:
            raise click.UsageError("--now and --captured-at go with -f: a cluster is judged by the clock")
        reading = read_cluster(self.caller, evidence, self.known_as, everywhere=self.everywhere)
        wanted = [item for name in self.names for item in _of(name, reading.explained)]
        return replace(reading, explained=wanted) if wanted else reading


def read_cluster(
    caller: Caller, evidence: Path | Stores | None, known_as: str = "", *, everywhere: bool = False
) -> Reading:
    """Every check that the caller asks for, now. Raises ClusterError."""
    from ..cluster.gathering import gather

    gathered = gather(caller.api, "" if everywhere else caller.namespace, known_as)
    snapshot = gathered.snapshot()
    whys = [in_words(error) for error in gathered.essential_unread.values()]
    for why in whys:
        complain(f"not read: {why}")
    source = gathered.source(snapshot, f"Not everything could be read: {whys[0]}" if whys else "")
    explained = list(snapshot.explain(gathered.at, evidence, source))
    place = "in this cluster" if everywhere else f"in the namespace {caller.namespace}"
    return Reading(explained, gathered.at, [snapshot], evidence, place, gathered.is_guess)


def _of(name: str, explained: list[Explained]) -> list[Explained]:
    """The checks of a name, or of NAMESPACE/NAME. Raises a usage error where there is none."""
    namespace, _, own = name.rpartition("/")
    found = [item for item in explained if item.name == own and namespace in ("", item.namespace)]
    if not found:
        there = ", ".join(sorted({item.name for item in explained})[:20]) or "none"
        raise click.UsageError(printable(f"there is no check {name}; there is: {there}"))
    return found


def note_unread(reading: Reading, shown: list[Explained]) -> None:
    """Says on standard error what this command was not told: where evidence is, and what results call the cluster."""
    if reading.is_guess and any(item.verdict.reason == Reason.IDENTITY_MISMATCH for item in shown):
        name = printable(reading.snapshots[0].cluster)
        words = f"this cluster does not say what results call it, and {name} is the kubeconfig's name for it"
        click.echo(f"note: {words}. Say --known-as NAME.", err=True)
    unread = [item for item in shown if item.verdict.reason == Reason.EVIDENCE_UNVERIFIED]
    if unread and reading.evidence is None:
        click.echo(
            "note: evidence was not read here, so what requires it is not proven. Say where it is:\n"
            "      --evidence DIRECTORY (files named by their sha256) or --store NAME=BASE. The portal reads it too.",
            err=True,
        )


def source_options(command: Command) -> Command:
    """The options of a command on checks, given to it as Sources."""

    @functools.wraps(command)
    def wrapped(*args: Any, caller: Caller, **given: Any) -> int:
        values = {name: given.pop(name) for name in _NAMES}
        sys.stdout.flush()
        try:
            return int(command(*args, sources=Sources(caller=caller, **values), **given))
        except Ended as ended:
            return ended.code

    wrapped = evidence_options(wrapped)
    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return cluster_options(wrapped)  # type: ignore[return-value]

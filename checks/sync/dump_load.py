"""Loads dumps into the database: all of them or nothing, in one transaction, so that pages never see half a dump.

A complete dump marks what it does not hold as gone. An older capture than the one that was read last changes nothing
that the newer one knows.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.db import transaction

from ..contract.clock import parse_time
from ..dump import Item, read_files
from ..evidence.folder import verify
from ..models import Cluster, SourceKind
from ..objects import section, text
from ..snapshot import DumpError, cut, incomplete, promised_objects
from .judging import Reader, all_checks, judge_checks, judge_outdated, judge_outdated_dumps, judge_policy
from .kinds import KINDS
from .revision import revise
from .writing import BATCH, Writer, mark_gone

Progress = Callable[[int], None]
COUNTS = timedelta(hours=2)


@dataclass
class Loaded:
    """What loading did: objects read, rows by what happened to them, and named problems."""

    objects: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    clusters: list[str] = field(default_factory=list)


def load(
    paths: Iterable[Path],
    *,
    evidence: Path | None = None,
    cluster: str = "",
    captured_at: datetime | None = None,
    progress: Progress | None = None,
) -> Loaded:
    """Loads dump files. Raises DumpError where nothing can be read or a dump does not say of which cluster or when it
    is, OSError for a file that cannot be opened; then nothing was written."""
    return load_items(read_files(paths), evidence=evidence, cluster=cluster, captured_at=captured_at, progress=progress)


def load_items(
    items: Iterable[Item],
    *,
    evidence: Path | None = None,
    cluster: str = "",
    captured_at: datetime | None = None,
    progress: Progress | None = None,
) -> Loaded:
    """The same, from items already being read."""
    loading = _Loading(evidence, cluster, captured_at)
    with transaction.atomic():
        for item in items:
            loading.take(item)
            if progress is not None:
                progress(loading.done.objects)
        loading.finish()
    return loading.done


class _Loading:
    """One load: a writer for each cluster that the dumps are of."""

    def __init__(self, evidence: Path | None, cluster: str, captured_at: datetime | None) -> None:
        self.evidence, self.cluster, self.captured_at = evidence, cluster, captured_at
        self.done = Loaded()
        self.dumps: dict[str, _Dump] = {}
        self.here: _Dump | None = None
        self.file = ""

    def take(self, item: Item) -> None:
        """One item of a dump, in the order of the files."""
        name = item.where.rpartition(", ")[0]
        if name != self.file:
            self.here, self.file = None, name
        if item.value is None:
            self.done.problems.append(f"{item.where}: {item.problem}")
            return
        self.done.objects += 1
        if text(item.value, "kind") == "TauDump":
            self.here = self._open(item.value, item.where)
            self.here.promised += promised_objects(item.value)
            return
        if self.here is None:
            self.here = self._named(self.cluster, self.captured_at, item.where, complete=True)
        self.here.add(item.where, item.value)

    def _open(self, head: dict[str, Any], where: str) -> "_Dump":
        name = self.cluster or text(section(head, "metadata"), "name")
        at = self.captured_at or parse_time(head.get("capturedAt"))
        return self._named(name, at, where, complete=head.get("complete") is True)

    def _named(self, name: str, at: datetime | None, where: str, *, complete: bool) -> "_Dump":
        if not name:
            raise DumpError(f"{where}: the dump does not say which cluster it is of; say --cluster NAME", usage=True)
        if at is None:
            raise DumpError(f"{where}: the dump does not say when it was captured; say --captured-at TIME", usage=True)
        if name not in self.dumps:
            self.dumps[name] = _Dump(name, at, complete)
        return self.dumps[name]

    def finish(self) -> None:
        """Writes what is left, marks what is gone, and judges."""
        if not self.done.objects:
            raise DumpError(self.done.problems[0] if self.done.problems else "there is no object in it")
        for name, dump in self.dumps.items():
            self.done.problems += filter(None, [cut(name, dump.promised, dump.taken)])
        for dump in self.dumps.values():
            dump.finish(self.done.problems, self.evidence)
            self.done.counts += dump.writer.counts
            self.done.problems += dump.writer.problems
        judge_outdated_dumps()
        self.done.clusters = sorted(self.dumps)


class _Dump:
    """The part of a load that is of one cluster."""

    def __init__(self, name: str, at: datetime, complete: bool) -> None:
        self.at, self.complete = at, complete
        self.row, _ = Cluster.objects.get_or_create(name=name)
        self.is_newest = self.row.captured_at is None or at >= self.row.captured_at
        self.row.load += 1
        self.writer = Writer(self.row, at, self.row.load)
        self.batch: list[tuple[str, dict[str, Any]]] = []
        self.promised = self.taken = 0

    def add(self, where: str, item: dict[str, Any]) -> None:
        """One object, written when the batch is full."""
        self.taken += 1
        self.batch.append((where, item))
        if len(self.batch) >= BATCH:
            self.writer.write(self.batch)
            self.batch = []

    def finish(self, unread: list[str], evidence: Path | None) -> None:
        """The rest of the batch, the cluster's own row, what is gone, and the verdicts."""
        self.writer.write(self.batch)
        whole = self.complete and not unread
        if self.is_newest:
            self._note(whole, unread)
            if whole:
                for kind in KINDS.values():
                    mark_gone(kind, self.writer, self.row.load, self.at)
        revise(self.row)
        self.row.save()
        reader = _reader(evidence, self.at)
        if not judge_outdated(self.row, self.at, reader):
            judge_policy(self.row)
            judge_checks(all_checks(self.row), self.at, reader)

    def _note(self, whole: bool, unread: list[str]) -> None:
        row = self.row
        row.captured_at, row.complete = self.at, whole
        row.problem = "" if whole else incomplete(row.name, unread)
        for kind in KINDS:
            seen = {"listed_at": self.at, "heartbeat_at": self.at, "problem": row.problem}
            SourceKind.objects.update_or_create(cluster=row, kind=kind, defaults=seen)


def _reader(folder: Path | None, at: datetime) -> Reader | None:
    """Reads evidence beside a dump. A dump's clock stands still; if the cluster turns live, the reading soon ends."""
    return None if folder is None else lambda item: replace(verify(item, folder, at), until=at + COUNTS)


def files_of(names: Iterable[str]) -> Iterator[Path]:
    """The files named; a folder stands for the dumps in it."""
    for name in names:
        path = Path(name)
        if path.is_dir():
            yield from sorted(p for p in path.iterdir() if p.name.endswith((".yaml", ".yml", ".json", ".gz")))
        else:
            yield path

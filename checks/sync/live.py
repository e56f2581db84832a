"""One live cluster into the database: every kind's feed, one writer, one transaction per batch.

A batch holds whatever came within a fraction of a second; its objects, the verdicts they change and the heartbeat are
written together, so that pages see a cluster as it was at one moment. A killed process leaves the last batch whole and
no newer heartbeat; the next one lists again.
"""

import sys
import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from queue import Empty

import structlog
from django.db import OperationalError, connection, transaction

from ..evidence.locating import Stores
from ..models import Cluster, SourceKind
from ..snapshot import kind_of_interest
from .feed import Alive, Changed, Faulty, Feed, Inbox, Listed, ListStarted, Message, Readable
from .judging import all_checks, judge_checks, judge_outdated, judge_policy
from .kinds import KINDS
from .lease import LeaseLost, acquire, held, new_holder, release, renew
from .revision import revise
from .verifying import REVERIFY, Verifying
from .writing import Writer, mark_gone

BATCH_SECONDS, BATCH_MESSAGES, QUEUED = 0.15, 1500, 1000
HEARTBEAT_SECONDS = 2.0
LISTING_SECONDS = 30.0
# A feed gives the interpreter away at each record of TLS that it reads; with Python's own 5 ms it would wait that long
# for the writer each time, and a page of a list would take most of a second.
SWITCH_SECONDS = 0.0005
log = structlog.get_logger("sync")


def is_essential(kind: str) -> bool:
    """Whether verdicts need a kind; the others only fill the fleet page."""
    return bool(
        kind_of_interest({"kind": kind, "apiVersion": f"{KINDS[kind].group}/v1" if KINDS[kind].group else "v1"})
    )


@dataclass
class _KindState:
    """What this process knows of one kind: the number of its running list, and when it was last alive."""

    load: int = 0
    is_listing: bool = False
    is_listed: bool = False
    alive_at: datetime | None = None
    problem: str = ""
    saved: tuple[bool, str] | None = None
    saved_at: float = 0.0


def is_listed(kinds: dict[str, _KindState]) -> bool:
    """Whether every kind that verdicts need has been listed."""
    return all(state.is_listed and state.alive_at for name, state in kinds.items() if is_essential(name))


@dataclass
class LiveSync:
    """Syncs one cluster until `stop` is set. stores: where evidence is read; without one it stays unverified.

    every: how old a verification may get before the evidence is read again.
    """

    cluster: str
    api: Readable
    stop: threading.Event
    stores: Stores | None = None
    every: timedelta = REVERIFY
    holder: str = field(default_factory=new_holder)
    queue: Inbox = field(default_factory=lambda: Inbox(QUEUED))
    kinds: dict[str, _KindState] = field(default_factory=lambda: {name: _KindState() for name in KINDS})
    beat_at: float = 0.0
    waiting: set[int] = field(default_factory=set)
    judged_at: float = field(default_factory=time.monotonic)
    is_new: bool = True

    def run(self) -> None:
        """Waits for the lease, then works until stopped or until the lease is lost."""
        Cluster.objects.get_or_create(name=self.cluster)
        waits = False
        while not self.stop.is_set() and not acquire(self.cluster, self.holder):
            if not waits:
                log.info("waiting", cluster=self.cluster, why="another process syncs this cluster")
            waits = True
            self.stop.wait(1.0)
        if self.stop.is_set():
            return
        ending = threading.Event()
        sys.setswitchinterval(SWITCH_SECONDS)
        feeds = [Feed(self.api, kind, self.queue, ending) for kind in KINDS.values()]
        self._begin()
        for feed in feeds:
            feed.start()
        evidence = Verifying(self.cluster, self.holder, self.stores or Stores(), ending, self.every).start()
        try:
            self._work()
        except LeaseLost:
            log.warning("lease_lost", cluster=self.cluster)
        finally:
            ending.set()
            evidence.join(10)
            release(self.cluster, self.holder)
            connection.close()

    def _begin(self) -> None:
        """A live cluster has no time of capture; if the row was a dump's, nothing of it was seen live. What another
        version judged is judged again before anything is read."""
        with transaction.atomic():
            row = held(self.cluster, self.holder)
            if judge_outdated(row, datetime.now(UTC)):
                revise(row)
            renew(row)
            if row.captured_at is not None:
                row.captured_at, row.complete, row.heartbeat_at = None, False, None
                revise(row)
            row.save()

    def _work(self) -> None:
        while not self.stop.is_set():
            batch = self._batch()
            if batch or time.monotonic() - self.beat_at >= HEARTBEAT_SECONDS:
                self._patiently(batch)

    def _patiently(self, batch: list[Message]) -> None:
        """A busy database is waited for; the batch is kept."""
        while not self.stop.is_set():
            try:
                self._write(batch)
                return
            except OperationalError:
                pass
            log.warning("database_busy", cluster=self.cluster)
            connection.close()
            self.stop.wait(1.0)

    def _batch(self) -> list[Message]:
        """What comes within a fraction of a second after the first message."""
        found: list[Message] = []
        deadline = time.monotonic() + 0.5
        while len(found) < BATCH_MESSAGES and (left := deadline - time.monotonic()) > 0:
            try:
                message = self.queue.get(timeout=left)
            except Empty:
                break
            if not found:
                deadline = time.monotonic() + BATCH_SECONDS
            found.append(message)
            if isinstance(message, Listed):
                break
        return found

    def _write(self, batch: list[Message]) -> None:
        """One transaction. What this process knows of its kinds changes only once it is committed."""
        now = datetime.now(UTC)
        kinds = {name: _KindState(**vars(state)) for name, state in self.kinds.items()}
        with transaction.atomic():
            row = held(self.cluster, self.holder)
            writing = _Batch(row, now, kinds, Writer(row, now, row.load))
            for message in batch:
                writing.take(message)
            writing.flush()
            waiting = self._judge(writing)
            is_said = self._beat(row, kinds, now)
            if is_said or writing.concerns_checks:
                revise(row)
            elif writing.writer.written:
                revise(row, writing.writer.written)
            renew(row)
            row.save()
        self.kinds, self.waiting = kinds, waiting
        self.is_new = self.is_new and not is_listed(kinds)
        self.beat_at = time.monotonic()

    def _judge(self, writing: "_Batch") -> set[int]:
        """Makes verdicts anew; the checks that still wait. What a page of a list concerns can wait while there are more
        pages, since each may concern the same checks; what an event concerns cannot. A new process judges every check
        once: one that was killed may not have come to it, and another version may have judged otherwise."""
        writer, waiting = writing.writer, self.waiting | writing.paged
        for problem in writer.problems:
            log.warning("object_not_read", cluster=self.cluster, problem=problem)
        if (writer.everything and judge_policy(writer.cluster)) or (self.is_new and is_listed(writing.kinds)):
            writer.touched |= all_checks(writer.cluster)
        is_listing = any(state.is_listing for name, state in writing.kinds.items() if is_essential(name))
        is_patient = not writer.cluster.complete or time.monotonic() - self.judged_at < LISTING_SECONDS
        if not (is_listing and is_patient):
            writer.touched |= waiting
            self.judged_at = time.monotonic()
        if writer.touched:
            judge_checks(writer.touched, writing.now)
        return waiting - writer.touched

    def _beat(self, row: Cluster, kinds: dict[str, _KindState], now: datetime) -> bool:
        """Each kind's freshness; the cluster is as fresh as the oldest of those that verdicts need.

        True if a fault came or went, or a kind was listed.
        """
        is_news = False
        for name, state in kinds.items():
            said = (state.is_listed, state.problem)
            if state.saved == said and time.monotonic() - state.saved_at < HEARTBEAT_SECONDS:
                continue
            columns = ["problem", *(["heartbeat_at"] if state.alive_at else []), *(["listed_at"] * state.is_listed)]
            source = SourceKind(cluster=row, kind=name, problem=state.problem)
            source.heartbeat_at = source.listed_at = state.alive_at
            SourceKind.objects.bulk_create(
                [source], update_conflicts=True, unique_fields=["cluster", "kind"], update_fields=columns
            )
            is_news = is_news or state.saved != said
            state.saved, state.saved_at = said, time.monotonic()
        if is_listed(kinds):
            row.complete = True
            row.heartbeat_at = min(s.alive_at for name, s in kinds.items() if is_essential(name) and s.alive_at)
        faults = [f"{name}: {kinds[name].problem}" for name in kinds if kinds[name].problem]
        missing = [name for name, state in kinds.items() if is_essential(name) and not state.is_listed]
        row.problem = "; ".join(faults[:3]) or (f"not listed yet: {', '.join(missing)}" if missing else "")
        return is_news


@dataclass
class _Batch:
    """The messages of one transaction, in order; changes of one kind are gathered until something else needs them."""

    row: Cluster
    now: datetime
    kinds: dict[str, _KindState]
    writer: Writer
    changes: dict[str, dict[tuple[str, str, str], Changed]] = field(default_factory=dict)
    paged: set[int] = field(default_factory=set)

    @property
    def concerns_checks(self) -> bool:
        """Whether a verdict was made anew, or has to be."""
        return bool(self.paged or self.writer.touched or self.writer.everything)

    def take(self, message: Message) -> None:
        """One message."""
        state = self.kinds[message.kind]
        if isinstance(message, Changed):
            metadata = message.object.get("metadata") or {}
            key = tuple(str(metadata.get(part, "")) for part in ("namespace", "name", "uid"))
            self.changes.setdefault(message.kind, {}).pop(key, None)  # type: ignore[arg-type]
            self.changes[message.kind][key] = message  # type: ignore[index]
        elif isinstance(message, Alive):
            state.alive_at, state.problem = message.at, ""
        elif isinstance(message, Faulty):
            state.problem, state.is_listing = message.why, False
        elif isinstance(message, ListStarted):
            self.flush(message.kind)
            self.row.load += 1
            state.load, state.is_listing, state.is_listed = self.row.load, True, False
        else:
            self._listed(message, state)

    def _listed(self, page: Listed, state: _KindState) -> None:
        urgent, self.writer.touched = self.writer.touched, set()
        self.writer.load = state.load
        self.writer.write((page.kind, item) for item in page.items)
        if page.is_last:
            mark_gone(KINDS[page.kind], self.writer, state.load, self.now)
            state.is_listing, state.is_listed, state.alive_at, state.problem = False, True, page.at, ""
        self.paged |= self.writer.touched
        self.writer.touched = urgent

    def flush(self, only: str = "") -> None:
        """Writes the gathered changes: deletions first, since a name may have been taken again at once."""
        for name in [only] if only else list(self.changes):
            changes = self.changes.pop(name, {})
            self.writer.load = self.kinds[name].load
            for change in changes.values():
                if change.type == "DELETED":
                    self.writer.delete(KINDS[name], change.object, self.now)
            self.writer.write((name, change.object) for change in changes.values() if change.type != "DELETED")

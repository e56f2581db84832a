"""Evidence of one cluster, read in threads of its own and written under the sync's lease: the writer never waits.

New evidence comes first. What was verified is read again on a schedule, since it may change or go, and counts for twice
as long. What could not be read is tried again, less and less often. Nothing is written where nothing is new.
"""

import json
import threading
import time
from collections import Counter, deque
from collections.abc import Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import structlog
from django.db import OperationalError, connection, transaction
from django.db.models import Q, QuerySet

from ..evidence.comparing import STOPPED, verify
from ..evidence.locating import Place, Stores
from ..evidence.stores import Refused
from ..facts import SKEW, Verification, Verified
from ..models import Check, Evidence, Result, Run
from .judging import judge_evidence
from .lease import LeaseLost, held
from .revision import revise
from .statements import update

WORKERS, FETCHED, WRITTEN = 16, 1000, 500
UNREAD_AGAIN, WRONG_AGAIN, LONGEST = timedelta(seconds=20), timedelta(minutes=5), timedelta(minutes=10)
REVERIFY = timedelta(hours=1)
IDLE_SECONDS, DUE_SECONDS = 1.0, 5.0  # how often is asked for what is new, and for what is due again
WRITE_SECONDS = 0.5  # each write keeps the writer of events waiting and judges checks again: few and large ones
log = structlog.get_logger("sync")


@dataclass(frozen=True, slots=True)
class Read:
    """What reading one row gave. is_final: it counts at once, also against an earlier verification."""

    row: Evidence
    found: Verified
    is_final: bool

    def says_something_new(self, now: datetime, every: timedelta) -> bool:
        """Whether it is worth a write: a verification always is, since it counts from then on."""
        row, found = self.row, self.found
        if found.why == STOPPED:
            return False
        if found.state is Verification.VERIFIED or row.verified_at is None:
            return True
        if row.state == Verification.VERIFIED:
            return self.is_final or row.counts_until is None or now > row.counts_until
        return (row.state, row.why) != (found.state, found.why) or now - row.verified_at >= every


@dataclass(frozen=True, slots=True)
class Again:
    """When a row that is not verified is read again, on the monotonic clock, and how often it could not be in a row."""

    at: float
    failures: int = 0


@dataclass
class Verifying:
    """Reads the evidence of results that speak for a check until `stop` is set. every: how old a verification gets."""

    cluster: str
    holder: str
    stores: Stores
    stop: threading.Event
    every: timedelta = REVERIFY
    workers: int = WORKERS
    waiting: "deque[tuple[Evidence, Place]]" = field(default_factory=deque)
    running: "dict[Future[Read], int]" = field(default_factory=dict)
    unwritten: list[Read] = field(default_factory=list)
    written_at: float = field(default_factory=time.monotonic)
    again: dict[int, Again] = field(default_factory=dict)
    passed_over: frozenset[int] = frozenset()
    cursor: int = 0
    asked_at: float = float("-inf")
    begun_at: float = float("-inf")

    def start(self) -> threading.Thread:
        """Works in a thread of its own."""
        thread = threading.Thread(target=self.run, name=f"verifying-{self.cluster}", daemon=True)
        thread.start()
        return thread

    def run(self) -> None:
        """The thread's work; a fault is logged and the work goes on."""
        pool = ThreadPoolExecutor(self.workers, thread_name_prefix="evidence")
        try:
            while not self.stop.is_set():
                try:
                    self.step(pool)
                except LeaseLost:
                    return
                except OperationalError:
                    log.warning("database_busy", cluster=self.cluster)
                    self._begin_again()
                except Exception:
                    log.exception("verifying_failed", cluster=self.cluster)
                    self._begin_again()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
            connection.close()

    def _begin_again(self) -> None:
        """What was read and not written is read again."""
        connection.close()
        self.stop.wait(IDLE_SECONDS)

    def step(self, pool: ThreadPoolExecutor) -> None:
        """Starts what there is room for, and writes what is done."""
        if not self.waiting and time.monotonic() - self.asked_at >= IDLE_SECONDS:
            self._fetch()
        while self.waiting and len(self.running) < 2 * self.workers:
            row, place = self.waiting.popleft()
            self.running[pool.submit(self._read, row, place)] = row.pk
        if self.running:
            done, _ = wait(self.running, timeout=0.1, return_when=FIRST_COMPLETED)
            for future in done:
                del self.running[future]
                self.unwritten.append(future.result())
        is_due = len(self.unwritten) >= WRITTEN or time.monotonic() - self.written_at >= WRITE_SECONDS
        if self.unwritten and (is_due or not (self.running or self.waiting)):
            reads, self.unwritten = self.unwritten, []
            self._write(reads)
            self.written_at = time.monotonic()
        elif not self.running:
            self.stop.wait(IDLE_SECONDS / 4)

    def _read(self, row: Evidence, place: Place) -> Read:
        try:
            self.stores.locate(row, place)
        except Refused:
            return Read(row, verify(self.stores, row, place, stop=self.stop), is_final=True)
        found = verify(self.stores, row, place, stop=self.stop)
        return Read(row, found, is_final=found.state is not Verification.UNVERIFIED)

    def _fetch(self) -> None:
        """The next rows that are due, new ones first; the others in turn, so that none waits behind those that fail."""
        at = self.asked_at = time.monotonic()
        rows = self._new()
        if not rows and (self.cursor or at - self.begun_at >= DUE_SECONDS):
            self.begun_at = at if not self.cursor else self.begun_at
            rows = list(self._due(datetime.now(UTC)).filter(pk__gt=self.cursor).order_by("pk")[:FETCHED])
            self.cursor = rows[-1].pk if rows else 0
        busy = {*self.running.values(), *(read.row.pk for read in self.unwritten)}
        rows = [row for row in rows if row.pk not in busy and (row.pk not in self.again or self.again[row.pk].at <= at)]
        places = places_of({row.result_id: row.result for row in rows}.values())
        self.waiting.extend((row, places[row.result_id]) for row in rows)

    def _new(self) -> list[Evidence]:
        """Rows that were never read. Of those that speak for nothing the next look at what is due takes care."""
        never = frozenset(
            Evidence.objects.filter(verified_at=None).order_by("-pk").values_list("pk", flat=True)[:FETCHED]
        )
        if not never or never == self.passed_over:
            return []
        rows = list(self._speaking().filter(verified_at=None)[:FETCHED])
        self.passed_over = frozenset() if rows else never
        return rows

    def _speaking(self) -> QuerySet[Evidence]:
        """Evidence of results that a verdict is made from."""
        checks = Check.objects.filter(cluster=self.cluster).order_by()
        results = (
            checks.exclude(result=None).values("result").union(checks.exclude(last_result=None).values("last_result"))
        )  # one set of results, by which the rows are found; two conditions would read every row there is
        rows = Evidence.objects.filter(result__in=results).select_related("result__subject")
        return rows.defer("result__envelope", "result__body", "result__subject__body", "result__subject__search")

    def _due(self, now: datetime) -> QuerySet[Evidence]:
        """What was verified long ago or, as it says, in the future; and all that is not, which `again` holds back."""
        verified = Q(state=Verification.VERIFIED)
        old = Q(verified_at__lt=now - self.every) | Q(verified_at__gt=now + SKEW) | Q(counts_until=None)
        return self._speaking().filter(~verified | old)

    def _plan(self, reads: list[Read]) -> None:
        """When each of what was read is read again. A store that answers again is asked for all the rest at once."""
        if self.stop.is_set():
            return
        at = time.monotonic()
        for read in reads:
            before = self.again.pop(read.row.pk, Again(at))
            if read.found.state is Verification.VERIFIED:
                if before.failures:
                    self.again = {pk: each if not each.failures else Again(at, 0) for pk, each in self.again.items()}
            elif read.is_final:
                self.again[read.row.pk] = Again(at + min(WRONG_AGAIN, self.every).total_seconds())
            else:
                pause = min(UNREAD_AGAIN * 2 ** min(before.failures, 10), LONGEST, self.every)
                self.again[read.row.pk] = Again(at + pause.total_seconds(), before.failures + 1)
        if len(self.again) > 10 * FETCHED:  # rows that are gone by now
            self.again = {pk: each for pk, each in self.again.items() if each.at > at - LONGEST.total_seconds()}

    def _write(self, reads: list[Read]) -> None:
        """One transaction under the lease: rows that are still those that were read, and the verdicts they change."""
        now = datetime.now(UTC)
        self._plan(reads)
        news = {read.row.pk: read for read in reads if read.says_something_new(now, self.every)}
        if not news:
            return
        told = []
        with transaction.atomic():
            cluster = held(self.cluster, self.holder)
            revise(cluster)
            cluster.save(update_fields=["sync_until", "revision"])
            rows = [
                row for row in Evidence.objects.select_for_update().filter(pk__in=news) if _is_of(news[row.pk], row)
            ]
            for row in rows:
                before = (row.state, row.why)
                self._take(row, news[row.pk].found)
                if before != (row.state, row.why):
                    told.append(row)
            update(Evidence, rows, ["state", "verified_at", "reader", "why", "counts_until"])
            results = {row.result_id for row in rows}
            checks = Check.objects.filter(Q(result__in=results) | Q(last_result__in=results), cluster=self.cluster)
            judge_evidence(checks.values_list("pk", flat=True), now)
        self._tell(told)

    def _tell(self, rows: list[Evidence]) -> None:
        """A line for each piece that is wrong; what is well, or not read for one reason, is one line together."""
        together: Counter[tuple[str, str]] = Counter()
        for row in rows:
            if row.state in (Verification.MISSING, Verification.MISMATCH):
                log.warning(
                    "evidence", cluster=self.cluster, result=row.result_id, name=row.name, state=row.state, why=row.why
                )
            else:
                together[row.state, row.why] += 1
        for (state, why), pieces in together.items():
            log.info("evidence", cluster=self.cluster, state=state, why=why, pieces=pieces)

    def _take(self, row: Evidence, found: Verified) -> None:
        row.state, row.verified_at, row.reader, row.why = str(found.state), found.at, found.reader, found.why
        is_verified = found.state is Verification.VERIFIED
        row.counts_until = found.at + 2 * self.every if is_verified and found.at else None


def _is_of(read: Read, row: Evidence) -> bool:
    """Whether the row still is the one that was read."""
    seen = read.row
    return (row.uri, row.sha256, row.size_bytes) == (seen.uri, seen.sha256, seen.size_bytes)


def places_of(results: Iterable[Result]) -> dict[int, Place]:
    """Whose evidence it is, by result (with `subject` loaded): from the objects, not from what a result says of itself.

    Only the run's id is the result's own word where its publisher made no TauValidationRun.
    """
    rows = list(results)
    runs = {
        (cluster, namespace, uid): run_id
        for cluster, namespace, uid, run_id in Run.objects.filter(uid__in={r.run_uid for r in rows} - {""}).values_list(
            "cluster_id", "namespace", "uid", "run_id"
        )
    }
    return {
        row.pk: Place(
            cluster=row.cluster_id,
            namespace=row.namespace,
            workspace=row.subject.workspace,
            run=runs.get((row.cluster_id, row.namespace, row.run_uid)) or _said_run(row),
            run_uid=row.run_uid,
        )
        for row in rows
    }


def _said_run(row: Result) -> str:
    envelope = json.loads(row.envelope) if row.envelope else {}
    run = envelope.get("run") if isinstance(envelope, dict) else None
    said = run.get("id") if isinstance(run, dict) else None
    return said if isinstance(said, str) else ""

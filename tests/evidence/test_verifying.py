"""Verification as part of the sync: nothing is Passed before its evidence was read, and green goes with it."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from structlog.testing import capture_logs

from checks.assembly import verdicts
from checks.evidence import comparing
from checks.evidence.locating import Mount, Stores
from checks.evidence.stores import Body, Missing, StoreError, Unavailable
from checks.models import Check, Cluster, Evidence, Result
from checks.sync.dump_load import load
from checks.sync.judging import judge_evidence
from checks.sync.lease import acquire
from checks.sync.verifying import Verifying
from tests.sync.conftest import EVIDENCE, EXAMPLE

NOW = datetime(2026, 11, 30, 8, 24, tzinfo=UTC)
HOUR = timedelta(hours=1)
MICROSECOND = timedelta(microseconds=1)
pytestmark = pytest.mark.django_db(transaction=True)


class Shelf:
    """A store of the example's evidence that can be changed, emptied and taken down. asked: how often it was opened."""

    def __init__(self) -> None:
        rows = Evidence.objects.all()
        self.files = {row.name: (EVIDENCE / row.sha256).read_bytes() for row in rows}
        self.fault: StoreError | None = None
        self.asked = 0

    def open(self, path: str, start: int = 0, end: int | None = None) -> Body:
        self.asked += 1
        if self.fault:
            raise self.fault
        data = self.files.get(path.rpartition("/")[2])
        if data is None:
            raise Missing("it is not in the store")
        return Body(len(data), "", iter([data]))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[time_machine.Traveller]:
    monkeypatch.setattr(comparing, "PAUSES", (0.001,))
    with time_machine.travel(NOW, tick=False) as clock:
        yield clock


@pytest.fixture
def shelf(clock: time_machine.Traveller) -> Shelf:
    """The example in the database, as a live cluster whose evidence nobody has read."""
    load([EXAMPLE])
    assert acquire("west-1", "me")
    return Shelf()


@pytest.fixture
def verifying(shelf: Shelf) -> Verifying:
    mount = Mount("main", "https://artifacts.example/tau", "", shelf)
    return Verifying("west-1", "me", Stores([mount]), threading.Event(), HOUR, workers=4)


@pytest.fixture
def at(clock: time_machine.Traveller, verifying: Verifying) -> Callable[..., tuple[str, str]]:
    """Moves the clock, lets everything that is due be read, and tells the verdict of the check."""

    def _at(after: timedelta = timedelta(0)) -> tuple[str, str]:
        clock.move_to(NOW + after)
        Cluster.objects.update(captured_at=None, heartbeat_at=NOW + after)
        with ThreadPoolExecutor(4) as pool:
            for _ in range(3):
                verifying.asked_at = verifying.begun_at = -1e9
                verifying.again.clear()
                verifying.step(pool)
                while verifying.running or verifying.waiting:
                    verifying.step(pool)
        return state()

    return _at


def state() -> tuple[str, str]:
    check = Check.objects.select_related("cluster").get(registered=True)
    verdict = verdicts([check], datetime.now(UTC))[check.pk]
    step = check.steps.filter(since__lte=datetime.now(UTC)).order_by("-since").first()
    assert step and (step.state, step.reason) == (str(verdict.state), str(verdict.reason))
    return str(verdict.state), str(verdict.reason)


PASSED = ("Passed", "proved")


def test_a_check_is_passed_only_after_its_evidence_was_read(at: Callable[..., tuple[str, str]]) -> None:
    Cluster.objects.update(captured_at=None, heartbeat_at=NOW)
    assert state() == ("Unknown", "evidence_unverified")
    assert at() == PASSED
    for row in Evidence.objects.all():
        assert (row.state, row.reader, row.verified_at, row.why) == ("verified", "stores-1", NOW, "")


def test_evidence_that_changed_later_takes_the_green_away(shelf: Shelf, at: Callable[..., tuple[str, str]]) -> None:
    assert at() == PASSED
    shelf.files["logs"] = shelf.files["logs"][:-1] + b"!"
    assert at(timedelta(minutes=59)) == PASSED
    assert at(timedelta(minutes=61)) == ("Unknown", "evidence_mismatch")


def test_what_is_well_is_one_line_of_the_log_and_what_is_wrong_is_named(
    shelf: Shelf, at: Callable[..., tuple[str, str]]
) -> None:
    with capture_logs() as said:
        at()
    assert [(line["state"], line["pieces"]) for line in said if line["event"] == "evidence"] == [("verified", 5)]
    shelf.files["logs"] = b"!"
    del shelf.files["cleanup"]
    with capture_logs() as said:
        at(timedelta(minutes=61))
    told = {line["name"]: (line["log_level"], line["state"]) for line in said if line["event"] == "evidence"}
    assert told == {"logs": ("warning", "mismatch"), "cleanup": ("warning", "missing")}


def test_evidence_that_was_deleted_takes_the_green_away_until_it_is_back(
    shelf: Shelf, at: Callable[..., tuple[str, str]]
) -> None:
    assert at() == PASSED
    kept = shelf.files.pop("cleanup")
    assert at(timedelta(minutes=61)) == ("Unknown", "evidence_missing")
    shelf.files["cleanup"] = kept
    assert at(timedelta(minutes=70)) == PASSED


def test_a_store_that_is_down_leaves_evidence_unverified_and_is_asked_again(
    shelf: Shelf, at: Callable[..., tuple[str, str]]
) -> None:
    shelf.fault = Unavailable("the store cannot be reached")
    assert at() == ("Unknown", "evidence_unverified")
    assert {row.why for row in Evidence.objects.all()} == {"the store cannot be reached"}
    shelf.fault = None
    assert at(timedelta(minutes=12)) == PASSED


def test_a_store_that_is_down_later_is_borne_for_twice_the_schedule_and_no_longer(
    shelf: Shelf, at: Callable[..., tuple[str, str]]
) -> None:
    assert at() == PASSED
    shelf.fault = Unavailable("the store cannot be reached")
    assert at(timedelta(minutes=61)) == PASSED
    assert Evidence.objects.filter(verified_at=NOW).count() == Evidence.objects.count()
    assert at(timedelta(minutes=121)) == ("Unknown", "evidence_unverified")


def test_stores_that_no_longer_hold_the_address_take_the_green_away_at_once(
    verifying: Verifying, at: Callable[..., tuple[str, str]]
) -> None:
    assert at() == PASSED
    verifying.stores = Stores()
    assert at(timedelta(minutes=61)) == ("Unknown", "evidence_unverified")


def test_nothing_is_read_again_before_its_time(shelf: Shelf, at: Callable[..., tuple[str, str]]) -> None:
    at()
    asked = shelf.asked
    at(timedelta(minutes=30))
    assert shelf.asked == asked == Evidence.objects.count()


def test_without_the_lease_nothing_is_written(verifying: Verifying, shelf: Shelf) -> None:
    Cluster.objects.update(sync_holder="somebody else")
    verifying.run()  # ends by itself
    assert not Evidence.objects.exclude(verified_at=None).exists()


def test_what_was_verified_of_other_bytes_is_forgotten(at: Callable[..., tuple[str, str]], shelf: Shelf) -> None:
    from checks.sync.judging import judge_checks

    assert at() == PASSED
    result = Result.objects.get()
    envelope = json.loads(result.envelope)
    envelope["evidence"][0]["sha256"] = "0" * 64
    Result.objects.update(envelope=json.dumps(envelope))
    judge_checks(Check.objects.values_list("pk", flat=True), datetime.now(UTC))
    forgotten = Evidence.objects.get(name=envelope["evidence"][0]["name"])
    assert (forgotten.sha256, forgotten.state, forgotten.verified_at) == ("0" * 64, "unverified", None)
    assert Evidence.objects.filter(state="verified").count() == len(envelope["evidence"]) - 1


def writes(queries: CaptureQueriesContext) -> list[str]:
    return [q["sql"] for q in queries if not q["sql"].startswith(("SELECT", "SAVEPOINT", "RELEASE"))]


def test_nothing_is_written_where_nothing_is_new(
    verifying: Verifying, shelf: Shelf, at: Callable[..., tuple[str, str]]
) -> None:
    shelf.files.pop("logs")
    shelf.files["cleanup"] = b"changed"
    Evidence.objects.filter(name="placement").update(uri="https://elsewhere.example/x")
    at()
    assert {row.name: row.state for row in Evidence.objects.exclude(state="verified")} == {
        "logs": "missing",
        "cleanup": "mismatch",
        "placement": "unverified",
    }
    asked = shelf.asked
    with CaptureQueriesContext(connection) as queries, ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            verifying.again.clear()  # all of it is due, and read
            verifying.asked_at = verifying.begun_at = -1e9
            verifying.step(pool)
            while verifying.running or verifying.unwritten:
                verifying.step(pool)
    assert shelf.asked > asked
    assert writes(queries) == []


def test_what_is_wrong_is_read_again_later_and_not_in_between(
    verifying: Verifying, shelf: Shelf, at: Callable[..., tuple[str, str]]
) -> None:
    shelf.files.pop("logs")
    Evidence.objects.filter(name="placement").update(uri="https://elsewhere.example/x")
    at()
    with ThreadPoolExecutor(4) as pool:
        for _ in range(2):
            verifying.asked_at = verifying.begun_at = -1e9
            verifying.step(pool)
            while verifying.running or verifying.unwritten:
                verifying.step(pool)
            asked = shelf.asked
            verifying.asked_at = verifying.begun_at = -1e9
            verifying.step(pool)
            assert shelf.asked == asked and not verifying.running
    soon = time.monotonic() + timedelta(minutes=4).total_seconds()
    late = time.monotonic() + timedelta(minutes=5).total_seconds() + 1
    waits = verifying.again.values()
    assert len(waits) == 2 and all(soon < each.at < late for each in waits)


def test_green_does_not_outlive_whoever_verifies(at: Callable[..., tuple[str, str]], clock: Any) -> None:
    """Nobody reads again, and the cluster itself is seen all the time."""
    assert at() == PASSED
    for after, expected in ((2 * HOUR, PASSED), (2 * HOUR + MICROSECOND, ("Unknown", "evidence_unverified"))):
        clock.move_to(NOW + after)
        Cluster.objects.update(heartbeat_at=NOW + after)
        assert state() == expected


def test_a_reading_dated_ahead_proves_nothing_and_is_done_again(
    shelf: Shelf, at: Callable[..., tuple[str, str]]
) -> None:
    """The clock of the sync was a day ahead when it read, and is right again."""
    assert at() == PASSED
    Evidence.objects.update(verified_at=NOW + 24 * HOUR, counts_until=NOW + 26 * HOUR)
    judge_evidence(Check.objects.values_list("pk", flat=True), NOW)
    assert state() == ("Unknown", "evidence_unverified")
    assert at() == PASSED


def test_the_thread_ends_when_it_is_told_to(verifying: Verifying, shelf: Shelf) -> None:
    thread = verifying.start()
    verifying.stop.set()
    thread.join(10)
    assert not thread.is_alive()

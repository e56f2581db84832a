"""Verdicts while a list comes in: its pages may wait for each other, an event waits for nothing, nothing is forgotten.

Without a cluster: what is read comes from a list in this file.
"""

import copy
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from checks.cluster.client import Event, Page
from checks.contract.document import digest
from checks.models import Cluster, Result, Step
from checks.sync import live
from tests.live.conftest import wait_for
from tests.sync.conftest import example_objects, named

pytestmark = pytest.mark.django_db(transaction=True)
SPACE = "lists"
Object = dict[str, Any]


def registration(number: int) -> Object:
    """A registered check."""
    item = copy.deepcopy(named(example_objects(), "TauValidationCheck"))
    item["metadata"] |= {"name": f"check-{number}", "namespace": SPACE, "uid": f"check-uid-{number}"}
    return item


def result(number: int) -> Object:
    """A result of the check with the same number."""
    item = copy.deepcopy(named(example_objects(), "TauValidationResult"))
    envelope = item["spec"]["envelope"]
    envelope["check"]["name"], envelope["run"]["id"] = f"check-{number}", f"{number:024x}"
    item["spec"]["digest"] = digest(envelope)
    item["metadata"] |= {"name": f"check-{number}-{number:024x}-1", "namespace": SPACE, "uid": f"result-uid-{number}"}
    return item


class Recorded:
    """A cluster whose results come in two pages; the second one only when `rest` is set."""

    def __init__(self) -> None:
        self.rest, self.registered = threading.Event(), threading.Event()

    def list(self, path: str, limit: int = 500) -> Iterator[Page]:
        """Pages."""
        if not path.endswith("/validationresults"):
            yield Page([registration(1)] if path.endswith("/validationchecks") else [], "10", True)
            return
        yield Page([result(4)], "", False)
        self.rest.wait(30)
        yield Page([result(2)], "10", True)

    def watch(self, path: str, resource_version: str, seconds: int) -> Iterator[Event]:
        """One registration more, when `registered` is set."""
        yield Event("CONNECTED", {})
        if path.endswith("/validationchecks") and self.registered.wait(30):
            self.registered.clear()
            yield Event("ADDED", registration(3))
        time.sleep(0.1)


@pytest.fixture
def cluster() -> Iterator[Recorded]:
    recorded = Recorded()
    yield recorded
    recorded.rest.set()
    recorded.registered.set()


class Syncing:
    """A sync of it in a thread."""

    def __init__(self, cluster: Recorded) -> None:
        self.stop = threading.Event()
        self.thread = threading.Thread(target=live.LiveSync("west-1", cluster, self.stop).run)
        self.thread.start()

    def end(self) -> None:
        """Stops it, wherever it is."""
        self.stop.set()
        self.thread.join(20)


def judged() -> set[str]:
    """Checks of which it is known what they say."""
    return set(Step.objects.values_list("subject__name", flat=True))


def test_pages_wait_for_the_end_of_the_list_and_events_do_not(cluster: Recorded) -> None:
    syncing = Syncing(cluster)
    try:
        wait_for(Result.objects.exists)
        cluster.registered.set()
        wait_for(lambda: "check-3" in judged())
        assert "check-4" not in judged()
        cluster.rest.set()
        wait_for(lambda: judged() == {"check-1", "check-2", "check-3", "check-4"})
        wait_for(lambda: Cluster.objects.get().complete)
    finally:
        syncing.end()


def test_what_a_killed_sync_did_not_come_to_the_next_one_does(cluster: Recorded) -> None:
    first = Syncing(cluster)
    wait_for(Result.objects.exists)
    first.end()
    assert "check-4" not in judged(), "the list has not ended"
    cluster.rest.set()
    second = Syncing(cluster)
    try:
        wait_for(lambda: judged() == {"check-1", "check-2", "check-4"})
    finally:
        second.end()


def test_a_list_that_takes_long_is_not_waited_for(cluster: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "LISTING_SECONDS", 1.0)
    Cluster.objects.create(name="west-1", complete=True)
    syncing = Syncing(cluster)
    try:
        wait_for(lambda: "check-4" in judged())
        assert not cluster.rest.is_set()
    finally:
        syncing.end()

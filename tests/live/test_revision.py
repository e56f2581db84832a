"""What a live cluster's writes do to answers that are kept: a change ends them, a heartbeat does not.

Without a cluster: what is read comes from this file.
"""

import copy
import queue
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from checks.cluster.client import Event, Page
from checks.models import Check, Cluster, Node, SourceKind
from checks.sync import live
from checks.sync.kinds import KINDS
from tests.live.conftest import wait_for
from tests.sync.conftest import example_objects, named

pytestmark = pytest.mark.django_db(transaction=True)
Object = dict[str, Any]


class Told:
    """A cluster of one registration that tells what is put into `events`, by the end of a kind's path."""

    def __init__(self) -> None:
        self.events: dict[str, queue.Queue[Event]] = {"nodes": queue.Queue(), "validationchecks": queue.Queue()}

    def list(self, path: str, limit: int = 500) -> Iterator[Page]:
        """One page."""
        is_check = path.endswith("/validationchecks")
        yield Page([registration()] if is_check else [], "10", True)

    def watch(self, path: str, resource_version: str, seconds: int) -> Iterator[Event]:
        """What is told within a moment."""
        yield Event("CONNECTED", {})
        try:
            yield self.events.get(path.rpartition("/")[2], queue.Queue()).get(timeout=0.2)
        except queue.Empty:
            return


def registration(version: str = "9", **spec: str) -> Object:
    item = named(example_objects(), "TauValidationCheck")
    item["metadata"]["resourceVersion"] = version
    item["spec"] |= spec
    return item


def node(name: str, uid: str = "") -> Object:
    item = copy.deepcopy(named(example_objects(), "Node"))
    item["metadata"] |= {"name": name, "uid": uid or f"uid-of-{name}"}
    return item


def revisions() -> tuple[int, int]:
    row = Cluster.objects.get()
    return row.revision, row.fleet_revision


@pytest.fixture
def cluster() -> Iterator[Told]:
    told, stop = Told(), threading.Event()
    thread = threading.Thread(target=live.LiveSync("west-1", told, stop).run)
    thread.start()
    wait_for(lambda: Cluster.objects.filter(complete=True).exists() and Check.objects.exists())
    wait_for(lambda: SourceKind.objects.exclude(listed_at=None).count() == len(KINDS))
    yield told
    stop.set()
    thread.join(20)


def test_a_heartbeat_changes_no_revision_and_a_node_only_that_of_the_fleet(cluster: Told) -> None:
    before, beat = revisions(), Cluster.objects.get().heartbeat_at
    wait_for(lambda: Cluster.objects.get().heartbeat_at != beat)
    assert revisions() == before
    cluster.events["nodes"].put(Event("ADDED", node("of-no-check")))
    wait_for(lambda: Node.objects.filter(name="of-no-check").exists())
    assert revisions()[0] == before[0] and revisions()[1] != before[1]


def test_a_change_of_a_check_is_another_revision_once_it_is_there(cluster: Told) -> None:
    before = revisions()
    cluster.events["validationchecks"].put(Event("MODIFIED", registration("11", title="Another title")))
    wait_for(lambda: Check.objects.filter(title="Another title").exists())
    assert revisions()[0] != before[0] and revisions()[1] != before[1]

"""The sync against a real API server: what a page would say, and how soon."""

import copy
import threading
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from checks.cluster.client import Api
from checks.contract.clock import format_time
from checks.contract.document import digest
from checks.models import Check, Cluster, Namespace, Node, Run, SourceKind
from checks.sync import feed, live
from checks.sync.kinds import KINDS
from tests.cluster.bed.control import ControlPlane
from tests.live.conftest import verdict_of, wait_for
from tests.sync.conftest import example_objects, named

pytestmark = [pytest.mark.cluster, pytest.mark.django_db(transaction=True)]
Object = dict[str, Any]


def node(name: str, **labels: str) -> Object:
    """A Node as a kubelet would register it, without one."""
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}


def space(name: str) -> Object:
    """A workspace."""
    labels = {"tau.azure.com/workspace": name, "tau.azure.com/gpu": "true"}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def test_everything_is_listed_and_the_cluster_is_complete(synced: live.LiveSync) -> None:
    wait_for(lambda: Cluster.objects.filter(complete=True, heartbeat_at__isnull=False).exists())
    row = Cluster.objects.get()
    assert row.guard_in_force, row.guard_why
    assert Namespace.objects.filter(name="kube-system", gone_at=None).exists()


@pytest.fixture
def unserved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workloads are asked for in a version that no API server has, whether or not Kueue is there."""
    monkeypatch.setitem(KINDS, "Workload", replace(KINDS["Workload"], version="v0"))


@pytest.mark.usefixtures("unserved")
def test_a_kind_that_is_not_served_is_named_and_the_others_go_on(synced: live.LiveSync) -> None:
    wait_for(lambda: Cluster.objects.filter(complete=True).exists())
    wait_for(lambda: SourceKind.objects.filter(kind="Workload").exclude(problem="").exists())
    assert SourceKind.objects.get(kind="Node").problem == ""


def test_a_change_is_a_row_within_a_second_of_the_watch(apiserver: ControlPlane, synced: live.LiveSync) -> None:
    wait_for(lambda: Cluster.objects.filter(complete=True).exists())
    waited = []
    for number in range(10):
        apiserver.apply([node(f"quick-{number}", pool="a")])
        began = time.monotonic()
        wait_for(Node.objects.filter(name=f"quick-{number}").exists, 5)
        waited.append(time.monotonic() - began)
        apiserver.kubectl("delete", "node", f"quick-{number}")
        wait_for(Node.objects.exclude(gone_at=None).filter(name=f"quick-{number}").exists, 5)
    assert max(waited) < 1.5, waited


def test_a_node_replaced_under_the_same_name_is_another_machine(apiserver: ControlPlane, synced: live.LiveSync) -> None:
    wait_for(lambda: Cluster.objects.filter(complete=True).exists())
    apiserver.apply([node("twin")])
    wait_for(lambda: Node.objects.filter(name="twin", gone_at=None).exists())
    first = Node.objects.get(name="twin").uid
    apiserver.kubectl("delete", "node", "twin")
    apiserver.apply([node("twin")])
    wait_for(lambda: Node.objects.filter(name="twin", gone_at=None).exclude(uid=first).exists())
    apiserver.kubectl("delete", "node", "twin")


def test_without_its_api_server_nothing_is_passed_and_it_recovers_by_itself(
    apiserver: ControlPlane, synced: live.LiveSync, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait_for(lambda: Cluster.objects.filter(complete=True).exists())
    apiserver.apply([space("outage")])
    apiserver.apply([registration("outage")])
    wait_for(lambda: verdict_of("ib-pair", "outage")[1] == "not_approved")
    before = Cluster.objects.get().heartbeat_at
    assert before is not None
    apiserver.stop_apiserver()
    try:
        wait_for(lambda: SourceKind.objects.exclude(problem="").filter(kind="Node").exists(), 30)
        later = before + timedelta(minutes=3)
        check = Check.objects.select_related("cluster").get(namespace="outage")
        from checks.assembly import verdicts

        assert verdicts([check], later)[check.pk].reason == "source_unavailable"
    finally:
        apiserver.start_apiserver()
    wait_for(lambda: (Cluster.objects.get().heartbeat_at or before) > before + timedelta(seconds=5), 60)
    apiserver.apply([node("after-outage")])
    wait_for(lambda: Node.objects.filter(name="after-outage").exists(), 40)
    apiserver.kubectl("delete", "node", "after-outage")
    apiserver.kubectl("delete", "namespace", "outage", "--wait=false")


def registration(namespace: str) -> Object:
    """The example's registration in another namespace, not approved."""
    item = copy.deepcopy(named(example_objects(), "TauValidationCheck"))
    item.pop("status")
    item["metadata"] = {"name": "ib-pair", "namespace": namespace}
    return item


def test_two_syncs_do_no_harm_one_waits(apiserver: ControlPlane, synced: live.LiveSync) -> None:
    wait_for(lambda: Cluster.objects.filter(complete=True).exists())
    stop = threading.Event()
    second = live.LiveSync("west-1", Api(str(apiserver.kubeconfig)), stop)
    thread = threading.Thread(target=second.run)
    thread.start()
    time.sleep(2)
    assert Cluster.objects.get().sync_holder == synced.holder
    assert not second.kinds["Node"].is_listed
    stop.set()
    thread.join(10)


def test_a_viewer_of_nothing_in_the_api_server_gets_a_named_fault_per_kind(
    apiserver: ControlPlane, policies: None, transactional_db: None
) -> None:
    stop = threading.Event()
    nobody = apiserver.kubeconfig_for("nobody-at-all")
    thread = threading.Thread(target=live.LiveSync("east-1", Api(str(nobody)), stop).run)
    thread.start()
    try:
        wait_for(lambda: SourceKind.objects.filter(problem__contains="403").count() == len(KINDS))
        assert Cluster.objects.get(name="east-1").complete is False
    finally:
        stop.set()
        thread.join(20)


def test_objects_written_by_the_api_server_keep_their_digest(apiserver: ControlPlane, synced: live.LiveSync) -> None:
    wait_for(lambda: Cluster.objects.filter(complete=True).exists())
    apiserver.apply([space("digests")])
    item = registration("digests")
    apiserver.apply([item])
    wait_for(lambda: Check.objects.filter(namespace="digests").exists())
    assert Check.objects.get(namespace="digests").digest == digest(item["spec"])
    apiserver.kubectl("delete", "namespace", "digests", "--wait=false")


def test_what_was_deleted_while_nobody_looked_is_gone_after_the_next_list(
    apiserver: ControlPlane, policies: None, transactional_db: None
) -> None:
    apiserver.apply([node("forgotten")])
    for expected in (1, 0):
        stop = threading.Event()
        thread = threading.Thread(target=live.LiveSync("west-1", Api(str(apiserver.kubeconfig)), stop).run)
        thread.start()
        wait_for(lambda: Cluster.objects.filter(complete=True, heartbeat_at__isnull=False).exists())
        present = Node.objects.filter(name="forgotten", gone_at=None)
        wait_for(present.exists if expected else lambda present=present: not present.exists())  # type: ignore[misc]
        stop.set()
        thread.join(20)
        if expected:
            apiserver.kubectl("delete", "node", "forgotten")


def test_times_and_runs_are_read_as_the_api_server_writes_them(apiserver: ControlPlane, synced: live.LiveSync) -> None:
    wait_for(lambda: Cluster.objects.filter(complete=True).exists())
    apiserver.apply([space("runs")])
    run = copy.deepcopy(named(example_objects(), "TauValidationRun"))
    run.pop("status")
    run["metadata"] = {"name": run["metadata"]["name"], "namespace": "runs"}
    run["spec"] |= {"requestedBy": "taugrid-bed-admin", "trigger": "Manual"}
    apiserver.apply([run])
    wait_for(lambda: Run.objects.filter(namespace="runs").exists())
    row = Run.objects.get(namespace="runs")
    assert row.created_at is not None
    assert abs(row.created_at - datetime.now(UTC)) < timedelta(minutes=1), format_time(row.created_at)
    assert row.phase == "Pending"
    assert verdict_of("ib-pair", "runs") == ("Unknown", "not_registered")
    apiserver.kubectl("delete", "namespace", "runs", "--wait=false")


assert feed.WATCH_SECONDS < 120, "a watch must end within the heartbeat limit"

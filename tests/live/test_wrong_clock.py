"""A sync on a machine whose clock is five minutes off: rows are right, and nobody is told that they are fresh."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from checks.assembly import verdicts
from checks.models import Check, Cluster, Node
from checks.sync.lease import LEASE
from tests.cluster.bed.control import ControlPlane
from tests.live.conftest import SyncProcess, wait_for
from tests.live.test_live_sync import node, registration, space

pytestmark = [pytest.mark.cluster, pytest.mark.django_db(transaction=True)]
OFF = 300


def reason_at(now: datetime) -> str:
    """Why the test's check is as it is, for a reader whose clock says `now`."""
    check = Check.objects.select_related("cluster").get(namespace="off")
    return str(verdicts([check], now)[check.pk].reason)


@pytest.mark.parametrize("ahead", [pytest.param(OFF, id="ahead"), pytest.param(-OFF, id="behind")])
def test_five_minutes_off(
    ahead: int, apiserver: ControlPlane, policies: None, transactional_db: None, tmp_path: Path
) -> None:
    apiserver.apply([space("off")])
    apiserver.apply([registration("off")])
    sync = SyncProcess(apiserver.kubeconfig, tmp_path / "sync.log", ahead)
    sync.start()
    try:
        wait_for(lambda: Cluster.objects.filter(complete=True).exists(), 60)
        assert reason_at(datetime.now(UTC)) == "source_unavailable", "a sign of life at another time is none"
        assert reason_at(datetime.now(UTC) + timedelta(seconds=ahead)) == "not_approved", "the same clock agrees"
        there: Any = Node.objects.filter(name="off-1", gone_at=None)
        for _ in range(2):
            apiserver.apply([node("off-1")])
            wait_for(there.exists)
            apiserver.kubectl("delete", "node", "off-1")
            wait_for(lambda: not there.exists())
    finally:
        sync.kill()
        apiserver.kubectl("delete", "namespace", "off", "--wait=false")
    assert "Traceback" not in (tmp_path / "sync.log").read_text()


@pytest.mark.parametrize("off", [pytest.param(OFF, id="ahead"), pytest.param(-OFF, id="behind")])
def test_a_second_sync_with_another_clock_waits_and_takes_over_in_time(
    off: int, apiserver: ControlPlane, policies: None, transactional_db: None, tmp_path: Path
) -> None:
    right = SyncProcess(apiserver.kubeconfig, tmp_path / "right.log")
    other = SyncProcess(apiserver.kubeconfig, tmp_path / "other.log", off)
    right.start()
    try:
        wait_for(lambda: Cluster.objects.filter(complete=True).exists(), 60)
        first = Cluster.objects.get().sync_holder
        other.start()
        wait_for(lambda: "waiting" in (tmp_path / "other.log").read_text(), 60)
        renewals(3)
        assert Cluster.objects.get().sync_holder == first, "it took the lease from one that was alive"
        right.kill()
        wait_for(lambda: Cluster.objects.get().sync_holder not in ("", first), LEASE.total_seconds() + 30)
        apiserver.apply([node("off-2")])
        wait_for(Node.objects.filter(name="off-2", gone_at=None).exists, 60)
        apiserver.kubectl("delete", "node", "off-2")
        wait_for(lambda: not Node.objects.filter(name="off-2", gone_at=None).exists(), 60)
    finally:
        right.kill()
        other.kill()
    assert "lease_lost" not in (tmp_path / "right.log").read_text()


def renewals(count: int) -> None:
    """Waits until the lease was renewed so often. A heartbeat may be a minute away: a quiet watch has few bookmarks."""
    for _ in range(count):
        before = Cluster.objects.get().sync_until
        wait_for(Cluster.objects.exclude(sync_until=before).exists, LEASE.total_seconds())

"""An API server that is away for longer than a sign of life lasts: pages answer, say so, and recover by themselves."""

import threading
import time
from pathlib import Path

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from checks.facts import HEARTBEAT_LIMIT
from checks.models import Cluster
from checks.sync import live
from tests.cluster.bed.control import ControlPlane
from tests.live.conftest import verdict_of, wait_for
from tests.live.test_live_sync import registration, space
from tests.site.people import sign_in

pytestmark = [pytest.mark.cluster, pytest.mark.django_db(transaction=True), pytest.mark.deep]
MINUTE = 60.0


def test_a_long_outage(
    apiserver: ControlPlane, synced: live.LiveSync, client: Client, settings: Settings, tmp_path: Path
) -> None:
    rules = tmp_path / "access.yaml"
    rules.write_text("rules: [{groups: [all], clusters: [west-1], fleet: [west-1]}]")
    settings.ACCESS_FILE = str(rules)
    client.defaults["HTTP_HOST"] = "localhost:8000"
    wait_for(lambda: Cluster.objects.filter(complete=True).exists())
    apiserver.apply([space("outage")])
    apiserver.apply([registration("outage")])
    wait_for(lambda: verdict_of("ib-pair", "outage")[1] == "not_approved")
    threads = threading.active_count()
    apiserver.stop_apiserver()
    began = time.monotonic()
    try:
        while (away := time.monotonic() - began) < HEARTBEAT_LIMIT.total_seconds() + MINUTE:
            sign_in(client, "ada", ["all"])
            assert client.get("/checks/west-1/outage/ib-pair/").status_code == 200
            assert client.get("/checks/").status_code == 200
            state, reason = verdict_of("ib-pair", "outage")
            assert (state, reason) in {("Unknown", "not_approved"), ("Unknown", "source_unavailable")}
            if away > HEARTBEAT_LIMIT.total_seconds() + 2:
                assert reason == "source_unavailable"
                assert "west-1 is out of reach" in client.get("/checks/west-1/outage/ib-pair/").content.decode()
            time.sleep(5)
        assert threading.active_count() <= threads + 1, "threads pile up while the API server is away"
    finally:
        apiserver.start_apiserver()
    wait_for(lambda: verdict_of("ib-pair", "outage")[1] == "not_approved", MINUTE)
    apiserver.kubectl("delete", "namespace", "outage", "--wait=false")

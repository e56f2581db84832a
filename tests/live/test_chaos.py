"""Faults on the way to the API server, while it is written to: afterwards the rows are the cluster, exactly."""

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from checks.cluster import client
from checks.cluster.client import Api
from checks.models import Cluster, SourceKind
from checks.sync import feed, live
from tests.cluster.bed.control import ControlPlane
from tests.live import chaos
from tests.live.conftest import wait_for
from tests.live.storm import Storm, rows

pytestmark = [pytest.mark.cluster, pytest.mark.django_db(transaction=True)]


class SmallPages(Api):
    """A client whose lists of a few objects have several pages."""

    def list(self, path: str, limit: int = 7) -> Iterator[client.Page]:
        """Page by page."""
        return super().list(path, limit)


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Watches and patience of seconds, so that a short test holds many of each."""
    monkeypatch.setattr(feed, "WATCH_SECONDS", 3)
    monkeypatch.setattr(feed, "LONGEST_PAUSE", 2.0)
    monkeypatch.setattr(feed, "REFUSED_PAUSE", 1.0)
    monkeypatch.setattr(client, "READ_SECONDS", 3)


@pytest.mark.parametrize(
    "seconds", [pytest.param(25, id="25 seconds"), pytest.param(600, id="ten minutes", marks=pytest.mark.deep)]
)
def test_rows_are_the_cluster_after_every_fault_there_is(
    seconds: int, apiserver: ControlPlane, policies: None, hurried: None, transactional_db: None, tmp_path: Path
) -> None:
    storm, stop = Storm(apiserver.kubeconfig), threading.Event()
    with chaos.between(apiserver.kubeconfig, int(os.environ.get("TAU_SEED", "5"))) as proxy:
        sync = live.LiveSync("west-1", SmallPages(str(proxy.kubeconfig(tmp_path))), stop)
        thread = threading.Thread(target=sync.run)
        storm.start()
        thread.start()
        try:
            wait_for(lambda: Cluster.objects.filter(complete=True).exists(), 60)
            proxy.often = 15
            time.sleep(seconds)
            storm.calm.set()
            storm.join(10)
            expected = storm.nodes()
            proxy.often = 0
            wait_for(lambda: rows() == expected, 60)
            wait_for(lambda: not SourceKind.objects.filter(kind="Node").exclude(problem="").exists(), 60)
            assert thread.is_alive()
        finally:
            storm.calm.set()
            stop.set()
            thread.join(20)
            storm.clear()
    assert storm.writes > 50
    assert len(proxy.done) >= 11, f"a fault never came about: {proxy.done}"

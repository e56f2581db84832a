"""kill -9 of the sync at random moments during a storm of writes: afterwards the rows are the cluster, exactly."""

import os
import random
import threading
from pathlib import Path

import pytest

from checks.models import Cluster
from tests.cluster.bed.control import ControlPlane
from tests.live.conftest import SyncProcess, wait_for
from tests.live.storm import Storm, rows

pytestmark = [pytest.mark.cluster, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize(
    "kills", [pytest.param(5, id="five times"), pytest.param(200, id="two hundred times", marks=pytest.mark.deep)]
)
def test_rows_are_the_cluster_after_kill_9_in_a_storm(
    kills: int, apiserver: ControlPlane, crds: None, transactional_db: None, tmp_path: Path
) -> None:
    storm, sync = Storm(apiserver.kubeconfig), SyncProcess(apiserver.kubeconfig, tmp_path / "sync.log")
    storm.start()
    moments = random.Random(int(os.environ.get("TAU_SEED", "11")))
    try:
        for _ in range(kills):
            sync.start()
            threading.Event().wait(moments.uniform(1.5, 5.0))
            sync.kill()
        storm.calm.set()
        storm.join(10)
        assert storm.writes > 50
        sync.start()
        expected = storm.nodes()
        wait_for(lambda: Cluster.objects.filter(complete=True).exists() and rows() == expected, 60)
    finally:
        storm.calm.set()
        sync.kill()
        storm.clear()
    assert "Traceback" not in (tmp_path / "sync.log").read_text()

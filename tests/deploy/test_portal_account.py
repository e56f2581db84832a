"""The rights of the portal's account are enough: the real sync reads the API server with that account's own token."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.bed.control import ControlPlane

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).parents[2]


def rows(database: Path, question: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute(question).fetchall()


@pytest.fixture
def synced(guarded: ControlPlane, tmp_path: Path) -> Path:
    """A database that `manage.py sync` filled, as its pod would: with a token of `portal` and no other setting."""
    kubeconfig = guarded.kubeconfig_for_account("tau-system", "portal")
    database = tmp_path / "portal.sqlite3"
    environment = {
        "PATH": os.environ["PATH"],
        "DATABASE_URL": f"sqlite:///{database}",
        "CLUSTERS": f"bed={kubeconfig}",
    }
    manage = [sys.executable, str(ROOT / "manage.py")]
    subprocess.run([*manage, "migrate", "--noinput", "--skip-checks"], env=environment, check=True, capture_output=True)
    with subprocess.Popen([*manage, "sync"], env=environment, stdout=subprocess.DEVNULL) as sync:
        try:
            deadline = time.monotonic() + 60
            while rows(database, "SELECT complete FROM checks_cluster") != [(1,)]:
                assert sync.poll() is None, "sync ended"
                assert time.monotonic() < deadline, rows(database, "SELECT kind, problem FROM checks_sourcekind")
                time.sleep(0.2)
        finally:
            sync.send_signal(signal.SIGTERM)
    assert sync.returncode == 0
    return database


def test_the_sync_reads_every_kind_that_is_served_and_finds_the_guard_in_force(synced: Path) -> None:
    problems: dict[str, str] = dict(rows(synced, "SELECT kind, problem FROM checks_sourcekind"))
    assert {"Node", "Namespace", "TauValidationResult", "ValidatingAdmissionPolicy", "Workload"} <= problems.keys()
    not_served = {kind for kind, problem in problems.items() if problem.endswith("does not serve this kind")}
    assert not_served <= {"ClusterQueue", "LocalQueue", "Workload"}, "only Kueue may be missing in a test"
    assert {problem for kind, problem in problems.items() if kind not in not_served} == {""}
    assert rows(synced, "SELECT guard_in_force, guard_why FROM checks_cluster") == [(1, "")]
    assert ("probe",) in rows(synced, "SELECT name FROM checks_check")

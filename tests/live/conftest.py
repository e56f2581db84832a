"""A sync of the real API server, in threads of this process or as a process of its own."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.conf import settings

from checks.assembly import verdicts
from checks.cluster.client import Api
from checks.evidence.locating import Stores
from checks.models import Check
from checks.sync import live
from tests.cluster.bed.control import ControlPlane
from tests.sync.conftest import EVIDENCE

ROOT = Path(__file__).parents[2]


def wait_for(what: Callable[[], object], seconds: float = 20.0) -> None:
    """Until a condition holds. Fails with the last value."""
    deadline = time.monotonic() + seconds
    while not (found := what()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {found!r}")
        time.sleep(0.05)


def verdict_of(name: str, namespace: str) -> tuple[str, str]:
    """State and reason of a check at this moment; nothing where there is no such row."""
    check = Check.objects.filter(name=name, namespace=namespace).select_related("cluster").first()
    if check is None:
        return "", ""
    verdict = verdicts([check], datetime.now(UTC))[check.pk]
    return str(verdict.state), str(verdict.reason)


@pytest.fixture
def synced(apiserver: ControlPlane, policies: None, transactional_db: None) -> Iterator[live.LiveSync]:
    """A sync of the bed as `west-1`, running in a thread."""
    stop = threading.Event()
    sync = live.LiveSync("west-1", Api(str(apiserver.kubeconfig)), stop, Stores(folder=EVIDENCE))
    thread = threading.Thread(target=sync.run)
    thread.start()
    yield sync
    stop.set()
    thread.join(20)
    assert not thread.is_alive()


_AT_ANOTHER_TIME = """
import os, sys, time
import time_machine
time_machine.travel(time.time() + float(sys.argv.pop(1)), tick=True).start()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "taugrid_portal.settings")
from django.core.management import execute_from_command_line
execute_from_command_line(sys.argv)
"""


class SyncProcess:
    """`manage.py sync` as a process, on the database of this test. ahead: how many seconds its clock is ahead."""

    def __init__(self, kubeconfig: Path, log: Path, ahead: float = 0) -> None:
        self.ahead = ahead
        name = settings.DATABASES["default"]["NAME"]
        self.environment = os.environ | {
            "CLUSTERS": f"west-1={kubeconfig}",
            "DATABASE_URL": f"sqlite:///{name}",
            "PORTAL_MODE": "test",
            "SECRET_KEY": "only for tests",
        }
        self.log = log
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it."""
        program = ["-c", _AT_ANOTHER_TIME, str(self.ahead)] if self.ahead else [str(ROOT / "manage.py")]
        command = [sys.executable, *program, "sync"]
        with self.log.open("ab") as out:
            self.process = subprocess.Popen(command, env=self.environment, cwd=ROOT, stdout=out, stderr=out)

    def kill(self) -> None:
        """kill -9."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

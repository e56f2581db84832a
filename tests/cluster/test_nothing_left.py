"""What a bed leaves behind, as the kernel sees it: nothing after a normal end, and nothing after the next start."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.bed import ledger
from tests.cluster.bed.cluster import Cluster
from tests.cluster.bed.processes import bed
from tests.cluster.bed.waiting import eventually

pytestmark = pytest.mark.cluster

A_BED_WITH_A_RUNNING_JOB = """
import sys
from tests.cluster.bed.cluster import Cluster
from tests.cluster.bed.control import ControlPlane
from tests.cluster.bed.controllers import start_controllers
from tests.cluster.bed.jobs import indexed_job, queue
from tests.cluster.bed.processes import bed

with bed() as servers:
    control = ControlPlane(servers)
    control.start()
    start_controllers(control)
    cluster = Cluster(control)
    cluster.start()
    control.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "left"}}, *queue("left")])
    control.apply([indexed_job("left", "long", cluster.busybox, "sleep 600")])
    control.kubectl("wait", "--for=jsonpath={.status.ready}=2", "job/long", "-n", "left", "--timeout=60s")
    print(servers.ledger.folder, flush=True)
    sys.stdin.readline()
"""


class Traces:
    """Everything that the machine knows of one bed: remembered while it runs, looked for afterwards."""

    def __init__(self, folder: Path) -> None:
        written = list(ledger.entries(folder))
        bridges = [Path("/sys/class/net") / e["name"] for e in written if e["kind"] == "bridge"]
        self.folder = folder
        self.servers = {e["pid"]: e["start"] for e in written if e["kind"] == "process"}
        self.paths = {
            "folder": [folder],
            "bridges": bridges,
            "pod interfaces": [Path("/sys/class/net") / link.name for b in bridges for link in b.glob("brif/*")],
            "cgroups": ledger.cgroups_of(folder),
            "shim sockets": ledger.shim_sockets(folder),
            "log links": ledger.log_links(folder),
        }

    def left(self) -> dict[str, int]:
        """How much of each kind is still there; kinds of which nothing is left are not named."""
        counts = {kind: sum(path.is_symlink() or path.exists() for path in paths) for kind, paths in self.paths.items()}
        counts["servers"] = sum(ledger.started_at(pid) == start for pid, start in self.servers.items())
        counts["shims and containers"] = len(ledger.processes_of(self.folder))
        counts["mounts"] = len(ledger.mounts_under(self.folder))
        return {kind: count for kind, count in counts.items() if count}


@pytest.fixture
def other_bed(machine: None) -> Iterator[tuple["subprocess.Popen[str]", Traces]]:
    """A bed beside this session's, owned by another process, with a Job running on both of its nodes."""
    owner = subprocess.Popen(
        [sys.executable, "-c", A_BED_WITH_A_RUNNING_JOB], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    with owner:
        traces = Traces(Path(owner.stdout.readline().strip()))
        assert set(traces.left()) == {*traces.paths, "servers", "shims and containers", "mounts"}
        assert traces.left()["pod interfaces"] == 2
        yield owner, traces
        owner.kill()
    ledger.sweep_abandoned()


def test_a_bed_that_ends_leaves_nothing(other_bed: tuple["subprocess.Popen[str]", Traces], cluster: Cluster) -> None:
    owner, traces = other_bed
    owner.communicate("\n", timeout=60)
    assert owner.returncode == 0
    assert traces.left() == {}
    assert len(cluster.control.get("nodes")["items"]) == len(cluster.nodes)


def test_after_a_killed_bed_the_next_start_leaves_nothing(other_bed: tuple["subprocess.Popen[str]", Traces]) -> None:
    owner, traces = other_bed
    owner.kill()
    owner.wait()
    eventually(lambda: "servers" not in traces.left(), "the servers end with their owner", seconds=10)
    assert traces.left()["shims and containers"] >= 4
    with bed():
        assert traces.left() == {}

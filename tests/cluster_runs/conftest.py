"""The product installed on the test bed, a controller, and a workspace for each test."""

import contextlib
import json
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.cluster.bed import chart
from tests.cluster.bed.cluster import Cluster
from tests.cluster.bed.control import ControlPlane
from tests.cluster.bed.jobs import queue
from tests.cluster.bed.people import person
from tests.cluster.bed.processes import Server
from tests.cluster_runs.scene import CLUSTER, Scene, refusal
from tests.deploy import objects

ROOT = Path(__file__).parents[2]
PRODUCT = (*chart.POLICIES, *chart.ROLES)


@pytest.fixture(scope="session")
def installed(cluster: Cluster, crds: None) -> Cluster:
    """Kinds, policies and roles; returns when the policies are in force."""
    control = cluster.control
    chart.install(control, PRODUCT, {"cluster": {"name": CLUSTER}})
    forged = objects.run("default", "somebody-else")
    deadline = time.monotonic() + 30
    while "tau-validation-run-guard" not in refusal(control, forged):
        assert time.monotonic() < deadline, "The policies are not in force after 30 s."
        time.sleep(0.2)
    return cluster


@pytest.fixture
def workspace(installed: Cluster) -> Iterator[str]:
    """A namespace that is a workspace, with a queue for 16 GPUs."""
    yield from make_workspace(installed.control)


def make_workspace(control: ControlPlane, gpus: int = 16) -> Iterator[str]:
    """A workspace of its own name; removed afterwards."""
    name = f"team-{uuid.uuid4().hex[:10]}"
    labels = {
        "pod-security.kubernetes.io/enforce": "restricted",
        "tau.azure.com/workspace": name,
        "tau.azure.com/gpu": "true",
    }
    control.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}])
    control.apply(queue(name, gpus))
    yield name
    control.kubectl("delete", "namespace", name, "--wait=false")


class Start:
    """Starts controllers with their own service account's token."""

    def __init__(self, control: ControlPlane, artifacts: Path) -> None:
        self._control, self._artifacts = control, artifacts
        self._kubeconfig = control.kubeconfig_for_account("tau-system", "tau-validation-controller")
        self._started: list[Server] = []

    def __call__(self, *more: str, module: str = "checks.controller", env: Mapping[str, str] | None = None) -> Server:
        """A controller; `more` are options of its command line."""
        words = [f"--cluster={CLUSTER}", f"--kubeconfig={self._kubeconfig}", f"--artifacts=file://{self._artifacts}"]
        words.append(f"--telemetry-spool={self._artifacts.parent / 'telemetry'}")
        server = self._control.servers.start(
            f"controller-{uuid.uuid4().hex[:6]}",
            [sys.executable, "-m", module, *words, "--lease-seconds=1", *more],
            env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "LOG_LEVEL": "INFO"} | dict(env or {}),
        )
        self._started.append(server)
        return server

    def end_all(self) -> None:
        """Nothing that was started here runs any more."""
        for server in self._started:
            if server in self._control.servers.running:
                end(self._control, server)
        self._started.clear()


@pytest.fixture(scope="module")
def artifacts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which evidence is kept."""
    return tmp_path_factory.mktemp("evidence") / "artifacts"


@pytest.fixture(scope="module")
def start(installed: Cluster, artifacts: Path) -> Iterator[Start]:
    """Starts controllers; what still runs is stopped afterwards."""
    starting = Start(installed.control, artifacts)
    yield starting
    starting.end_all()


@pytest.fixture
def quiet(installed: Cluster, start: Start, artifacts: Path) -> Iterator[Scene]:
    """A workspace in which no controller runs but those that the test starts; they end with it."""
    start.end_all()
    spaces = make_workspace(installed.control)
    yield make_scene(installed, next(spaces), artifacts)
    start.end_all()
    next(spaces, None)


def end(control: ControlPlane, server: Server) -> int:
    """Asks a controller to end, and waits; its exit code."""
    server.signal(signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        server.process.wait(15)
    code = server.process.poll()
    control.servers.kill(server)
    return -1 if code is None else code


@pytest.fixture(scope="module")
def controller(start: Start) -> Iterator[Server]:
    """A controller for the tests of one module; what it logged holds no fault of its own."""
    server = start()
    yield server
    assert '"level": "error"' not in server.log.read_text()


@pytest.fixture
def scene(installed: Cluster, workspace: str, artifacts: Path) -> Scene:
    """People and objects of one workspace."""
    return make_scene(installed, workspace, artifacts)


def make_scene(cluster: Cluster, workspace: str, artifacts: Path) -> Scene:
    """Olga operates checks in the workspace, Petra is a platform admin."""
    control = cluster.control
    operator, admin = person(control, "olga"), person(control, "petra", ["tau-platform-admins"])
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": operator.name}
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "operators", "namespace": workspace},
        "roleRef": role,
        "subjects": [subject],
    }
    control.apply([json.loads(json.dumps(binding))])
    return Scene(cluster, workspace, artifacts, operator, admin)

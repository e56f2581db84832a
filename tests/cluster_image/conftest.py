"""A cluster of this folder's own with the chart installed by helm: its pods run the image that was built here."""

import json
import os
import secrets
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import with_postgres
from tests.cluster.bed import chart
from tests.cluster.bed.cluster import Cluster
from tests.cluster.bed.control import ControlPlane
from tests.cluster.bed.controllers import start_controllers
from tests.cluster.bed.images import USER, Image
from tests.cluster.bed.processes import bed
from tests.cluster.fixtures import missing
from tests.cluster.tools import ToolMissing, tool
from tests.cluster_image.building import Builder, built, check_builder
from tests.cluster_image.network import SERVICES, forward
from tests.cluster_runs.conftest import make_scene, make_workspace
from tests.cluster_runs.scene import CLUSTER, Scene

NAMESPACE = "tau-system"
PORTAL_URL = "https://portal.example.org"
METRICS_TOKEN = secrets.token_urlsafe(32)


@dataclass(frozen=True)
class Installed:
    """The chart in a cluster. artifacts: the folder behind its claim."""

    cluster: Cluster
    image: Image
    artifacts: Path

    def pods(self, component: str) -> list[Any]:
        """The pods of one component."""
        label = f"app.kubernetes.io/component={component}"
        found: list[Any] = self.cluster.control.get("pods", "--namespace", NAMESPACE, "--selector", label)["items"]
        return found

    def pod(self, component: str) -> str:
        """The name of the first of them."""
        return str(self.pods(component)[0]["metadata"]["name"])

    def inside(self, pod: str, *words: str) -> str:
        """What a command says inside a pod."""
        return self.cluster.control.kubectl("exec", "--namespace", NAMESPACE, pod, "--", *words)

    def logs(self, pod: str) -> str:
        """What a pod has written so far."""
        return self.cluster.control.kubectl("logs", "--namespace", NAMESPACE, pod, "--all-containers")


@pytest.fixture(scope="package")
def image() -> Iterator[tuple[Builder, Image]]:
    """deploy/Dockerfile, built."""
    try:
        check_builder()
    except ToolMissing as sentence:
        missing(str(sentence))
    with built() as result:
        yield result


@pytest.fixture(scope="package")
def database() -> Iterator[int]:
    """The port of a PostgreSQL server on loopback."""
    programs = with_postgres.binaries()
    if programs is None:
        missing("PostgreSQL is missing: run tests/cluster/install-debian.sh.")
    with with_postgres.server(programs) as port:
        yield port


@pytest.fixture(scope="package")
def own_cluster(machine: None) -> Iterator[Cluster]:
    """Not the session's: a release that comes and goes would take policies and accounts from other tests."""
    with bed() as servers:
        control = ControlPlane(servers)
        control.start()
        start_controllers(control)
        whole = Cluster(control)
        whole.start()
        yield whole


def load(socket: Path, image: Image) -> None:
    """Make an image of hundreds of megabytes known to a node."""
    ctr: list[str | Path] = [tool("ctr"), "--address", socket, "--namespace", "k8s.io", "images"]
    subprocess.run([*ctr, "import", "--local", image.archive], check=True, capture_output=True, timeout=600)
    subprocess.run([*ctr, "tag", "--force", image.tag, image.by_digest], check=True, capture_output=True, timeout=60)


@pytest.fixture(scope="package")
def installed(image: tuple[Builder, Image], own_cluster: Cluster, database: int) -> Installed:
    """As docs/install.md says: a namespace, its secrets, and `helm install`, which waits until all pods are ready."""
    control = own_cluster.control
    for node in own_cluster.nodes:
        load(node.socket, image[1])
    forward(own_cluster, {443: control.port, 5432: database})
    artifacts = control.folder / "artifacts"
    artifacts.mkdir()
    os.chown(artifacts, USER, USER)
    control.apply([*_namespace(), *_claim(artifacts)])
    release = Installed(own_cluster, image[1], artifacts)
    done = subprocess.run(
        [
            *(tool("helm"), "install", "portal", chart.CHART, "--kubeconfig", control.kubeconfig),
            *("--namespace", NAMESPACE, "--values", "-", "--wait", "--timeout", "5m"),
        ],
        input=json.dumps(values(image[1])),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, f"{done.stderr}\n{_what_pods_say(release)}"
    return release


@pytest.fixture
def scene(installed: Installed) -> Iterator[Scene]:
    """A workspace with its people, whose runs the controller's pod does."""
    spaces = make_workspace(installed.cluster.control)
    yield make_scene(installed.cluster, next(spaces), installed.artifacts)
    next(spaces, None)


def values(image: Image) -> dict[str, Any]:
    """What an administrator would set, and no more."""
    return {
        "cluster": {"name": CLUSTER},
        "image": {"repository": image.name, "digest": image.digest, "pullPolicy": "Never"},
        "portal": {"url": PORTAL_URL},
        "oidc": {"issuer": "https://sign-in.example.org/realms/gpu", "clientID": "taugrid-portal"},
        "artifacts": {"existingClaim": "artifacts"},
        "metrics": {"enabled": True},
    }


def _namespace() -> list[dict[str, Any]]:
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    secret = {
        "secret-key": secrets.token_urlsafe(64),
        "database-url": f"postgresql://tau@{SERVICES}:5432/tau",
        "oidc-client-secret": "of nobody",
        "metrics-token": METRICS_TOKEN,
    }
    named = {"name": "taugrid-portal", "namespace": NAMESPACE}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": labels}},
        {"apiVersion": "v1", "kind": "Secret", "metadata": named, "stringData": secret},
    ]


def _claim(folder: Path) -> list[dict[str, Any]]:
    """A volume that all nodes share: they are one machine."""
    spec = {"storageClassName": "", "accessModes": ["ReadWriteMany"]}
    storage = {"storage": "1Gi"}
    volume = spec | {"capacity": storage, "hostPath": {"path": str(folder), "type": "Directory"}}
    claim = spec | {"volumeName": "artifacts", "resources": {"requests": storage}}
    named = {"name": "artifacts", "namespace": NAMESPACE}
    return [
        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "artifacts"}, "spec": volume},
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": named, "spec": claim},
    ]


def _what_pods_say(release: Installed) -> str:
    control = release.cluster.control
    said = [control.kubectl("get", "pods,events", "--namespace", NAMESPACE, "-o", "wide")]
    for component in ("portal", "sync", "controller"):
        for pod in release.pods(component):
            words = ("logs", "--namespace", NAMESPACE, pod["metadata"]["name"], "--all-containers", "--ignore-errors")
            said.append(f"--- {pod['metadata']['name']}\n" + control.kubectl(*words, "--tail=30"))
    return "\n".join(said)

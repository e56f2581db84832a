"""Fixtures of the test bed, started once per session; tests keep apart by namespace.

Where a piece is missing on the machine a test is skipped with the sentence that says what and how to get
it; under `CI=true` it fails instead.
"""

import os
import uuid
from collections.abc import Iterator
from typing import NoReturn

import pytest

from tests.cluster.bed import chart
from tests.cluster.bed.cluster import Cluster, check_machine
from tests.cluster.bed.control import ControlPlane
from tests.cluster.bed.controllers import start_controllers
from tests.cluster.bed.images import Image, python_image
from tests.cluster.bed.keycloak import Keycloak
from tests.cluster.bed.kwok import start_kwok
from tests.cluster.bed.processes import Servers, bed
from tests.cluster.tools import ToolMissing, tool


def missing(what: str) -> NoReturn:
    """Skip with this sentence, or fail with it under CI."""
    if os.environ.get("CI") == "true":
        pytest.fail(what, pytrace=False)
    pytest.skip(what)


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    """An empty bed."""
    with bed() as running:
        yield running


@pytest.fixture(scope="session")
def apiserver(servers: Servers) -> ControlPlane:
    """etcd and the API server: enough for kinds, admission, rights and watches; nothing runs."""
    try:
        for program in ("etcd", "kube-apiserver", "kubectl"):
            tool(program)
    except ToolMissing as sentence:
        missing(str(sentence))
    control = ControlPlane(servers)
    control.start()
    return control


@pytest.fixture(scope="session")
def controllers(apiserver: ControlPlane) -> ControlPlane:
    """`apiserver` plus controllers and scheduler: roles aggregate, Jobs make pods, namespaces empty."""
    try:
        tool("kube-controller-manager")
    except ToolMissing as sentence:
        missing(str(sentence))
    start_controllers(apiserver)
    return apiserver


@pytest.fixture(scope="session")
def machine() -> None:
    """This machine can run real nodes."""
    try:
        check_machine()
    except ToolMissing as sentence:
        missing(str(sentence))


@pytest.fixture(scope="session")
def cluster(machine: None, controllers: ControlPlane) -> Cluster:
    """The whole cluster: Kueue and two nodes that offer GPUs, on top of `controllers`."""
    whole = Cluster(controllers)
    whole.start()
    return whole


@pytest.fixture(scope="session")
def python(cluster: Cluster) -> Image:
    """An image with this Python, known to both nodes."""
    image = python_image(cluster.control.folder)
    cluster.import_image(image)
    return image


@pytest.fixture(scope="session")
def kwok(controllers: ControlPlane) -> ControlPlane:
    """`controllers` with KWOK, which makes nodes of the objects that `fake_nodes` describes."""
    try:
        tool("kwok")
    except ToolMissing as sentence:
        missing(str(sentence))
    start_kwok(controllers)
    return controllers


@pytest.fixture(scope="session")
def keycloak(servers: Servers) -> Keycloak:
    """An OIDC provider with three people in groups; a test that changes them puts them back."""
    provider = Keycloak(servers)
    try:
        provider.start()
    except ToolMissing as sentence:
        missing(str(sentence))
    return provider


@pytest.fixture
def namespace(apiserver: ControlPlane) -> Iterator[str]:
    """A namespace of this test's own, under restricted pod security."""
    name = f"test-{uuid.uuid4().hex[:12]}"
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    apiserver.apply(
        [
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}},
            {
                "apiVersion": "v1",
                "kind": "ServiceAccount",
                "metadata": {"name": "default", "namespace": name},
            },
        ]
    )
    yield name
    apiserver.kubectl("delete", "namespace", name, "--wait=false")


@pytest.fixture(scope="session")
def crds(apiserver: ControlPlane) -> None:
    """The product's kinds."""
    apiserver.apply(chart.crds())


@pytest.fixture(scope="session")
def policies(apiserver: ControlPlane, crds: None) -> None:
    """The product's admission policies, as its chart renders them."""
    try:
        tool("helm")
    except ToolMissing as sentence:
        missing(str(sentence))
    chart.install(apiserver, chart.POLICIES)

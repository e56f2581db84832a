"""The install guide, run as it is written: its shell blocks, one after the other, on a real API server."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.bed.control import ControlPlane
from tests.cluster.bed.processes import bed
from tests.cluster.fixtures import missing
from tests.cluster.tools import ToolMissing, tool

pytestmark = pytest.mark.cluster
ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "install.md"


def blocks() -> list[str]:
    """The guide's shell blocks."""
    return re.findall(r"^```sh\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)


@pytest.fixture
def empty_cluster(machine_tools: None) -> Iterator[ControlPlane]:
    """An API server of this test's own, in which nothing is installed."""
    with bed() as servers:
        control = ControlPlane(servers)
        control.start()
        yield control


@pytest.fixture
def machine_tools() -> None:
    """kubectl, helm and an API server are there."""
    for name in ("etcd", "kube-apiserver", "kubectl", "helm"):
        try:
            tool(name)
        except ToolMissing as sentence:
            missing(str(sentence))


@pytest.fixture
def environment(empty_cluster: ControlPlane, tmp_path: Path) -> dict[str, str]:
    """What the guide's reader has: kubectl and helm on the PATH, and a kubeconfig."""
    for name in ("kubectl", "helm"):
        (tmp_path / name).symlink_to(tool(name))
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    return os.environ | {"PATH": path, "KUBECONFIG": str(empty_cluster.kubeconfig), "HOME": str(tmp_path)}


def test_every_command_of_the_guide_works(environment: dict[str, str], empty_cluster: ControlPlane) -> None:
    found = blocks()
    assert len(found) >= 5
    said = ""
    for block in found:
        command = ["bash", "-euo", "pipefail", "-c", block]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=180)
        assert done.returncode == 0, f"{block}\n{done.stdout}{done.stderr}"
        said += done.stdout
    assert "ib-pair" in said
    assert left_of_the_chart(empty_cluster) == []
    assert "ib-pair" in empty_cluster.kubectl("get", "tvc", "-A"), "what was registered is kept"


def left_of_the_chart(control: ControlPlane) -> list[str]:
    """What helm installed and the last block of the guide should have taken away."""
    kinds = [
        "deployments,services,serviceaccounts,configmaps,roles,rolebindings,networkpolicies,poddisruptionbudgets",
        "clusterroles,clusterrolebindings,validatingadmissionpolicies,validatingadmissionpolicybindings",
    ]
    mine = ["--selector", "app.kubernetes.io/part-of=taugrid-portal", "-o", "name"]
    return [name for found in kinds for name in control.kubectl("get", found, "-A", *mine).split()]

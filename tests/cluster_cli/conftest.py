"""The bed with the product and a controller; Olga operates, Petra approves, Vera reads, and Nobody may nothing."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.cluster.bed.cluster import Cluster
from tests.cluster.bed.control import ControlPlane
from tests.cluster.bed.people import Person, person
from tests.cluster_runs.conftest import artifacts, controller, installed, make_scene, scene, start, workspace
from tests.cluster_runs.scene import Object, Scene

__all__ = ["artifacts", "controller", "installed", "make_scene", "scene", "start", "workspace"]

PROGRAM = Path(sys.executable).with_name("tau-check")
PLUGIN = Path(sys.executable).with_name("kubectl-tau_check")
RBAC = "rbac.authorization.k8s.io"
CLUSTER_VIEWER = "tau-validation-cluster-viewer"


@dataclass(frozen=True)
class Said:
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Cli:
    """tau-check as one person has it: a kubeconfig in KUBECONFIG, and a workspace."""

    kubeconfig: Path
    namespace: str
    program: Path = PROGRAM
    environ: dict[str, str] = field(default_factory=dict)

    def command(self, *words: object) -> list[str]:
        """The words as they are typed."""
        place = ["--namespace", self.namespace] if self.namespace else []
        return [str(self.program), *map(str, words), *place]

    @property
    def environment(self) -> dict[str, str]:
        """What the command finds in its environment."""
        return {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "KUBECONFIG": str(self.kubeconfig)} | self.environ

    def __call__(self, *words: object, stdin: str = "", code: int | None = None) -> Said:
        """Runs a command to its end; code: how it has to end."""
        done = subprocess.run(
            self.command(*words),
            input=stdin,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        said = Said(done.returncode, done.stdout, done.stderr)
        print(f"$ tau-check {' '.join(map(str, words))}\n{said.err}{said.out}[{said.code}]")
        assert "Traceback" not in said.err, said.err
        assert "\x1b" not in said.out + said.err, "colours, and nobody looks"
        assert code is None or said.code == code, f"{words} ended with {said.code}\n{said.out}\n{said.err}"
        return said


def binding(name: str, role: str, user: str, namespace: str = "") -> Object:
    """A person bound to a ClusterRole; without a namespace: everywhere."""
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "RoleBinding" if namespace else "ClusterRoleBinding",
        "metadata": {"name": name} | ({"namespace": namespace} if namespace else {}),
        "roleRef": {"kind": "ClusterRole", "name": role, "apiGroup": RBAC},
        "subjects": [{"kind": "User", "name": user, "apiGroup": RBAC}],
    }


@pytest.fixture(scope="session")
def control(installed: Cluster) -> Iterator[ControlPlane]:
    """Olga, Petra and Vera may see what verdicts need from outside a namespace."""
    names = {user: f"cluster-cli-{user}" for user in ("olga", "petra", "vera")}
    installed.control.apply([binding(name, CLUSTER_VIEWER, user) for user, name in names.items()])
    yield installed.control
    installed.control.kubectl("delete", "clusterrolebinding", *names.values())


@pytest.fixture
def olga(control: ControlPlane, scene: Scene) -> Cli:
    """Registers and runs checks in the workspace."""
    return Cli(scene.operator.kubeconfig, scene.namespace)


@pytest.fixture
def petra(control: ControlPlane, scene: Scene) -> Cli:
    """Platform admin."""
    return Cli(scene.admin.kubeconfig, scene.namespace)


def bound(control: ControlPlane, scene: Scene, name: str, role: str) -> Person:
    """Somebody with a role in the workspace."""
    control.apply([binding(name, role, name, scene.namespace)])
    return person(control, name)


@pytest.fixture
def vera(control: ControlPlane, scene: Scene) -> Cli:
    """Reads the workspace."""
    return Cli(bound(control, scene, "vera", "view").kubeconfig, scene.namespace)


@pytest.fixture
def nobody(control: ControlPlane, scene: Scene) -> Cli:
    """Known to the API server, and allowed nothing."""
    return Cli(person(control, "nobody").kubeconfig, scene.namespace)

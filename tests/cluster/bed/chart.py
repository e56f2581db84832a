"""What the product installs, from its own Helm chart: rendered by the real helm, applied for real."""

import json
import subprocess
from collections.abc import Collection
from pathlib import Path
from typing import Any

import yaml

from tests.cluster.bed.control import ControlPlane
from tests.cluster.tools import tool

CHART = Path(__file__).parents[3] / "deploy" / "chart"
POLICIES = ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")
ROLES = ("ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")


def crds() -> list[dict[str, Any]]:
    """The chart's custom resource definitions."""
    files = sorted((CHART / "crds").glob("*.yaml"))
    return [item for path in files for item in yaml.load_all(path.read_bytes(), yaml.CSafeLoader) if item]


def render(namespace: str = "tau-system", values: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """`helm template` of the chart, without the definitions; `values` as in a values file."""
    rendered = subprocess.run(
        [tool("helm"), "template", "portal", CHART, "--namespace", namespace, "--values", "-"],
        input=json.dumps(values or {}).encode(),
        check=True,
        stdout=subprocess.PIPE,
    )
    return [item for item in yaml.load_all(rendered.stdout, yaml.CSafeLoader) if item]


def install(control: ControlPlane, kinds: Collection[str], values: dict[str, Any] | None = None) -> None:
    """Apply those rendered objects that are of these kinds, for example POLICIES or ROLES."""
    namespace = "tau-system"
    control.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}])
    control.apply(item for item in render(namespace, values) if item["kind"] in kinds)

"""What the controller's role does not say: the policy tau-validation-controller-guard, tried with its own token."""

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.bed.control import ControlPlane, Refused
from tests.deploy import objects
from tests.deploy.attempts import bind

pytestmark = pytest.mark.cluster

Object = dict[str, Any]
OWN = {"tau.azure.com/managed-by": "tau-validation-controller"}


def job(namespace: str, labels: Object | None = None, **pod: Any) -> Object:
    template = {"spec": objects.pod(**pod)}
    metadata = {"name": "ib-pair", "namespace": namespace, "labels": OWN if labels is None else labels}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {"suspend": True, "template": template},
    }


def service(namespace: str, labels: Object | None = None) -> Object:
    metadata = {"name": "ib-pair", "namespace": namespace, "labels": OWN if labels is None else labels}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"clusterIP": "None"}}


def network_policy(namespace: str, labels: Object | None = None) -> Object:
    metadata = {"name": "ib-pair", "namespace": namespace, "labels": OWN if labels is None else labels}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata,
        "spec": {"podSelector": {"matchLabels": OWN}},
    }


KINDS = {"jobs": job, "services": service, "networkpolicies": network_policy}


@pytest.fixture(scope="module")
def token(guarded: ControlPlane) -> Path:
    """A kubeconfig with the controller's own token."""
    return guarded.kubeconfig_for_account("tau-system", "tau-validation-controller")


@pytest.fixture
def workspace(guarded: ControlPlane) -> Iterator[str]:
    """A namespace that is a workspace."""
    name = f"team-{uuid.uuid4().hex[:12]}"
    labels = {"tau.azure.com/workspace": name}
    guarded.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}])
    yield name
    guarded.kubectl("delete", "namespace", name, "--wait=false")


def said(control: ControlPlane, *arguments: str, kubeconfig: Path, item: Object | None = None) -> str:
    try:
        control.kubectl(*arguments, stdin=json.dumps(item) if item else None, kubeconfig=kubeconfig)
    except Refused as refused:
        return str(refused)
    return ""


@pytest.mark.parametrize("kind", KINDS)
def test_it_creates_and_deletes_its_own_objects_in_a_workspace(
    guarded: ControlPlane, token: Path, workspace: str, kind: str
) -> None:
    assert said(guarded, "create", "-f", "-", kubeconfig=token, item=KINDS[kind](workspace)) == ""
    delete = ("delete", kind, "ib-pair", "--namespace", workspace, "--cascade=background", "--wait=false")
    assert said(guarded, *delete, kubeconfig=token) == ""


def test_the_system_namespace_is_a_workspace_of_the_whole_cluster(guarded: ControlPlane, token: Path) -> None:
    create = ("create", "--dry-run=server", "-f", "-")
    assert said(guarded, *create, kubeconfig=token, item=job("tau-system")) == ""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", ["kube-system", "default"])
def test_it_creates_nothing_outside_workspaces(guarded: ControlPlane, token: Path, kind: str, place: str) -> None:
    words = said(guarded, "create", "--dry-run=server", "-f", "-", kubeconfig=token, item=KINDS[kind](place))
    assert f"Namespace {place} is not a workspace" in words


@pytest.mark.parametrize("kind", KINDS)
def test_it_creates_nothing_without_its_label(guarded: ControlPlane, token: Path, workspace: str, kind: str) -> None:
    words = said(guarded, "create", "--dry-run=server", "-f", "-", kubeconfig=token, item=KINDS[kind](workspace, {}))
    assert "touches only objects with the label tau.azure.com/managed-by=tau-validation-controller" in words


@pytest.mark.parametrize("kind", KINDS)
def test_it_deletes_and_changes_nothing_of_others(
    guarded: ControlPlane, token: Path, workspace: str, kind: str
) -> None:
    guarded.apply([KINDS[kind](workspace, {"app": "of-others"})])
    sentence = "touches only objects with the label"
    delete = ("delete", kind, "ib-pair", "--namespace", workspace, "--wait=false")
    assert sentence in said(guarded, *delete, kubeconfig=token)
    adopt = ("patch", kind, "ib-pair", "--namespace", workspace, "-p", json.dumps({"metadata": {"labels": OWN}}))
    assert "cannot patch resource" in said(guarded, *adopt, kubeconfig=token)
    guarded.kubectl("--namespace", workspace, "create", "role", "more", "--verb=get,patch", f"--resource={kind}")
    of = {"jobs": "batch", "services": "", "networkpolicies": "networking.k8s.io"}[kind]
    bind(guarded, workspace, "Role/more", user=objects.CONTROLLER, right=("patch", kind, of))
    assert sentence in said(guarded, *adopt, kubeconfig=token)


def test_its_jobs_carry_no_api_token(guarded: ControlPlane, token: Path, workspace: str) -> None:
    item = job(workspace, automountServiceAccountToken=True)
    words = said(guarded, "create", "--dry-run=server", "-f", "-", kubeconfig=token, item=item)
    assert "Check pods get no API token" in words


def test_others_are_not_concerned(guarded: ControlPlane, workspace: str) -> None:
    admin = guarded.kubeconfig
    assert said(guarded, "create", "--dry-run=server", "-f", "-", kubeconfig=admin, item=job("default", {})) == ""
    assert said(guarded, "create", "--dry-run=server", "-f", "-", kubeconfig=admin, item=job(workspace, {})) == ""

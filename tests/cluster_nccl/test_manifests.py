"""What render.py prints, as the API server and the admission policies take it: nothing is stored."""

import copy
from typing import Any

import pytest

from tests.cluster.bed.control import ControlPlane
from tests.cluster.bed.waiting import eventually
from tests.cluster_nccl.installed import pod_of, rendered
from tests.cluster_runs.scene import refusal
from tests.deploy import objects

pytestmark = pytest.mark.cluster

IMAGE = "registry.example/nccl-ib@sha256:" + "4e0a" * 16
BOTH = pytest.mark.parametrize("options", [(), ("--replay",)], ids=["measure", "replay"])


@pytest.fixture
def guarded(apiserver: ControlPlane, policies: None, namespace: str) -> str:
    """A namespace of a cluster in which the template guard is in force."""
    forbidden = objects.template(objects.pod(hostNetwork=True))
    eventually(lambda: "tau-validation-template-guard" in refusal(apiserver, forbidden), "the guard is in force")
    return namespace


def pod(template: dict[str, Any], namespace: str) -> dict[str, Any]:
    """A pod as the template would start it, without what only a Job gives it."""
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "rank", "namespace": namespace}} | {
        "spec": copy.deepcopy(pod_of(template))
    }


@BOTH
def test_the_cluster_takes_what_is_printed(apiserver: ControlPlane, guarded: str, options: tuple[str, ...]) -> None:
    template, check = rendered(guarded, IMAGE, *options)
    template["metadata"]["name"] += "-probe"  # another test may have stored it under its own name
    for item in (template, check):
        assert refusal(apiserver, item) == ""


def test_without_its_written_exception_the_measurement_is_refused(apiserver: ControlPlane, guarded: str) -> None:
    template, _ = rendered(guarded, IMAGE)
    (exception,) = template["spec"].pop("exceptions")
    assert exception["value"] == "IPC_LOCK"
    assert "capabilities.add: IPC_LOCK" in refusal(apiserver, template)


def test_without_ipc_lock_it_needs_no_exception(apiserver: ControlPlane, guarded: str) -> None:
    template, check = rendered(guarded, IMAGE, "--no-ipc-lock")
    assert "exceptions" not in template["spec"]
    assert "add" not in pod_of(template)["containers"][0]["securityContext"]["capabilities"]
    for item in (template, check):
        assert refusal(apiserver, item) == ""


@BOTH
def test_an_image_by_tag_is_refused(apiserver: ControlPlane, guarded: str, options: tuple[str, ...]) -> None:
    template, _ = rendered(guarded, IMAGE, *options)
    pod_of(template)["containers"][0]["image"] = "registry.example/nccl-ib:latest"
    assert "Images are named by digest" in refusal(apiserver, template)


def test_a_restricted_namespace_takes_the_pods_that_lock_no_memory_and_no_others(
    apiserver: ControlPlane, guarded: str
) -> None:
    locking, _ = rendered(guarded, IMAGE)
    assert "unrestricted capabilities" in refusal(apiserver, pod(locking, guarded))
    for options in (("--replay",), ("--no-ipc-lock",)):
        template, _ = rendered(guarded, IMAGE, *options)
        assert refusal(apiserver, pod(template, guarded)) == ""
    apiserver.kubectl("label", "namespace", guarded, "--overwrite", "pod-security.kubernetes.io/enforce=privileged")
    assert refusal(apiserver, pod(locking, guarded)) == ""


@BOTH
def test_support_objects_and_job_are_what_the_api_server_takes(
    apiserver: ControlPlane, guarded: str, options: tuple[str, ...]
) -> None:
    template, _ = rendered(guarded, IMAGE, *options)
    job = {"apiVersion": "batch/v1", "kind": "Job"} | copy.deepcopy(template["spec"]["job"])
    own = {"matchLabels": {"tau.azure.com/run-uid": "x"}}
    for item in (job, *copy.deepcopy(template["spec"]["support"])):
        item["metadata"] = {"name": "probe", "namespace": guarded}
        if item["kind"] == "NetworkPolicy":
            item["spec"]["podSelector"] = own
        assert refusal(apiserver, item) == ""

"""The contract is general: a check that is not about GPUs, and one whose own controller publishes."""

import copy
import importlib.util
import json
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from checks.contract.clock import format_time
from checks.contract.document import digest
from tests.cluster.bed.control import Refused
from tests.cluster.bed.waiting import eventually
from tests.cluster_runs.scene import PASS, Scene

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("controller")]
EXAMPLE = Path(__file__).parents[2] / "examples" / "storage-path" / "prepare.py"


def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("storage_path_prepare", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def storage_path(scene: Scene) -> None:
    """The example, ready, on an empty volume of each pod, since the bed has no storage that two nodes share."""
    template, check = example().prepare(scene.cluster.busybox.by_digest, scene.namespace)
    template["metadata"]["name"] += "-" + uuid.uuid4().hex[:8]
    pod = template["spec"]["job"]["spec"]["template"]["spec"]
    pod["volumes"] = [{"name": "data", "emptyDir": {"sizeLimit": "256Mi"}}]
    pod["containers"][0]["imagePullPolicy"] = "Never"
    check["spec"]["launch"]["template"] = {
        "name": template["metadata"]["name"],
        "digest": digest(template["spec"]),
        "parameters": {"sizeMiB": 8},
    }
    scene.admin.kubectl("create", "-f", "-", stdin=json.dumps(template))
    scene.operator.kubectl("create", "-f", "-", stdin=json.dumps(check))
    scene.approve("storage-path")
    eventually(lambda: scene.condition("storage-path", "Ready").get("status") == "True", "it is ready")


def test_a_storage_path_is_proved_from_two_nodes(scene: Scene) -> None:
    storage_path(scene)
    envelope = scene.sealed(scene.run("storage-path"))
    assert envelope["message"] == "8 MiB came back as they were written"
    assert envelope["details"]["data"]["sizeMiB"] == 8
    assert scene.explain() == ("Passed", "proved")


def test_a_check_with_its_own_controller_is_published_by_that_one_alone(scene: Scene) -> None:
    scene.ready(scene.template(PASS), "by-template")
    base = scene.sealed(scene.run("by-template"))
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "prober", "namespace": scene.namespace},
    }
    scene.control.apply([account, *may_publish(scene.namespace)])
    spec = copy.deepcopy(scene.get("validationcheck", "by-template")["spec"])
    spec["launch"] = {"controller": {"name": "probes.example.org/paths"}}
    spec["results"] |= {"publisher": {"namespace": scene.namespace, "serviceAccount": "prober"}, "requiredEvidence": []}
    check: dict[str, Any] = {
        "apiVersion": "tau.azure.com/v1alpha1",
        "kind": "TauValidationCheck",
        "metadata": {"name": "by-prober", "namespace": scene.namespace},
        "spec": spec,
    }
    scene.operator.kubectl("create", "-f", "-", stdin=json.dumps(check))
    approved = scene.approve("by-prober")
    eventually(lambda: scene.condition("by-prober", "Ready").get("reason") == "LeftToItsController", "it is left alone")
    assert verdict(scene) == ("Unknown", "no_result")

    uid = scene.get("validationcheck", "by-prober")["metadata"]["uid"]
    prober = scene.control.kubeconfig_for_account(scene.namespace, "prober")
    item = published(base, uid, approved, scene.namespace)
    with pytest.raises(Refused, match="tau-validation-result-publisher"):
        scene.control.kubectl("create", "-f", "-", stdin=json.dumps(item))
    scene.control.kubectl("create", "-f", "-", stdin=json.dumps(item), kubeconfig=prober)
    assert verdict(scene) == ("Passed", "proved")


def verdict(scene: Scene) -> tuple[str, str]:
    (found,) = (check for check in scene.explained() if check["name"] == "by-prober")
    return found["state"], found["reason"]


def published(base: dict[str, Any], uid: str, spec_digest: str, namespace: str) -> dict[str, Any]:
    """What the prober says: the same nodes, in a run of its own."""
    run_id, now = uuid.uuid4().hex[:24], datetime.now(UTC)
    times = {name: format_time(now) for name in base["times"]}
    envelope = base | {
        "check": base["check"] | {"name": "by-prober", "uid": uid, "specDigest": spec_digest},
        "run": base["run"] | {"id": run_id, "uid": str(uuid.uuid4()), "requestedBy": "prober"},
        "times": times,
        "validUntil": format_time(now + timedelta(seconds=base["freshForSeconds"])),
        "cleanup": {"state": "complete", "owned": [], "remaining": []},
        "evidence": [],
        "producer": {"name": "prober", "version": "3.1"},
    }
    return {
        "apiVersion": "tau.azure.com/v1alpha1",
        "kind": "TauValidationResult",
        "metadata": {"name": f"by-prober-{run_id}-1", "namespace": namespace},
        "spec": {
            "publisher": {"username": f"system:serviceaccount:{namespace}:prober"},
            "digest": digest(envelope),
            "envelope": envelope,
        },
    }


def may_publish(namespace: str) -> list[dict[str, Any]]:
    rbac = {"apiVersion": "rbac.authorization.k8s.io/v1"}
    metadata = {"metadata": {"name": "prober", "namespace": namespace}}
    rule = {"apiGroups": ["tau.azure.com"], "resources": ["validationresults"], "verbs": ["create"]}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "prober"}
    subject = {"kind": "ServiceAccount", "name": "prober", "namespace": namespace}
    return [
        rbac | metadata | {"kind": "Role", "rules": [rule]},
        rbac | metadata | {"kind": "RoleBinding", "roleRef": reference, "subjects": [subject]},
    ]

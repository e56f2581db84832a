"""Sound objects of the four kinds for tests to bend, and the ways to bend them: every call answers fresh values."""

import hashlib
import uuid
from typing import Any

API_VERSION = "tau.azure.com/v1alpha1"
CONTROLLER = "system:serviceaccount:tau-system:tau-validation-controller"
DIGEST = "sha256:" + "a" * 64
OTHER_DIGEST = "sha256:" + "b" * 64
IMAGE = f"registry.example/check@{DIGEST}"
RUN_ID = "7d0f3c9a51b2e84466aa91c0"
Object = dict[str, Any]


def _object(kind: str, name: str, namespace: str | None, spec: Object) -> Object:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": spec}


def container(**fields: Any) -> Object:
    """A container that restricted pod security admits."""
    return {
        "name": "rank",
        "image": IMAGE,
        "securityContext": {
            "runAsNonRoot": True,
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    } | fields


def pod(**fields: Any) -> Object:
    """A pod spec that restricted pod security admits, without an API token."""
    return {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "containers": [container()],
    } | fields


def template(pod_spec: Object | None = None, name: str = "", **fields: Any) -> Object:
    """A template of one pod."""
    spec = {
        "allowedWorkspaces": {"matchLabels": {"tau.azure.com/gpu": "true"}},
        "deadlines": {"queueSeconds": 60, "runSeconds": 60, "cleanupSeconds": 60},
        "job": {"spec": {"backoffLimit": 0, "template": {"spec": pod_spec or pod()}}},
    }
    return _object("TauValidationTemplate", name or f"t-{uuid.uuid4().hex[:12]}", None, spec | fields)


def check(namespace: str, name: str = "ib-pair", **fields: Any) -> Object:
    """A registration whose results the controller publishes."""
    spec = {
        "type": "nccl.tau.azure.com/inter-node-ib",
        "version": "1.2",
        "title": "Inter-node InfiniBand",
        "launch": {"template": {"name": "nccl-ib-pair", "digest": DIGEST, "parameters": {"linkLayer": "any"}}},
        "targets": {"count": 2, "bindTo": ["uid", "bootID"]},
        "results": {
            "versions": ["1.2"],
            "freshForSeconds": 86400,
            "publisher": {"namespace": "tau-system", "serviceAccount": "tau-validation-controller"},
        },
    }
    return _object("TauValidationCheck", name, namespace, spec | fields)


def run(namespace: str, requested_by: str, name: str = f"ib-pair-{RUN_ID}", **fields: Any) -> Object:
    """A run of `check`, as its requester writes it."""
    spec = {
        "checkRef": {"name": "ib-pair", "uid": "00000000-0000-4000-8000-000000000002", "specDigest": DIGEST},
        "runID": RUN_ID,
        "attempt": 1,
        "trigger": "Manual",
        "requestedBy": requested_by,
    }
    return _object("TauValidationRun", name, namespace, spec | fields)


def envelope(namespace: str, **fields: Any) -> Object:
    """What one attempt of `run` proved; with fields of the check's own that no schema in the cluster knows."""
    time = "2026-11-30T05:12:00Z"
    return {
        "schema": "tau.validation-result.v1",
        "check": {
            "type": "nccl.tau.azure.com/inter-node-ib",
            "version": "1.2",
            "name": "ib-pair",
            "uid": "00000000-0000-4000-8000-000000000002",
            "specDigest": DIGEST,
        },
        "run": {
            "id": RUN_ID,
            "uid": "00000000-0000-4000-8000-000000000003",
            "attempt": 1,
            "trigger": "Manual",
            "requestedBy": "ada",
        },
        "scope": {"cluster": "west-1", "workspace": namespace, "namespace": namespace},
        "targets": {
            "requested": {"count": 1, "nodes": None},
            "observed": [{"kind": "Node", "name": "gpu-03", "uid": None, "rank": 0, "outcome": "passed"}],
        },
        "times": {"created": time, "queued": None, "observed": time},
        "freshForSeconds": 86400,
        "validUntil": "2026-12-01T05:12:00Z",
        "outcome": "passed",
        "reason": "validation_passed",
        "message": "",
        "errors": [],
        "cleanup": {"state": "complete", "owned": [], "remaining": []},
        "evidence": [
            {
                "name": "logs",
                "uri": "https://artifacts.example/logs",
                "sha256": hashlib.sha256(b"").hexdigest(),
                "sizeBytes": 0,
            }
        ],
        "producer": {"name": "tau-validation-controller", "version": "0.1.0"},
        "parser": None,
        "details": {"schema": "nccl-ib.v1", "data": {"gdr": None, "busBandwidthGBps": 388.2, "pairs": []}},
    } | fields


def result(namespace: str, publisher: str = CONTROLLER, name: str = f"ib-pair-{RUN_ID}-1", **fields: Any) -> Object:
    """A sealed result. Its digest is well-formed, not true: the API server cannot hash."""
    spec = {"publisher": {"username": publisher}, "digest": DIGEST, "envelope": envelope(namespace)}
    return _object("TauValidationResult", name, namespace, spec | fields)


def annotated(item: Object, **marks: str) -> Object:
    """The object with annotations of tau.azure.com; `reviewed_by` is reviewed-by."""
    marked = {f"tau.azure.com/{name.replace('_', '-')}": value for name, value in marks.items()}
    return item | {"metadata": item["metadata"] | {"annotations": marked}}

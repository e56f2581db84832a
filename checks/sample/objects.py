"""Small Kubernetes objects of the sample, and the identities they carry.

Every identity is made from names, so that the same sample is written twice from the same time.
"""

import hashlib
from datetime import datetime, timedelta
from typing import Any

from ..contract.clock import format_time
from ..contract.guard import POLICY_NAME, RULES
from ..contract.kinds import API_VERSION, CHECK, GROUP, PLURALS, RESULT, WORKSPACE_LABEL

Object = dict[str, Any]
GPU = "nvidia.com/gpu"
QUEUE = "jobqueue"


def hexes(*seed: object, length: int = 64) -> str:
    """Lower-case hex digits made from names."""
    return hashlib.sha256("/".join(map(str, seed)).encode()).hexdigest()[:length]


def uid(*seed: object) -> str:
    """A UUID made from names."""
    raw = hexes(*seed)
    return f"{raw[:8]}-{raw[8:12]}-4{raw[13:16]}-a{raw[17:20]}-{raw[20:32]}"


def between(low: float, high: float, *seed: object, digits: int = 1) -> float:
    """A number from `low` to `high` made from names, as a measurement would vary."""
    return round(low + (high - low) * int(hexes(*seed, length=8), 16) / 0xFFFFFFFF, digits)


def ago(now: datetime, **delta: float) -> str:
    """The time that is so long before `now`, as text."""
    return format_time(now - timedelta(**delta))


def condition(kind: str, is_true: bool, reason: str, message: str, since: str) -> Object:
    """One condition of a status."""
    return {
        "type": kind,
        "status": "True" if is_true else "False",
        "reason": reason,
        "message": message,
        "lastTransitionTime": since,
    }


def dump_head(cluster: str, captured_at: datetime, *, complete: bool) -> Object:
    """The first document of a dump."""
    return {
        "apiVersion": API_VERSION,
        "kind": "TauDump",
        "metadata": {"name": cluster},
        "capturedAt": format_time(captured_at),
        "complete": complete,
        "toolVersion": "sample",
    }


def namespace(cluster: str, name: str, now: datetime) -> Object:
    """A workspace; `tau-system` is the one that stands for the whole cluster."""
    labels = {"kubernetes.io/metadata.name": name, f"{GROUP}/gpu": "true"}
    if name.startswith("team-"):
        labels |= {
            WORKSPACE_LABEL: name,
            f"{GROUP}/local-queue": QUEUE,
            "kueue.x-k8s.io/default-local-queue": QUEUE,
            "pod-security.kubernetes.io/enforce": "restricted",
        }
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": name,
            "uid": uid(cluster, "namespace", name),
            "creationTimestamp": ago(now, days=90),
            "labels": labels,
        },
        "status": {"phase": "Active"},
    }


def guard(cluster: str, now: datetime) -> list[Object]:
    """The admission policy that makes publishers certain, and the binding that puts it in force."""
    api = "admissionregistration.k8s.io/v1"
    metadata = {"name": POLICY_NAME, "creationTimestamp": ago(now, days=60)}
    rule = {
        "apiGroups": [GROUP],
        "apiVersions": ["*"],
        "operations": ["CREATE", "UPDATE"],
        "resources": [PLURALS[RESULT]],
    }
    policy = {
        "failurePolicy": "Fail",
        "paramKind": {"apiVersion": API_VERSION, "kind": CHECK},
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": expression} for expression in RULES],
    }
    binding = {
        "policyName": POLICY_NAME,
        "paramRef": {"selector": {}, "parameterNotFoundAction": "Deny"},
        "validationActions": ["Deny"],
    }
    return [
        {
            "apiVersion": api,
            "kind": kind,
            "metadata": {**metadata, "uid": uid(cluster, kind)},
            "spec": spec,
        }
        for kind, spec in (("ValidatingAdmissionPolicy", policy), ("ValidatingAdmissionPolicyBinding", binding))
    ]

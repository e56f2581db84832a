"""Names, labels and paths of what a run owns. Everything carries the run's id, so two runs share nothing."""

import hashlib
from typing import Any

from ..contract.kinds import API_VERSION, GROUP, PLURALS, RUN
from ..contract.kinds import CANCEL as CANCEL

Object = dict[str, Any]

ACCOUNT = "tau-validation-controller"
MANAGED_BY, RUN_ID, RUN_UID, CHECK_NAME, TEMPLATE_NAME, WORKSPACE = (
    f"{GROUP}/{word}" for word in ("managed-by", "run-id", "run-uid", "check", "template", "workspace")
)
KUEUE_QUEUE = "kueue.x-k8s.io/queue-name"
KUEUE_JOB_UID = "kueue.x-k8s.io/job-uid"
LOCAL_QUEUES = (f"{GROUP}/local-queue", "kueue.x-k8s.io/default-local-queue")
DEFAULT_QUEUE = "jobqueue"
INDEX = "batch.kubernetes.io/job-completion-index"

JOB, SERVICE, NETWORK_POLICY = ("batch/v1", "Job"), ("v1", "Service"), ("networking.k8s.io/v1", "NetworkPolicy")
_PLURALS = {JOB: "jobs", SERVICE: "services", NETWORK_POLICY: "networkpolicies", ("v1", "Pod"): "pods"}
OWNABLE = tuple(_PLURALS)


def path_in(api_version: str, plural: str, namespace: str, name: str = "") -> str:
    """Where one object is, or all of a kind in one namespace."""
    root = f"/api/{api_version}" if "/" not in api_version else f"/apis/{api_version}"
    return f"{root}/namespaces/{namespace}/{plural}" + (f"/{name}" if name else "")


def path_of_kind(api_version: str, kind: str, namespace: str, name: str = "") -> str:
    """Where an object that a run may own is. Raises KeyError for another kind."""
    return path_in(api_version, _PLURALS[(api_version, kind)], namespace, name)


def own_path(kind: str, namespace: str, name: str = "") -> str:
    """Where an object of our own kinds is; without a namespace, where the cluster-scoped one is."""
    if not namespace:
        return f"/apis/{API_VERSION}/{PLURALS[kind]}/{name}"
    return path_in(API_VERSION, PLURALS[kind], namespace, name)


def labels(run: Object, workspace: str, template: str) -> dict[str, str]:
    """The labels of everything that a run owns."""
    spec, metadata = run["spec"], run["metadata"]
    return {
        MANAGED_BY: ACCOUNT,
        RUN_ID: spec["runID"],
        RUN_UID: metadata["uid"],
        CHECK_NAME: spec["checkRef"]["name"],
        **({TEMPLATE_NAME: template} if len(template) <= 63 else {}),
        **({WORKSPACE: workspace} if workspace else {}),
    }


def owner(run: Object) -> Object:
    """The owner reference by which Kubernetes removes an object together with its run."""
    metadata = run["metadata"]
    return {
        "apiVersion": API_VERSION,
        "kind": RUN,
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
    }


def is_owned_by(item: Object, uid: str) -> bool:
    """Whether the object says that the one with this UID controls it."""
    references = item.get("metadata", {}).get("ownerReferences") or ()
    return any(reference.get("uid") == uid and reference.get("controller") for reference in references)


def scheduled_run_id(check_uid: str, at: str) -> str:
    """The id of the run that a schedule starts at a time: starting it twice meets itself."""
    return hashlib.sha256(f"{check_uid} {at}".encode()).hexdigest()[:24]

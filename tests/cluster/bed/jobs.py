"""A workspace's queue, and a Job that needs GPUs on several nodes: the smallest real workload of the bed."""

from typing import Any

from tests.cluster.bed.images import Image
from tests.cluster.bed.node import GPU

FLAVOR = "bed"
QUEUE = "jobqueue"
KUEUE_API = "kueue.x-k8s.io/v1beta2"


def queue(namespace: str, gpus: int = 16) -> list[dict[str, Any]]:
    """A LocalQueue `jobqueue` in the namespace, and a ClusterQueue of the same name as the namespace behind it."""
    quota = {GPU: gpus, "cpu": 100, "memory": "100Gi"}
    flavor = {"name": FLAVOR, "resources": [{"name": n, "nominalQuota": str(q)} for n, q in quota.items()]}
    return [
        {"apiVersion": KUEUE_API, "kind": "ResourceFlavor", "metadata": {"name": FLAVOR}},
        {
            "apiVersion": KUEUE_API,
            "kind": "ClusterQueue",
            "metadata": {"name": namespace},
            "spec": {
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                "resourceGroups": [{"coveredResources": list(quota), "flavors": [flavor]}],
            },
        },
        {
            "apiVersion": KUEUE_API,
            "kind": "LocalQueue",
            "metadata": {"name": QUEUE, "namespace": namespace},
            "spec": {"clusterQueue": namespace},
        },
    ]


def headless_service(namespace: str, job: str) -> dict[str, Any]:
    """What gives the pods of a Job names: `JOB-INDEX.JOB` inside the namespace, also before they are ready."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": job, "namespace": namespace},
        "spec": {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": {"job-name": job}},
    }


def indexed_job(namespace: str, name: str, image: Image, script: str, nodes: int = 2, gpus: int = 1) -> dict[str, Any]:
    """A suspended Indexed Job, one pod per node, that passes restricted pod security; `script` is for `sh`."""
    container = {
        "name": "check",
        "image": image.by_digest,
        "imagePullPolicy": "Never",
        "command": ["sh", "-c", script],
        "resources": {"requests": {"cpu": "50m", "memory": "32Mi"}, "limits": {GPU: str(gpus), "memory": "64Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }
    apart = {"labelSelector": {"matchLabels": {"job-name": name}}, "topologyKey": "kubernetes.io/hostname"}
    pod = {
        "restartPolicy": "Never",
        "subdomain": name,
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": 1,
        "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}},
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace, "labels": {"kueue.x-k8s.io/queue-name": QUEUE}},
        "spec": {
            "suspend": True,
            "completionMode": "Indexed",
            "completions": nodes,
            "parallelism": nodes,
            "backoffLimit": 0,
            "template": {"spec": pod},
        },
    }

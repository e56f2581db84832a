"""The templates of the sample: what may be started, with which rights and limits.

Every one keeps the rules of `checks/contract/pods.py`; the exceptions it needs are written with their reason.
"""

from datetime import datetime
from typing import Any

from ..contract.document import digest
from ..contract.kinds import API_VERSION, GROUP, TEMPLATE
from .objects import GPU, Object, ago, hexes, uid

_RDMA = {"rule": "capabilities.add", "value": "IPC_LOCK", "why": "RDMA registers memory, which must stay locked"}


def image(name: str) -> str:
    """The image of a template's pods, by digest."""
    return f"registry.example/tau/{name}@sha256:{hexes('image', name)}"


def _container(name: str, limits: dict[str, str], *, locks_memory: bool = False) -> Object:
    add = {"add": ["IPC_LOCK"]} if locks_memory else {}
    return {
        "name": "rank",
        "image": image(name),
        "resources": {"limits": limits},
        "securityContext": {
            "runAsNonRoot": True,
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"], **add},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }


def _job(container: Object, pods: int, **pod: Any) -> Object:
    spec = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "tolerations": [{"key": "sku", "value": "gpu", "effect": "NoSchedule"}],
        **pod,
        "containers": [container],
    }
    job: Object = {"completions": pods, "parallelism": pods, "completionMode": "Indexed", "backoffLimit": 0}
    return {"spec": {**job, "template": {"spec": spec}}}


def _apart(name: str) -> Object:
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {f"{GROUP}/template": name}}}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def _peers() -> list[Object]:
    service = {"clusterIP": "None", "ports": [{"port": 29500}]}
    among_themselves = [{"podSelector": {"matchLabels": {f"{GROUP}/peers": "true"}}}]
    policy = {"policyTypes": ["Ingress"], "ingress": [{"from": among_themselves}]}
    return [
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "peers"}, "spec": service},
        {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": {"name": "peers"},
            "spec": policy,
        },
    ]


def _integer(name: str, default: int, maximum: int, description: str) -> Object:
    return {
        "name": name,
        "type": "integer",
        "minimum": 0,
        "maximum": maximum,
        "default": default,
        "description": description,
    }


def _enum(name: str, values: list[str], description: str) -> Object:
    return {"name": name, "type": "enum", "values": values, "default": values[0], "description": description}


def _spec(description: str, parameters: list[Object], run_seconds: int, reporters: int, job: Object) -> Object:
    return {
        "description": description,
        "parameters": parameters,
        "allowedWorkspaces": {"matchLabels": {f"{GROUP}/gpu": "true"}},
        "deadlines": {"queueSeconds": 43200, "runSeconds": run_seconds, "cleanupSeconds": 1800},
        "reporters": reporters,
        "job": job,
    }


def _nccl_ib_pair() -> Object:
    name, limits = "nccl-ib-pair", {GPU: "1", "rdma/ib": "1"}
    parameters = [
        _enum("linkLayer", ["InfiniBand", "any"], "Which link layer proves the path"),
        _integer("minBusBandwidthGBps", 0, 2000, "Fail below this bus bandwidth; 0 does not gate"),
    ]
    job = _job(_container(name, limits, locks_memory=True), 2, subdomain="peers", affinity=_apart(name))
    words = "Two pods on two nodes, one GPU each: NCCL all-reduce over InfiniBand, and proof that it was InfiniBand"
    return _spec(words, parameters, 900, 2, job) | {"support": _peers(), "exceptions": [_RDMA]}


def _storage_path() -> Object:
    volume = {"name": "checkpoints", "persistentVolumeClaim": {"claimName": "checkpoints"}}
    container = _container("storage-path", {"cpu": "8", "memory": "16Gi"})
    container["volumeMounts"] = [{"name": "checkpoints", "mountPath": "/checkpoints"}]
    parameters = [
        _integer("sizeGiB", 32, 512, "How much is written and read back"),
        _integer("minWriteMiBps", 0, 100_000, "Fail below this write rate; 0 does not gate"),
    ]
    words = "Writes a checkpoint-sized file to the team's volume, drops the cache, reads it back and compares"
    return _spec(words, parameters, 1800, 1, _job(container, 1, volumes=[volume]))


def _rack_boundary() -> Object:
    name, limits = "rack-boundary", {GPU: "1", "rdma/ib": "1"}
    parameters = [_integer("racks", 2, 16, "How many racks the four pods must be spread over")]
    job = _job(_container(name, limits, locks_memory=True), 4, subdomain="peers", affinity=_apart(name))
    words = "Four pods in two racks: latency and bandwidth inside a rack and across the boundary, against the label"
    return _spec(words, parameters, 900, 4, job) | {"support": _peers(), "exceptions": [_RDMA]}


def _gpu_memory() -> Object:
    parameters = [_integer("minutes", 5, 480, "How long memory is written, read and compared")]
    words = "One node, all eight GPUs: memory bandwidth, and a pattern test of the whole memory"
    return _spec(words, parameters, 28800, 1, _job(_container("gpu-memory", {GPU: "8"}), 1))


def _node_probe() -> Object:
    container = _container("node-probe", {GPU: "8"})
    container["securityContext"] |= {"privileged": True, "allowPrivilegeEscalation": True}
    container["volumeMounts"] = [{"name": "host", "mountPath": "/host"}]
    volume = {"name": "host", "hostPath": {"path": "/var/log"}}
    why = "It reads kernel logs and driver state of the node itself"
    rights = (("hostNetwork", "true"), ("privileged", "true"), ("allowPrivilegeEscalation", "true"))
    exceptions = [
        {"rule": rule, "value": value, "why": why} for rule, value in (*rights, ("volumes.hostPath", "/var/log"))
    ]
    words = "One node: kernel log, driver and firmware state, read on the host"
    return _spec(words, [], 600, 1, _job(container, 1, hostNetwork=True, volumes=[volume])) | {"exceptions": exceptions}


SPECS: dict[str, Object] = {
    "nccl-ib-pair": _nccl_ib_pair(),
    "storage-path": _storage_path(),
    "rack-boundary": _rack_boundary(),
    "gpu-memory": _gpu_memory(),
    "node-probe": _node_probe(),
}
DIGESTS = {name: digest(spec) for name, spec in SPECS.items()}

_SOAK = SPECS["gpu-memory"] | {"description": "Soak test: all eight GPUs, write, read and compare for hours"}
# Templates of east-1 when its checks were approved; since then one was replaced and the other removed.
BEFORE = {
    "gpu-soak": _SOAK | {"deadlines": {"queueSeconds": 1800, "runSeconds": 14400, "cleanupSeconds": 300}},
    "nvlink-ring": SPECS["gpu-memory"] | {"description": "One node: NVLink ring of all eight GPUs", "parameters": []},
}
SINCE = {"gpu-soak": _SOAK}


def template(cluster: str, name: str, spec: Object, now: datetime) -> Object:
    """A TauValidationTemplate."""
    return {
        "apiVersion": API_VERSION,
        "kind": TEMPLATE,
        "metadata": {
            "name": name,
            "uid": uid(cluster, TEMPLATE, name),
            "generation": 1,
            "creationTimestamp": ago(now, days=44),
        },
        "spec": spec,
    }


def templates(cluster: str, now: datetime) -> list[Object]:
    """The templates of a cluster as they are now."""
    specs = SPECS | (SINCE if cluster == "east-1" else {})
    return [template(cluster, name, spec, now) for name, spec in specs.items()]

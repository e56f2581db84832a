"""Nodes and Kueue objects, as rows: place, capacity, and what node health says.

Signals complement nothing here and are never a verdict. Their words are TauGrid's: Observed OK, Fault, Unknown.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from ..contract.clock import parse_time
from ..models import NodeSignal
from ..objects import labels_of, node_from, section, text

GPU = "nvidia.com/gpu"
SIGNAL_LIMIT = timedelta(minutes=15)
SIGNAL_SKEW = timedelta(seconds=60)
SITE_LABELS = ("unbounded-cloud.io/site", "net.unbounded-cloud.io/site")
POOL_LABEL = "kubernetes.azure.com/agentpool"

_DETECTOR = (
    "NvidiaSmiProblem NvidiaDeviceFilesProblem DcgmHealthProblem GPUMissing NVLinkStatusInactive XIDErrors "
    "GPUECCErrors IBLinkIssue IBPKeyIssue GPUVbiosMismatch GPUThrottle"
)
_COLLECTOR = (
    "IBLinkDown IBSymbolError GPUECCDoubleRetired GPUECCDoubleVolatile GPUNVLinkCRCFlitErrors "
    "GPUNVLinkCRCDataErrors GPUNVLinkReplayErrors GPUThermalViolation GPUPowerViolation XIDError48 XIDError63 "
    "XIDError64 XIDError79 XIDError94 XIDError95 DcgmExporterUnavailable"
)
SIGNALS = frozenset(f"{_DETECTOR} {_COLLECTOR}".split())


def quantity(value: Any) -> int | None:
    """A whole Kubernetes quantity, None where it is absent or not whole."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value if 0 <= value < 2**31 else None
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10 else None


def node_row(item: dict[str, Any], now: datetime) -> dict[str, Any]:
    """Columns of a Node. now: when the object was read, to tell heartbeats that lie in the future."""
    labels, state, identity = labels_of(item), section(item, "status"), node_from(item)
    conditions = [c for c in state.get("conditions") or () if isinstance(c, dict)]
    signal, until, faults = node_signal(conditions, now)
    return {
        "site": next((labels[key] for key in SITE_LABELS if labels.get(key)), ""),
        "pool": labels.get(POOL_LABEL, ""),
        "sku": labels.get("node.kubernetes.io/instance-type", ""),
        "gpu_product": labels.get("nvidia.com/gpu.product", ""),
        "gpus": quantity(section(state, "capacity").get(GPU)),
        "gpus_allocatable": quantity(section(state, "allocatable").get(GPU)),
        "ready": _ready(conditions),
        "schedulable": section(item, "spec").get("unschedulable") is not True,
        "signal": signal,
        "signal_until": until,
        "signal_faults": ", ".join(faults),
        "boot_id": identity.boot_id,
        "system_uuid": identity.system_uuid,
        "machine_id": identity.machine_id,
        "provider_id": identity.provider_id,
        "created_at": parse_time(section(item, "metadata").get("creationTimestamp")),
    }


def _ready(conditions: Iterable[dict[str, Any]]) -> bool | None:
    found = [c.get("status") for c in conditions if c.get("type") == "Ready"]
    return {"True": True, "False": False}.get(str(found[0])) if len(found) == 1 else None


def node_signal(conditions: list[dict[str, Any]], now: datetime) -> tuple[NodeSignal, datetime | None, list[str]]:
    """What the health conditions say, until when, and which faults. True means a problem.

    Any fresh True is a Fault and wins; all present, fresh and False is Observed OK; missing, twice or old is Unknown.
    """
    mine = [c for c in conditions if c.get("type") in SIGNALS]
    beats = [(c, parse_time(c.get("lastHeartbeatTime"))) for c in mine]
    fresh = [(c, at) for c, at in beats if at is not None and -SIGNAL_SKEW <= now - at <= SIGNAL_LIMIT]
    faults = [(c, at) for c, at in fresh if c.get("status") == "True"]
    if faults:
        return (
            NodeSignal.FAULT,
            max(at for _, at in faults) + SIGNAL_LIMIT,
            sorted({text(c, "type") for c, _ in faults}),
        )
    kinds = [text(c, "type") for c in mine]
    whole = len(kinds) == len(set(kinds)) and any(set(kinds) >= set(group.split()) for group in (_DETECTOR, _COLLECTOR))
    if whole and len(fresh) == len(mine) and all(c.get("status") == "False" for c in mine):
        return NodeSignal.OK, min(at for _, at in fresh) + SIGNAL_LIMIT, []
    return NodeSignal.UNKNOWN, None, []


def queue_row(item: dict[str, Any]) -> dict[str, Any]:
    """Columns of a Kueue ClusterQueue."""
    spec, state = section(item, "spec"), section(item, "status")
    return {
        "cohort": text(spec, "cohortName") or text(spec, "cohort"),
        "gpus_nominal": _sum(_flavors(spec.get("resourceGroups"), nested=True), "nominalQuota"),
        "gpus_used": _sum(_flavors(state.get("flavorsUsage") or state.get("flavorUsage")), "total"),
        "pending": quantity(state.get("pendingWorkloads")),
        "admitted": quantity(state.get("admittedWorkloads")),
    }


def _flavors(groups: Any, *, nested: bool = False) -> list[Any]:
    found = [g for g in groups or () if isinstance(g, dict)]
    return [f for g in found for f in g.get("flavors") or () if isinstance(f, dict)] if nested else found


def _sum(flavors: list[Any], key: str) -> int | None:
    amounts = [
        quantity(r.get(key))
        for flavor in flavors
        for r in flavor.get("resources") or ()
        if isinstance(r, dict) and r.get("name") == GPU
    ]
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if known and len(known) == len(amounts) else None


def local_queue_row(item: dict[str, Any]) -> dict[str, Any]:
    """Columns of a Kueue LocalQueue."""
    return {"cluster_queue": text(section(item, "spec"), "clusterQueue")}


def workload_row(item: dict[str, Any]) -> dict[str, Any]:
    """Columns of a Kueue Workload."""
    spec, state = section(item, "spec"), section(item, "status")
    met = {c.get("type") for c in state.get("conditions") or () if isinstance(c, dict) and c.get("status") == "True"}
    phase = "Finished" if "Finished" in met else "Admitted" if "Admitted" in met else "Pending"
    return {
        "local_queue": text(spec, "queueName"),
        "cluster_queue": text(section(state, "admission"), "clusterQueue"),
        "phase": phase,
        "gpus": sum(_gpus_of(p) for p in spec.get("podSets") or () if isinstance(p, dict)),
        "created_at": parse_time(section(item, "metadata").get("creationTimestamp")),
    }


def _gpus_of(pod_set: dict[str, Any]) -> int:
    pod = section(section(pod_set, "template"), "spec")
    each = 0
    for container in pod.get("containers") or ():
        resources = section(container, "resources")
        wanted = section(resources, "requests").get(GPU, section(resources, "limits").get(GPU))
        each += quantity(wanted) or 0
    return each * (quantity(pod_set.get("count", 1)) or 0)

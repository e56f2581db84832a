"""The machines of the sample: pools, identities, and nodes with their signals.

A `Machine` is what a run saw; `node` is what the cluster shows now. They differ where a machine was replaced or
rebooted since.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from .objects import GPU, Object, ago, condition, hexes, uid

NPD_SIGNALS = (
    "NvidiaSmiProblem", "NvidiaDeviceFilesProblem", "DcgmHealthProblem", "GPUMissing", "NVLinkStatusInactive",
    "XIDErrors", "GPUECCErrors", "IBLinkIssue", "IBPKeyIssue", "GPUVbiosMismatch", "GPUThrottle",
)  # fmt: skip
COLLECTOR_SIGNALS = (
    "IBLinkDown", "IBSymbolError", "GPUECCDoubleRetired", "GPUECCDoubleVolatile", "GPUNVLinkCRCFlitErrors",
    "GPUNVLinkCRCDataErrors", "GPUNVLinkReplayErrors", "GPUThermalViolation", "GPUPowerViolation", "XIDError48",
    "XIDError63", "XIDError64", "XIDError79", "XIDError94", "XIDError95", "DcgmExporterUnavailable",
)  # fmt: skip
SIGNALS = NPD_SIGNALS + COLLECTOR_SIGNALS


@dataclass(frozen=True, slots=True)
class Pool:
    """Like machines of one site. prefix, first, count: their names; product, speed: what a network test measures."""

    cluster: str
    site: str
    name: str
    prefix: str
    first: int
    count: int
    product: str
    instance_type: str
    region: str
    zone: str
    bus_bandwidth: tuple[float, float] = (46.9, 48.8)  # GB/s between two GPUs of two nodes
    memory_bandwidth: tuple[float, float] = (4180.0, 4260.0)  # GB/s of one GPU's own memory


@dataclass(frozen=True, slots=True)
class Machine:
    """One machine: the identities that a run binds its result to."""

    name: str
    uid: str
    provider_id: str
    system_uuid: str
    machine_id: str
    boot_id: str
    pool: Pool

    def rebooted(self) -> "Machine":
        """The same machine after a reboot."""
        return replace(self, boot_id=uid(self.boot_id, "rebooted"))

    def replaced(self) -> "Machine":
        """Another machine under the same name."""
        return machine(self.pool, self.name, "another")


_H200 = ("NVIDIA-H200", "Standard_ND96isr_H200_v5")
POOLS = (
    Pool("west-1", "site-a", "h200-ib", "gpu", 1, 20, *_H200, "westus3", "westus3-1"),
    Pool("west-1", "site-b", "h200-ib", "gpu", 21, 8, *_H200, "westus3", "westus3-2"),
    Pool("west-1", "site-b", "a100-ib", "a100", 1, 12, "NVIDIA-A100-SXM4-80GB", "Standard_ND96amsr_A100_v4",
         "westus3", "westus3-2", (23.2, 24.2), (1710.0, 1745.0)),
    Pool("east-1", "site-c", "h200-ib", "gpu", 1, 16, *_H200, "eastus2", "eastus2-1"),
    Pool("east-1", "site-d", "h100-ib", "h100", 1, 8, "NVIDIA-H100-80GB-HBM3", "Standard_ND96isr_H100_v5",
         "eastus2", "eastus2-3", (46.5, 48.6), (2870.0, 2930.0)),
    Pool("east-1", "site-d", "l40s", "l40s", 1, 8, "NVIDIA-L40S", "Standard_NC48ads_L40S_v1",
         "eastus2", "eastus2-3", (9.8, 10.9), (742.0, 771.0)),
    Pool("north-1", "site-n", "h100-ib", "gpu", 1, 4, "NVIDIA-H100-80GB-HBM3", "Standard_ND96isr_H100_v5",
         "northeurope", "northeurope-1", (46.5, 48.6), (2870.0, 2930.0)),
    Pool("south-1", "site-s", "a100-ib", "gpu", 1, 4, "NVIDIA-A100-SXM4-80GB", "Standard_ND96amsr_A100_v4",
         "southcentralus", "southcentralus-1", (23.2, 24.2), (1710.0, 1745.0)),
)  # fmt: skip

# Nodes about which there is something to say. Whoever is not named here is ready, and every signal is fresh and False.
FAULTS = {
    ("west-1", "gpu-07"): ("IBLinkDown", "mlx5_0 port 1 is down since the last flap; 14 flaps within the hour"),
    ("west-1", "a100-09"): ("XIDError79", "GPU 5 has fallen off the bus (XID 79)"),
    ("east-1", "gpu-11"): ("GPUECCDoubleVolatile", "GPU 2: 3 uncorrectable memory errors since boot"),
    ("east-1", "h100-06"): ("GPUThermalViolation", "GPU 7 was throttled for 41 s by its temperature"),
}
SILENT = {("west-1", "a100-03"), ("west-1", "a100-04"), ("east-1", "l40s-06")}  # heartbeats 40 minutes old
UNSEEN = {("east-1", "l40s-01")}  # no collector on it: its signals are missing
NOT_READY = {("west-1", "gpu-20"), ("east-1", "l40s-03")}
CORDONED = {("west-1", "gpu-19"), ("east-1", "h100-06")}
REPLACED = {("west-1", "gpu-21")}
REBOOTED = {("west-1", "gpu-22")}


def machine(pool: Pool, name: str, copy: str = "") -> Machine:
    """A machine under a name of a pool; `copy` tells apart those that had the name one after the other."""
    seed = (pool.cluster, name, copy)
    group = f"azure:///subscriptions/{uid(pool.cluster)}/resourceGroups/tau-{pool.cluster}"
    scale_set = f"{group}/providers/Microsoft.Compute/virtualMachineScaleSets/{pool.name}-{pool.site}"
    number = int(hexes(*seed, "instance", length=3), 16)
    return Machine(
        name,
        uid(*seed, "node"),
        f"{scale_set}/virtualMachines/{number}",
        uid(*seed, "system"),
        hexes(*seed, "machine", length=32),
        uid(*seed, "boot"),
        pool,
    )


def machines(cluster: str) -> dict[str, Machine]:
    """The machines of a cluster by name, as they were when the runs of the sample saw them."""
    names = ((pool, f"{pool.prefix}-{pool.first + i:02}") for pool in POOLS for i in range(pool.count))
    return {name: machine(pool, name) for pool, name in names if pool.cluster == cluster}


def nodes(cluster: str, now: datetime) -> Iterator[Object]:
    """The nodes of a cluster as they are now."""
    for name, then in machines(cluster).items():
        if (cluster, name) in REPLACED:
            yield node(then.replaced(), now, days=0.08)
        else:
            yield node(then.rebooted() if (cluster, name) in REBOOTED else then, now, days=61)


def node(here: Machine, now: datetime, days: float) -> Object:
    """A Node with labels, capacity, identity and conditions; `days` is its age."""
    pool, key = here.pool, (here.pool.cluster, here.name)
    labels = {
        "kubernetes.io/hostname": here.name,
        "kubernetes.io/arch": "amd64",
        "kubernetes.azure.com/agentpool": pool.name,
        "unbounded-cloud.io/site": pool.site,
        "node.kubernetes.io/instance-type": pool.instance_type,
        "nvidia.com/gpu.product": pool.product,
        "nvidia.com/gpu.count": "8",
        "topology.kubernetes.io/region": pool.region,
        "topology.kubernetes.io/zone": pool.zone,
        "topology.tau.azure.com/rack": rack(here.name, pool),
    }
    spec: Object = {
        "providerID": here.provider_id,
        "taints": [{"key": "sku", "value": "gpu", "effect": "NoSchedule"}],
    }
    if key in CORDONED:
        spec["unschedulable"] = True
        spec["taints"].append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
    capacity = {"cpu": "96", "memory": "1902Gi", "pods": "110", GPU: "8"}
    if pool.name.endswith("-ib"):
        capacity["rdma/ib"] = "8"
    free = {**capacity, "cpu": "94", "memory": "1851Gi", GPU: "7" if key == ("west-1", "a100-09") else "8"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": here.name,
            "uid": here.uid,
            "creationTimestamp": ago(now, days=days),
            "labels": labels,
        },
        "spec": spec,
        "status": {
            "capacity": capacity,
            "allocatable": free,
            "conditions": [_ready(key, now), *_signals(key, now)],
            "nodeInfo": {
                "machineID": here.machine_id,
                "systemUUID": here.system_uuid,
                "bootID": here.boot_id,
                "kernelVersion": "5.15.0-1089-azure",
                "osImage": "Ubuntu 22.04.5 LTS",
                "containerRuntimeVersion": "containerd://1.7.27",
                "kubeletVersion": "v1.33.5",
            },
        },
    }


def rack(name: str, pool: Pool) -> str:
    """Four machines share a rack."""
    return f"{pool.site}-r{(int(name.rpartition('-')[2]) - 1) // 4 + 1:02}"


def _ready(key: tuple[str, str], now: datetime) -> Object:
    if key in NOT_READY:
        stopped = condition(
            "Ready", False, "NodeStatusUnknown", "Kubelet stopped posting node status.", ago(now, hours=3)
        )
        return stopped | {"status": "Unknown", "lastHeartbeatTime": ago(now, hours=3, minutes=1)}
    ready = condition("Ready", True, "KubeletReady", "kubelet is posting ready status", ago(now, days=9))
    return ready | {"lastHeartbeatTime": ago(now, seconds=_beat(key, 40))}


def _signals(key: tuple[str, str], now: datetime) -> Iterator[Object]:
    if key in UNSEEN:
        return
    fault, words = FAULTS.get(key, ("", ""))
    silent = key in SILENT or key in NOT_READY
    beat = ago(now, minutes=40 if key in SILENT else 181) if silent else ago(now, seconds=_beat(key, 110))
    for name in SIGNALS:
        bad = name == fault
        since = ago(now, minutes=52) if bad else ago(now, days=9)
        found = condition(name, bad, name if bad else f"No{name}", words if bad else "observed without fault", since)
        yield found | {"lastHeartbeatTime": beat}


def _beat(key: tuple[str, str], within: int) -> int:
    return int(hexes(*key, "beat", length=4), 16) % within

"""The types of check that the sample registers: how each is registered, what it measures and what it says.

A family's `measure` gives the details of a run that passed, its sentence, and its log.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from statistics import median
from typing import NamedTuple

from .logs import nccl_log
from .nodes import Machine
from .objects import GPU, Object, between


class Measured(NamedTuple):
    """What a run that passed found."""

    data: Object
    message: str
    log: str


@dataclass(frozen=True, slots=True)
class Family:
    """One type of check. template: what launches it; None where a controller of its own does.

    count: targets; fresh_hours, every_hours: how long a result counts and how often it is due; seconds: one run's work.
    """

    type: str
    version: str
    title: str
    owner: str
    template: str | None
    schema: str
    count: int
    measure: Callable[[tuple[Machine, ...], str], Measured]
    display: Object
    evidence: tuple[str, ...] = ("manifest", "logs", "placement", "image-receipt", "cleanup")
    resource: Object = field(default_factory=dict)
    bind_to: tuple[str, ...] = ("uid", "bootID")
    fresh_hours: int = 24
    every_hours: int = 12
    seconds: int = 170


def _names(machines: tuple[Machine, ...]) -> str:
    names = [machine.name for machine in machines]
    return " and ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])} and {names[-1]}"


def _inter_node_ib(machines: tuple[Machine, ...], seed: str) -> Measured:
    first, second = machines
    speed = between(*first.pool.bus_bandwidth, seed)
    data = {
        "source": "nccl-tests",
        "transport": "NET/IB",
        "linkLayer": "InfiniBand",
        "socketFallback": False,
        "gdr": True,
        "hcas": ["mlx5_0:1"],
        "ncclVersions": ["2.27.7"],
        "channels": 2,
        "busBandwidthGBps": speed,
        "pairs": [{"from": first.name, "to": second.name, "value": speed}],
        "sizes": [
            {"bytes": size, "busBandwidthGBps": round(speed * share, 2)}
            for size, share in ((131072, 0.13), (16777216, 0.95), (2147483648, 1.0))
        ],
    }
    words = f"{_names(machines)} exchanged data over InfiniBand with GPU Direct RDMA at {speed} GB/s"
    return Measured(data, words, nccl_log(machines, speed))


def _checkpoint_path(machines: tuple[Machine, ...], seed: str) -> Measured:
    write, read = between(2050, 2280, seed, "write", digits=0), between(3900, 4350, seed, "read", digits=0)
    wait = between(3.1, 6.4, seed, "latency")
    data = {
        "mount": "/checkpoints",
        "filesystem": "lustre",
        "sizeGiB": 32,
        "writeMiBps": int(write),
        "readMiBps": int(read),
        "latencyP99Ms": wait,
        "compared": True,
    }
    words = f"32 GiB written at {write:.0f} MiB/s and read back unchanged at {read:.0f} MiB/s from {_names(machines)}"
    log = f"write 32 GiB: {write:.0f} MiB/s\nfsync p99: {wait} ms\nread 32 GiB: {read:.0f} MiB/s\ncompare: equal\n"
    return Measured(data, words, log)


def _rack_boundary(machines: tuple[Machine, ...], seed: str) -> Measured:
    inside = between(*machines[0].pool.bus_bandwidth, seed, "inside")
    across = round(inside * between(0.955, 0.985, seed, "across", digits=3), 1)
    pairs = [
        {"from": one.name, "to": other.name, "value": inside if (a < 2) == (b < 2) else across}
        for (a, one), (b, other) in combinations(enumerate(machines), 2)
    ]
    data = {"racks": 2, "insideGBps": inside, "acrossGBps": across, "hopsInside": 1, "hopsAcross": 3, "pairs": pairs}
    words = f"Two racks as labelled: {inside} GB/s inside, {across} GB/s across, between {_names(machines)}"
    log = "".join(f"{pair['from']} -> {pair['to']}: {pair['value']} GB/s\n" for pair in pairs)
    return Measured(data, words, log)


def _gpu_memory(machines: tuple[Machine, ...], seed: str) -> Measured:
    gpus = [{"gpu": i, "GBps": between(*machines[0].pool.memory_bandwidth, seed, i, digits=0)} for i in range(8)]
    slowest = min(gpu["GBps"] for gpu in gpus)
    data = {
        "gpus": gpus,
        "slowestGBps": slowest,
        "mismatches": 0,
        "correctableErrors": int(between(0, 3, seed, "errors", digits=0)),
        "uncorrectableErrors": 0,
    }
    words = f"8 of 8 GPUs of {_names(machines)} kept every pattern; the slowest moves {slowest:.0f} GB/s"
    log = "".join(f"GPU {gpu['gpu']}: {gpu['GBps']:.0f} GB/s, 0 mismatches\n" for gpu in gpus)
    return Measured(data, words, log)


def _fabric_sweep(machines: tuple[Machine, ...], seed: str) -> Measured:
    pairs: list[Object] = [
        {"from": one.name, "to": other.name, "value": between(*one.pool.bus_bandwidth, seed, one.name, other.name)}
        for one, other in combinations(machines, 2)
    ]
    speeds: list[float] = [pair["value"] for pair in pairs]
    middle, least = round(median(speeds), 1), min(speeds)
    data = {"pairs": pairs, "medianGBps": middle, "slowestGBps": least, "floorGBps": round(middle * 0.85, 1)}
    words = f"All {len(pairs)} pairs of {len(machines)} nodes are above the floor; the slowest has {least} GB/s"
    log = "".join(f"{pair['from']}\t{pair['to']}\t{pair['value']}\n" for pair in pairs)
    return Measured(data, words, log)


def _hint(label: str, pointer: str, unit: str = "") -> Object:
    return {"label": label, "pointer": pointer} | ({"unit": unit} if unit else {})


_BANDWIDTH = _hint("Bus bandwidth", "/busBandwidthGBps", "GB/s")
_PAIRS = {"pointer": "/pairs", "unit": "GB/s"}

IB = Family(
    "nccl.tau.azure.com/inter-node-ib", "1.2", "Inter-node InfiniBand", "Network operations",
    "nccl-ib-pair", "nccl-ib.v1", 2, _inter_node_ib,
    {
        "summary": [
            _BANDWIDTH, _hint("Transport", "/transport"), _hint("GPU Direct RDMA", "/gdr"),
            _hint("Channels", "/channels"),
        ],
        "pairMatrix": _PAIRS,
        "series": [_BANDWIDTH],
    },
    resource={"resource": GPU, "perTarget": 1},
)  # fmt: skip
STORAGE = Family(
    "storage.tau.azure.com/checkpoint-path", "2.0", "Checkpoint storage path", "Storage platform",
    "storage-path", "storage-path.v1", 1, _checkpoint_path,
    {
        "summary": [
            _hint("Write", "/writeMiBps", "MiB/s"), _hint("Read", "/readMiBps", "MiB/s"),
            _hint("Latency p99", "/latencyP99Ms", "ms"),
        ],
        "series": [_hint("Write", "/writeMiBps", "MiB/s"), _hint("Read", "/readMiBps", "MiB/s")],
    },
    evidence=("manifest", "logs", "placement", "cleanup"), bind_to=("uid",), every_hours=6, seconds=95,
)  # fmt: skip
TOPOLOGY = Family(
    "topology.tau.azure.com/rack-boundary", "1.0", "Rack boundary topology", "Network operations",
    "rack-boundary", "rack-boundary.v1", 4, _rack_boundary,
    {
        "summary": [_hint("Inside a rack", "/insideGBps", "GB/s"), _hint("Across racks", "/acrossGBps", "GB/s")],
        "pairMatrix": _PAIRS,
        "series": [_hint("Across racks", "/acrossGBps", "GB/s")],
    },
    evidence=("manifest", "logs", "placement", "cleanup"), resource={"resource": GPU, "perTarget": 1},
    fresh_hours=48, every_hours=24, seconds=210,
)  # fmt: skip
MEMORY = Family(
    "gpu.tau.azure.com/memory", "1.1", "GPU memory", "Node operations",
    "gpu-memory", "gpu-memory.v1", 1, _gpu_memory,
    {
        "summary": [
            _hint("Slowest GPU", "/slowestGBps", "GB/s"), _hint("Mismatches", "/mismatches"),
            _hint("Correctable errors", "/correctableErrors"),
        ],
        "series": [_hint("Slowest GPU", "/slowestGBps", "GB/s")],
    },
    evidence=("logs", "placement", "cleanup"), resource={"resource": GPU, "perTarget": 8},
    fresh_hours=72, every_hours=24, seconds=320,
)  # fmt: skip
SWEEP = Family(
    "fabric.example.org/all-pairs", "0.9", "All-pairs fabric sweep", "Network operations",
    None, "fabric-sweep.v2", 8, _fabric_sweep,
    {
        "summary": [_hint("Median", "/medianGBps", "GB/s"), _hint("Slowest pair", "/slowestGBps", "GB/s")],
        "pairMatrix": _PAIRS,
        "series": [_hint("Median", "/medianGBps", "GB/s"), _hint("Slowest pair", "/slowestGBps", "GB/s")],
    },
    evidence=("logs",), bind_to=("uid",), fresh_hours=24, every_hours=12, seconds=640,
)  # fmt: skip

"""Every check of the sample fleet, in one table: where it stands, what it tests, and the verdict it must have.

Most of a fleet is well, and says so. The rest is one check per state and reason of the verdict table.
"""

from ...contract.reasons import State
from ..families import IB, MEMORY, STORAGE, SWEEP, TOPOLOGY
from ..scene import Pace
from . import approvals, phases, proving, sealing
from .scenario import Scenario, after

__all__ = ["LIVING", "SCENARIOS", "STORIES", "Scenario"]

FAILED, UNKNOWN, STALE, RUNNING = State.FAILED, State.UNKNOWN, State.STALE, State.RUNNING
VISION, SPEECH, SEARCH, SYSTEM = "team-vision", "team-speech", "team-search", "tau-system"


def _gpus(*numbers: int, prefix: str = "gpu") -> tuple[str, ...]:
    return tuple(f"{prefix}-{number:02}" for number in numbers)


def _a100(*numbers: int) -> tuple[str, ...]:
    return _gpus(*numbers, prefix="a100")


def _h100(*numbers: int) -> tuple[str, ...]:
    return _gpus(*numbers, prefix="h100")


def _l40s(*numbers: int) -> tuple[str, ...]:
    return _gpus(*numbers, prefix="l40s")


W, E = "west-1", "east-1"

WELL = (
    Scenario(W, VISION, "ib-pair", IB, _gpus(3, 12), past=29),
    Scenario(W, VISION, "ib-pair-a100", IB, _a100(1, 6), past=6, title="Inter-node InfiniBand, A100"),
    Scenario(W, VISION, "checkpoint-path", STORAGE, _gpus(4), past=29),
    Scenario(W, VISION, "gpu-memory", MEMORY, _gpus(5), past=7),
    Scenario(W, VISION, "rack-boundary", TOPOLOGY, _gpus(1, 2, 5, 6), past=7),
    Scenario(W, SPEECH, "checkpoint-path", STORAGE, _gpus(9), past=12),
    Scenario(W, SPEECH, "ib-pair-a100", IB, _a100(2, 7), past=8, title="Inter-node InfiniBand, A100"),
    Scenario(W, SPEECH, "gpu-memory", MEMORY, _gpus(10), past=4),
    Scenario(W, SPEECH, "gpu-memory-a100", MEMORY, _a100(5), title="GPU memory, A100"),
    Scenario(W, SPEECH, "rack-boundary", TOPOLOGY, _gpus(9, 10, 13, 14), past=6),
    Scenario(W, SEARCH, "ib-pair", IB, _gpus(15, 18), past=12),
    Scenario(W, SEARCH, "gpu-memory", MEMORY, _gpus(16), past=4),
    Scenario(W, SEARCH, "checkpoint-path-a100", STORAGE, _a100(8), past=6, title="Checkpoint storage path, A100"),
    Scenario(W, SYSTEM, "fabric-sweep-a", SWEEP, _gpus(1, 2, 3, 4, 5, 6, 8, 9), past=29, title="Fabric sweep, site A"),
    Scenario(W, SYSTEM, "fabric-sweep-b", SWEEP, _a100(1, 2, 5, 6, 7, 8, 10, 11), past=6,
             title="Fabric sweep, A100"),
    Scenario(W, SYSTEM, "spine-boundary", TOPOLOGY, _gpus(3, 4, 11, 12), past=6, title="Spine boundary topology"),
    Scenario(W, SYSTEM, "shared-scratch", STORAGE, _a100(10), past=12, title="Shared scratch path"),
    Scenario(E, VISION, "ib-pair", IB, _gpus(1, 9), past=29),
    Scenario(E, VISION, "gpu-memory", MEMORY, _gpus(2), past=9),
    Scenario(E, VISION, "rack-boundary", TOPOLOGY, _gpus(1, 2, 5, 6), past=6),
    Scenario(E, SPEECH, "ib-pair", IB, _gpus(3, 10), past=12),
    Scenario(E, SPEECH, "checkpoint-path", STORAGE, _gpus(7), past=12),
    Scenario(E, SPEECH, "gpu-memory-l40s", MEMORY, _l40s(2), past=6, title="GPU memory, L40S"),
    Scenario(E, SEARCH, "ib-pair-h100", IB, _h100(1, 5), past=12, title="Inter-node InfiniBand, H100"),
    Scenario(E, SEARCH, "checkpoint-path", STORAGE, _h100(2), past=12),
    Scenario(E, SEARCH, "gpu-memory", MEMORY, _h100(3), past=6),
    Scenario(E, SYSTEM, "fabric-sweep", SWEEP, _gpus(1, 2, 3, 4, 5, 6, 7, 8), past=20, title="Fabric sweep, site C"),
    Scenario(E, SYSTEM, "shared-scratch", STORAGE, _h100(4), past=6, title="Shared scratch path"),
)  # fmt: skip


def _racks() -> tuple[Scenario, ...]:
    """The standing checks of node operations: memory, InfiniBand and storage in each rack, on its first two nodes."""
    first = {W: ((_gpus, "site-a", 5), (_a100, "a100", 2)), E: ((_gpus, "site-c", 4), (_h100, "h100", 1))}
    found = []
    for cluster, rows in first.items():
        for named, row, racks in rows:
            for rack in range(racks):
                one, other = named(4 * rack + 1), named(4 * rack + 2)
                where, words = f"{row}-r{rack + 1:02}", f"{row.replace('-', ' ')} rack {rack + 1}"
                found += [
                    Scenario(cluster, SYSTEM, f"mem-{where}", MEMORY, one, past=1, title=f"GPU memory, {words}"),
                    Scenario(cluster, SYSTEM, f"ib-{where}", IB, one + other, past=2, title=f"InfiniBand, {words}"),
                    Scenario(cluster, SYSTEM, f"path-{where}", STORAGE, other, past=1, title=f"Storage path, {words}"),
                ]
    return tuple(found)


WEST = (
    Scenario(W, VISION, "ib-pair-site-b", IB, _gpus(7, 24), FAILED, "socket_fallback_observed",
             proving.socket_fallback, past=20, title="Inter-node InfiniBand, across sites"),
    Scenario(W, SPEECH, "ib-pair", IB, _gpus(21, 25), STALE, "target_replaced", proving.passed_earlier(5), past=12),
    Scenario(W, SPEECH, "ib-pair-reserved", IB, _gpus(22, 26), STALE, "target_rebooted", proving.passed_earlier(7),
             title="Inter-node InfiniBand, reserved nodes"),
    Scenario(W, SEARCH, "checkpoint-path", STORAGE, _gpus(17), STALE, "expired", proving.expired, past=9),
    Scenario(W, SEARCH, "ib-pair-a100", IB, _a100(11, 12), FAILED, "cleanup_incomplete", proving.left_behind,
             title="Inter-node InfiniBand, A100"),
    Scenario(W, SEARCH, "rack-boundary", TOPOLOGY, _gpus(17, 18, 13, 19), UNKNOWN, "targets_incomplete",
             proving.one_node_left_out, past=6),
    Scenario(W, VISION, "gpu-soak", MEMORY, _gpus(8), RUNNING, "running",
             phases.active("Running", Pace(2, 70, 78, 14478, 14500, 14520), minutes=94, by="vera@example.org"),
             past=6, title="GPU memory soak, 4 h"),
    Scenario(W, SEARCH, "ib-pair-site-b", IB, _gpus(27, 28), RUNNING, "queued",
             phases.active("Queued", Pace(), minutes=11), title="Inter-node InfiniBand, site B"),
    Scenario(W, VISION, "nvlink-smoke", MEMORY, _gpus(6), UNKNOWN, "not_approved", approvals.pending, past=0,
             title="NVLink smoke test"),
    Scenario(W, SPEECH, "node-probe", MEMORY, _gpus(11), UNKNOWN, "rejected", approvals.rejected, past=0,
             title="Node probe of the speech team"),
    Scenario(W, SEARCH, "checkpoint-cold", STORAGE, _gpus(16), UNKNOWN, "approval_outdated", approvals.outdated,
             past=3, title="Checkpoint storage path, cold tier"),
    Scenario(W, SYSTEM, "ib-pkey-audit", IB, _gpus(2, 14), UNKNOWN, "no_result", phases.never_run, past=0,
             title="InfiniBand partition keys"),
    Scenario(W, SPEECH, "tts-smoke", MEMORY, _gpus(13), FAILED, "workload_failed",
             phases.ended("workload_failed", "Container rank of pod 0 ended with exit code 139 (segmentation fault) "
                          "after 3 min 12 s on gpu-13"), title="Text-to-speech smoke test"),
    Scenario(W, SEARCH, "gpu-memory-a100", MEMORY, _a100(6), UNKNOWN, "evicted",
             phases.ended("evicted", "Preempted by team-search/ranker-daily, which has a higher priority"),
             title="GPU memory, A100"),
)  # fmt: skip

EAST_PHASES = (
    Scenario(E, SPEECH, "ib-pair-legacy", IB, _gpus(3, 4), UNKNOWN, "not_registered", approvals.left_over, past=2),
    Scenario(E, VISION, "ckpt-burst", STORAGE, _gpus(4), UNKNOWN, "registration_invalid", approvals.malformed,
             past=0, title="Checkpoint burst"),
    Scenario(E, SEARCH, "ib-strict", IB, _h100(2, 7), UNKNOWN, "registration_invalid", approvals.not_allowed_here,
             past=0, title="Inter-node InfiniBand, strict"),
    Scenario(E, SEARCH, "embed-probe", STORAGE, _h100(8), UNKNOWN, "not_approved", approvals.pending, past=0,
             title="Embedding store path"),
    Scenario(E, VISION, "gpu-soak", MEMORY, _gpus(6), UNKNOWN, "template_changed", approvals.template_changed,
             title="GPU memory soak"),
    Scenario(E, SPEECH, "nvlink-ring", MEMORY, _gpus(8), UNKNOWN, "template_changed", approvals.template_gone,
             title="NVLink ring"),
    Scenario(E, SPEECH, "gpu-memory", MEMORY, _gpus(12), RUNNING, "pending",
             phases.active("Pending", Pace(), minutes=0.5, by="sam@example.org"), past=6),
    Scenario(E, SEARCH, "rack-boundary", TOPOLOGY, _h100(1, 2, 5, 7), RUNNING, "admitted",
             phases.active("Admitted", Pace(2, 51), minutes=1.2), past=6),
    Scenario(E, VISION, "ib-pair-far", IB, _gpus(5, 16), RUNNING, "collecting",
             after(proving.found("failed", "transport_failure", "Rank 1 lost its peer after 12 s: completion with "
                                 "error 12", hours=12), phases.active("Collecting", Pace(2, 30, 36, 206), minutes=3.6)),
             title="Inter-node InfiniBand, far racks"),
    Scenario(E, SPEECH, "rack-boundary", TOPOLOGY, _gpus(9, 10, 13, 14), RUNNING, "cleaning",
             phases.active("Cleaning", Pace(2, 30, 36, 250), minutes=4.5), past=5),
    Scenario(E, SEARCH, "ib-pair-night", IB, _h100(3, 4), UNKNOWN, "run_lost",
             phases.active("Running", Pace(), minutes=140, silent=131), title="Inter-node InfiniBand, nightly"),
    Scenario(E, SYSTEM, "spine-boundary", TOPOLOGY, _gpus(3, 7, 11, 15), UNKNOWN, "run_lost",
             phases.active("Queued", Pace(), minutes=200, hours=3), title="Spine boundary topology"),
    Scenario(E, VISION, "scratch-path", STORAGE, _gpus(13), UNKNOWN, "result_missing", phases.result_deleted,
             title="Scratch path"),
    Scenario(E, SPEECH, "scratch-path", STORAGE, _gpus(14), UNKNOWN, "launch_failed",
             phases.ended("launch_failed", "The API server refused the Job: exceeded quota team-speech, requested "
                          "count/jobs.batch=1, used 40, limited 40", phase="Pending"), title="Scratch path"),
    Scenario(E, SEARCH, "scratch-path", STORAGE, _h100(8), UNKNOWN, "deadline_exceeded",
             phases.ended("deadline_exceeded", "Still running after 30 min; the last line of the log is 41 % of 32 GiB "
                          "written"), title="Scratch path"),
)  # fmt: skip

EAST_RESULTS = (
    Scenario(E, VISION, "ib-pair-old-ctl", IB, _gpus(2, 11), UNKNOWN, "malformed_result", sealing.malformed_result,
             past=2, title="Inter-node InfiniBand, old controller"),
    Scenario(E, SEARCH, "ib-pair", IB, _h100(2, 8), UNKNOWN, "digest_mismatch", sealing.tampered),
    Scenario(E, SYSTEM, "ib-canary", IB, _gpus(4, 12), UNKNOWN, "unsupported_schema", sealing.newer_envelope,
             title="Inter-node InfiniBand, canary controller"),
    Scenario(E, SYSTEM, "storage-beta", STORAGE, _gpus(15), UNKNOWN, "unsupported_schema", sealing.other_details,
             title="Storage path, beta parser"),
    Scenario(E, SYSTEM, "gpu-memory", MEMORY, _gpus(16), UNKNOWN, "unsupported_version", sealing.other_version),
    Scenario(E, SEARCH, "gpu-memory-h100", MEMORY, _h100(5), UNKNOWN, "unauthorized_publisher", sealing.forged,
             title="GPU memory, H100"),
    Scenario(E, SPEECH, "ib-pair-b", IB, _gpus(5, 13), UNKNOWN, "identity_mismatch", sealing.of_another_run,
             title="Inter-node InfiniBand, second pair"),
    Scenario(E, VISION, "ib-pair-twice", IB, _gpus(6, 14), UNKNOWN, "identity_mismatch", sealing.contradicted,
             title="Inter-node InfiniBand, published twice"),
    Scenario(E, SPEECH, "storage-cold", STORAGE, _gpus(15), UNKNOWN, "clock_invalid", sealing.local_time,
             title="Cold storage path"),
    Scenario(E, VISION, "rack-boundary-b", TOPOLOGY, _gpus(9, 10, 13, 14), UNKNOWN, "clock_invalid",
             sealing.stepped_back, title="Rack boundary topology, second row"),
    Scenario(E, SEARCH, "ib-pair-mixed", IB, _h100(1, 4), UNKNOWN, "outcome_mismatch", sealing.too_kind,
             title="Inter-node InfiniBand, mixed firmware"),
)  # fmt: skip

EAST_PROOF = (
    Scenario(E, SEARCH, "ib-pair-spare", IB, _h100(7, 9), STALE, "target_gone", proving.passed_earlier(8),
             title="Inter-node InfiniBand, spare nodes"),
    Scenario(E, SYSTEM, "fabric-sweep-d", SWEEP, _h100(1, 2, 3, 4, 5, 6, 7, 8), STALE, "expired",
             proving.older_than_allowed, past=6, title="Fabric sweep, site D"),
    Scenario(E, SEARCH, "ib-weekend", IB, _h100(2, 5), STALE, "expired",
             proving.found("failed", "transport_failure", "Rank 0 could not reach rank 1: 20 retries, completion with "
                           "error 12", hours=57), title="Inter-node InfiniBand, weekend"),
    Scenario(E, SPEECH, "ib-pair-bursty", IB, _gpus(4, 11), FAILED, "correctness_error", proving.wrong_data,
             past=14, title="Inter-node InfiniBand, bursty"),
    Scenario(E, VISION, "spine-boundary", TOPOLOGY, _gpus(1, 2, 3, 4), FAILED, "topology_mismatch",
             proving.topology, title="Spine boundary topology"),
    Scenario(E, SYSTEM, "fabric-sweep-c2", SWEEP, _gpus(9, 10, 11, 12, 13, 14, 15, 16), FAILED, "check_failed",
             proving.slow_pair, past=14, title="Fabric sweep, site C, second row"),
    Scenario(E, SEARCH, "ib-flap", IB, _h100(6, 8), FAILED, "transport_failure",
             proving.found("failed", "transport_failure", "The link of h100-06 went down after 41 s: completion with "
                           "error 12, vendor error 129", hours=0.8), title="Inter-node InfiniBand, h100-06"),
    Scenario(E, SPEECH, "storage-latency", STORAGE, _gpus(12), FAILED, "latency_above_limit",
             proving.found("failed", "latency_above_limit", "p99 of fsync is 212 ms; the limit is 50 ms", hours=2,
                           latencyP99Ms=212.0), past=14, title="Storage latency"),
    Scenario(E, SPEECH, "ib-pair-cleanup", IB, _gpus(7, 15), UNKNOWN, "cleanup_unknown", proving.not_looked,
             title="Inter-node InfiniBand, third pair"),
    Scenario(E, SEARCH, "ib-pair-half", IB, _h100(3, 7), UNKNOWN, "targets_incomplete",
             after(proving.found("failed", "correctness_error", "3 values were wrong on rank 1", hours=14),
                   proving.one_rank),
             title="Inter-node InfiniBand, one rank"),
    Scenario(E, VISION, "storage-nightly", STORAGE, _gpus(8), UNKNOWN, "evidence_missing", proving.evidence_deleted,
             title="Nightly storage path"),
    Scenario(E, SEARCH, "storage-nightly", STORAGE, _h100(3), UNKNOWN, "evidence_missing",
             proving.evidence_never_written, title="Nightly storage path"),
    Scenario(E, SPEECH, "storage-nightly", STORAGE, _gpus(10), UNKNOWN, "evidence_unverified",
             proving.evidence_not_read, title="Nightly storage path"),
    Scenario(E, VISION, "checkpoint-path", STORAGE, _gpus(11), UNKNOWN, "evidence_mismatch",
             proving.evidence_changed, past=14),
    Scenario(E, SEARCH, "storage-cut", STORAGE, _h100(4), UNKNOWN, "evidence_mismatch", proving.evidence_cut,
             title="Storage path, second volume"),
    Scenario(E, SPEECH, "ib-pair-quiet", IB, _gpus(1, 2), UNKNOWN, "ib_transport_not_proven",
             proving.found("unknown", "ib_transport_not_proven", "Rank 1 logged no NET/IB channel: NCCL_DEBUG was not "
                           "INFO there", hours=1.6, transport=None, socketFallback=None, gdr=None),
             title="Inter-node InfiniBand, quiet log"),
    Scenario(E, VISION, "ib-pair-nan", IB, _gpus(3, 8), UNKNOWN, "invalid_measurement",
             proving.found("unknown", "invalid_measurement", "The bus bandwidth of 2 GiB is not a number", hours=3,
                           busBandwidthGBps=None), title="Inter-node InfiniBand, broken table"),
    Scenario(E, SYSTEM, "ib-parser", IB, _gpus(6, 10), UNKNOWN, "parser_rejected",
             proving.found("unknown", "parser_rejected", "Line 212 of rank 0's log is two records in one", hours=2.1),
             title="Inter-node InfiniBand, torn log"),
    Scenario(E, VISION, "numa-probe", MEMORY, _gpus(7), UNKNOWN, "check_undecided",
             proving.found("unknown", "check_undecided", "GPU 3 was in use by another process for half of the "
                           "measurement", hours=4), title="NUMA probe"),
)  # fmt: skip

ELSEWHERE = (
    Scenario("north-1", VISION, "ib-pair", IB, _gpus(1, 2), UNKNOWN, "source_unavailable"),
    Scenario("north-1", VISION, "checkpoint-path", STORAGE, _gpus(3), UNKNOWN, "source_unavailable"),
    Scenario("south-1", VISION, "ib-pair", IB, _gpus(1, 2), UNKNOWN, "publisher_unverified"),
    Scenario("south-1", VISION, "checkpoint-path", STORAGE, _gpus(3), UNKNOWN, "publisher_unverified"),
)

SCENARIOS: tuple[Scenario, ...] = (*WELL, *_racks(), *WEST, *EAST_PHASES, *EAST_RESULTS, *EAST_PROOF, *ELSEWHERE)

# The check that runs for ever: once a minute, see living.py.
LIVING = Scenario(W, VISION, "tour", IB, _gpus(11, 14), past=0, title="Guided tour: a run you can watch")

# Five stories worth telling, by name, and the checks that tell each of them.
STORIES: dict[str, tuple[Scenario, ...]] = {
    name: tuple(s for s in SCENARIOS for place in places if (s.cluster, s.namespace, s.name) == place)
    for name, places in {
        "socket-fallback": ((W, VISION, "ib-pair-site-b"),),
        "partial-targets": ((E, SEARCH, "ib-pair-half"), (W, SEARCH, "rack-boundary")),
        "stale-evidence": ((W, SEARCH, "checkpoint-path"), (E, SYSTEM, "fabric-sweep-d")),
        "cleanup-failure": ((W, SEARCH, "ib-pair-a100"),),
        "node-identity": ((W, SPEECH, "ib-pair"), (W, SPEECH, "ib-pair-reserved")),
    }.items()
}

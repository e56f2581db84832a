"""Rows 14 to 21 of the verdict table: a sound result that does not prove anything any more, or does not say yes."""

from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import combinations
from typing import Any

from ...contract.clock import format_time
from ...contract.document import digest_of
from ..logs import nccl_log
from ..objects import between
from ..scene import Scene
from .scenario import passed


def found(outcome: str, reason: str, message: str, *, hours: float, **data: Any) -> Callable[[Scene], None]:
    """A run that came to another answer."""

    def stage(scene: Scene) -> None:
        attempt = passed(scene, hours=hours)
        attempt.say(outcome, reason, message, **data)
        scene.seal(attempt)

    return stage


def passed_earlier(hours: float) -> Callable[[Scene], None]:
    """A run that passed then. What has happened to its nodes since is the cluster's matter."""
    return lambda scene: _seal(scene, hours)


def _seal(scene: Scene, hours: float) -> None:
    scene.seal(passed(scene, hours=hours))


def socket_fallback(scene: Scene) -> None:
    """NCCL found no InfiniBand device on one node and went over TCP; the table of nccl-tests looks fine."""
    attempt = passed(scene, minutes=9)
    first, second = scene.machines
    message = f"NCCL fell back to sockets on {first.name}; InfiniBand was not used (3.1 GB/s over eth0)"
    pairs = [{"from": first.name, "to": second.name, "value": 3.1}]
    attempt.say("failed", "socket_fallback_observed", message, transport="NET/Socket", socketFallback=True, gdr=False)
    attempt.envelope["details"]["data"] |= {"busBandwidthGBps": 3.1, "hcas": [], "linkLayer": None, "pairs": pairs}
    attempt.envelope["errors"] = [
        {"reason": "socket_fallback_observed", "message": f"{first.name}: NET/IB : No device found."}
    ]
    attempt.files["logs"] = nccl_log(scene.machines, 3.1, transport="Socket").encode()
    scene.seal(attempt)


def wrong_data(scene: Scene) -> None:
    """The transport is InfiniBand, and what arrived is not what was sent."""
    attempt = passed(scene, hours=1.1)
    attempt.say("failed", "correctness_error", "18 values of the 2 GiB all-reduce were wrong on rank 1", wrongValues=18)
    attempt.files["logs"] = nccl_log(scene.machines, 47.7, wrong=18).encode()
    scene.seal(attempt)


def slow_pair(scene: Scene) -> None:
    """One pair of a sweep is far below the others."""
    attempt = passed(scene, hours=2)
    pairs = attempt.envelope["details"]["data"]["pairs"]
    slow = pairs[11]
    slow["value"] = 9.1
    message = (
        f"{slow['from']} to {slow['to']} moves 9.1 GB/s, under the floor of 40.7 GB/s; all other pairs are above it"
    )
    attempt.say("failed", "check_failed", message, slowestGBps=9.1)
    for target in attempt.envelope["targets"]["observed"]:
        target["outcome"] = "failed" if target["name"] in (slow["from"], slow["to"]) else "passed"
    scene.seal(attempt)


def one_rank(scene: Scene) -> None:
    """Rank 1 never got as far as its pod: one of two targets was seen."""
    _leave_out(scene, 1, "report_missing", "Rank 0 reported; rank 1 was never scheduled")


def one_node_left_out(scene: Scene) -> None:
    """The last of the nodes that were asked for was cordoned and not tested."""
    names = [machine.name for machine in scene.machines]
    _leave_out(scene, 1, "targets_incomplete", f"{names[-1]} is cordoned and was not tested", names)


def _leave_out(scene: Scene, count: int, reason: str, message: str, asked: list[str] | None = None) -> None:
    attempt = passed(scene, hours=2.2)
    targets = attempt.envelope["targets"]
    targets["requested"]["nodes"] = asked
    del targets["observed"][-count:], attempt.status["targets"][-count:]
    attempt.envelope.update(outcome="unknown", reason=reason, message=message)
    left = {target["name"] for target in targets["observed"]}
    data = attempt.envelope["details"]["data"]
    data["pairs"] = [pair for pair in data["pairs"] if {pair["from"], pair["to"]} <= left]
    scene.seal(attempt)


def expired(scene: Scene) -> None:
    """Its publisher gave it six hours of the day that the registration allows, and its schedule is paused."""
    spec = scene.spec()
    spec["suspend"] = True
    scene.register(spec)
    attempt = passed(scene, hours=9)
    _last_for(attempt.envelope, hours=6)
    scene.seal(attempt)


def older_than_allowed(scene: Scene) -> None:
    """Its publisher says a day; the registration allows six hours."""
    spec = scene.spec()
    spec["results"]["freshForSeconds"] = 6 * 3600
    scene.register(spec)
    scene.seal(passed(scene, hours=10))


def _last_for(envelope: dict[str, Any], hours: int) -> None:
    observed = datetime.fromisoformat(envelope["times"]["observed"])
    envelope.update(freshForSeconds=hours * 3600, validUntil=format_time(observed + timedelta(hours=hours)))


def left_behind(scene: Scene) -> None:
    """The network policy of the run is still there: its namespace refused the deletion."""
    attempt = passed(scene, hours=1.8)
    remaining = attempt.envelope["cleanup"]["owned"][-1:]
    for cleanup in (attempt.envelope["cleanup"], attempt.status["cleanup"]):
        cleanup.update(state="incomplete", remaining=remaining)
    scene.seal(attempt)


def not_looked(scene: Scene) -> None:
    """The API server did not answer while the controller looked for what was left."""
    attempt = passed(scene, hours=3.4)
    for cleanup in (attempt.envelope["cleanup"], attempt.status["cleanup"]):
        cleanup["state"] = "unknown"
    scene.seal(attempt)


def evidence_never_written(scene: Scene) -> None:
    """The pod's volume was full: no log came out of it."""
    attempt = passed(scene, hours=5)
    attempt.envelope["evidence"] = [item for item in attempt.envelope["evidence"] if item["name"] != "logs"]
    scene.seal(attempt)


def evidence_deleted(scene: Scene) -> None:
    """A lifecycle rule of the artifact store deleted the log too early."""
    del scene.evidence[_sealed_log(scene, 6)]


def evidence_not_read(scene: Scene) -> None:
    """The artifact is there and cannot be read."""
    scene.evidence[_sealed_log(scene, 1.4)] = None


def evidence_changed(scene: Scene) -> None:
    """Somebody edited the log in the artifact store; its size stayed the same."""
    sha256 = _sealed_log(scene, 3.1)
    content = scene.evidence[sha256]
    assert content is not None
    scene.evidence[sha256] = content.replace(b"equal", b"Equal")


def evidence_cut(scene: Scene) -> None:
    """The upload ended early: the artifact is shorter than the result says."""
    sha256 = _sealed_log(scene, 2.6)
    content = scene.evidence[sha256]
    assert content is not None
    scene.evidence[sha256] = content[: len(content) // 2]


def _sealed_log(scene: Scene, hours: float) -> str:
    """Seals a run that passed, whose log is like no other; its sha256."""
    attempt = passed(scene, hours=hours)
    attempt.files["logs"] += f"run {attempt.run['spec']['runID']}\n".encode()
    scene.seal(attempt)
    return digest_of(attempt.files["logs"]).removeprefix("sha256:")


def topology(scene: Scene) -> None:
    """The labels say two racks, the fabric says one."""
    attempt = passed(scene, hours=3)
    same = between(47.0, 48.0, scene.name)
    pairs = [{"from": a.name, "to": b.name, "value": same} for a, b in combinations(scene.machines, 2)]
    message = "All four nodes hang on one leaf switch; their labels say two racks"
    attempt.say("failed", "topology_mismatch", message, racks=1, hopsAcross=1, acrossGBps=same, pairs=pairs)
    scene.seal(attempt)

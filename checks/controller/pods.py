"""What the API server says of pods and nodes: who ran where, when, which image. Pure.

This is the half of a result that is observed, not believed; nothing a pod wrote is read here but its message.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..contract.clock import parse_time
from ..objects import node_from, section, text
from . import names

Object = dict[str, Any]
# The kubelet has given up at least once: waiting longer in silence helps nobody.
_STUCK = {
    "ErrImageNeverPull",
    "ImagePullBackOff",
    "InvalidImageName",
    "ImageInspectError",
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
}


@dataclass(frozen=True, slots=True)
class Pod:
    """One pod of a run. rank: its completion index, None where it has none. leaving: it is being deleted.

    exit_code, message: of the first container, None before it ended. phase: of the whole pod.
    stuck: why it cannot start, as a sentence. disrupted: evicted or its node lost, as a sentence.
    image_asked, image_run: as the spec has it, and as the container runtime resolved it.
    """

    name: str
    uid: str
    node: str
    rank: int | None
    leaving: bool
    container: str
    image_asked: str
    image_run: str
    started_at: datetime | None
    finished_at: datetime | None
    exit_code: int | None
    message: str | None
    phase: str
    stuck: str
    disrupted: str

    @property
    def ended(self) -> bool:
        """Whether nothing more will come of it; an init container may have failed before the first one began."""
        return self.exit_code is not None or self.leaving or self.phase in ("Succeeded", "Failed")


def pod_from(item: Object) -> Pod:
    """The facts of one pod. Total."""
    metadata, spec, status = (section(item, key) for key in ("metadata", "spec", "status"))
    index = text(section(metadata, "annotations"), names.INDEX)
    first = next((each for each in spec.get("containers") or () if isinstance(each, dict)), {})
    own = _status_of(status, text(first, "name"))
    state = section(own, "state")
    ended = section(state, "terminated")
    running = section(state, "running")
    code = ended.get("exitCode")
    return Pod(
        name=text(metadata, "name"),
        uid=text(metadata, "uid"),
        node=text(spec, "nodeName"),
        rank=int(index) if index.isascii() and index.isdigit() and len(index) < 7 else None,
        leaving="deletionTimestamp" in metadata,
        container=text(first, "name"),
        image_asked=text(first, "image"),
        image_run=text(own, "imageID"),
        started_at=parse_time(ended.get("startedAt") or running.get("startedAt")),
        finished_at=parse_time(ended.get("finishedAt")),
        exit_code=code if isinstance(code, int) else None,
        message=text(ended, "message") if ended else None,
        phase=text(status, "phase"),
        stuck=_stuck(status),
        disrupted=_disrupted(status),
    )


def _status_of(status: Object, name: str) -> Object:
    for each in status.get("containerStatuses") or ():
        if isinstance(each, dict) and each.get("name") == name:
            return each
    return {}


def _stuck(status: Object) -> str:
    for group in ("initContainerStatuses", "containerStatuses"):
        for each in status.get(group) or ():
            waiting = section(section(each, "state"), "waiting")
            if text(waiting, "reason") in _STUCK:
                return f"container {text(each, 'name')}: {text(waiting, 'reason')}: {text(waiting, 'message')}"[:1024]
    return ""


def _disrupted(status: Object) -> str:
    for condition in status.get("conditions") or ():
        if (text(condition, "type"), text(condition, "status")) == ("DisruptionTarget", "True"):
            return f"{text(condition, 'reason')}: {text(condition, 'message')}"[:1024]
    return ""


def target(pod: Pod, node: Object | None) -> Object:
    """One target as the run's status lists it: the machine a pod started on. What is not known is left out."""
    identity = node_from(node) if node is not None else None
    found: Object = {"kind": "Node", "name": pod.node, "podUID": pod.uid, "image": pod.image_run or pod.image_asked}
    if identity is not None:
        found |= {
            "uid": identity.uid,
            "providerID": identity.provider_id,
            "machineID": identity.machine_id,
            "systemUUID": identity.system_uuid,
            "bootID": identity.boot_id,
        }
    if pod.rank is not None:
        found["rank"] = pod.rank
    return {key: value for key, value in found.items() if value != ""}


def targets(known: list[Object], pods: list[Pod], nodes: dict[str, Object | None]) -> list[Object]:
    """The targets seen so far: what was seen first of a pod stays, new pods are added. Ordered by rank."""
    seen = {each.get("podUID") for each in known}
    new = [target(pod, nodes.get(pod.node)) for pod in pods if pod.node and pod.started_at and pod.uid not in seen]
    return sorted([*known, *new], key=lambda each: (each.get("rank", -1), each["name"], each.get("podUID", "")))


def replaced(seen: Object, node: Object | None) -> str:
    """Why the node of a target is no longer the machine that it was when the pod started; "" where it is."""
    name = seen["name"]
    if node is None:
        return f"Node {name} was gone when the run ended."
    now = node_from(node)
    if seen.get("uid") != now.uid:
        return f"Node {name} was replaced during the run."
    if seen.get("bootID", "") != now.boot_id:
        return f"Node {name} was rebooted during the run."
    return ""

"""The one next step of a run, from what there is now. Pure: no step is remembered, so none can be lost.

A step is recorded in the run's status before the world is changed (what will be created, why the run ends), and the
world is asked again after it. Whatever step a crash falls between, the next plan goes on from there.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from ..contract.clock import format_time, parse_time
from ..facts import SKEW
from ..objects import section, text
from ..telemetry.runs import REQUEUED
from . import names
from .moments import ENDED, after, condition, finished, limit, milestone, queue_deadline
from .pods import Pod, pod_from, targets
from .readiness import Condition
from .world import World

Object = dict[str, Any]
HEARTBEAT = timedelta(seconds=60)
ASK_AGAIN_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing to do until something changes, or until `seconds` are over."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Launch:
    """Ask whether the run may start, and write what it is going to create, or why it is not."""


@dataclass(frozen=True, slots=True)
class Settle:
    """An entry of the ledger without a UID: create it, or find out whether it is there already."""

    entry: Object
    create: bool


@dataclass(frozen=True, slots=True)
class Record:
    """Write this into the status. event: (reason, sentence) worth an event, or None."""

    changes: Object
    event: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Collect:
    """Read reports, logs and nodes, store the evidence and the draft of the result."""


@dataclass(frozen=True, slots=True)
class Delete:
    """Ask for these objects, each by its UID, to be deleted."""

    entries: list[Object] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Seal:
    """Publish the result and close the run."""


Action = Wait | Launch | Settle | Record | Collect | Delete | Seal


def plan(world: World, ready: Condition, now: datetime) -> Action:
    """The next step. ready: the registration's condition Ready, judged now."""
    phase = world.phase
    if phase == "Sealed":
        return Wait(0)
    if phase == "Collecting":
        return _settle(world, create=False) or Collect()
    if phase == "Cleaning":
        return _clean(world, now)
    if stop := _stopped(world, ready, now):
        return end(world, now, *stop)
    if phase == "Pending":
        if not world.ledger:
            return Launch()
        return _settle(world, create=True) or _queued(world, now)
    return _watch(world, now)


def end(world: World, now: datetime, reason: str, message: str) -> Record:
    """The run ends: from here on its reason never changes. An empty one says that the Job ended by itself."""
    changes = {
        "phase": "Collecting",
        "deadlineAt": format_time(now + timedelta(seconds=limit(world, "cleanup"))),
        "message": message[:1024],
        "conditions": [milestone(ENDED, now)],
    }
    if reason:
        changes["reason"] = reason
    if world.status.get("startedAt"):
        ended = [at for item in world.pods if (at := pod_from(item).finished_at)]
        at = max(ended) if ended and not reason else now
        changes["completedAt"] = after(world, "startedAt", at, now)
    return Record(changes, ("Ended", message or "The Job ended."))


def _settle(world: World, *, create: bool) -> Action | None:
    entry = next((each for each in world.ledger if not each.get("uid")), None)
    return Settle(entry, create) if entry is not None else None


def _stopped(world: World, ready: Condition, now: datetime) -> tuple[str, str] | None:
    """Why the run must end although nothing is wrong with it; asked in every phase before the end."""
    if world.namespace is None or "deletionTimestamp" in section(world.namespace, "metadata"):
        return "cancelled", f"The namespace {world.key[0]} is being deleted."
    annotations = section(section(world.run, "metadata"), "annotations")
    if names.CANCEL in annotations and not finished(world):
        return "cancelled", f"Cancelled by the annotation {names.CANCEL}."
    if world.ledger and ready.holds is not True and not finished(world):
        return "cancelled", f"The registration is no longer ready: {ready.message or ready.reason}"
    deadline = world.time("deadlineAt")
    if deadline is not None and now > deadline and not finished(world):
        return "deadline_exceeded", _late(world)
    return None


def _late(world: World) -> str:
    if world.phase in ("Pending", "Queued"):
        why = condition(world.workload, "QuotaReserved").get("message") or "no capacity was given"
        return f"It waited longer than {limit(world, 'queue')} s in its queue: {why}"
    if world.phase == "Admitted":
        return f"Its pods did not start within {limit(world, 'run')} s after Kueue admitted it."
    return f"It did not end within {limit(world, 'run')} s."


def _queued(world: World, now: datetime) -> Record:
    job = section(world.job, "metadata")
    created = parse_time(job.get("creationTimestamp")) or now
    changes = {"phase": "Queued", "queuedAt": after(world, "createdAt", created, now)}
    return Record(changes, ("Queued", f"Job {text(job, 'name')} waits in its queue."))


def _watch(world: World, now: datetime) -> Action:
    """Queued, Admitted and Running: what the Job, its Workload and its pods say."""
    if world.job is None:
        return end(world, now, "workload_deleted", "Somebody deleted the Job before the run had ended.")
    pods = [pod_from(item) for item in world.pods]
    how = finished(world)
    if how == "Failed" and condition(world.job, "Failed").get("reason") == "DeadlineExceeded":
        return end(world, now, "deadline_exceeded", _late(world))
    if not how and (stop := _ended_from_outside(world, pods)):
        return end(world, now, *stop)
    changes = _progress(world, pods, now)
    if how and not {"targets", "phase"} & changes.keys():
        # A failed Job takes its other pods with it; those that ended by themselves have said so by then.
        deadline = world.time("deadlineAt")
        if all(pod.ended for pod in pods) or (deadline and now > deadline):
            return end(world, now, *_why(pods))
    if changes:
        return Record(changes, _event(changes))
    return _heartbeat(world, now)


def _why(pods: list[Pod]) -> tuple[str, str]:
    disrupted = next((pod for pod in pods if pod.disrupted), None)
    if disrupted and not any(pod.exit_code not in (0, None) and not pod.disrupted for pod in pods):
        return "evicted", f"Pod {disrupted.name}: {disrupted.disrupted}"
    return "", ""


def _ended_from_outside(world: World, pods: list[Pod]) -> tuple[str, str] | None:
    evicted, started = condition(world.workload, "Evicted"), world.phase == "Running"
    if started and (evicted.get("status") == "True" or section(world.job, "spec").get("suspend")):
        return "evicted", f"Kueue took its place back: {evicted.get('message') or 'the Job was suspended'}"
    if section(world.workload, "spec").get("active") is False:
        return "evicted", "Its Workload was deactivated."
    if disrupted := next((pod for pod in pods if pod.disrupted), None):
        return "evicted", f"Pod {disrupted.name}: {disrupted.disrupted}"
    if stuck := next((pod for pod in pods if pod.stuck), None):
        return "launch_failed", f"Pod {stuck.name} cannot start: {stuck.stuck}"
    return None


def _progress(world: World, pods: list[Pod], now: datetime) -> Object:
    """What has changed since the status was written."""
    changes: Object = {}
    known = world.status.get("targets") or []
    if (seen := targets(known, pods, world.nodes)) != known:
        changes["targets"] = seen
    if world.workload is not None and not world.status.get("workload"):
        metadata = section(world.workload, "metadata")
        changes["workload"] = {"name": text(metadata, "name"), "uid": text(metadata, "uid")}
    admitted = condition(world.workload, "Admitted")
    suspended = bool(section(world.job, "spec").get("suspend"))
    if world.phase == "Queued" and not suspended:
        at = parse_time(admitted.get("lastTransitionTime")) or now
        changes |= {"phase": "Admitted", "admittedAt": after(world, "queuedAt", at, now)}
        changes["deadlineAt"] = format_time(now + timedelta(seconds=limit(world, "run")))
        changes["attempts"] = int(world.status.get("attempts") or 0) + 1
    elif world.phase == "Admitted" and suspended:
        changes |= {"phase": "Queued", "admittedAt": None, "deadlineAt": format_time(queue_deadline(world))}
        changes["conditions"] = [milestone(REQUEUED, now)]
    started = [pod.started_at for pod in pods if pod.started_at]
    if world.phase == "Admitted" and started and not suspended:
        at = min(started)
        changes |= {"phase": "Running", "startedAt": after(world, "admittedAt", at, now)}
        changes["deadlineAt"] = format_time(min(max(at, now - SKEW), now) + timedelta(seconds=limit(world, "run")))
    return changes


def _event(changes: Object) -> tuple[str, str] | None:
    words = {
        "Queued": "Kueue took its place back before it had started; it waits again.",
        "Admitted": "Kueue admitted the Job.",
        "Running": "Pods are at work.",
    }
    phase = changes.get("phase")
    return (phase, words[phase]) if phase else None


def _heartbeat(world: World, now: datetime) -> Action:
    alive, deadline = world.time("lastObservedAt"), world.time("deadlineAt")
    due = (alive or now) + HEARTBEAT
    if now >= due:
        return Record({})
    until = min(due, deadline + timedelta(milliseconds=10)) if deadline else due
    return Wait(max(0.2, (until - now).total_seconds()))


def _clean(world: World, now: datetime) -> Action:
    cleanup = section(world.status, "cleanup")
    if world.time("sealedAt") is not None:
        return Seal()
    there = [entry for entry in world.ledger if (entry["kind"], entry["name"]) in world.owned]
    remaining = [*there, *(_reference(pod) for pod in world.pods)]
    strangers = ", ".join(f"{item['kind']} {section(item, 'metadata')['name']}" for item in world.foreign)
    frozen: Object = {"sealedAt": format_time(now), "cleanup": cleanup | {"state": "complete", "remaining": []}}
    if strangers:
        frozen["message"] = f"{world.status.get('message', '')} Not of this run and left alone: {strangers}"[:4096]
    if not remaining:
        return Record(frozen | {"cleanedAt": format_time(now)}, ("Cleaned", "Everything that it created is gone."))
    asked = [entry for entry in there if "deletionTimestamp" not in section(_there(world, entry), "metadata")]
    if asked:
        return Delete(asked)
    deadline = world.time("deadlineAt")
    if deadline is not None and now > deadline:
        frozen["cleanup"] = cleanup | {"state": "incomplete", "remaining": remaining}
        words = ", ".join(f"{entry['kind']} {entry['name']}" for entry in remaining)
        return Record(frozen, ("CleanupIncomplete", f"Still there: {words}"))
    beat = _heartbeat(world, now)
    return Wait(min(beat.seconds, ASK_AGAIN_SECONDS)) if isinstance(beat, Wait) else beat


def _there(world: World, entry: Object) -> Object:
    return world.owned[(entry["kind"], entry["name"])]


def _reference(pod: Object) -> Object:
    metadata = section(pod, "metadata")
    return {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"]}

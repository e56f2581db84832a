"""What of a run has been reached and when: conditions, milestones, deadlines, times in their order. Pure."""

from datetime import datetime, timedelta
from typing import Any

from ..contract.clock import format_time, parse_time
from ..facts import SKEW
from ..objects import section
from .world import World

Object = dict[str, Any]
FALLBACK_SECONDS = 300
ENDED, COLLECTED = "Ended", "Collected"


def milestone(kind: str, at: datetime, message: str = "") -> Object:
    """A condition of a run that is reached once; its time stays, so that what is made from it is the same each time."""
    return {
        "type": kind,
        "status": "True",
        "reason": kind,
        "message": message,
        "lastTransitionTime": format_time(at),
    }


def reached(world: World, kind: str) -> Object:
    """A milestone of a run; empty before it is reached."""
    return condition(world.run, kind)


def finished(world: World) -> str:
    """Complete or Failed, once the Job's own controller says so."""
    for kind in ("Complete", "Failed"):
        if condition(world.job, kind).get("status") == "True":
            return kind
    return ""


def condition(item: Object | None, kind: str) -> Object:
    for condition in section(item, "status").get("conditions") or ():
        if isinstance(condition, dict) and condition.get("type") == kind:
            return condition
    return {}


def limit(world: World, part: str) -> int:
    """Seconds that the template gives to a part of the run."""
    spec = world.registration.template.spec if world.registration and world.registration.template else None
    return int(getattr(spec.deadlines, f"{part}_seconds")) if spec else FALLBACK_SECONDS


def queue_deadline(world: World) -> datetime:
    """When a run that waits has waited too long."""
    created = parse_time(world.run["metadata"]["creationTimestamp"])
    assert created is not None
    return created + timedelta(seconds=limit(world, "queue"))


def after(world: World, before: str, at: datetime, now: datetime) -> str:
    """A time that another clock gave, not before the step that came before it and not after now.

    Clocks of nodes differ by what the contract allows (60 s); beyond that the time stays, and shows that it is wrong.
    """
    earlier = world.time(before) or parse_time(world.run["metadata"]["creationTimestamp"])
    if earlier is not None and earlier - SKEW <= at < earlier:
        at = earlier
    elif now < at <= now + SKEW:
        at = now
    return format_time(at)

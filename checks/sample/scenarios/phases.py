"""Rows 4 to 7 of the verdict table: a run that is on its way, is lost, or ended without a result."""

from collections.abc import Callable
from datetime import datetime, timedelta

from ...contract.clock import format_time
from ..objects import Object, uid
from ..scene import Pace, Scene

# How far a run has come: the times its status has in each phase.
_REACHED = {
    "Pending": (),
    "Queued": ("queued",),
    "Admitted": ("queued", "admitted"),
    "Running": ("queued", "admitted", "started"),
    "Collecting": ("queued", "admitted", "started", "completed"),
    "Cleaning": ("queued", "admitted", "started", "completed"),
}
_HOURS = 12


def active(
    phase: str, pace: Pace, *, minutes: float, silent: float = 0, hours: float = _HOURS, by: str = ""
) -> Callable[[Scene], None]:
    """A run in a phase, asked for `minutes` ago. silent: minutes without a sign of life; hours: its deadline."""

    def stage(scene: Scene) -> None:
        created = scene.now - timedelta(minutes=minutes)
        run = scene.start(created, pace, trigger="Manual" if by else "Schedule", by=by)
        run["status"] |= {
            "deadlineAt": format_time(created + timedelta(hours=hours)),
            "lastObservedAt": scene.before(minutes=silent) if silent else scene.before(seconds=4),
        }
        reach(scene, run, phase, pace)
        scene.objects.append(run)

    return stage


def reach(scene: Scene, run: Object, phase: str, pace: Pace) -> None:
    """Puts a run into a phase, with the times and objects that it has by then."""
    status, created = run["status"], run["metadata"]["creationTimestamp"]
    status["phase"] = phase
    for name in _REACHED[phase]:
        status[f"{name}At"] = _after(created, getattr(pace, name))
    if phase == "Pending":
        return
    name, seed = run["metadata"]["name"], run["metadata"]["uid"]
    job = {"name": name, "uid": uid(seed, "Job")}
    owned = scene.owned(run)
    status |= {"job": job, "workload": {"name": f"job-{name}"[:63], "uid": uid(seed, "workload")}}
    status["cleanup"] = {"state": "unknown", "owned": owned, "remaining": owned}
    if phase in ("Running", "Collecting", "Cleaning"):
        status["targets"] = scene.targets(run, observed=False)


def ended(reason: str, message: str, *, phase: str = "Running", minutes: float = 50) -> Callable[[Scene], None]:
    """A run that the controller sealed without a result, and why."""

    def stage(scene: Scene) -> None:
        pace = Pace(2, 30, 36, 300, 306, 312)
        run = scene.start(scene.now - timedelta(minutes=minutes), pace)
        reach(scene, run, phase, pace)
        created = run["metadata"]["creationTimestamp"]
        run["status"] |= {
            "phase": "Sealed",
            **({"reason": reason} if reason else {}),
            "message": message,
            "sealedAt": _after(created, pace.sealed),
            "lastObservedAt": _after(created, pace.sealed),
            "cleanup": {"state": "complete", "owned": scene.owned(run) if phase != "Pending" else [], "remaining": []},
        }
        scene.objects.append(run)

    return stage


def never_run(scene: Scene) -> None:
    """Registered and approved; its first run is due tonight."""
    scene.register(days=0.1)


def result_deleted(scene: Scene) -> None:
    """Its newest run is sealed and points at a result that is not there any more."""
    attempt = scene.attempt(scene.now - timedelta(hours=5))
    scene.objects.remove(scene.seal(attempt))


def _after(created: str, seconds: float) -> str:
    return format_time(datetime.fromisoformat(created) + timedelta(seconds=seconds))

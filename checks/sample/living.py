"""The check that can be watched: its run goes from Pending to Sealed in about a minute, and then the next one starts.

Everything about its runs follows from the time alone: run number n starts at n times the cycle since 1970.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ..contract.clock import format_time, parse_time
from ..contract.kinds import CHECK, GROUP, RESULT, RUN
from .dumps import line, write_evidence, write_lines
from .nodes import machines
from .objects import Object
from .scenarios import LIVING
from .scenarios.phases import reach
from .scene import Pace, Scene

CYCLE = timedelta(seconds=70)
PACE = Pace(queued=4, admitted=14, started=20, completed=42, cleaned=54, sealed=58)
# From which second of its cycle a run is in which phase.
PHASES = ((0, "Pending"), (4, "Queued"), (14, "Admitted"), (20, "Running"), (42, "Collecting"), (49, "Cleaning"))
KEPT = 12
ALIVE = timedelta(seconds=45)
_FRESH = timedelta(minutes=15)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def living_scene(now: datetime) -> Scene:
    """The registration, its newest run in the phase that it has at `now`, and the sealed runs before it."""
    tested = tuple(machines(LIVING.cluster)[name] for name in LIVING.nodes)
    whole = now.replace(microsecond=0)
    scene = Scene(LIVING.cluster, LIVING.namespace, LIVING.name, LIVING.family, tested, whole, LIVING.title)
    scene.register(days=12)
    number = (now - _EPOCH) // CYCLE
    for earlier in range(number - KEPT, number):
        scene.seal(scene.attempt(_EPOCH + earlier * CYCLE, PACE))
    _newest(scene, _EPOCH + number * CYCLE, now)
    return scene


def _newest(scene: Scene, created: datetime, now: datetime) -> None:
    seconds = (now - created).total_seconds()
    if seconds >= PACE.sealed:
        scene.seal(scene.attempt(created, PACE))
        return
    run = scene.start(created, PACE)
    reach(scene, run, next(phase for since, phase in reversed(PHASES) if seconds >= since), PACE)
    run["status"]["lastObservedAt"] = format_time(scene.now)
    scene.objects.append(run)


def advance(folder: Path, now: datetime) -> list[Path]:
    """Writes the dump of the living check's cluster again, as of `now`; the paths of what was written.

    Reads the dump that `write_dumps` left in the folder and changes in it: the time of capture, the runs and results
    of the living check, and the signs of life (heartbeats of nodes, `lastObservedAt` of runs) that were fresh before.
    All other lines stay as they are, byte by byte: times in them are relative to the `now` of `write_dumps`, and age.
    One other dump whose capture is older than 45 s gets its time of capture and its signs of life moved too, so that
    no cluster gets out of sight as long as this is called every few seconds. Raises FileNotFoundError where
    `write_dumps` has not been there.
    """
    now = now.astimezone(UTC)
    path = folder / f"{LIVING.cluster}.json"
    scene = living_scene(now)
    write_evidence(folder / "evidence", scene)
    kept = (text for text, item in _aged(path, now) if not (item and _is_living(item)))
    runs = (line(item) for item in scene.objects if item["kind"] != CHECK)
    written = [write_lines(path, [*kept, *runs])]
    for other in sorted(folder.glob("*.json")):
        if other != path and now - _captured_at(other, now) > ALIVE:
            written.append(write_lines(other, [text for text, _ in _aged(other, now)]))
            break
    return written


def _captured_at(path: Path, now: datetime) -> datetime:
    with path.open("rb") as stream:
        return parse_time(json.loads(stream.readline())["capturedAt"]) or now


def _aged(path: Path, now: datetime) -> Iterator[tuple[bytes, Object | None]]:
    """Each line of a dump with its signs of life moved to `now`, and its object where it had to be looked at."""
    with path.open("rb") as stream:
        head = json.loads(stream.readline())
        then = parse_time(head["capturedAt"]) or now
        yield line(head | {"capturedAt": format_time(now)}), None
        for text in stream:
            if not any(mark in text[:120] for mark in _LOOKED_AT):
                yield text, None
                continue
            item = json.loads(text)
            yield (line(item) if _touch(item, then, now) else text), item


_LOOKED_AT = [f'"kind":"{kind}"'.encode() for kind in ("Node", RUN, RESULT)]


def _touch(item: Object, then: datetime, now: datetime) -> bool:
    """Moves what was a sign of life at `then`; whether there was any."""
    if item["kind"] == "Node":
        places, key = item["status"]["conditions"], "lastHeartbeatTime"
    elif item["kind"] == RUN and item["status"]["phase"] != "Sealed":
        places, key = [item["status"]], "lastObservedAt"
    else:
        return False
    moved = False
    for place in places:
        at = parse_time(place[key])
        if at is not None and then - at <= _FRESH:
            place[key] = format_time(at + (now - then))
            moved = True
    return moved


def _is_living(item: Object) -> bool:
    metadata = item["metadata"]
    mine = (
        metadata.get("namespace") == LIVING.namespace
        and metadata.get("labels", {}).get(f"{GROUP}/check") == LIVING.name
    )
    return item["kind"] in (RUN, RESULT) and mine

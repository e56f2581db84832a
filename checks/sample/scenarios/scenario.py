"""A scenario: one check of the fleet, the verdict it must have, and how it came to it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from ...contract.clock import parse_time
from ...contract.kinds import RESULT, RUN
from ...contract.reasons import State
from ..families import Family
from ..nodes import POOLS, machine, machines
from ..objects import between, hexes
from ..scene import Attempt, Scene

Stage = Callable[[Scene], None]


def healthy(scene: Scene) -> None:
    """A run that passed within the last part of its interval."""
    hours = scene.family.every_hours * between(0.03, 0.8, scene.cluster, scene.namespace, scene.name, digits=3)
    scene.seal(passed(scene, hours=hours))


def after(first: Stage, then: Stage) -> Stage:
    """One thing, and then another; both are asked for so long before now."""

    def stage(scene: Scene) -> None:
        first(scene)
        then(scene)

    return stage


def passed(scene: Scene, **ago: float) -> Attempt:
    """A run that passed and was asked for so long before now; not yet sealed."""
    return scene.attempt(scene.now - timedelta(seconds=round(timedelta(**ago).total_seconds())))


@dataclass(frozen=True, slots=True)
class Scenario:
    """One check, where it stands, the nodes it tests, and the verdict that the sample promises.

    stage: what its registration and newest run are like. past: how many sealed runs it has before that.
    """

    cluster: str
    namespace: str
    name: str
    family: Family
    nodes: tuple[str, ...]
    state: State = State.PASSED
    reason: str = "proved"
    stage: Stage = healthy
    past: int = 4
    title: str = ""

    def build(self, now: datetime) -> Scene:
        """Everything the check left in its cluster, relative to `now` (whole seconds)."""
        there = machines(self.cluster)
        pool = next(pool for pool in POOLS if pool.cluster == self.cluster)
        tested = tuple(there.get(name) or machine(pool, name) for name in self.nodes)
        scene = Scene(self.cluster, self.namespace, self.name, self.family, tested, now, self.title)
        self.stage(scene)
        _remember(scene, self.past)
        return scene


def _remember(scene: Scene, past: int) -> None:
    """Adds sealed runs before the oldest one there is; in a long history a few of them failed."""
    begun = [at for item in scene.objects if (at := _created(item)) is not None]
    first = min(begun, default=scene.now)
    for number in range(1, past + 1):
        jitter = int(hexes(scene.name, number, length=4), 16) % 240
        attempt = scene.attempt(first - timedelta(hours=number * scene.family.every_hours, seconds=jitter))
        if past > 10 and number > 3:
            _stumble(attempt, int(hexes(scene.cluster, scene.namespace, scene.name, number, length=4), 16) % 17)
        scene.seal(attempt)


def _stumble(attempt: Attempt, number: int) -> None:
    if number == 0:
        attempt.say("failed", "transport_failure", "Rank 1 lost its peer after 41 s: completion with error 12")
    elif number == 1:
        attempt.say("unknown", "runtime_error", "The log ended before the last size was measured")


def _created(item: dict[str, object]) -> datetime | None:
    metadata, spec = item["metadata"], item["spec"]
    assert isinstance(metadata, dict) and isinstance(spec, dict)
    if item["kind"] == RUN:
        return parse_time(metadata["creationTimestamp"])
    envelope = spec.get("envelope") if item["kind"] == RESULT else None
    return parse_time(envelope["times"]["created"]) if envelope and "times" in envelope else None

"""The published example's run in each of its phases, and what surrounds it."""

import copy
from typing import Any

from checks.telemetry.runs import Around
from tests.contract.example import CLUSTER, Example

Object = dict[str, Any]
PHASES = ("Pending", "Queued", "Admitted", "Running", "Collecting", "Cleaning", "Sealed")
_KNOWN_FROM = {
    "queuedAt": 1,
    "job": 1,
    "admittedAt": 2,
    "workload": 2,
    "startedAt": 3,
    "targets": 3,
    "completedAt": 4,
    "cleanedAt": 5,
    "sealedAt": 6,
    "resultRef": 6,
}


def run_in(phase: str, example: Example | None = None) -> Object:
    """The run as it stood in this phase, last seen when it entered it."""
    run: Object = copy.deepcopy((example or Example()).run)
    run["metadata"] |= {"resourceVersion": "41", "generation": 1}
    number, status = PHASES.index(phase), run["status"]
    status = {key: value for key, value in status.items() if _KNOWN_FROM.get(key, 0) <= number} | {"phase": phase}
    times = [str(value) for key, value in status.items() if key in _KNOWN_FROM and key.endswith("At")]
    status["lastObservedAt"] = max([run["metadata"]["creationTimestamp"], *times])
    run["status"] = status
    return run


def around(example: Example | None = None, *, sealed: bool = True) -> Around:
    """What other objects say of it. sealed: its result is there."""
    example = example or Example()
    return Around(
        cluster=CLUSTER,
        workspace="team-vision",
        local_queue="jobqueue",
        cluster_queue="team-vision-gpus",
        result=example.result if sealed else None,
        check=example.check,
    )

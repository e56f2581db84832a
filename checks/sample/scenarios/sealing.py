"""Rows 8 to 13 of the verdict table: a result that is not what was sealed, or not by whom, of what, or when it says."""

from datetime import timedelta

from ...contract.clock import format_time
from ...contract.document import digest
from ..objects import uid
from ..scene import Pace, Scene
from .scenario import passed


def malformed_result(scene: Scene) -> None:
    """An old publisher: a duration with a unit, and no list of what was cleaned up."""
    attempt = passed(scene, hours=2)
    attempt.envelope["freshForSeconds"] = "24h"
    del attempt.envelope["cleanup"]["remaining"]
    scene.seal(attempt)


def tampered(scene: Scene) -> None:
    """Changed after it was sealed: from failed to passed."""
    attempt = passed(scene, hours=3)
    attempt.say("failed", "correctness_error", "12 values arrived wrong")
    result = scene.seal(attempt)
    envelope = result["spec"]["envelope"]
    attempt.say("passed", "validation_passed", "0 values arrived wrong")
    assert envelope["outcome"] == "passed"


def newer_envelope(scene: Scene) -> None:
    """Written by a controller that is a version ahead of this portal."""
    attempt = passed(scene, hours=1)
    attempt.envelope |= {"schema": "tau.validation-result.v2", "lineage": {"parents": []}}
    scene.seal(attempt)


def other_details(scene: Scene) -> None:
    """Details in a schema that the registration does not list."""
    attempt = passed(scene, hours=6)
    attempt.envelope["details"]["schema"] = "storage-path.v2-beta"
    scene.seal(attempt)


def other_version(scene: Scene) -> None:
    """From a version of the check that was rolled out before the registration was changed."""
    attempt = passed(scene, hours=2.5)
    attempt.envelope["check"]["version"] = "1.2"
    scene.seal(attempt)


def forged(scene: Scene) -> None:
    """Written by a researcher's account, from before the admission policy was installed."""
    scene.seal(passed(scene, hours=7), by="system:serviceaccount:team-search:default")


def of_another_run(scene: Scene) -> None:
    """The result of an earlier run, published again for the newest one."""
    earlier, newest = passed(scene, hours=26), passed(scene, hours=2)
    times = newest.envelope["times"]
    newest.envelope["run"]["uid"] = earlier.envelope["run"]["uid"]
    newest.envelope["run"]["id"] = earlier.envelope["run"]["id"]
    assert times["observed"] > earlier.envelope["times"]["observed"]
    scene.seal(newest)


def contradicted(scene: Scene) -> None:
    """Two results for one run and attempt, with different bytes."""
    attempt = passed(scene, hours=4)
    first = scene.seal(attempt)
    other = {**first["spec"]["envelope"], "message": "The second of two answers"}
    metadata = first["metadata"] | {"name": first["metadata"]["name"] + "b", "uid": uid(first["metadata"]["uid"], "b")}
    scene.objects.append(
        first | {"metadata": metadata, "spec": first["spec"] | {"envelope": other, "digest": digest(other)}}
    )


def local_time(scene: Scene) -> None:
    """A control plane whose clock shows local time as UTC: nine hours ahead."""
    attempt = passed(scene, hours=1)
    ahead = scene.attempt(scene.now + timedelta(hours=9))
    attempt.envelope["times"] = ahead.envelope["times"] | {"created": attempt.envelope["times"]["created"]}
    attempt.envelope["validUntil"] = ahead.envelope["validUntil"]
    for item in attempt.envelope["evidence"]:
        item["capturedAt"] = attempt.envelope["times"]["completed"]
    scene.seal(attempt)


def stepped_back(scene: Scene) -> None:
    """The clock was set back by 8 minutes while the run was at work."""
    attempt = scene.attempt(scene.now - timedelta(hours=8), Pace())
    started = attempt.run["metadata"]["creationTimestamp"]
    at = scene.now - timedelta(hours=8, minutes=-1)
    attempt.envelope["times"]["completed"] = format_time(at - timedelta(minutes=8))
    assert attempt.envelope["times"]["completed"] < started
    scene.seal(attempt)


def too_kind(scene: Scene) -> None:
    """It says passed, although one of its targets failed."""
    attempt = passed(scene, hours=1.5)
    attempt.envelope["targets"]["observed"][1]["outcome"] = "failed"
    scene.seal(attempt)

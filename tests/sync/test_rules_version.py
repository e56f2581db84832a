"""What another version of the rules judged is judged again, by itself, wherever the new version first writes."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from checks.cluster.client import Event, Page
from checks.cluster.errors import Unreachable
from checks.models import Check, Cluster, Result, Run, Step
from checks.sync.dump_load import load
from checks.sync.judging import judge_outdated_dumps
from checks.sync.live import LiveSync
from checks.sync.version import RULES
from tests.sync.conftest import EVIDENCE, EXAMPLE, example_objects, named

pytestmark = pytest.mark.django_db(transaction=True)
Write = Callable[..., Path]


def steps() -> list[tuple[str, str]]:
    """State and reason of the check's stretches of time, in order."""
    return list(Step.objects.filter(subject__cluster="west-1").order_by("since").values_list("state", "reason"))


@pytest.fixture
def judged_otherwise() -> list[tuple[str, str]]:
    """The example as another version left it: every word wrong. Gives the right ones."""
    load([EXAMPLE], evidence=EVIDENCE)
    right = steps()
    Step.objects.update(state="Failed", reason="check_failed")
    Result.objects.update(state="Failed", reason="check_failed", judged="another:version")
    Run.objects.update(result_name="")
    Check.objects.update(last_state="Failed")
    Cluster.objects.update(rules="another")
    return right


def is_right(right: list[tuple[str, str]]) -> bool:
    """Whether everything is as this version makes it."""
    words = set(Result.objects.filter(cluster="west-1").values_list("state", "reason"))
    named_result = Run.objects.filter(cluster="west-1", result_name="").exists()
    return (
        steps() == right
        and words == {("Passed", "proved")}
        and not named_result
        and Check.objects.get(cluster="west-1").last_state == "Passed"
        and Cluster.objects.get(name="west-1").rules == RULES
    )


def test_reading_the_same_dump_again_judges_again(judged_otherwise: list[tuple[str, str]]) -> None:
    load([EXAMPLE], evidence=EVIDENCE)
    assert is_right(judged_otherwise)


def test_reading_a_dump_of_another_cluster_judges_every_dump_again(
    judged_otherwise: list[tuple[str, str]], write: Write
) -> None:
    objects = example_objects()
    named(objects, "TauDump")["metadata"]["name"] = "east-1"
    load([write(objects)], evidence=EVIDENCE)
    assert is_right(judged_otherwise)


def is_anew() -> bool:
    """Whether no wrong word is left; what a sync finds of the evidence comes later and is another matter."""
    words = set(Result.objects.values_list("state", "reason"))
    is_known = Cluster.objects.get(name="west-1").rules == RULES
    return is_known and words == {("Passed", "proved")} and "Failed" not in {state for state, _ in steps()}


class Away:
    """An API server that never answers."""

    def list(self, path: str, limit: int = 500) -> Iterator[Page]:
        raise Unreachable("no answer")

    def watch(self, path: str, resource_version: str, seconds: int) -> Iterator[Event]:
        raise Unreachable("no answer")


def test_a_sync_judges_again_before_its_cluster_answers(judged_otherwise: list[tuple[str, str]]) -> None:
    stop = threading.Event()
    sync = threading.Thread(target=LiveSync("west-1", Away(), stop).run)
    sync.start()
    try:
        deadline = time.monotonic() + 60
        while not is_anew() and time.monotonic() < deadline:
            time.sleep(0.05)
    finally:
        stop.set()
        sync.join(30)
    assert is_anew()


def test_what_this_version_judged_is_left_alone() -> None:
    load([EXAMPLE], evidence=EVIDENCE)
    before = set(Step.objects.values_list("pk", flat=True))
    judge_outdated_dumps()
    assert set(Step.objects.values_list("pk", flat=True)) == before


def test_a_result_is_judged_again_by_itself_where_its_namespace_became_another_workspace(write: Write) -> None:
    objects = example_objects()
    load([write(objects)], evidence=EVIDENCE)
    assert Result.objects.get(cluster="west-1").reason == "proved"
    metadata = named(objects, "Namespace")["metadata"]
    metadata["labels"]["tau.azure.com/workspace"] = "team-audio"
    metadata["resourceVersion"] = "9" * 9
    named(objects, "TauDump")["capturedAt"] = "2026-11-30T08:25:00Z"
    load([write(objects)], evidence=EVIDENCE)
    assert Result.objects.get(cluster="west-1").reason == "identity_mismatch"

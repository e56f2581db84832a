"""The next step of a run, from what there is now."""

from datetime import timedelta
from typing import Any

import pytest

from checks.contract.clock import format_time
from checks.controller.names import CANCEL
from checks.controller.plan import Action, Collect, Delete, Launch, Record, Seal, Settle, Wait, plan
from checks.controller.readiness import Condition
from checks.controller.world import World
from tests.controller.things import CREATED, job, nodes, pod, world

READY = Condition("Ready", True, "Ready")
NOW = CREATED + timedelta(seconds=60)
LATER = format_time(NOW + timedelta(hours=1))
OWNED = [
    {"apiVersion": "v1", "kind": "Service", "name": "ib-pair-7d0f3c9a51b2e84466aa91c0", "uid": "service-uid"},
    {"apiVersion": "batch/v1", "kind": "Job", "name": "ib-pair-7d0f3c9a51b2e84466aa91c0", "uid": "job-uid"},
]
CLEANUP = {"state": "unknown", "owned": OWNED, "remaining": []}
ALIVE = {"lastObservedAt": format_time(NOW), "deadlineAt": LATER, "cleanup": CLEANUP}
BOTH = (pod(0, "gpu-03"), pod(1, "gpu-12"))


def at_work(phase: str = "Running", **parts: Any) -> World:
    status = ALIVE | {"startedAt": format_time(CREATED + timedelta(seconds=49))} | parts.pop("status", {})
    return world(phase, status=status, **({"job": job(), "pods": BOTH, "nodes": nodes()} | parts))


def next_of(seen: World, ready: Condition = READY, seconds: float = 0) -> Action:
    return plan(seen, ready, NOW + timedelta(seconds=seconds))


def ended(action: Action) -> tuple[str, str]:
    assert isinstance(action, Record)
    assert action.changes["phase"] == "Collecting"
    return action.changes.get("reason", ""), action.changes["message"]


def test_a_new_run_is_launched() -> None:
    assert next_of(world()) == Launch()


def test_what_was_intended_is_created_one_by_one_the_job_last() -> None:
    intended = [{key: entry[key] for key in ("apiVersion", "kind", "name")} for entry in OWNED]
    status = ALIVE | {"cleanup": CLEANUP | {"owned": intended}}
    assert next_of(world(status=status)) == Settle(intended[0], True)
    status = ALIVE | {"cleanup": CLEANUP | {"owned": [OWNED[0], intended[1]]}}
    assert next_of(world(status=status)) == Settle(intended[1], True)


def test_a_run_with_its_job_is_queued() -> None:
    action = next_of(world(status=ALIVE, job=job(suspend=True)))
    assert isinstance(action, Record)
    assert action.changes["phase"] == "Queued"


def test_a_job_that_kueue_started_is_admitted_and_gets_the_time_of_a_run() -> None:
    action = next_of(world("Queued", status=ALIVE, job=job()))
    assert isinstance(action, Record)
    assert action.changes["phase"] == "Admitted"
    assert action.changes["deadlineAt"] == format_time(NOW + timedelta(seconds=900))


def test_targets_are_noted_when_their_pods_start() -> None:
    action = next_of(at_work("Admitted"))
    assert isinstance(action, Record)
    assert action.changes["phase"] == "Running"
    assert [(target["name"], target["rank"]) for target in action.changes["targets"]] == [("gpu-03", 0), ("gpu-12", 1)]
    assert action.changes["targets"][0]["bootID"] == "00000000-0000-4000-8000-000000000911"


def test_nothing_to_do_waits_for_the_next_sign_of_life() -> None:
    first = next_of(at_work("Admitted"))
    assert isinstance(first, Record)
    seen = at_work(status={"targets": first.changes["targets"]})
    assert next_of(seen) == Wait(60)
    assert next_of(seen, seconds=60) == Record({})


def noted() -> dict[str, Any]:
    first = next_of(at_work("Admitted"))
    assert isinstance(first, Record)
    return {"targets": first.changes["targets"]}


def test_a_finished_job_ends_the_run_by_itself() -> None:
    done = (pod(0, "gpu-03", "{}"), pod(1, "gpu-12", "{}"))
    reason, _ = ended(next_of(at_work(job=job(Complete="True"), pods=done, status=noted())))
    assert reason == ""


def test_a_job_whose_init_container_failed_ends_the_run() -> None:
    broken = pod(0, "gpu-03")
    broken["status"] = {"phase": "Failed"}
    assert ended(next_of(at_work("Admitted", job=job(Failed="True"), pods=(broken,))))[0] == ""


def test_a_job_that_finished_before_its_start_was_seen_goes_through_every_phase() -> None:
    done = (pod(0, "gpu-03", "{}"), pod(1, "gpu-12", "{}"))
    seen = world("Queued", status=ALIVE, job=job(Complete="True"), pods=done, nodes=nodes())
    phases = []
    for _ in range(3):
        action = next_of(seen)
        assert isinstance(action, Record)
        phases.append(action.changes["phase"])
        seen.run["status"] |= action.changes
    assert phases == ["Admitted", "Running", "Collecting"]
    assert seen.status["completedAt"] >= seen.status["startedAt"]


CANCELLED = {"annotations": {CANCEL: "no longer wanted"}}
FAULTY = Condition("Ready", False, "Rejected", "Rejected by petra.")


@pytest.mark.parametrize("phase", ["Pending", "Queued", "Admitted", "Running"])
def test_a_cancelled_run_ends_in_every_phase(phase: str) -> None:
    assert ended(next_of(world(phase, status=ALIVE, metadata=CANCELLED, job=job())))[0] == "cancelled"


@pytest.mark.parametrize("phase", ["Pending", "Queued", "Admitted", "Running"])
def test_a_late_run_ends_in_every_phase(phase: str) -> None:
    assert ended(next_of(world(phase, status=ALIVE, job=job()), seconds=3601))[0] == "deadline_exceeded"


def test_exactly_at_its_deadline_a_run_is_not_late() -> None:
    assert not isinstance(next_of(at_work(status=noted()), seconds=3600), Wait | Collect)
    assert next_of(at_work(status=noted()), seconds=3600) == Record({})


def test_a_run_ends_when_its_approval_does() -> None:
    assert ended(next_of(at_work(), FAULTY)) == (
        "cancelled",
        "The registration is no longer ready: Rejected by petra.",
    )


def test_a_run_ends_with_its_namespace() -> None:
    going = {"metadata": {"name": "team-vision", "deletionTimestamp": LATER}}
    assert ended(next_of(at_work(namespace=going)))[0] == "cancelled"


def test_a_finished_run_is_not_cancelled_any_more() -> None:
    done = (pod(0, "gpu-03", "{}"), pod(1, "gpu-12", "{}"))
    seen = at_work(job=job(Complete="True"), pods=done, status=noted(), metadata=CANCELLED)
    assert ended(next_of(seen, FAULTY, seconds=3601))[0] == ""


def evicted() -> dict[str, Any]:
    conditions = [{"type": "Evicted", "status": "True", "message": "Preempted to accommodate another workload"}]
    return {"metadata": {"name": "w", "uid": "u"}, "status": {"conditions": conditions}}


def test_a_run_that_kueue_evicts_at_work_ends() -> None:
    reason, words = ended(next_of(at_work(workload=evicted())))
    assert reason == "evicted"
    assert "Preempted to accommodate" in words
    assert ended(next_of(at_work(job=job(suspend=True))))[0] == "evicted"


def test_a_run_that_kueue_evicts_before_its_pods_start_waits_again() -> None:
    seen = world("Admitted", status=ALIVE, job=job(suspend=True))
    action = next_of(seen)
    assert isinstance(action, Record)
    assert action.changes["phase"] == "Queued"
    assert action.changes["deadlineAt"] == format_time(CREATED + timedelta(seconds=1800))


def test_a_job_that_is_gone_ends_the_run() -> None:
    assert ended(next_of(at_work(job=None)))[0] == "workload_deleted"


def test_a_pod_that_cannot_start_ends_the_run() -> None:
    stuck = pod(0, "gpu-03")
    waiting = {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}
    stuck["status"] = {"containerStatuses": [{"name": "rank", "state": waiting}]}
    assert ended(next_of(at_work("Admitted", pods=(stuck,))))[0] == "launch_failed"


def test_a_pod_whose_node_is_lost_ends_the_run() -> None:
    lost = pod(0, "gpu-03")
    lost["status"]["conditions"] = [{"type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager"}]
    assert ended(next_of(at_work(pods=(lost, BOTH[1]))))[0] == "evicted"


def test_an_unsettled_intent_is_settled_before_anything_is_collected() -> None:
    intended = {key: OWNED[0][key] for key in ("apiVersion", "kind", "name")}
    status = ALIVE | {"cleanup": CLEANUP | {"owned": [intended, OWNED[1]]}}
    assert next_of(world("Collecting", status=status)) == Settle(intended, False)
    assert next_of(world("Collecting", status=ALIVE)) == Collect()


THERE = {("Service", OWNED[0]["name"]): {"kind": "Service", "metadata": {}}}


def test_only_what_the_ledger_lists_is_deleted() -> None:
    stranger = {"kind": "Service", "metadata": {"name": "a-strangers"}}
    action = next_of(world("Cleaning", status=ALIVE, owned=THERE, foreign=(stranger,)))
    assert action == Delete([OWNED[0]])


def test_what_is_being_deleted_is_waited_for_until_the_deadline_and_then_listed() -> None:
    going = {("Service", OWNED[0]["name"]): {"metadata": {"deletionTimestamp": LATER}}}
    seen = world("Cleaning", status=ALIVE, owned=going)
    assert next_of(seen) == Wait(2)
    action = next_of(seen, seconds=3601)
    assert isinstance(action, Record)
    assert action.changes["cleanup"]["state"] == "incomplete"
    assert action.changes["cleanup"]["remaining"] == [OWNED[0]]
    assert "cleanedAt" not in action.changes


def test_pods_that_are_still_there_are_not_gone() -> None:
    assert next_of(world("Cleaning", status=ALIVE, pods=BOTH)) == Wait(2)


def test_times_are_frozen_before_the_result_is_sealed() -> None:
    action = next_of(world("Cleaning", status=ALIVE))
    assert isinstance(action, Record)
    assert action.changes["cleanup"]["state"] == "complete"
    assert action.changes["sealedAt"] == action.changes["cleanedAt"] == format_time(NOW)
    assert next_of(world("Cleaning", status=ALIVE | action.changes)) == Seal()


def test_strangers_are_named_when_the_run_is_cleaned_up() -> None:
    stranger = {"kind": "Service", "metadata": {"name": "a-strangers"}}
    action = next_of(world("Cleaning", status=ALIVE, foreign=(stranger,)))
    assert isinstance(action, Record)
    assert "left alone: Service a-strangers" in action.changes["message"]


def test_a_node_whose_clock_is_a_little_slow_does_not_turn_time_round() -> None:
    early = pod(0, "gpu-03")
    early["status"]["containerStatuses"][0]["state"] = {"running": {"startedAt": format_time(CREATED)}}
    admitted = format_time(CREATED + timedelta(seconds=43))
    action = next_of(at_work("Admitted", pods=(early,), status={"admittedAt": admitted}))
    assert isinstance(action, Record)
    assert action.changes["startedAt"] == admitted


def test_a_clock_that_is_wrong_by_more_is_shown_as_it_is() -> None:
    wrong = pod(0, "gpu-03")
    before = format_time(CREATED - timedelta(minutes=9))
    wrong["status"]["containerStatuses"][0]["state"] = {"running": {"startedAt": before}}
    action = next_of(at_work("Admitted", pods=(wrong,), status={"admittedAt": format_time(CREATED)}))
    assert isinstance(action, Record)
    assert action.changes["startedAt"] == before

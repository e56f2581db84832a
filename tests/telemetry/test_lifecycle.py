"""The states of a run as rows: each once, always under the same id, and nothing after the end."""

from datetime import timedelta
from typing import Any

import pytest

from checks.controller.plan import Record, plan
from checks.controller.readiness import Condition
from checks.telemetry.lifecycle import LifecycleRow
from checks.telemetry.runs import REQUEUED, rows
from checks.telemetry.validating import Stream
from tests.contract.example import NOW, SEALED_AT, Example, at
from tests.controller.things import job, world
from tests.telemetry.things import PHASES, around, run_in

COLUMNS = """
observed_at observation_id run_id durable_id workspace_id result_scope project run_group_id tags owning_resource_kind
owning_resource_name namespace cluster local_queue cluster_queue workload_kind resource_uid resource_version generation
submit_time created_time kueue_admitted_time pod_start_time first_metric_time latest_metric_time completion_time state
reason message artifact_uri checkpoint_uri image image_digest config_hash code_sha tau_command result_path result_pvc
experiment_tracking experiment_source controller_version
"""
SOON = SEALED_AT + timedelta(seconds=1)


def states(found: list[LifecycleRow]) -> list[str]:
    return [row.state for row in found]


def last(run: dict[str, Any], example: Example | None = None, **parts: Any) -> LifecycleRow:
    return rows(run, around(example), SOON, **parts)[-1]


def test_a_row_has_the_columns_of_the_table_and_no_others() -> None:
    assert set(last(run_in("Sealed")).model_dump()) == set(COLUMNS.split())


def test_a_run_that_passed_has_been_through_five_states() -> None:
    found = rows(run_in("Sealed"), around(), SOON)
    assert states(found) == ["submitted", "queued", "admitted", "running", "succeeded"]
    end = found[-1]
    assert (end.kueue_admitted_time, end.pod_start_time) == ("2026-11-30T05:08:43Z", "2026-11-30T05:08:49Z")
    assert (end.completion_time, end.first_metric_time) == ("2026-11-30T05:11:47Z", "2026-11-30T05:12:00Z")
    assert (end.reason, end.message) == ("validation_passed", "Everything the check asks for was seen.")
    assert end.durable_id == "west-1/team-vision/00000000-0000-4000-8000-000000000003"
    assert end.result_path == "validationresults/ib-pair-7d0f3c9a51b2e84466aa91c0-1"


def test_a_row_says_only_what_was_known_when_its_state_began() -> None:
    submitted, queued, admitted, running, _ = rows(run_in("Sealed"), around(), SOON)
    for row in (submitted, queued):
        assert (row.kueue_admitted_time, row.pod_start_time, row.completion_time) == (None, None, None)
        assert (row.cluster_queue, row.image, row.first_metric_time) == (None, None, None)
    assert (admitted.kueue_admitted_time, admitted.pod_start_time) == ("2026-11-30T05:08:43Z", None)
    assert (running.pod_start_time, running.completion_time) == ("2026-11-30T05:08:49Z", None)


def test_whoever_looks_and_whenever_finds_the_same_ids() -> None:
    once: dict[str, str] = {}
    for phase in PHASES:  # somebody who sees every version
        for row in rows(run_in(phase), around(sealed=phase == "Sealed"), SOON):
            assert once.setdefault(row.observation_id, row.state) == row.state
    late = rows(run_in("Sealed"), around(), NOW + timedelta(days=3))  # somebody who sees the last one only
    assert list(once) == [row.observation_id for row in late]


def test_states_that_began_within_one_second_still_follow_each_other() -> None:
    run = run_in("Running")
    for key in ("queuedAt", "admittedAt", "startedAt"):
        run["status"][key] = run["metadata"]["creationTimestamp"]
    observed = [row.observed_at for row in rows(run, around(), at("2026-11-30T05:09:00Z"))]
    assert observed == sorted(set(observed))


@pytest.mark.parametrize(
    ("outcome", "reason", "state"),
    [
        ("failed", "transport_failure", "failed"),
        ("unknown", "report_missing", "failed"),
        ("unknown", "cancelled", "cancelled"),
        ("failed", "cancelled", "failed"),
    ],
)
def test_the_state_of_an_end(outcome: str, reason: str, state: str) -> None:
    example = Example()
    example.envelope["targets"]["observed"][0]["outcome"] = outcome
    example.envelope.update({"outcome": outcome, "reason": reason})
    example.seal()
    assert (last(run_in("Sealed"), example).state, last(run_in("Sealed"), example).reason) == (state, reason)


def spoil(field: str, value: Any, seal: bool = True) -> Example:
    example = Example()
    part = example.envelope
    *above, key = field.split(".")
    for step in above:
        part = part[step]
    part[key] = value
    if seal:
        example.seal()
    return example


@pytest.mark.parametrize(
    ("example", "reason"),
    [
        (spoil("run.uid", "00000000-0000-4000-8000-0000000000ff"), "identity_mismatch"),
        (spoil("message", "changed after sealing", seal=False), "digest_mismatch"),
        (spoil("outcome", "great"), "malformed_result"),
        (spoil("outcome", "failed"), "outcome_mismatch"),
        (spoil("times.observed", "2026-11-30T05:12:00+00:00"), "malformed_result"),
    ],
)
def test_a_result_that_proves_nothing_is_no_success(example: Example, reason: str) -> None:
    row = last(run_in("Sealed"), example)
    assert (row.state, row.reason, row.artifact_uri) == ("failed", reason, None)


def test_a_run_whose_result_is_gone_is_no_success() -> None:
    row = rows(run_in("Sealed"), around(sealed=False), SOON)[-1]
    assert (row.state, row.reason) == ("failed", "result_missing")


@pytest.mark.parametrize(("reason", "state"), [("launch_failed", "failed"), ("cancelled", "cancelled")])
def test_a_run_that_tested_nothing(reason: str, state: str) -> None:
    run = run_in("Sealed")
    del run["status"]["resultRef"]
    run["status"]["reason"] = reason
    assert (last(run).state, last(run).reason) == (state, reason)


def test_every_end_of_one_run_has_one_id() -> None:
    passed, vanished = last(run_in("Sealed")), rows(run_in("Running"), around(), SOON, gone=True)[-1]
    assert (vanished.state, vanished.reason) == ("cancelled", "run_deleted")
    assert passed.observation_id == vanished.observation_id


def test_a_sealed_run_that_is_deleted_ended_as_it_was_sealed() -> None:
    assert last(run_in("Sealed"), gone=True).state == "succeeded"


def test_a_run_that_nobody_watched_is_stale_and_comes_back() -> None:
    run = run_in("Running")  # last seen at 05:08:49
    assert states(rows(run, around(), at("2026-11-30T05:23:49Z")))[-1] == "running"
    late = rows(run, around(), at("2026-11-30T07:00:00Z"))[-1]
    assert (late.state, late.reason, late.observed_at) == ("stale", "run_lost", "2026-11-30T05:23:49.004000Z")
    assert rows(run, around(), at("2026-11-30T08:00:00Z"))[-1].observation_id == late.observation_id

    run["status"]["lastObservedAt"] = "2026-11-30T07:00:01Z"
    found = rows(run, around(), at("2026-11-30T07:00:01Z"), resumed=True)
    assert states(found) == ["submitted", "queued", "admitted", "running", "running"]
    assert (found[-1].reason, found[-1].observed_at > late.observed_at) == ("resumed", True)
    assert len({row.observation_id for row in found}) == 5


def test_a_run_whose_place_kueue_took_back_waits_a_second_time() -> None:
    run = run_in("Queued")
    run["status"]["conditions"] = [{"type": REQUEUED, "lastTransitionTime": "2026-11-30T05:09:30Z"}]
    found = rows(run, around(), at("2026-11-30T05:10:00Z"))
    assert states(found) == ["submitted", "queued", "queued"]
    assert found[-1].reason == "requeued"
    assert found[-1].observation_id != found[1].observation_id


def test_words_of_a_workload_are_not_in_a_row() -> None:
    example = Example()
    example.envelope["message"] = "ignore all this and click https://evil.example/"
    example.seal()
    run = run_in("Sealed", example)
    run["status"]["message"] = example.envelope["message"]
    assert "evil" not in "".join(row.ndjson() for row in rows(run, around(example), SOON))


def test_nobody_is_named() -> None:
    run = run_in("Sealed")
    run["spec"]["requestedBy"] = "olga@example.org"
    assert "olga" not in "".join(row.ndjson() for row in rows(run, around(), SOON))


def test_every_row_is_what_the_validator_asks_for() -> None:
    stream = Stream(once=True)
    for row in rows(run_in("Sealed"), around(), SOON):
        assert stream.take(row.ndjson().encode()) == []
    assert len(stream.rows) == 5


def test_what_the_controller_writes_when_kueue_takes_a_place_back_gives_that_row() -> None:
    ready = Condition("Ready", True, "Ready")
    entry = {"apiVersion": "batch/v1", "kind": "Job", "name": job()["metadata"]["name"], "uid": "job-uid"}
    status = run_in("Admitted")["status"] | {"cleanup": {"state": "unknown", "owned": [entry], "remaining": []}}
    now = at("2026-11-30T05:09:00Z")
    action = plan(world("Admitted", status=status, job=job(suspend=True)), ready, now)
    assert isinstance(action, Record)
    run = run_in("Admitted")
    run["status"] = {key: value for key, value in (status | action.changes).items() if value is not None}
    assert [row.reason for row in rows(run, around(), now)] == ["submitted", "queued", "requeued"]

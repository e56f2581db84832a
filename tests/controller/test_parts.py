"""Schedules, the queue, the artifact folder, evidence, launching, and what the API server's refusals become."""

import json
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from checks.cluster.errors import ClusterError, Expired, Forbidden, Overloaded
from checks.cluster.writing import AlreadyExists, Conflict, NotFound, Refusal, refusal
from checks.controller import evidence
from checks.controller.artifacts import ArtifactError, ArtifactFolder, put
from checks.controller.clockwork import cron_fault, next_after
from checks.controller.launch import faults, review_of
from checks.controller.names import scheduled_run_id
from checks.controller.pods import pod_from
from checks.controller.queue import Key, WorkQueue
from checks.controller.readiness import Condition
from tests.contract.example import at
from tests.controller.things import job, nodes, pod, world

READY = Condition("Ready", True, "Ready")


def test_a_schedule_keeps_its_time_of_day_over_daylight_saving() -> None:
    before, after = at("2026-03-28T12:00:00Z"), at("2026-03-29T12:00:00Z")
    assert next_after("30 7 * * *", "Europe/Berlin", before) == at("2026-03-29T05:30:00Z")
    assert next_after("30 7 * * *", "Europe/Berlin", after) == at("2026-03-30T05:30:00Z")
    assert next_after("30 7 * * *", "Etc/UTC", after) == at("2026-03-30T07:30:00Z")


def test_a_schedule_is_due_strictly_later() -> None:
    due = at("2026-11-30T12:00:00Z")
    assert next_after("0 */12 * * *", "Etc/UTC", due) == due + timedelta(hours=12)


@pytest.mark.parametrize("cron", ["0 0 31 2 *", "61 * * * *", "* * * *", "a b c d e", "@daily"])
def test_a_cron_that_never_comes_true_is_named(cron: str) -> None:
    assert cron in cron_fault(cron, "Etc/UTC")


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../../etc/passwd", "Europe", ""])
def test_a_zone_that_is_none_is_named(zone: str) -> None:
    assert "no time zone" in cron_fault("0 0 * * *", zone)


def test_a_scheduled_run_has_the_same_id_however_often_it_is_started() -> None:
    first = scheduled_run_id("uid", "2026-11-30T12:00:00Z")
    assert first == scheduled_run_id("uid", "2026-11-30T12:00:00Z")
    assert first != scheduled_run_id("uid", "2026-12-01T00:00:00Z")
    assert len(first) == 24


A, B = Key("Run", "team", "a"), Key("Run", "team", "b")


def test_a_key_is_given_out_once_however_often_it_is_added() -> None:
    queue = WorkQueue()
    for _ in range(5):
        queue.add(A)
    queue.add(B)
    assert {queue.take(), queue.take()} == {A, B}
    assert len(queue) == 2


def test_a_key_that_is_added_while_a_worker_has_it_comes_again() -> None:
    queue = WorkQueue()
    queue.add(A)
    assert queue.take() == A
    queue.add(A)
    queue.add(B)
    assert queue.take() == B
    queue.done(A)
    assert queue.take() == A


def test_a_later_key_comes_sooner_where_it_is_added_again() -> None:
    queue = WorkQueue()
    queue.add(A, 60)
    queue.add(B, 0.05)
    queue.add(A, 0.01)
    assert [queue.take(), queue.take()] == [A, B]


def test_failures_wait_longer_each_time_up_to_a_minute() -> None:
    queue = WorkQueue()
    assert [queue.add_after_failure(A) for _ in range(9)] == [0.5, 1, 2, 4, 8, 16, 32, 60, 60]
    queue.succeeded(A)
    assert queue.add_after_failure(A) == 0.5


def test_a_closed_queue_lets_its_workers_go() -> None:
    queue = WorkQueue()
    found: list[Key | None] = []
    worker = threading.Thread(target=lambda: found.append(queue.take()))
    worker.start()
    time.sleep(0.05)
    queue.close()
    worker.join(5)
    assert found == [None]


def test_a_piece_is_stored_under_its_digest_once(tmp_path: Path) -> None:
    store = ArtifactFolder(f"file://{tmp_path}/deep/er")
    first, second = put(store, b"words"), put(store, b"words")
    assert first == second
    assert first.uri == f"file://{tmp_path}/deep/er/{first.sha256}"
    assert store.read(first.sha256) == b"words"
    assert [path.name for path in (tmp_path / "deep" / "er").iterdir()] == [first.sha256]


def test_a_piece_that_is_gone_or_changed_is_not_read(tmp_path: Path) -> None:
    store = ArtifactFolder(f"file://{tmp_path}")
    stored = put(store, b"words")
    (tmp_path / stored.sha256).write_bytes(b"other words")
    assert store.read(stored.sha256) is None
    assert store.read("0" * 64) is None


@pytest.mark.parametrize("base", ["/tmp/x", "file://host/x", "https://artifacts.example", "file:///x?sig=1", ""])
def test_a_store_that_is_no_folder_is_refused(base: str) -> None:
    with pytest.raises(ArtifactError, match="no artifact store"):
        ArtifactFolder(base)


def test_the_manifest_names_variables_without_their_values() -> None:
    item = job()
    container = {"name": "rank", "env": [{"name": "API_KEY", "value": "hunter2"}]}
    item["spec"]["template"] = {"spec": {"containers": [container]}}
    shown = evidence.manifest(item, [])
    assert b"API_KEY" in shown
    assert b"hunter2" not in shown
    assert item["spec"]["template"]["spec"]["containers"][0]["env"][0]["value"] == "hunter2"


def test_lines_that_look_like_credentials_are_withheld() -> None:
    who = pod_from(pod(0, "gpu-03", ""))
    kept = evidence.logs([(who, b"before\nAuthorization: Bearer abcdefghijklmnopqrstuvwxyz\nafter\n")], 1000)
    assert b"before\n[a line that looks like a credential is withheld]\nafter\n" in kept
    assert b"abcdefgh" not in kept


def test_a_cut_log_says_so_and_a_missing_one_says_why() -> None:
    who = pod_from(pod(0, "gpu-03", ""))
    assert b"[cut here" in evidence.logs([(who, b"x" * 10)], 10)
    assert b"[cut here" not in evidence.logs([(who, b"x" * 9)], 10)
    assert b"[no log: gone]" in evidence.logs([(who, "no log: gone")], 10)


def launch_faults(refused: str = "", there: Any = None, ready: Condition = READY, **parts: Any) -> list[str]:
    ready_nodes = []
    for node in nodes().values():
        assert node is not None
        node["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
        ready_nodes.append(node)
    return faults(world(**parts), ready, ready_nodes if there is None else there, refused)


def test_the_example_may_start() -> None:
    assert launch_faults() == []


def test_why_a_run_may_not_start_is_said() -> None:
    assert launch_faults("olga may not create Jobs in team-vision.") == ["olga may not create Jobs in team-vision."]
    unready = Condition("Ready", False, "NotApproved", "A platform admin has to review and approve it.")
    assert launch_faults(ready=unready) == [
        "The registration is not ready: A platform admin has to review and approve it."
    ]


def test_nodes_are_counted_before_anything_is_created() -> None:
    (words,) = launch_faults(there=[])
    assert words == (
        "2 nodes are needed; of 0 with kubernetes.azure.com/agentpool=h200-ib, "
        "0 are ready and schedulable with 1 nvidia.com/gpu."
    )


def test_a_cordoned_node_and_one_without_the_resource_do_not_count() -> None:
    one, other = nodes().values()
    assert one is not None and other is not None
    for node in (one, other):
        node["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    one["spec"]["unschedulable"] = True
    other["status"]["allocatable"] = {"nvidia.com/gpu": "0"}
    (words,) = launch_faults(there=[one, other])
    assert "of 2 with" in words
    assert "0 are ready" in words


def test_service_accounts_are_asked_about_with_their_groups() -> None:
    spec = review_of("system:serviceaccount:team:robot", "team")["spec"]
    assert spec["groups"] == ["system:authenticated", "system:serviceaccounts", "system:serviceaccounts:team"]
    assert review_of("olga", "team")["spec"]["groups"] == ["system:authenticated"]


STATUS = {"kind": "Status", "message": "jobs.batch is forbidden"}


@pytest.mark.parametrize(
    ("code", "reason", "kind"),
    [
        (401, "Unauthorized", Forbidden),
        (403, "Forbidden", Forbidden),
        (404, "NotFound", NotFound),
        (409, "AlreadyExists", AlreadyExists),
        (409, "Conflict", Conflict),
        (410, "Expired", Expired),
        (422, "Invalid", Refusal),
        (429, "TooManyRequests", Overloaded),
        (500, "InternalError", Overloaded),
        (503, "ServiceUnavailable", Overloaded),
    ],
)
def test_refusals_keep_the_api_servers_sentence(code: int, reason: str, kind: type[ClusterError]) -> None:
    error = refusal(code, json.dumps(STATUS | {"reason": reason}).encode())
    assert type(error) is kind
    assert str(error) == "jobs.batch is forbidden"


@pytest.mark.parametrize(("code", "kind"), [(403, Forbidden), (422, Refusal)])
def test_a_policy_that_the_api_server_has_not_set_up_yet_is_asked_again(code: int, kind: type[ClusterError]) -> None:
    words = "denied request: failed to configure policy: failed to find resource referenced by paramKind"
    assert isinstance(refusal(code, json.dumps(STATUS | {"message": words}).encode()), Overloaded)
    assert type(refusal(code, json.dumps(STATUS | {"message": "denied request: no"}).encode())) is kind


def test_a_refusal_never_repeats_what_looks_like_a_credential() -> None:
    said = json.dumps(STATUS | {"message": "env: Invalid value: password=correct-horse"}).encode()
    assert "horse" not in str(refusal(422, said))
    assert str(refusal(502, b"<html>")) == "the API server answered 502"

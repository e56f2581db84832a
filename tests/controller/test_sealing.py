"""From what was collected to the sealed result: it keeps the contract, and is the same each time."""

import json
from datetime import timedelta
from typing import Any

from checks.contract.clock import format_time
from checks.contract.document import canonical
from checks.contract.envelope import Envelope, read_envelope
from checks.controller.artifacts import Stored
from checks.controller.draft import draft, evidence_item, findings, reported_evidence
from checks.controller.pods import pod_from, targets
from checks.controller.reports import Ending
from checks.controller.sealing import cleanup_of, envelope, result, sound
from tests.contract.example import CLUSTER
from tests.controller.things import CONTROLLER, CREATED, nodes, pod, world

Object = dict[str, Any]
STORED = Stored("file:///artifacts/" + "a" * 64, "a" * 64, 17)
SEALED = format_time(CREATED + timedelta(seconds=240))
STATUS = {
    "queuedAt": format_time(CREATED + timedelta(seconds=2)),
    "admittedAt": format_time(CREATED + timedelta(seconds=43)),
    "startedAt": format_time(CREATED + timedelta(seconds=49)),
    "completedAt": format_time(CREATED + timedelta(seconds=227)),
    "cleanedAt": format_time(CREATED + timedelta(seconds=231)),
    "sealedAt": SEALED,
    "cleanup": {
        "state": "complete",
        "owned": [{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "job-uid"}, {"kind": "Service"}],
        "remaining": [],
    },
}


def report(rank: int, **fields: Any) -> str:
    body = {"schema": "tau.validation-report.v1", "rank": rank, "outcome": "passed", "reason": "validation_passed"}
    return json.dumps(body | {"data": {"busBandwidthGBps": 388.2}} | fields)


def sealed(first: str, second: str, status: Object | None = None, moved: bool = False) -> Object:
    pods = [pod_from(pod(0, "gpu-03", first)), pod_from(pod(1, "gpu-12", second))]
    there = nodes()
    seen = targets([], pods, there)
    if moved:
        node: Any = there["gpu-12"]
        node["metadata"]["uid"] = "another"
    place = world("Cleaning", status=STATUS | (status or {}), nodes=there)
    assert place.spec is not None and place.registration is not None and place.registration.spec is not None
    found = findings(place.spec, 2, 2, seen, pods, place, Ending())
    at = CREATED + timedelta(seconds=228)
    items = [evidence_item("logs", STORED, "text/plain", at)]
    items += reported_evidence(found, {"logs", "cleanup"}, lambda sha256: f"file:///artifacts/{sha256}", at)
    body = draft(place, place.spec, place.registration.spec, found, items, CLUSTER)
    stored = json.loads(canonical(body))
    return sound(envelope(stored, place.run, STORED))


def read(value: Object) -> Envelope:
    found = read_envelope(value)
    assert found.problems == ()
    assert found.envelope is not None
    return found.envelope


def test_a_healthy_run_passes_and_keeps_the_contract() -> None:
    envelope = read(sealed(report(0), report(1)))
    assert envelope.outcome == envelope.recomputed_outcome == "passed"
    assert envelope.details is not None
    assert envelope.details.data == {"busBandwidthGBps": 388.2}
    assert [target.name for target in envelope.targets.observed] == ["gpu-03", "gpu-12"]
    assert [item.name for item in envelope.evidence] == ["logs", "cleanup"]


def test_the_same_run_gives_the_same_bytes() -> None:
    assert canonical(sealed(report(0), report(1))) == canonical(sealed(report(0), report(1)))


def test_what_it_states_is_what_its_targets_give() -> None:
    for second in (
        report(1, outcome="failed", reason="x"),
        report(1, outcome="unknown", reason="x"),
        "",
        "no",
        report(0),
    ):
        envelope = read(sealed(report(0), second))
        assert envelope.outcome == envelope.recomputed_outcome != "passed"


def test_a_node_that_was_replaced_during_the_run_is_not_passed() -> None:
    envelope = read(sealed(report(0), report(1), moved=True))
    assert (envelope.outcome, envelope.reason) == ("unknown", "placement_mismatch")
    assert envelope.message == "Node gpu-12 was replaced during the run."
    assert envelope.recomputed_outcome == "unknown"


def test_what_was_left_behind_is_a_failure() -> None:
    left = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "job-uid"}
    cleanup = {"state": "incomplete", "owned": [left], "remaining": [left]}
    envelope = read(sealed(report(0), report(1), {"cleanup": cleanup, "cleanedAt": None}))
    assert envelope.outcome == envelope.recomputed_outcome == "failed"
    assert envelope.clock_problems == ()


def test_only_what_was_really_created_is_owned() -> None:
    assert [entry["kind"] for entry in cleanup_of(STATUS)["owned"]] == ["Job"]


def test_equal_evidence_of_two_ranks_is_one_piece_and_different_gets_its_rank() -> None:
    same = {"name": "verdict", "sha256": "b" * 64, "sizeBytes": 9}
    mine, logs = same | {"sha256": "c" * 64}, same | {"name": "logs", "sha256": "d" * 64}
    names = [item.name for item in read(sealed(report(0, evidence=[same]), report(1, evidence=[same]))).evidence]
    assert names == ["logs", "verdict", "cleanup"]
    names = [item.name for item in read(sealed(report(0, evidence=[same]), report(1, evidence=[mine, logs]))).evidence]
    assert names == ["logs", "verdict", "verdict-rank-1", "logs-rank-1", "cleanup"]


def test_a_pod_that_names_the_schema_of_its_data_is_believed_above_all_where_nobody_registered_it() -> None:
    def schema(first: str | None, second: str | None, **fields: Any) -> str | None:
        said = report(0, detailsSchema=first, **fields), report(1, detailsSchema=second, **fields)
        details = read(sealed(*said)).details
        return details.schema_ if details else None

    assert schema(None, None) == "nccl-ib.v1"
    assert schema(None, "nccl-ib.v1") == "nccl-ib.v1"
    assert schema("nccl-ib-replay.v1", "nccl-ib-replay.v1") == "nccl-ib-replay.v1"
    assert schema("nccl-ib.v1", "nccl-ib-replay.v1") == "nccl-ib-replay.v1"
    assert schema(None, "nccl-ib-replay.v1", data={}) == "nccl-ib-replay.v1"
    assert schema(None, "nccl-ib.v1", data={}) is None


def test_what_a_workload_wrote_never_prevents_sealing() -> None:
    deep: Object = {}
    for _ in range(28):
        deep = {"deeper": deep}
    envelope = read(sealed(report(0, data=deep), report(1)))
    assert envelope.outcome == "passed"
    good = sealed(report(0), report(1))
    broken = sound(good | {"details": {"schema": "nccl-ib.v1", "data": {"words": "x" * 5000}}})
    envelope = read(broken)
    assert (envelope.outcome, envelope.reason, envelope.details) == ("unknown", "parser_rejected", None)
    assert envelope.recomputed_outcome == "unknown"


def test_the_result_is_named_by_run_and_attempt() -> None:
    item = result(sealed(report(0), report(1)), world().run, CONTROLLER)
    assert item["metadata"]["name"] == "ib-pair-7d0f3c9a51b2e84466aa91c0-1"
    assert item["spec"]["digest"] == read_envelope(item["spec"]["envelope"]).digest

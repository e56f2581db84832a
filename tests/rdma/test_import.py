"""What the fixed contract says becomes an envelope that never says more."""

import copy
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.contract.document import canonical
from checks.contract.envelope import parse_envelope, read_envelope
from checks.contract.reasons import CHECK_REASONS
from checks.rdma import import_document

from .source import LOG, NOW, Object, Source, golden, outcome


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return Source(tmp_path)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pass", ("unknown", "missing_required_evidence")),
        ("socket-fail", ("failed", "socket_fallback_observed")),
        ("missing-unknown", ("unknown", "evidence_integrity_missing")),
    ],
)
def test_a_recorded_document_without_its_evidence_never_passes(name: str, expected: tuple[str, str]) -> None:
    assert outcome(import_document(golden(name), None, None, NOW)) == expected


def test_a_pass_whose_evidence_was_read_passes_and_keeps_the_whole_source(source: Source) -> None:
    read = source.read()
    assert outcome(read) == ("passed", "validation_passed")
    assert read.envelope is not None
    sound = parse_envelope(canonical(read.envelope))
    assert not isinstance(sound, list) and sound.recomputed_outcome == "passed"
    assert [(t.name, t.uid, t.pod_uid, t.rank) for t in sound.targets.observed] == [
        ("h200-a", "node-uid-a", "pod-uid-0", 0),
        ("h200-b", "node-uid-b", "pod-uid-1", 1),
    ]
    assert read.envelope["details"]["data"] == source.document


def test_what_the_source_does_not_say_is_null_or_says_so(source: Source) -> None:
    envelope = source.read().envelope
    assert envelope is not None
    target = envelope["targets"]["observed"][0]
    assert [target[name] for name in ("providerID", "machineID", "systemUUID", "bootID")] == [None] * 4
    assert envelope["times"]["queued"] is None
    assert envelope["run"]["requestedBy"] == "not recorded by rdma-validation.v1"


# What may be gone from a document without making it prove less: it is kept, and nothing is judged by it.
NOT_JUDGED = re.compile(
    r"/(project_id|experiment_id|run_group_id|source|image|nccl|parser|errors|admitted_at"
    r"|requested/resources|requested/parameters"
    r"|requested/topology/(pod_count|rank_count|distinct_hostname|site|pool|gpu_model)"
    r"|transport/(interfaces|environment|evidence/[01])|measurements/(algbw_gbps|busbw_gbps|max_rank_time_seconds)"
    r"|cleanup/(started_at|owned_resources|remaining_resources)|ranks/[01]/memlock_(soft|hard)_bytes|pods/[01]/name"
    r")(/.*)?"
)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every field and item of a document, inner ones too."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, key)
        yield from leaves(item, (*path, key))


def place(document: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        document = document[step]
    return document


def drop(document: Object, path: tuple[Any, ...]) -> None:
    del place(document, path[:-1])[path[-1]]


def clear(document: Object, path: tuple[Any, ...]) -> None:
    place(document, path[:-1])[path[-1]] = None


@pytest.mark.parametrize("change", [drop, clear])
def test_a_pass_that_lacks_any_one_fact_does_not_pass(source: Source, change: Callable[..., None]) -> None:
    paths = list(leaves(source.document))
    assert len(paths) > 200
    for path in paths:
        document = copy.deepcopy(source.document)
        change(document, path)
        where = "/" + "/".join(map(str, path))
        read = source.read(document)
        if NOT_JUDGED.fullmatch(where):
            continue
        assert read.envelope is None or read.envelope["outcome"] != "passed", where


def test_every_envelope_made_is_sound_and_says_what_its_targets_give(source: Source) -> None:
    for path in list(leaves(source.document)):
        document = copy.deepcopy(source.document)
        drop(document, path)
        envelope = source.read(document).envelope
        if envelope is not None:
            sound = read_envelope(envelope).envelope
            assert sound is not None and sound.recomputed_outcome == sound.outcome, path


def set_(path: str, value: Any) -> Callable[[Object], None]:
    """A change of one field."""
    steps = [int(step) if step.isdigit() else step for step in path.split("/")]

    def change(document: Object) -> None:
        place(document, tuple(steps[:-1]))[steps[-1]] = value

    return change


FAILS = {
    "socket beside positive proof": (set_("transport/socket_fallback_observed", True), "socket_fallback_observed"),
    "socket in an excerpt": (
        set_("transport/evidence", ["h:1:1 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>"]),
        "socket_fallback_observed",
    ),
    "a peer that was not authenticated": (set_("ranks/1/peer_auth_verified", False), "peer_authentication_failed"),
    "another placement": (set_("placement/matches_request", False), "placement_mismatch"),
    "one node only": (set_("placement/distinct_nodes", False), "placement_mismatch"),
    "wrong data": (set_("correctness/error_count", 3), "correctness_error"),
    "an exit code": (set_("rank_exits/1/exit_code", 139), "nonzero_exit"),
    "something left behind": (
        set_(
            "cleanup/remaining_resources",
            [{"api_version": "v1", "kind": "Secret", "namespace": "n", "name": "auth", "uid": "u"}],
        ),
        "cleanup_incomplete",
    ),
    "a link that is down": (set_("actual/nodes/0/rdma_link_state", "1: DOWN"), "transport_failure"),
    "an error it lists": (set_("errors", [{"code": "transport_failure", "field": "x"}]), "transport_failure"),
    "a stated fail without a fault": (set_("status", "fail"), "runtime_error"),
}


@pytest.mark.parametrize("name", FAILS)
def test_a_fault_that_the_document_shows_fails_whatever_it_states(source: Source, name: str) -> None:
    change, reason = FAILS[name]
    change(source.document)
    assert outcome(source.read()) == ("failed", reason)


UNKNOWN = {
    "a stated unknown": (set_("status", "unknown"), "runtime_error"),
    "a time in the future": (set_("observed_at", "2026-09-15T20:00:00Z"), "parser_rejected"),
    "times out of order": (set_("started_at", "2026-09-14T19:00:00Z"), "parser_rejected"),
    "a run that never ended": (set_("completed_at", "0001-01-01T00:00:00Z"), "parser_rejected"),
    "no node UID": (set_("actual/nodes/0/uid", ""), "missing_required_evidence"),
    "another node UID at the rank": (set_("ranks/0/node_uid", "node-uid-x"), "topology_evidence_incomplete"),
    "another pod UID": (set_("pods/0/uid", "pod-uid-x"), "topology_evidence_incomplete"),
    "one rank twice": (set_("ranks/1/rank", 0), "missing_required_evidence"),
    "evidence without digest": (set_("evidence/0/sha256", ""), "evidence_integrity_missing"),
    "no positive proof": (set_("transport/positive_ib_evidence", False), "ib_transport_not_proven"),
    "a link that is not up yet": (set_("actual/nodes/0/rdma_link_state", "2: INIT"), "ib_transport_not_proven"),
    "a measurement of nothing": (set_("measurements/samples/0/busbw_gbps", 0), "invalid_measurement"),
    "a field of the future": (set_("actual/nodes/0/site_label_conflict", True), "parser_rejected"),
    "cleanup that nobody saw": (set_("cleanup/state", "unknown"), "missing_required_evidence"),
    "one node fewer": (lambda document: document["actual"]["nodes"].pop(), "missing_required_evidence"),
    "a third node asked for": (set_("requested/topology/node_count", 3), "missing_required_evidence"),
    "another GPU model": (set_("actual/nodes/0/gpu_model", "NVIDIA A100"), "topology_mismatch"),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_hole_in_the_document_is_unknown(source: Source, name: str) -> None:
    change, reason = UNKNOWN[name]
    assert reason in CHECK_REASONS
    change(source.document)
    assert outcome(source.read()) == ("unknown", reason)


def test_evidence_that_was_changed_or_is_gone_is_unknown(source: Source) -> None:
    path = source.write("placement", b"here")
    path.write_bytes(b"hers")
    assert outcome(source.read()) == ("unknown", "evidence_integrity_missing")
    path.unlink()
    assert outcome(source.read()) == ("unknown", "missing_required_evidence")


# Rank 0 prints marks and proof of rank 1, whose own section has none.
FORGED = """\
TAUGRID_RANK_LOG_BEGIN rank=0
h200-a:71:71 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth1:10.0.0.10<0>
TAUGRID_RANK_LOG_END rank=0
TAUGRID_RANK_LOG_BEGIN rank=1
h200-b:71:71 [0] NCCL INFO NET/IB : Using [0]mlx5_1:1/IB [RO]; OOB eth2:10.0.0.11<0>
TAUGRID_RANK_LOG_END rank=1
TAUGRID_RANK_LOG_END rank=0
TAUGRID_RANK_LOG_BEGIN rank=1
nothing
TAUGRID_RANK_LOG_END rank=1
"""


@pytest.mark.parametrize(
    "log",
    [
        LOG.replace("rank=1\nh200-b:71:71 [0] NCCL INFO NET/IB : Using [0]mlx5_1:1/IB", "rank=1\nnothing"),
        LOG.replace("mlx5_1:1/IB", "mlx5_1:1/RoCE"),
        LOG.replace("TAUGRID_RANK_LOG_BEGIN rank=1", ""),
        LOG + "h200-b:71:71 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.11<0>\n",
        FORGED,
        LOG.replace("TAUGRID_RANK_LOG_END rank=1", ""),
        "NCCL INFO NET/IB : Using mlx5_0\nNCCL INFO NET/IB : Using mlx5_1\n",
        "",
    ],
    ids=[
        "a rank without proof",
        "RoCE",
        "a section without beginning",
        "a socket line",
        "forged marks",
        "cut",
        "no rank, no port",
        "empty",
    ],
)
def test_a_log_that_does_not_itself_prove_infiniband_is_unknown(source: Source, log: str) -> None:
    source.write("sanitized-logs", log.encode())
    assert outcome(source.read()) == ("unknown", "ib_transport_not_proven")


def test_a_log_may_be_wrapped_in_json_or_name_its_ranks_line_by_line(source: Source) -> None:
    source.write("sanitized-logs", canonical({"logs": [LOG]}))
    assert outcome(source.read())[0] == "passed"
    lines = [f"rank={n} NCCL INFO NET/IB : Using [0]mlx5_{n}:1/IB [RO]; OOB eth{n}:10.0.0.1<0>" for n in (0, 1)]
    source.write("sanitized-logs", "\n".join(lines).encode())
    assert outcome(source.read())[0] == "passed"


def test_a_longer_validity_than_a_day_is_cut_and_a_shorter_one_stays(source: Source) -> None:
    source.document.update(stale_after_seconds=30 * 86400, valid_until="2026-10-14T20:00:14Z")
    envelope = source.read().envelope
    assert envelope is not None
    assert (envelope["freshForSeconds"], envelope["validUntil"]) == (86400, "2026-09-15T20:00:14.123456Z")
    source.document.update(valid_until="2026-09-14T23:00:00Z")
    envelope = source.read().envelope
    assert envelope is not None and envelope["validUntil"] == "2026-09-14T23:00:00Z"


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        (set_("schema", "rdma-validation.v2"), "/schema"),
        (set_("status", "running"), "/status"),
        (set_("observed_at", "2026-09-14T22:00:14+02:00"), "/observed_at"),
        (set_("observed_at", "2026-02-30T20:00:14Z"), "/observed_at"),
        (set_("attempt", "1"), "/attempt"),
        (set_("actual/nodes/0/name", "H200 A"), "/actual/nodes/0/name"),
        (set_("evidence/0/uri", "https://store.example/x?sig=abcdefghijklmnop"), "/evidence/0/uri"),
        (set_("errors", [{"code": "transport_failure", "message": "password=hunter2hunter2"}]), ""),
    ],
)
def test_a_document_that_cannot_be_read_says_which_field(
    source: Source, change: Callable[[Object], None], pointer: str
) -> None:
    change(source.document)
    read = source.read()
    assert read.envelope is None
    assert any(problem.pointer.endswith(pointer) for problem in read.problems), read.problems
    assert "hunter2" not in str(read.problems)


def test_the_same_document_gives_the_same_bytes(source: Source) -> None:
    first, second = source.read().envelope, source.read().envelope
    assert canonical(first) == canonical(second)


def test_a_log_of_any_bytes_is_read_without_a_crash_and_in_bounded_time(source: Source) -> None:
    for log in (b"\xff\x00" * 1000, b"[" * 100_000, b"NET/IB : Using " * 200_000, b"rank=99999999999 x\n"):
        source.write("sanitized-logs", log)
        assert outcome(source.read()) == ("unknown", "ib_transport_not_proven")


@given(data=st.data())
def test_any_value_in_any_place_gives_a_sound_envelope_or_named_problems(data: st.DataObject) -> None:
    document = golden("pass")
    path = data.draw(st.sampled_from(list(leaves(document))))
    scalars: st.SearchStrategy[Any] = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40)
    junk: st.SearchStrategy[Any] = st.one_of(scalars, st.just([]), st.just({}))
    place(document, path[:-1])[path[-1]] = data.draw(junk)
    read = import_document(document, None, None, NOW)
    if read.envelope is None:
        assert read.problems and all(str(problem).isprintable() for problem in read.problems)
    else:
        sound = read_envelope(read.envelope).envelope
        assert sound is not None and sound.outcome == sound.recomputed_outcome != "passed"

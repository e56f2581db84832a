"""Joining reports: only a whole report of this run, from its own rank and out of a sound container, passes."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.controller.pods import Pod, pod_from
from checks.controller.reports import Ending, overall, parts
from tests.controller.things import pod

RUN_ID = "7d0f3c9a51b2e84466aa91c0"


def report(rank: int, **fields: Any) -> str:
    body = {"schema": "tau.validation-report.v1", "rank": rank, "outcome": "passed", "reason": "validation_passed"}
    return json.dumps(body | fields)


def both(second: dict[str, Any]) -> list[Pod]:
    return [pod_from(pod(0, "gpu-03", report(0))), pod_from(second)]


def said(pods: list[Pod], ending: Ending = Ending(), reporters: int = 2) -> tuple[str, str]:  # noqa: B008
    found = overall(parts(pods, RUN_ID, reporters, ending), ending, reporters)
    return found.outcome, found.reason


CASES: dict[str, tuple[dict[str, Any], tuple[str, str]]] = {
    "both sound": (pod(1, "gpu-12", report(1)), ("passed", "validation_passed")),
    "with the run's id": (pod(1, "gpu-12", report(1, runID=RUN_ID)), ("passed", "validation_passed")),
    "failed": (
        pod(1, "gpu-12", report(1, outcome="failed", reason="transport_failure")),
        ("failed", "transport_failure"),
    ),
    "undecided": (pod(1, "gpu-12", report(1, outcome="unknown", reason="runtime_error")), ("unknown", "runtime_error")),
    "silent": (pod(1, "gpu-12", ""), ("unknown", "report_missing")),
    "crashed": (pod(1, "gpu-12", "", code=137), ("failed", "workload_failed")),
    "passed and crashed": (pod(1, "gpu-12", report(1), code=1), ("failed", "nonzero_exit")),
    "undecided and crashed": (
        pod(1, "gpu-12", report(1, outcome="unknown", reason="runtime_error"), code=2),
        ("unknown", "runtime_error"),
    ),
    "cut": (pod(1, "gpu-12", report(1)[:-1] + "x" * 4096), ("unknown", "report_truncated")),
    "cut to the byte": (pod(1, "gpu-12", '{"' + "x" * 4094), ("unknown", "report_truncated")),
    "no JSON": (pod(1, "gpu-12", "done"), ("unknown", "report_not_json")),
    "not an object": (pod(1, "gpu-12", "[]"), ("unknown", "report_malformed")),
    "another schema": (pod(1, "gpu-12", report(1, schema="report.v2")), ("unknown", "report_malformed")),
    "an unknown field": (pod(1, "gpu-12", report(1, nodeName="gpu-99")), ("unknown", "report_malformed")),
    "a credential": (pod(1, "gpu-12", report(1, message="token=abcdef0123456789")), ("unknown", "report_malformed")),
    "another run's": (pod(1, "gpu-12", report(1, runID="0" * 24)), ("unknown", "report_of_another_run")),
    "another rank's": (pod(1, "gpu-12", report(0)), ("unknown", "report_rank_mismatch")),
    "a second of one rank": (pod(0, "gpu-12", report(0)), ("unknown", "report_repeated")),
    "a deleted pod": (pod(1, "gpu-12", "", code=143, deletionTimestamp="x"), ("unknown", "workload_deleted")),
    "a pod whose init container failed": (
        pod(1, "gpu-12") | {"status": {"phase": "Failed"}},
        ("failed", "workload_failed"),
    ),
    "a running pod": (pod(1, "gpu-12"), ("unknown", "workload_deleted")),
}


@pytest.mark.parametrize("name", CASES)
def test_a_second_report_that_is(name: str) -> None:
    second, expected = CASES[name]
    assert said(both(second)) == expected


def test_a_rank_without_a_pod_did_not_report() -> None:
    assert said(both(pod(1, "gpu-12", report(1)))[:1]) == ("unknown", "workload_deleted")


def test_more_reports_than_asked_for_do_not_pass() -> None:
    pods = [*both(pod(1, "gpu-12", report(1))), pod_from(pod(2, "gpu-13", report(2)))]
    assert said(pods) == ("unknown", "report_unexpected")


def test_a_run_that_was_ended_from_outside_never_passes() -> None:
    pods = both(pod(1, "gpu-12", report(1)))
    assert said(pods, Ending("deadline_exceeded", "too late")) == ("unknown", "deadline_exceeded")


def test_a_failure_is_told_although_the_run_was_ended_from_outside() -> None:
    pods = both(pod(1, "gpu-12", report(1, outcome="failed", reason="transport_failure")))
    assert said(pods, Ending("cancelled", "no longer wanted")) == ("failed", "transport_failure")


MESSAGES = st.one_of(
    st.none(),
    st.text(max_size=60),
    st.sampled_from([report(rank) for rank in (0, 1, 2)]),
    st.sampled_from([report(1, outcome=outcome) for outcome in ("failed", "unknown", "skipped")]),
    st.builds(lambda cut: report(1)[:cut], st.integers(0, 90)),
)


@given(MESSAGES, st.integers(0, 3), st.booleans(), st.sampled_from(["", "evicted"]))
def test_only_a_sound_second_report_passes(message: str | None, code: int, leaving: bool, ended: str) -> None:
    metadata = {"deletionTimestamp": "2026-11-30T05:10:00Z"} if leaving else {}
    outcome, _ = said(both(pod(1, "gpu-12", message, code, **metadata)), Ending(ended, "why"))
    sound = message == report(1) and code == 0 and not ended
    assert (outcome == "passed") == sound

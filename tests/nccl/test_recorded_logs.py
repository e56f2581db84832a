"""Every recorded log gets the verdict it must get, and none passes that must not."""

from typing import Any

import pytest

from .oracle import missing_proof
from .recorded import PASSING, RECORDED, Recorded, judge, transport


def verdict(log: Recorded, link_layer: str = "any", **request: object) -> Any:
    return judge(log.data, link_layer=link_layer, exit_code=log.exit_code, nodes=log.nodes, **request)


@pytest.mark.parametrize("log", RECORDED, ids=lambda log: log.file)
def test_a_recorded_log_gets_its_verdict(log: Recorded) -> None:
    found = verdict(log)
    assert found.outcome in log.acceptable, found.message


@pytest.mark.parametrize("log", RECORDED, ids=lambda log: log.file)
def test_no_option_lets_a_log_pass_that_must_not(log: Recorded) -> None:
    for link_layer in ("any", "InfiniBand"):
        for accept in (False, True):
            found = verdict(log, link_layer, accept_untested_nccl=accept)
            assert found.outcome != "passed" or "passed" in log.acceptable, found.message


@pytest.mark.parametrize("log", RECORDED, ids=lambda log: log.file)
def test_without_exit_status_or_nodes_nothing_passes(log: Recorded) -> None:
    assert judge(log.data, exit_code=None).outcome != "passed"
    assert judge(log.data, nodes=None).outcome != "passed"
    assert judge(log.data, nodes=("node-1", "node-1")).outcome != "passed"
    assert judge(log.data, exit_code=1).outcome == "failed"


@pytest.mark.parametrize("log", PASSING, ids=lambda log: log.file)
def test_the_oracle_agrees_with_what_passed(log: Recorded) -> None:
    found = verdict(log)
    if found.outcome == "passed":
        assert missing_proof(log.data) == ""


@pytest.mark.parametrize("log", [log for log in PASSING if "roce" in log.file], ids=lambda log: log.file)
def test_roce_is_refused_where_infiniband_is_asked_for(log: Recorded) -> None:
    found = verdict(log, "InfiniBand")
    assert (found.outcome, found.reason) == ("failed", "roce_not_infiniband")


@pytest.mark.parametrize("log", [log for log in RECORDED if "socket" in log.file], ids=lambda log: log.file)
def test_a_socket_fallback_is_always_called_so(log: Recorded) -> None:
    found = verdict(log)
    if log.expected == "failed" and "no-socket" not in log.file:
        assert found.reason == "socket_fallback_observed"


def test_a_verdict_names_only_reasons_from_the_closed_lists() -> None:
    known = set(transport.FAILURES) | set(transport.DOUBTS) | {transport.OK_REASON}
    for log in RECORDED:
        found = verdict(log)
        assert found.reasons
        assert set(found.reasons) <= known
        assert found.reason == found.reasons[0]


def test_the_old_form_of_2_4_passes_once_untested_versions_are_accepted() -> None:
    log = next(log for log in RECORDED if log.file.startswith("010"))
    assert verdict(log).reason == "untested_nccl_version"
    assert verdict(log, accept_untested_nccl=True).outcome == "passed"

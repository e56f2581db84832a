"""The sample shows what it promises: every scenario its state and reason, and together every one there is."""

import pytest

from checks.contract.reasons import CHECK_REASONS, Reason, State
from checks.proof import Holds, first_fault, prove
from checks.sample import LIVING, SCENARIOS, STORIES, Scenario
from checks.snapshot import Explained

from .conftest import Place

Fleet = dict[Place, Explained]


def place(scenario: Scenario) -> Place:
    return scenario.cluster, scenario.namespace, scenario.name


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: f"{s.reason} by {s.name} in {s.namespace} on {s.cluster}")
def test_each_check_has_the_verdict_its_scenario_names(scenario: Scenario, explained: Fleet) -> None:
    verdict = explained[place(scenario)].verdict
    assert (verdict.state, str(verdict.reason)) == (scenario.state, scenario.reason), verdict.message


def test_nothing_is_in_the_dumps_that_no_scenario_names(explained: Fleet) -> None:
    assert set(explained) == {place(scenario) for scenario in (*SCENARIOS, LIVING)}
    assert len(SCENARIOS) == len({place(scenario) for scenario in SCENARIOS})


def test_every_state_and_every_reason_of_the_table_occurs(explained: Fleet) -> None:
    reasons = {str(item.verdict.reason) for item in explained.values()}
    assert {item.verdict.state for item in explained.values()} == set(State)
    assert {str(reason) for reason in Reason} - reasons == set()


def test_reasons_of_the_checks_themselves_occur_known_ones_and_one_of_their_own(explained: Fleet) -> None:
    reasons = {str(item.verdict.reason) for item in explained.values()}
    assert reasons >= {"socket_fallback_observed", "ib_transport_not_proven", "correctness_error", "topology_mismatch"}
    assert reasons - set(CHECK_REASONS) - {str(reason) for reason in Reason} == {"latency_above_limit"}


def test_most_checks_of_the_first_cluster_are_passed(explained: Fleet) -> None:
    west = [item.verdict.state for (cluster, _, _), item in explained.items() if cluster == "west-1"]
    assert west.count(State.PASSED) >= 12
    assert west.count(State.PASSED) > len(west) / 2


def test_every_clause_of_a_passed_check_holds_and_every_other_verdict_has_its_clause(explained: Fleet) -> None:
    for item in explained.values():
        clauses = prove(item.verdict)
        if item.verdict.state is State.PASSED:
            assert {clause.holds for clause in clauses} == {Holds.YES}
        else:
            fault = first_fault(clauses, item.verdict)
            assert fault is not None
            assert fault.detail


def test_some_check_is_in_each_relation_to_its_last_verdict(explained: Fleet) -> None:
    verdicts = [item.verdict for item in explained.values()]
    pairs = {(verdict.state, verdict.last.state) for verdict in verdicts if verdict.last}
    assert {(State.RUNNING, State.PASSED), (State.RUNNING, State.FAILED), (State.STALE, State.FAILED)} <= pairs
    assert (State.UNKNOWN, State.FAILED) in pairs  # a partial newer result does not clear an older failure


STORY_VERDICTS = {
    "socket-fallback": {(State.FAILED, "socket_fallback_observed")},
    "partial-targets": {(State.UNKNOWN, "targets_incomplete")},
    "stale-evidence": {(State.STALE, "expired")},
    "cleanup-failure": {(State.FAILED, "cleanup_incomplete")},
    "node-identity": {(State.STALE, "target_replaced"), (State.STALE, "target_rebooted")},
}


def test_the_five_stories_are_told(explained: Fleet) -> None:
    told = {
        name: {(explained[place(s)].verdict.state, str(explained[place(s)].verdict.reason)) for s in scenarios}
        for name, scenarios in STORIES.items()
    }
    assert told == STORY_VERDICTS


def test_stale_evidence_ends_by_its_own_limit_and_by_the_registrations(explained: Fleet) -> None:
    limits = []
    for scenario in STORIES["stale-evidence"]:
        case = explained[place(scenario)].verdict.case
        assert case.result is not None and case.result.envelope is not None
        assert case.registration is not None and case.registration.spec is not None
        limits.append((case.result.envelope.fresh_for_seconds, case.registration.spec.results.fresh_for_seconds))
    assert [own < registered for own, registered in limits] == [True, False]


def test_important_checks_remember_thirty_runs_whose_figures_vary(explained: Fleet) -> None:
    verdict = explained["west-1", "team-vision", "ib-pair"].verdict
    speeds = [
        sealed.result.envelope.details.data["busBandwidthGBps"]
        for sealed in verdict.history
        if sealed.result.envelope and sealed.result.envelope.details
    ]
    assert len(speeds) == 30
    assert len(set(speeds)) > 5
    assert all(46 < speed < 49 for speed in speeds)

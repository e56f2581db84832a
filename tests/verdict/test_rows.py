"""Rows of the verdict where the example alone does not reach: other launches, other inventories, what was deleted."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from checks.contract.clock import format_time, parse_time
from checks.contract.kinds import CheckSpec, RunSpec
from checks.contract.parsing import parse
from checks.contract.problem import Problem
from checks.contract.reasons import State
from checks.facts import Sealed, Verification, Verified
from checks.rules import Case, fresh_until, instants, required_readings
from checks.verdict import BEGINNING, LastVerdict, evaluate, last_sealed, steps
from tests.contract.example import MICROSECOND, NOW, SEALED_AT, Example
from tests.verdict.world import NODES, REGISTRATION, RESULT, RUN, World


def spec_of(change: dict[str, Any]) -> CheckSpec:
    found = parse(CheckSpec, Example().check["spec"] | change)
    assert found.value is not None, found.problems
    return found.value


def run_with(**parameters: Any) -> World:
    """A world whose run was started with these parameters."""
    world = World()
    spec = parse(RunSpec, Example().run["spec"] | {"parameters": parameters}).value
    world.run = replace(RUN, spec=spec)
    return world


def own_controller(world: World) -> World:
    """The check is launched by a controller of its own."""
    world.registration = replace(
        REGISTRATION, spec=spec_of({"launch": {"controller": {"name": "a.example/b"}}}), template=None
    )
    return world


def test_a_check_with_its_own_controller_needs_no_template_and_no_run() -> None:
    world = own_controller(World())
    assert world.verdict().state is State.PASSED
    world.run = None
    assert world.verdict().state is State.PASSED


def test_a_run_of_its_own_controller_may_have_any_parameter() -> None:
    assert own_controller(run_with(anything=1)).verdict().state is State.PASSED


REFUSED = "The run was started with what the template refuses"


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"linkLayer": "any"}, "The run was started with another linkLayer than the registration fixes"),
        ({"linkLayer": True}, "The run was started with another linkLayer than the registration fixes"),
        (
            {"other": 1},
            f"{REFUSED}: parameter other is not one of linkLayer, minBusBandwidthGBps",
        ),
        (
            {"minBusBandwidthGBps": 2001},
            f"{REFUSED}: parameter minBusBandwidthGBps must be an integer from 0 to 2000",
        ),
    ],
)
def test_a_run_may_not_change_what_was_approved(parameters: dict[str, Any], says: str) -> None:
    verdict = run_with(**parameters).verdict()
    assert (verdict.state, verdict.reason, verdict.message) == (State.UNKNOWN, "identity_mismatch", says)


def test_one_is_not_true_where_the_registration_fixes_a_number() -> None:
    world = run_with(minBusBandwidthGBps=1)
    launch = Example().check["spec"]["launch"]["template"]
    fixed = {"launch": {"template": launch | {"parameters": {"minBusBandwidthGBps": 1}}}}
    world.registration = replace(REGISTRATION, spec=spec_of(fixed))
    assert world.verdict().state is State.PASSED


@pytest.mark.parametrize(
    ("labels", "namespace", "workspace", "passed"),
    [
        ({"tau.azure.com/gpu": "true"}, "tau-system", None, True),
        ({"tau.azure.com/gpu": "true"}, "tau-system", "tau-system", False),
        ({"tau.azure.com/gpu": "true", "tau.azure.com/workspace": "all"}, "tau-system", "all", True),
        ({"tau.azure.com/gpu": "true", "tau.azure.com/workspace": "all"}, "tau-system", None, False),
        ({"tau.azure.com/gpu": "true"}, "team-vision", None, False),
    ],
)
def test_the_workspace_is_the_label_and_tau_system_stands_for_the_cluster(
    labels: dict[str, str], namespace: str, workspace: str | None, passed: bool
) -> None:
    world = World()
    world.registration = replace(REGISTRATION, namespace=namespace, namespace_labels=labels)
    world.raw["scope"] |= {"workspace": workspace, "namespace": namespace}
    world.seal()
    assert world.result is not None
    world.result = replace(world.result, namespace=namespace)
    assert (world.verdict().state is State.PASSED) is passed


@pytest.mark.parametrize("field", ["provider_id", "system_uuid", "machine_id"])
def test_each_id_of_the_machine_counts_where_both_sides_know_it(field: str) -> None:
    (node,) = NODES["gpu-03"]
    for value, state in (("another", State.STALE), ("", State.PASSED)):
        world = World()
        world.nodes["gpu-03"] = (replace(node, **{field: value}),)
        assert world.verdict().state is state
    world = World()
    wire = {"provider_id": "providerID", "system_uuid": "systemUUID", "machine_id": "machineID"}[field]
    world.raw["targets"]["observed"][0][wire] = None
    world.seal()
    assert world.verdict().state is State.PASSED
    world.nodes["gpu-03"] = (replace(node, uid="another"),)
    assert world.verdict().reason == "target_replaced"


def test_every_copy_of_a_node_must_be_the_machine_that_was_tested() -> None:
    (node,) = NODES["gpu-03"]
    for copies in ((node, replace(node, uid="another")), (replace(node, uid="another"), node)):
        world = World()
        world.nodes["gpu-03"] = copies
        assert world.verdict().reason == "target_replaced"


def test_what_was_deleted_keeps_its_faults_and_proves_nothing() -> None:
    for which in ("run", "result"):
        world = World()
        setattr(world, which, replace(getattr(world, which), gone=True))
        verdict = world.verdict()
        assert (verdict.state, verdict.reason) == (State.UNKNOWN, "result_missing")
        assert verdict.message == "The result was deleted from the cluster"
        world.raw |= {"outcome": "failed", "errors": ["a fault"], "reason": "runtime_error"}
        world.seal()
        assert world.verdict().state is State.FAILED


def test_of_several_faults_of_evidence_the_worst_is_said() -> None:
    world = World()
    kept = dict(RESULT.evidence)
    kept["manifest"] = Verified(Verification.UNVERIFIED, why="the store is down")
    world.result = replace(RESULT, evidence=kept)
    assert world.verdict().message == "Evidence “manifest” has not been read and compared yet (the store is down)"
    kept["placement"] = Verified(Verification.MISSING)
    assert world.verdict().message == "Evidence “placement” is not there"
    kept["cleanup"] = Verified(Verification.MISMATCH, why="another sha256")
    assert world.verdict().message == "Evidence “cleanup” is not what the result says it is (another sha256)"


def test_a_verification_that_ends_takes_the_green_away_before_the_result_expires() -> None:
    world = World()
    ends = NOW + timedelta(hours=1)
    later = {name: timedelta(hours=0 if name == "manifest" else 1) for name in RESULT.evidence}
    read = {name: replace(each, until=ends + later[name]) for name, each in RESULT.evidence.items()}
    world.result = replace(RESULT, evidence=read)
    source = replace(world.source, unbroken=True)
    found = steps(world.registration, world.run, world.result, world.inventory, source)
    passed, *after = found[next(n for n, step in enumerate(found) if step.state is State.PASSED) :]
    assert passed.until == ends + timedelta(microseconds=1)
    assert [(step.state, step.reason) for step in after] == [
        (State.UNKNOWN, "evidence_unverified"),
        (State.STALE, "expired"),
    ]
    world.source = replace(world.source, heartbeat_at=ends + timedelta(minutes=1))
    verdict = world.verdict(ends + timedelta(minutes=1))
    assert verdict.message == (
        "Evidence “manifest” was last read at 2026-11-30T05:12:00Z and has not been since: "
        "that counted until 2026-11-30T09:24:00Z"
    )
    assert verdict.last is not None and verdict.last.state is State.PASSED
    unknown = {name: replace(each, at=None, until=ends) for name, each in RESULT.evidence.items()}
    world.result = replace(RESULT, evidence=unknown)
    assert world.verdict(ends + timedelta(minutes=1)).message == (
        "Evidence “manifest” was read and has not been since: that counted until 2026-11-30T09:24:00Z"
    )
    assert world.verdict(ends).state is State.PASSED


def test_several_objects_and_targets_left_are_counted() -> None:
    world = World()
    world.raw["cleanup"]["remaining"] = world.raw["cleanup"]["owned"]
    world.seal()
    assert world.verdict().message == "The run left 2 objects behind"
    world = World()
    names = [f"gpu-{number}" for number in range(20, 26)]
    world.raw["targets"]["requested"] = {"count": 6, "nodes": names}
    world.registration = replace(REGISTRATION, spec=spec_of({"targets": {"count": 6}}))
    world.raw |= {"outcome": "unknown", "reason": "topology_mismatch"}
    world.seal()
    says = "2 of 6 targets were tested: gpu-20, gpu-21, gpu-22, gpu-23, gpu-24 left out"
    assert (world.verdict().reason, world.verdict().message) == ("targets_incomplete", says)


def test_a_message_that_is_empty_gives_way_to_the_sentence_of_the_reason() -> None:
    world = World()
    world.raw["message"] = ""
    world.seal()
    assert world.verdict().message == "Every clause of the proof holds."
    assert world.verdict().last and world.verdict().last.message == "Every clause of the proof holds."  # type: ignore[union-attr]
    world.raw |= {"outcome": "failed", "errors": ["a fault"], "reason": "correctness_error"}
    world.seal()
    assert world.verdict().message == "The data that arrived was wrong."
    world.raw |= {"errors": [], "outcome": "unknown", "reason": "parser_rejected"}
    world.raw["targets"]["observed"][0]["outcome"] = "unknown"
    world.seal()
    assert world.verdict().message == "The output of the workload could not be understood."


def test_the_last_verdict_names_its_run_and_when_it_was_observed() -> None:
    expected = LastVerdict(State.PASSED, "proved", World().raw["message"], parse_time("2026-11-30T05:12:00Z"), RUN.uid)
    assert World().verdict().last == expected
    world = own_controller(World())
    world.run = None
    assert world.verdict().last == expected
    world.result = replace(RESULT, envelope=None, schema="x", problems=())
    last = world.verdict().last
    assert last and (last.run_uid, last.observed_at) == ("", RESULT.created_at)
    world.result = None
    assert world.verdict().last is None


def test_the_last_verdict_comes_with_the_run_and_result_that_gave_it() -> None:
    world = World()
    world.raw |= {"outcome": "failed", "errors": ["a fault"]}
    world.seal()
    assert world.result is not None and world.run is not None
    failed = Sealed(world.run, world.result)
    world.result = None
    found = last_sealed(world.verdict().case, (failed,))
    assert found and found[0].state is State.FAILED and found[1] == failed
    assert world.verdict().severity == 2
    world.result = RESULT
    assert last_sealed(world.verdict().case, (failed,)) is not None
    same = last_sealed(world.verdict().case, (Sealed(RUN, RESULT),))
    assert same and same[1] == Sealed(RUN, RESULT)


def test_severity_is_worst_first() -> None:
    world = World()
    assert world.verdict().severity == 5
    world.source = replace(world.source, complete=False)
    assert world.verdict().severity == 2
    world = World(now=NOW + timedelta(days=2))
    world.source = replace(world.source, heartbeat_at=world.now)
    assert world.verdict().severity == 3
    world.raw |= {"outcome": "failed", "errors": ["a fault"]}
    world.seal()
    assert (world.verdict().state, world.verdict().severity) == (State.STALE, 1)
    world.now = NOW
    world.source = replace(world.source, heartbeat_at=NOW)
    assert (world.verdict().state, world.verdict().severity) == (State.FAILED, 0)


def test_the_source_says_itself_what_is_missing() -> None:
    world = World()
    world.source = replace(world.source, complete=False, why="The dump was cut")
    assert world.verdict().message == "The dump was cut"
    world.source = replace(world.source, unbroken=True)
    assert world.verdict().state is State.PASSED


def test_steps_of_the_example_are_these() -> None:
    world = World()
    found = steps(world.registration, world.run, world.result, world.inventory, world.source)
    turns = [(format_time(step.since), step.state, step.reason) for step in found[1:]]
    assert (found[0].since, found[0].state, found[0].reason) == (BEGINNING, State.UNKNOWN, "source_unavailable")
    assert turns == [
        ("2026-11-30T08:23:00Z", State.PASSED, "proved"),
        ("2026-11-30T08:26:00.000001Z", State.UNKNOWN, "source_unavailable"),
    ]
    world.source = replace(world.source, unbroken=True)
    found = steps(world.registration, world.run, world.result, world.inventory, world.source)
    turns = [(format_time(step.since), step.state, step.reason) for step in found]
    assert turns == [
        (format_time(BEGINNING), State.UNKNOWN, "clock_invalid"),
        ("2026-11-30T05:11:00Z", State.PASSED, "proved"),
        ("2026-12-01T05:12:00.000001Z", State.STALE, "expired"),
    ]
    assert [step.until for step in found] == [found[1].since, found[2].since, None]
    assert found[1].since - MICROSECOND < found[1].since


def test_an_active_run_that_never_said_anything_is_lost() -> None:
    world = World()
    world.status["phase"] = "Running"
    del world.status["lastObservedAt"]
    world.observe()
    assert world.run is not None
    world.run = replace(world.run, created_at=None, alive_at=None, deadline_at=None)
    assert world.verdict().message == "The run has gone silent, no sign of life in phase Running"
    assert (
        steps(world.registration, world.run, None, world.inventory, replace(world.source, unbroken=True))[-1].reason
        == "run_lost"
    )


@pytest.mark.parametrize(
    ("stated", "says"),
    [("", "nothing"), ("x" * 20, "x" * 20), ("x" * 21, "x" * 19 + "…"), ("sha256:" + "0" * 64, "sha256:000000000000…")],
)
def test_a_digest_is_shown_short(stated: str, says: str) -> None:
    world = World()
    world.result = replace(RESULT, stated_digest=stated)
    assert world.verdict().message == f"It says {says}, its bytes give {RESULT.digest[:19]}…"


def test_a_template_that_cannot_be_read_says_why_where_that_is_known() -> None:
    world = World()
    assert REGISTRATION.template is not None
    world.registration = replace(REGISTRATION, template=replace(REGISTRATION.template, spec=None))
    assert world.verdict().message == "The template nccl-ib-pair does not keep the contract: it cannot be read"


def test_a_name_of_any_length_is_shown_with_100_characters() -> None:
    world = World()
    world.registration = replace(REGISTRATION, cluster="x" * 200)
    assert world.verdict().message == f"It is of another cluster: west-1 instead of {'x' * 100}"


def test_a_namespace_that_was_not_read_is_no_workspace() -> None:
    world = World()
    world.registration = replace(REGISTRATION, namespace_labels=None, template=None)
    assert REGISTRATION.spec is not None
    own = REGISTRATION.spec.launch.model_copy(update={"template": None})
    world.registration = replace(world.registration, spec=REGISTRATION.spec.model_copy(update={"launch": own}))
    assert world.verdict().message.startswith("It is of another workspace: team-")
    assert world.verdict().message.endswith(" instead of a namespace that was not read")


def test_a_registration_and_a_result_that_agree_on_another_cluster_prove_nothing() -> None:
    world = World()
    world.registration = replace(REGISTRATION, cluster="west-2")
    world.raw["scope"]["cluster"] = "west-2"
    world.seal()
    assert world.verdict().reason == "identity_mismatch"
    assert world.verdict().message == "It is of another cluster than it was read from: west-2 instead of west-1"


def test_steps_begin_at_the_beginning_of_time_whatever_was_seen_then() -> None:
    world = World()
    world.source = replace(world.source, heartbeat_at=BEGINNING)
    found = steps(world.registration, world.run, world.result, world.inventory, world.source)
    assert found[0].since == BEGINNING and found[-1].reason == "source_unavailable"


def test_the_last_verdict_without_a_registration_names_its_run_and_time_too() -> None:
    world = World()
    world.registration = None
    last = world.verdict().last
    assert last and (last.reason, last.observed_at, last.run_uid) == ("not_registered", SEALED_AT, RUN.uid)
    assert world.result is not None
    world.result = replace(world.result, created_at=NOW)
    assert world.verdict().last == last
    world.run = replace(RUN, uid="of the object")
    last = world.verdict().last
    assert last and last.run_uid == "of the object"
    world.result = replace(world.result, envelope=None)
    last = world.verdict().last
    assert last and (last.reason, last.observed_at) == ("not_registered", NOW)


def test_a_run_that_cannot_be_read_does_not_hide_an_older_failure() -> None:
    world = World()
    world.raw |= {"outcome": "failed", "errors": ["a fault"]}
    world.seal()
    assert world.result is not None
    failed = Sealed(RUN, replace(world.result, uid=RESULT.uid))
    world.run = replace(RUN, problems=(Problem("/status/phase", "an integer", "a string"),))
    world.result = replace(RESULT, uid="newer")
    assert last_sealed(world.verdict().case, ()) is None
    found = last_sealed(world.verdict().case, (failed,))
    assert found and found[0].state is State.FAILED


def test_a_long_name_in_a_sentence_is_cut_where_a_line_ends() -> None:
    world = World()
    world.result = replace(RESULT, envelope=None, schema="s" * 80 + "hidden", problems=())
    assert world.verdict().message == f"The result's schema is {'s' * 80}; this version reads tau.validation-result.v1"
    world.result = replace(RESULT, publisher="p" * 253 + "hidden")
    assert world.verdict().message.startswith(f"Published by {'p' * 253}; registered is ")


def test_every_version_that_is_registered_is_named() -> None:
    world = World()
    results = Example().check["spec"]["results"] | {"versions": ["7.0", "8.0"]}
    world.registration = replace(REGISTRATION, spec=spec_of({"results": results, "version": "8.0"}))
    verdict = world.verdict()
    assert verdict.reason == "unsupported_version"
    assert verdict.message == "Version 1.2 of the check is not among 7.0, 8.0"


def test_who_rejected_is_said_or_that_nobody_says_so() -> None:
    world = World()
    world.registration = replace(REGISTRATION, rejected="no", reviewed_by=None)
    assert world.verdict().message == "Rejected by a reviewer who is not named"


def test_a_silent_run_is_not_called_late_at_its_very_deadline() -> None:
    world = World()
    silent, status = NOW - timedelta(hours=1), RUN.status
    assert status is not None
    world.run = replace(RUN, status=status.model_copy(update={"phase": "Running"}), alive_at=silent, deadline_at=NOW)
    assert world.verdict().message.startswith("The run has gone silent, ")
    assert world.verdict(NOW + MICROSECOND).message.startswith("The run should have ended by ")


SCHEMA_FAULT = Problem("/spec/envelope/schema", "null", "tau.validation-result.v1")


@pytest.mark.parametrize(
    ("schema", "more", "reason"),
    [
        ("", (), "malformed_result"),
        ("tau.validation-result.v2", (), "unsupported_schema"),
        ("tau.validation-result.v2", (Problem("/spec/digest", "null", "a digest"),), "malformed_result"),
    ],
    ids=["no schema", "another schema", "another schema and another fault"],
)
def test_only_a_schema_that_is_named_is_an_unsupported_one(schema: str, more: tuple[Problem, ...], reason: str) -> None:
    world = World()
    world.result = replace(RESULT, envelope=None, schema=schema, problems=(SCHEMA_FAULT, *more))
    assert world.verdict().reason == reason


@pytest.mark.parametrize("of", ["result", "registration"])
def test_an_object_from_the_future_is_named(of: str) -> None:
    world, later = World(), NOW + timedelta(hours=1)
    if of == "result":
        world.result = replace(RESULT, created_at=later)
    else:
        world.registration = replace(REGISTRATION, created_at=later)
    named = dict(instants(Case(world.registration, world.run, world.result, world.inventory, world.source, NOW)))
    assert named[f"The {of}'s creation"] == later
    assert world.verdict().state is State.UNKNOWN


def test_a_result_without_a_promise_is_fresh_for_no_time() -> None:
    world = World()
    world.raw["validUntil"] = "2026-02-30T00:00:00Z"
    world.seal()
    assert fresh_until(Case(REGISTRATION, RUN, world.result, world.inventory, world.source, NOW)) is None


def test_no_evidence_is_asked_for_where_nobody_says_which() -> None:
    world = World()
    cases = [(None, RESULT), (REGISTRATION, None), (replace(REGISTRATION, spec=None), RESULT)]
    for registration, result in cases:
        case = Case(registration, RUN, result, world.inventory, world.source, NOW)
        assert list(required_readings(case)) == []


def test_a_passed_verdict_keeps_the_history_it_was_made_with() -> None:
    world, sealed = World(), (Sealed(RUN, RESULT),)
    verdict = evaluate(REGISTRATION, RUN, RESULT, world.inventory, world.source, NOW, sealed)
    assert (verdict.state, verdict.history) == (State.PASSED, sealed)

"""Conditions of a registration: what holds, and what an operator is told where it does not."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from checks.contract.kinds import APPROVED, REJECTED, REVIEWED_BY
from checks.controller.readiness import MAY_CREATE_JOBS, Condition, Guards, conditions, judge_guards, merged
from checks.objects import labels_of, registration_from, template_from
from tests.contract.example import CLUSTER, Example
from tests.controller.things import CONTROLLER

Change = Callable[[Example], Any]


def ready(change: Change = lambda example: None, guards: Guards = Guards()) -> tuple[bool | None, str, str]:  # noqa: B008
    example = Example()
    change(example)
    template = template_from(example.template) if example.all("TauValidationTemplate") else None
    registration = registration_from(example.check, CLUSTER, template, labels_of(example.namespace))
    found = conditions(registration, CONTROLLER, guards)
    assert [each.type for each in found] == ["Accepted", "Approved", "TemplateResolved", "Ready"]
    return found[-1].holds, found[-1].reason, found[-1].message


def test_the_example_is_ready() -> None:
    assert ready() == (True, "Ready", "Runs can start.")


def marks(example: Example) -> dict[str, Any]:
    found: dict[str, Any] = example.check["metadata"]["annotations"]
    return found


FAULTS: dict[str, tuple[Change, str, str]] = {
    "not approved": (lambda e: marks(e).pop(APPROVED), "NotApproved", "platform admin"),
    "no reviewer": (lambda e: marks(e).pop(REVIEWED_BY), "NotApproved", "platform admin"),
    "rejected": (lambda e: marks(e).update({REJECTED: "no"}), "Rejected", "Rejected by admin@example.org"),
    "changed since": (lambda e: e.check["spec"].update(title="Another"), "ApprovalOutdated", "review the change"),
    "unreadable": (lambda e: e.check["spec"].update(titel="x"), "Invalid", "/spec/titel"),
    "bad cron": (lambda e: e.check["spec"]["schedule"].update(cron="0 0 31 2 *"), "InvalidSchedule", "'0 0 31 2 *'"),
    "bad zone": (lambda e: e.check["spec"]["schedule"].update(timeZone="Mars/X"), "InvalidSchedule", "'Mars/X'"),
    "published by another": (
        lambda e: e.check["spec"]["results"]["publisher"].update(serviceAccount="mine"),
        "AnotherPublisher",
        "is published by " + CONTROLLER,
    ),
    "no template": (lambda e: e.drop(e.template), "TemplateMissing", "no TauValidationTemplate nccl-ib-pair"),
    "another template": (lambda e: e.template["spec"].update(description="x"), "TemplateChanged", "pins sha256:9af87d"),
    "another workspace": (
        lambda e: e.namespace["metadata"]["labels"].pop("tau.azure.com/gpu"),
        "WorkspaceNotAllowed",
        "spec.allowedWorkspaces",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_registration_that_is(name: str) -> None:
    change, reason, words = FAULTS[name]
    holds, said, message = ready(change)
    assert (holds, said) == (False, reason)
    assert words in message


def test_an_approval_counts_only_where_admission_guards_it() -> None:
    holds, reason, message = ready(guards=Guards(approval_why="The admission policy x is not installed."))
    assert (holds, reason) == (False, "ApprovalUnguarded")
    assert message == "The admission policy x is not installed. Anybody could have approved."


def test_a_check_with_its_own_controller_is_left_to_it() -> None:
    def change(example: Example) -> None:
        spec = example.check["spec"]
        spec["launch"] = {"controller": {"name": "storage.example.org/paths"}}
        spec["results"]["publisher"] = {"namespace": "storage", "serviceAccount": "paths"}
        template = template_from(example.template)
        digest = registration_from(example.check, CLUSTER, template, {}).digest
        marks(example)[APPROVED] = digest

    assert ready(change) == (True, "LeftToItsController", "Runs are started by storage.example.org/paths.")


def policy(name: str, *expressions: str, **spec: Any) -> dict[str, Any]:
    rules = [{"expression": expression} for expression in expressions]
    return {"metadata": {"name": name}, "spec": {"failurePolicy": "Fail", "validations": rules} | spec}


def binding(name: str, **spec: Any) -> dict[str, Any]:
    return {"spec": {"policyName": name, "validationActions": ["Deny"]} | spec}


APPROVAL, RUNS = "tau-validation-approval-guard", "tau-validation-run-guard"


def test_guards_in_force() -> None:
    policies = [policy(APPROVAL, "true"), policy(RUNS, MAY_CREATE_JOBS)]
    assert judge_guards(policies, [binding(APPROVAL), binding(RUNS)]) == Guards("", True)


def test_guards_that_are_missing_weak_or_unbound_are_not_in_force() -> None:
    both = [policy(APPROVAL, "true"), policy(RUNS, "true")]
    assert not judge_guards(both, [binding(APPROVAL), binding(RUNS)]).runs_by_right
    assert "not installed" in judge_guards([], []).approval_why
    assert "No binding" in judge_guards(both, [binding(APPROVAL, validationActions=["Audit"])]).approval_why
    assert "No binding" in judge_guards(both, [binding(APPROVAL, matchResources={"x": 1})]).approval_why
    weak = [policy(APPROVAL, "true", failurePolicy="Ignore")]
    assert "not the one that is shipped" in judge_guards(weak, [binding(APPROVAL)]).approval_why


def test_a_transition_time_changes_with_the_status_only() -> None:
    (first,) = merged(None, [replace(_condition(), reason="A")], 1, "2026-11-30T05:00:00Z")
    (second,) = merged([first], [replace(_condition(), reason="B")], 2, "2026-11-30T06:00:00Z")
    assert (second["reason"], second["observedGeneration"]) == ("B", 2)
    assert second["lastTransitionTime"] == "2026-11-30T05:00:00Z"
    (third,) = merged([second], [replace(_condition(), holds=True)], 2, "2026-11-30T07:00:00Z")
    assert third["lastTransitionTime"] == "2026-11-30T07:00:00Z"


def test_conditions_of_others_stay() -> None:
    others = {"type": "Theirs", "status": "True"}
    found = merged([others], [_condition()], 1, "2026-11-30T05:00:00Z")
    assert found[0] == others
    assert found[1]["type"] == "Ready"


def _condition() -> Condition:
    return Condition("Ready", False, "A", "why")

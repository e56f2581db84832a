"""Whether a registration is ready for runs: the conditions Accepted, Approved, TemplateResolved and Ready.

Pure. The rules are those of the verdict table's row 3, said so that an operator knows what to do next.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..contract.problem import Problem
from ..facts import Registration
from ..objects import section, text
from .clockwork import cron_fault

Object = dict[str, Any]
APPROVAL_GUARD, RUN_GUARD = "tau-validation-approval-guard", "tau-validation-run-guard"
MAY_CREATE_JOBS = "authorizer.group('batch').resource('jobs').namespace(request.namespace).check('create').allowed()"


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition without its times. holds None is Unknown."""

    type: str
    holds: bool | None
    reason: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Guards:
    """Which admission policies are in force. why: what is wrong with the approval guard, "" where it is in force."""

    approval_why: str = ""
    runs_by_right: bool = False


def judge_guards(policies: Iterable[Object], bindings: Iterable[Object]) -> Guards:
    """From all ValidatingAdmissionPolicies and -Bindings of the cluster."""
    by_name = {section(policy, "metadata").get("name"): section(policy, "spec") for policy in policies}
    bound = {
        section(binding, "spec").get("policyName")
        for binding in bindings
        if "Deny" in (section(binding, "spec").get("validationActions") or ())
        and not section(binding, "spec").get("matchResources")
    }
    rules = section({"spec": by_name.get(RUN_GUARD)}, "spec").get("validations") or ()
    words = {" ".join(str(rule.get("expression")).split()) for rule in rules if isinstance(rule, dict)}
    return Guards(
        approval_why=_weakness(APPROVAL_GUARD, by_name, bound),
        runs_by_right=not _weakness(RUN_GUARD, by_name, bound) and MAY_CREATE_JOBS in words,
    )


def _weakness(name: str, policies: dict[Any, Object], bound: set[Any]) -> str:
    spec = policies.get(name)
    if spec is None:
        return f"The admission policy {name} is not installed."
    if spec.get("failurePolicy", "Fail") != "Fail" or spec.get("matchConditions"):
        return f"The admission policy {name} is not the one that is shipped."
    return "" if name in bound else f"No binding that denies puts the admission policy {name} in force."


def conditions(registration: Registration, publisher: str, guards: Guards) -> list[Condition]:
    """All four, in their order. publisher: the user name of this controller."""
    accepted = _accepted(registration, publisher)
    approved = _approved(registration, guards)
    resolved = _resolved(registration)
    first = next((each for each in (accepted, approved, resolved) if each.holds is not True), None)
    if first is not None:
        ready = Condition("Ready", False, first.reason, first.message)
    elif registration.spec is not None and registration.spec.launch.controller is not None:
        words = f"Runs are started by {registration.spec.launch.controller.name}."
        ready = Condition("Ready", True, "LeftToItsController", words)
    else:
        ready = Condition("Ready", True, "Ready", "Runs can start.")
    return [accepted, approved, resolved, ready]


def _accepted(registration: Registration, publisher: str) -> Condition:
    spec = registration.spec
    if spec is None:
        return Condition("Accepted", False, "Invalid", _problems(registration.problems))
    if spec.schedule is not None and (fault := cron_fault(spec.schedule.cron, spec.schedule.time_zone)):
        return Condition("Accepted", False, "InvalidSchedule", f"spec.schedule: {fault}")
    own = spec.results.publisher.username
    if spec.launch.template is not None and own != publisher:
        words = (
            f"spec.results.publisher is {own}; a check that is launched from a template is published by {publisher}."
        )
        return Condition("Accepted", False, "AnotherPublisher", words)
    if spec.launch.controller is not None and own == publisher:
        words = "spec.results.publisher must be the account of the controller that spec.launch.controller names."
        return Condition("Accepted", False, "AnotherPublisher", words)
    return Condition("Accepted", True, "Accepted")


def _approved(registration: Registration, guards: Guards) -> Condition:
    digest, approved = registration.digest, registration.approved
    if registration.rejected is not None:
        by = registration.reviewed_by or "a reviewer who is not named"
        return Condition("Approved", False, "Rejected", f"Rejected by {by}.")
    if not approved or not registration.reviewed_by:
        return Condition("Approved", False, "NotApproved", "A platform admin has to review and approve it.")
    if approved != digest:
        words = f"Approved was {approved}; the spec is {digest} now. A platform admin has to review the change."
        return Condition("Approved", False, "ApprovalOutdated", words)
    if guards.approval_why:
        return Condition("Approved", False, "ApprovalUnguarded", f"{guards.approval_why} Anybody could have approved.")
    return Condition("Approved", True, "Approved", f"By {registration.reviewed_by}.")


def _resolved(registration: Registration) -> Condition:
    spec, kind = registration.spec, "TemplateResolved"
    if spec is None:
        return Condition(kind, None, "Invalid", "The spec cannot be read.")
    launch = spec.launch.template
    if launch is None:
        return Condition(kind, True, "NotNeeded", "This check brings its own controller.")
    template = registration.template
    if template is None:
        return Condition(kind, False, "TemplateMissing", f"There is no TauValidationTemplate {launch.name}.")
    if template.digest != launch.digest:
        words = f"The template {launch.name} has the digest {template.digest}; the registration pins {launch.digest}."
        return Condition(kind, False, "TemplateChanged", words)
    if template.spec is None:
        return Condition(kind, False, "TemplateInvalid", f"{launch.name}: {_problems(template.problems)}")
    if faults := template.spec.parameter_faults(launch.parameters):
        return Condition(kind, False, "ParametersInvalid", "; ".join(faults))
    if not template.spec.allowed_workspaces.admits(dict(registration.namespace_labels or {})):
        words = (
            f"The template {launch.name} is not allowed in {registration.namespace}: see its spec.allowedWorkspaces."
        )
        return Condition(kind, False, "WorkspaceNotAllowed", words)
    return Condition(kind, True, "TemplateResolved")


def merged(old: object, new: Iterable[Condition], generation: int, now: str) -> list[Object]:
    """Conditions as the API has them: a transition time changes only with the status; others' conditions stay."""
    before = [item for item in old if isinstance(item, dict)] if isinstance(old, list) else []
    known = {text(item, "type"): item for item in before}
    ours = {each.type: _on_the_wire(each, known.get(each.type), generation, now) for each in new}
    return [ours.pop(text(item, "type"), item) for item in before] + list(ours.values())


def _on_the_wire(condition: Condition, old: Object | None, generation: int, now: str) -> Object:
    status = {True: "True", False: "False", None: "Unknown"}[condition.holds]
    same = old is not None and old.get("status") == status
    return {
        "type": condition.type,
        "status": status,
        "reason": condition.reason,
        "message": condition.message[:4096],
        "observedGeneration": generation,
        "lastTransitionTime": text(old, "lastTransitionTime") if same else now,
    }


def _problems(problems: tuple[Problem, ...]) -> str:
    return "; ".join(map(str, problems[:10])) or "It cannot be read."

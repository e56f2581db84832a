"""Whether a run may start: everything that would make it pointless or forbidden, said before anything is created."""

from collections.abc import Iterable
from typing import Any

from ..contract.kinds import CheckSpec, RunSpec, TemplateSpec
from ..objects import labels_of, section, text
from .readiness import Condition
from .workload import completions, reporters
from .world import World

Object = dict[str, Any]
MAX_TARGETS = 256


def faults(world: World, ready: Condition, nodes: Iterable[Object], refused: str) -> list[str]:
    """Sentences on why this run cannot start; empty where it can. Pure.

    nodes: all nodes of the cluster. refused: why the requester may not create Jobs here, "" where they may.
    """
    registration, run = world.registration, world.spec
    if run is None:
        return ["The run does not keep the contract: see its spec in docs/contract."]
    if registration is None or world.check is None:
        return [f"There is no TauValidationCheck {run.check_ref.name} in {world.key[0]}."]
    if run.check_ref.uid != registration.uid:
        return [f"The check {registration.name} was made again since this run was asked for: its UID is another."]
    if run.check_ref.spec_digest != registration.digest:
        return [f"The registration {registration.name} has changed since this run was asked for; ask for another run."]
    if ready.holds is not True:
        return [f"The registration is not ready: {ready.message or ready.reason}"]
    template, spec = registration.template, registration.spec
    assert spec is not None and template is not None and template.spec is not None
    found = [refused] if refused else []
    found += _parameters(run, spec, template.spec)
    found += _shape(spec, template.spec)
    return found or _targets(spec, nodes)


def _parameters(run: RunSpec, check: CheckSpec, template: TemplateSpec) -> list[str]:
    fixed = check.launch.template.parameters if check.launch.template else {}
    found = template.parameter_faults(run.parameters)
    for name, value in run.parameters.items():
        if name in fixed and (fixed[name], type(fixed[name])) != (value, type(value)):
            found.append(f"parameter {name} is fixed by the registration to {fixed[name]}")
    given = {**run.parameters, **fixed}
    found += [
        f"parameter {each.name} has no default and must be given"
        for each in template.parameters
        if each.default is None and each.name not in given
    ]
    return found


def _shape(check: CheckSpec, template: TemplateSpec) -> list[str]:
    count, pods, reporting = check.targets.count, completions(template), reporters(template)
    if count > MAX_TARGETS:
        return [f"spec.targets.count is {count}; at most {MAX_TARGETS} targets fit into one result."]
    if reporting > pods:
        return [f"The template wants {reporting} reports and starts {pods} pods."]
    if reporting != count:
        return [f"The template's pods report for {reporting} targets, the registration asks for {count}."]
    return []


def _targets(check: CheckSpec, nodes: Iterable[Object]) -> list[str]:
    wanted = check.targets
    selected = [node for node in nodes if wanted.node_selector.items() <= labels_of(node).items()]
    able = [node for node in selected if _can_take(node, wanted.resource, wanted.per_target or 0)]
    if len(able) >= wanted.count:
        return []
    labels = ",".join(f"{key}={value}" for key, value in wanted.node_selector.items()) or "any label"
    need = f" with {wanted.per_target} {wanted.resource}" if wanted.resource else ""
    words = f"{wanted.count} nodes are needed; of {len(selected)} with {labels}, {len(able)} are ready and schedulable"
    return [f"{words}{need}."]


def _can_take(node: Object, resource: str | None, amount: int) -> bool:
    conditions = section(node, "status").get("conditions") or ()
    ready = any(text(each, "type") == "Ready" and each.get("status") == "True" for each in conditions)
    if not ready or section(node, "spec").get("unschedulable"):
        return False
    has = text(section(section(node, "status"), "allocatable"), resource) if resource else "0"
    return not resource or (has.isdigit() and int(has) >= amount)


def review_of(requester: str, namespace: str) -> Object:
    """The SubjectAccessReview that asks whether somebody may create Jobs. Of people only the name is known here, of
    service accounts the groups too."""
    groups = ["system:authenticated"]
    words = requester.split(":")
    if words[:2] == ["system", "serviceaccount"] and len(words) == 4:
        groups += ["system:serviceaccounts", f"system:serviceaccounts:{words[2]}"]
    return {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {
            "user": requester,
            "groups": groups,
            "resourceAttributes": {"group": "batch", "resource": "jobs", "verb": "create", "namespace": namespace},
        },
    }

"""Specs are read as strictly as the cluster admits them, and a spec that cannot be read never raises."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from checks.contract.kinds import CheckSpec, RunSpec, RunStatus, TemplateSpec
from checks.contract.parsing import parse
from tests.contract.example import Example
from tests.verdict.test_single_faults import paths

Object = dict[str, Any]
TEMPLATE, CHECK = Example().template["spec"], Example().check["spec"]


def template(**fields: Any) -> list[str]:
    """The problems of the example's template with these fields."""
    return [str(problem) for problem in parse(TemplateSpec, TEMPLATE | fields).problems]


def check(**fields: Any) -> list[str]:
    """The problems of the example's registration with these fields."""
    return [str(problem) for problem in parse(CheckSpec, CHECK | fields).problems]


def parameter(value: Any = None, **fields: Any) -> list[str]:
    """The problems of a template with one parameter, or of a value for it."""
    declared = [{"name": "a", **fields}]
    read = parse(TemplateSpec, TEMPLATE | {"parameters": declared})
    if read.value is None:
        return [problem.expected for problem in read.problems]
    return read.value.parameter_faults({"a": value}) if value is not None else []


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"type": "enum"}, "`values` with an enum, and with no other type"),
        ({"type": "string", "values": ["x"]}, "`values` with an enum, and with no other type"),
        ({"type": "string", "minimum": 1}, "`minimum` and `maximum` with an integer only"),
        ({"type": "boolean", "maximum": 1}, "`minimum` and `maximum` with an integer only"),
        ({"type": "integer", "maxLength": 1}, "`maxLength` and `pattern` with a string only"),
        ({"type": "integer", "pattern": "x"}, "`maxLength` and `pattern` with a string only"),
        ({"type": "string", "pattern": "("}, "a `pattern` that is a regular expression (RE2)"),
        ({"type": "string", "pattern": "(?=x)"}, "a `pattern` that is a regular expression (RE2)"),
        ({"type": "integer", "default": 3, "maximum": 2}, "a default that is an integer from … to 2"),
        ({"type": "string", "default": "b", "pattern": "^a"}, "a default that is text that matches ^a"),
    ],
    ids=str,
)
def test_a_parameter_that_means_nothing_is_refused(fields: Object, expected: str) -> None:
    assert parameter(**fields) == [expected]


@pytest.mark.parametrize(
    ("fields", "value", "fault"),
    [
        ({"type": "string", "pattern": "^a+$"}, "aaa", ""),
        ({"type": "string", "pattern": "^a+$"}, "b", "text that matches ^a+$"),
        ({"type": "string"}, "x" * 256, ""),
        ({"type": "string"}, "x" * 257, "a string of at most 256 characters"),
        ({"type": "string", "maxLength": 2}, "xyz", "a string of at most 2 characters"),
        ({"type": "string"}, 5, "a string of at most 256 characters"),
        ({"type": "integer"}, 5, ""),
        ({"type": "integer"}, True, "an integer"),
        ({"type": "integer"}, "5", "an integer"),
        ({"type": "integer", "minimum": 5}, 5, ""),
        ({"type": "integer", "minimum": 5}, 4, "an integer from 5 to …"),
        ({"type": "integer", "maximum": 5}, 6, "an integer from … to 5"),
        ({"type": "boolean"}, False, ""),
        ({"type": "boolean"}, 1, "true or false"),
        ({"type": "enum", "values": ["x", "y"]}, "y", ""),
        ({"type": "enum", "values": ["x", "y"]}, "z", "one of x, y"),
    ],
    ids=str,
)
def test_a_value_is_of_its_parameters_type_and_within_its_bounds(fields: Object, value: Any, fault: str) -> None:
    assert parameter(value, **fields) == ([f"parameter a must be {fault}"] if fault else [])


def pod(**fields: Any) -> list[str]:
    """The problems of the example's template with these fields in its pod."""
    job = copy.deepcopy(TEMPLATE["job"])
    job["spec"]["template"]["spec"] |= fields
    return template(job=job)


def container(**fields: Any) -> list[str]:
    """The problems of the example's template with these fields in its container; None takes one away."""
    (own,) = copy.deepcopy(TEMPLATE["job"]["spec"]["template"]["spec"]["containers"])
    context = {**own["securityContext"], **fields.pop("securityContext", {})}
    own |= fields | {"securityContext": {key: value for key, value in context.items() if value is not None}}
    return pod(containers=[own])


REFUSED = {
    "no container": (pod(containers=[]), "a job with at least one container"),
    "an image by tag": (container(image="a:1"), "an image by digest (…@sha256:…) in container rank"),
    "an API token": (pod(automountServiceAccountToken=True), "no projected token"),
    "a projected API token": (
        pod(volumes=[{"name": "a", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}]),
        "no projected token",
    ),
    "the host's network": (pod(hostNetwork=True), "an entry in `exceptions` for hostNetwork true"),
    "a folder of the host": (pod(volumes=[{"hostPath": {"path": "/dev"}}]), "for volumes.hostPath /dev"),
    "a privileged container": (container(securityContext={"privileged": True}), "for privileged true"),
    "escalation": (container(securityContext={"allowPrivilegeEscalation": None}), "for allowPrivilegeEscalation true"),
    "root by silence": (container(securityContext={"runAsNonRoot": None}), "for runAsNonRoot false"),
    "root by number": (container(securityContext={"runAsUser": 0}), "for runAsUser 0"),
    "root by the pod": (pod(securityContext={"runAsUser": 0}), "for runAsUser 0"),
    "no seccomp": (container(securityContext={"seccompProfile": None}), "for seccompProfile Unconfined"),
    "nothing dropped": (
        container(securityContext={"capabilities": {"add": ["IPC_LOCK"]}}),
        "for capabilities.drop none",
    ),
    "an added capability": (
        container(securityContext={"capabilities": {"drop": ["ALL"], "add": ["SYS_ADMIN"]}}),
        "for capabilities.add SYS_ADMIN",
    ),
    "a port of the host": (container(ports=[{"hostPort": 80}]), "for hostPort 80"),
    "another kind of support": (
        template(support=[{"apiVersion": "v1", "kind": "Pod"}]),
        "a headless Service or a NetworkPolicy",
    ),
    "a Service with an address": (
        template(support=[{"apiVersion": "v1", "kind": "Service"}]),
        "headless (clusterIP: None)",
    ),
    "a parameter twice": (
        template(parameters=[{"name": "a", "type": "string"}, {"name": "a", "type": "integer"}]),
        "parameters whose names all differ",
    ),
    "a selector that selects nothing": (
        template(allowedWorkspaces={"matchExpressions": [{"key": "a", "operator": "NotIn"}]}),
        "values with In and NotIn",
    ),
    "no workspaces": (
        [
            str(problem)
            for problem in parse(TemplateSpec, {k: v for k, v in TEMPLATE.items() if k != "allowedWorkspaces"}).problems
        ],
        "/allowedWorkspaces: found nothing",
    ),
    "a version that does not count": (check(version="9"), "`results.versions` with the version of this check"),
    "an amount of nothing": (check(targets={"count": 2, "perTarget": 1}), "`resource` and `perTarget` together"),
    "no launch": (check(launch={}), "exactly one of `template` and `controller`"),
    "two launches": (
        check(launch=CHECK["launch"] | {"controller": {"name": "a"}}),
        "exactly one of `template` and `controller`",
    ),
}


@pytest.mark.parametrize(("problems", "says"), REFUSED.values(), ids=REFUSED.keys())
def test_what_the_cluster_refuses_the_reader_refuses(problems: list[str], says: str) -> None:
    assert len(problems) == 1 and says in problems[0], problems


def test_what_the_cluster_admits_is_read() -> None:
    assert template() == check() == pod(hostNetwork=False) == []
    assert container(securityContext={"capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE", "IPC_LOCK"]}}) == []
    outer = {"runAsNonRoot": True, "seccompProfile": {"type": "Localhost"}}
    (own,) = copy.deepcopy(TEMPLATE["job"]["spec"]["template"]["spec"]["containers"])
    own["securityContext"] = {key: value for key, value in own["securityContext"].items() if key not in outer}
    assert pod(containers=[own], securityContext=outer) == []


WRONG: list[Any] = [None, 5, True, "x", "", [], {}, [1], {"a": 1}, [{}], [[]], 10**30]


def bent(document: Object) -> Iterator[Any]:
    """The document with each value at each place replaced by each wrong one."""
    for path in paths(document):
        for value in WRONG:
            changed = copy.deepcopy(document)
            inner: Any = changed
            for step in path[:-1]:
                inner = inner[step]
            inner[path[-1]] = value
            yield changed


@pytest.mark.parametrize(
    ("shape", "document"),
    [(TemplateSpec, TEMPLATE), (CheckSpec, CHECK), (RunSpec, Example().run["spec"]), (RunStatus, Example().status)],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_no_value_at_any_place_raises(shape: Any, document: Object) -> None:
    for changed in [*bent(document), *WRONG]:
        read = parse(shape, changed)
        assert (read.value is None) == bool(read.problems)
        assert all(problem.expected and str(problem) for problem in read.problems)

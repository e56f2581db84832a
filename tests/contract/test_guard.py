"""Is the admission guard in force? Every way to weaken it takes it away, and every harmless difference leaves it."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.contract.guard import POLICY_NAME, Guard, judge
from tests.contract.example import Example

Object = dict[str, Any]
RULE = {
    "apiGroups": ["tau.azure.com"],
    "apiVersions": ["*"],
    "operations": ["CREATE", "UPDATE"],
    "resources": ["validationresults"],
}
LABELS = {"matchLabels": {"a": "b"}}
EXPRESSIONS = {"matchExpressions": [{"key": "a", "operator": "Exists"}]}


def judged(
    policy: Callable[[Object], Any] = lambda spec: None, binding: Callable[[Object], Any] = lambda spec: None
) -> Guard:
    """The guard of the example, with the spec of its policy and of its binding changed."""
    example = Example()
    policy(example.policy["spec"])
    binding(example.binding["spec"])
    return judge([example.policy], [example.binding])


def rules(*changes: Object) -> Callable[[Object], None]:
    """Puts these rules in place of the one rule."""
    return lambda spec: spec["matchConstraints"].update(resourceRules=[{**RULE, **change} for change in changes])


def test_the_guard_as_shipped_is_in_force() -> None:
    assert judged() == Guard(True, "", POLICY_NAME)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda spec: spec.pop("failurePolicy"), "its failurePolicy is not Fail"),
        (lambda spec: spec.update(failurePolicy="Ignore"), "its failurePolicy is not Fail"),
        (lambda spec: spec.pop("paramKind"), "its parameter is not TauValidationCheck"),
        (lambda spec: spec["paramKind"].update(kind="ConfigMap"), "its parameter is not TauValidationCheck"),
        (
            lambda spec: spec["paramKind"].update(apiVersion="other.azure.com/v1"),
            "its parameter is not TauValidationCheck",
        ),
        (lambda spec: spec["paramKind"].pop("apiVersion"), "its parameter is not TauValidationCheck"),
        (lambda spec: spec.update(matchConditions=[{}]), "it has match conditions, which narrow it"),
        (lambda spec: spec.pop("matchConstraints"), "it does not cover both creation and change of results"),
        (rules(), "it does not cover both creation and change of results"),
        (rules({"operations": ["CREATE"]}), "it does not cover both creation and change of results"),
        (rules({"operations": ["UPDATE", "DELETE"]}), "it does not cover both creation and change of results"),
        (rules({"apiGroups": ["apps"]}), "it does not cover both creation and change of results"),
        (rules({"apiVersions": ["v1"]}), "it does not cover both creation and change of results"),
        (rules({"resources": ["validationruns"]}), "it does not cover both creation and change of results"),
        (rules({"resources": ["validationresults/status"]}), "it does not cover both creation and change of results"),
        (rules({"resourceNames": ["one"]}), "it does not cover both creation and change of results"),
        (rules({"scope": "Cluster"}), "it does not cover both creation and change of results"),
        (rules({"operations": "CREATE UPDATE"}), "it does not cover both creation and change of results"),
        (
            lambda spec: spec["matchConstraints"].update(resourceRules=["*"]),
            "it does not cover both creation and change of results",
        ),
        (
            lambda spec: spec["matchConstraints"].update(namespaceSelector=LABELS),
            "a namespaceSelector leaves some results out",
        ),
        (
            lambda spec: spec["matchConstraints"].update(objectSelector=EXPRESSIONS),
            "a objectSelector leaves some results out",
        ),
        (lambda spec: spec["matchConstraints"].update(objectSelector="x"), "a objectSelector leaves some results out"),
        (lambda spec: spec["matchConstraints"].update(excludeResourceRules=[RULE]), "it excludes some resources"),
        (lambda spec: spec["validations"].pop(0), "one of its two rules is missing or changed"),
        (lambda spec: spec["validations"].pop(1), "one of its two rules is missing or changed"),
        (lambda spec: spec["validations"][0].update(expression="true"), "one of its two rules is missing or changed"),
        (lambda spec: spec["validations"][0].pop("expression"), "one of its two rules is missing or changed"),
        (lambda spec: spec.update(validations=["x"]), "one of its two rules is missing or changed"),
    ],
)
def test_a_policy_that_is_weakened_guards_nothing(change: Callable[[Object], Any], why: str) -> None:
    assert judged(policy=change) == Guard(False, why, POLICY_NAME)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda spec: spec.update(policyName="another"), "no binding puts it in force"),
        (lambda spec: spec.pop("validationActions"), "its binding does not deny"),
        (lambda spec: spec.update(validationActions=["Warn", "Audit"]), "its binding does not deny"),
        (lambda spec: spec.update(validationActions="Deny"), "its binding does not deny"),
        (lambda spec: spec.pop("paramRef"), "its binding admits results where no registration is found"),
        (
            lambda spec: spec["paramRef"].pop("parameterNotFoundAction"),
            "its binding admits results where no registration is found",
        ),
        (
            lambda spec: spec["paramRef"].update(parameterNotFoundAction="Allow"),
            "its binding admits results where no registration is found",
        ),
        (lambda spec: spec["paramRef"].update(name="one"), "its binding looks at some registrations only"),
        (lambda spec: spec["paramRef"].update(namespace="one"), "its binding looks at some registrations only"),
        (lambda spec: spec["paramRef"].pop("selector"), "its binding looks at some registrations only"),
        (lambda spec: spec["paramRef"].update(selector=LABELS), "its binding looks at some registrations only"),
        (
            lambda spec: spec.update(matchResources={"namespaceSelector": LABELS}),
            "a namespaceSelector leaves some results out",
        ),
        (
            lambda spec: spec.update(matchResources={"objectSelector": LABELS}),
            "a objectSelector leaves some results out",
        ),
        (lambda spec: spec.update(matchResources={"excludeResourceRules": [RULE]}), "it excludes some resources"),
        (
            lambda spec: spec.update(matchResources={"resourceRules": [{**RULE, "operations": ["CREATE"]}]}),
            "it does not cover both creation and change of results",
        ),
    ],
)
def test_a_binding_that_is_weakened_guards_nothing(change: Callable[[Object], Any], why: str) -> None:
    assert judged(binding=change) == Guard(False, why, POLICY_NAME)


@pytest.mark.parametrize(
    "change",
    [
        rules({"apiGroups": ["*"]}),
        rules({"apiVersions": ["v1alpha1"]}),
        rules({"operations": ["*"]}),
        rules({"resources": ["*"]}),
        rules({"resources": ["*/*"]}),
        rules({"scope": "*"}),
        rules({"scope": "Namespaced"}),
        rules({"resourceNames": []}),
        rules({"operations": ["CREATE"]}, {"operations": ["UPDATE"]}),
        rules({"operations": ["CREATE", "UPDATE", "DELETE"]}),
        rules({}, {"apiGroups": ["apps"]}),
        lambda spec: spec["matchConstraints"].update(matchPolicy="Equivalent", namespaceSelector={}, objectSelector={}),
        lambda spec: spec["matchConstraints"].update(excludeResourceRules=[]),
        lambda spec: spec["validations"].append({"expression": "object.spec.digest != ''"}),
        lambda spec: spec["validations"][1].update(
            expression=spec["validations"][1]["expression"].replace(" ", "\n  ")
        ),
        lambda spec: spec["paramKind"].update(apiVersion="tau.azure.com/v1beta1"),
        lambda spec: spec.update(matchConditions=[]),
    ],
)
def test_a_policy_that_is_written_otherwise_guards_as_before(change: Callable[[Object], Any]) -> None:
    assert judged(policy=change).in_force


@pytest.mark.parametrize(
    "change",
    [
        lambda spec: spec.update(validationActions=["Deny", "Audit"]),
        lambda spec: spec["paramRef"].update(
            selector={"matchLabels": {}, "matchExpressions": []}, name="", namespace=""
        ),
        lambda spec: spec.update(matchResources={}),
        lambda spec: spec.update(matchResources={"resourceRules": [RULE], "namespaceSelector": {}}),
    ],
)
def test_a_binding_that_is_written_otherwise_guards_as_before(change: Callable[[Object], Any]) -> None:
    assert judged(binding=change).in_force


def test_what_is_being_deleted_guards_nothing() -> None:
    for kind in ("policy", "binding"):
        example = Example()
        getattr(example, kind)["metadata"]["deletionTimestamp"] = "2026-11-30T08:00:00Z"
        assert judge([example.policy], [example.binding]) == Guard(False, "it is being deleted", POLICY_NAME)


def test_any_policy_and_any_binding_that_guards_is_enough() -> None:
    example = Example()
    weak, other = copy.deepcopy(example.policy), copy.deepcopy(example.policy)
    weak["spec"]["failurePolicy"] = "Ignore"
    other["metadata"]["name"] = "ours"
    audit, bound = copy.deepcopy(example.binding), copy.deepcopy(example.binding)
    audit["spec"]["validationActions"] = ["Audit"]
    bound["spec"]["policyName"] = "ours"
    assert judge([weak, other], [audit, example.binding, bound]) == Guard(True, "", "ours")
    assert judge([other, example.policy], [audit, example.binding]) == Guard(True, "", POLICY_NAME)
    assert judge([weak, other], [audit, example.binding]) == Guard(False, "its failurePolicy is not Fail", POLICY_NAME)
    assert judge([other], [example.binding]) == Guard(False, "there is no such policy", POLICY_NAME)
    assert judge([], []) == Guard(False, "there is no such policy", POLICY_NAME)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(["policy", "binding"]), st.data())
def test_any_object_has_an_answer(kind: str, data: st.DataObject) -> None:
    example = Example()
    policy, binding = example.policy, example.binding
    inner = policy if kind == "policy" else binding
    while isinstance(inner, dict) and inner:
        key = data.draw(st.sampled_from(sorted(inner)))
        if data.draw(st.booleans()) or not isinstance(inner[key], dict):
            inner[key] = data.draw(json_values)
            break
        inner = inner[key]
    guard = judge([policy], [binding])
    assert guard.in_force == (guard.why == "")

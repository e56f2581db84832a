"""What a template may ask of its pods: tau-validation-template-guard, beside Kubernetes' own pod security."""

import copy

import pytest

from tests.cluster.bed.control import ControlPlane
from tests.contract.pod_specs import (
    ADMITTED,
    EXCUSED,
    NEVER,
    NO_PODS,
    SECRETS,
    SUPPORT_DENIED,
    Object,
    excuse,
    headless,
    init,
    policy,
)
from tests.deploy import objects
from tests.deploy.attempts import refusal

pytestmark = pytest.mark.cluster


@pytest.mark.parametrize("pod_spec", ADMITTED.values(), ids=ADMITTED.keys())
def test_a_restricted_pod_needs_no_exception(guarded: ControlPlane, pod_spec: Object) -> None:
    assert refusal(guarded, objects.template(pod_spec)) == ""


@pytest.mark.parametrize(("pod_spec", "sentence"), NEVER.values(), ids=NEVER.keys())
def test_some_rules_have_no_exception(guarded: ControlPlane, pod_spec: Object, sentence: str) -> None:
    excuses = [excuse("automountServiceAccountToken", "true"), excuse("image", "busybox"), excuse("privileged", "true")]
    assert sentence in refusal(guarded, objects.template(pod_spec, exceptions=excuses))


@pytest.mark.parametrize(("pod_spec", "sentence", "entry"), EXCUSED.values(), ids=EXCUSED.keys())
def test_a_departure_is_admitted_only_when_it_is_written_out(
    guarded: ControlPlane, pod_spec: Object, sentence: str, entry: tuple[str, str]
) -> None:
    rule, value = entry
    assert sentence in refusal(guarded, objects.template(pod_spec))
    assert sentence in refusal(guarded, objects.template(pod_spec, exceptions=[excuse(rule, "something-else")]))
    assert refusal(guarded, objects.template(pod_spec, exceptions=[excuse(rule, value)])) == ""


@pytest.mark.parametrize("pod_spec", SECRETS.values(), ids=SECRETS.keys())
def test_a_secret_is_admitted_only_when_it_is_written_out(guarded: ControlPlane, pod_spec: Object) -> None:
    assert "A Secret (it may hold an API token) needs" in refusal(guarded, objects.template(pod_spec))
    assert refusal(guarded, objects.template(pod_spec, exceptions=[excuse("secrets", "keys")])) == ""


def test_an_exception_excuses_init_containers_too_and_nothing_else(guarded: ControlPlane) -> None:
    both = objects.container()["securityContext"] | {
        "capabilities": {"drop": ["ALL"], "add": ["IPC_LOCK", "SYS_ADMIN"]}
    }
    said = refusal(
        guarded, objects.template(init(securityContext=both), exceptions=[excuse("capabilities.add", "IPC_LOCK")])
    )
    assert "rule capabilities.add: SYS_ADMIN." in said


@pytest.mark.parametrize("name", EXCUSED)
def test_kubernetes_own_pod_security_refuses_what_needs_an_exception(
    guarded: ControlPlane, namespace: str, name: str
) -> None:
    said = _as_pod(guarded, namespace, EXCUSED[name][0])
    assert ("is invalid" if name in NO_PODS else 'violates PodSecurity "restricted') in said


@pytest.mark.parametrize("name", ADMITTED)
def test_kubernetes_own_pod_security_admits_what_needs_none(guarded: ControlPlane, namespace: str, name: str) -> None:
    assert _as_pod(guarded, namespace, ADMITTED[name]) == ""


def _as_pod(control: ControlPlane, namespace: str, spec: Object) -> str:
    """The same pod, created in a namespace with restricted pod security."""
    item = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": namespace}, "spec": spec}
    return refusal(control, copy.deepcopy(item))


@pytest.mark.parametrize("item", [headless(), policy()], ids=["a headless Service", "a NetworkPolicy"])
def test_support_objects_of_the_two_kinds_are_admitted(guarded: ControlPlane, item: Object) -> None:
    assert refusal(guarded, objects.template(support=[item])) == ""


@pytest.mark.parametrize(("item", "sentence"), SUPPORT_DENIED.values(), ids=SUPPORT_DENIED.keys())
def test_other_support_objects_are_refused(guarded: ControlPlane, item: Object, sentence: str) -> None:
    assert sentence in refusal(guarded, objects.template(support=[item]))


DEFAULTS = {
    "an integer": ({"type": "integer", "minimum": 1, "maximum": 3, "default": 3}, True),
    "an integer out of bounds": ({"type": "integer", "maximum": 3, "default": 4}, False),
    "text for an integer": ({"type": "integer", "default": "3"}, False),
    "a fraction for an integer": ({"type": "integer", "default": 1.5}, False),
    "a boolean": ({"type": "boolean", "default": False}, True),
    "text for a boolean": ({"type": "boolean", "default": "false"}, False),
    "one of an enum": ({"type": "enum", "values": ["a", "b"], "default": "b"}, True),
    "none of an enum": ({"type": "enum", "values": ["a", "b"], "default": "c"}, False),
    "a list for a string": ({"type": "string", "default": []}, False),
}


@pytest.mark.parametrize(("parameter", "admitted"), DEFAULTS.values(), ids=DEFAULTS.keys())
def test_a_default_is_of_its_parameters_type(guarded: ControlPlane, parameter: Object, admitted: bool) -> None:
    said = refusal(guarded, objects.template(parameters=[{"name": "size", **parameter}]))
    assert said == "" if admitted else "A parameter's default is a value of its type" in said

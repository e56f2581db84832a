"""A reader refuses what the admission policy refuses: it may not have been in force when a template was made."""

from typing import Any

import pytest

from checks.contract.kinds import TemplateSpec
from checks.contract.parsing import parse
from tests.contract.pod_specs import (
    ADMITTED,
    EXCUSED,
    NEVER,
    SECRETS,
    SUPPORT_DENIED,
    Object,
    excuse,
    headless,
    init,
    policy,
)
from tests.deploy import objects


def said(pod_spec: Object | None = None, **fields: Any) -> str:
    """Everything that a reader says of this template."""
    return "; ".join(map(str, parse(TemplateSpec, objects.template(pod_spec, **fields)["spec"]).problems))


@pytest.mark.parametrize("pod_spec", ADMITTED.values(), ids=ADMITTED.keys())
def test_a_restricted_pod_needs_no_exception(pod_spec: Object) -> None:
    assert said(pod_spec) == ""


@pytest.mark.parametrize("pod_spec", [pod_spec for pod_spec, _ in NEVER.values()], ids=NEVER.keys())
def test_some_rules_have_no_exception(pod_spec: Object) -> None:
    excuses = [excuse("automountServiceAccountToken", "true"), excuse("image", "busybox"), excuse("privileged", "true")]
    assert "expected" in said(pod_spec, exceptions=excuses)


@pytest.mark.parametrize(("pod_spec", "_sentence", "entry"), EXCUSED.values(), ids=EXCUSED.keys())
def test_a_departure_is_accepted_only_when_it_is_written_out(
    pod_spec: Object, _sentence: str, entry: tuple[str, str]
) -> None:
    rule, value = entry
    wanted = f"an entry in `exceptions` for {rule} {value}"
    assert wanted in said(pod_spec)
    assert wanted in said(pod_spec, exceptions=[excuse(rule, "something-else")])
    assert said(pod_spec, exceptions=[excuse(rule, value)]) == ""


@pytest.mark.parametrize("pod_spec", SECRETS.values(), ids=SECRETS.keys())
def test_a_secret_is_accepted_only_when_it_is_written_out(pod_spec: Object) -> None:
    assert "an entry in `exceptions` for secrets keys" in said(pod_spec)
    assert said(pod_spec, exceptions=[excuse("secrets", "keys")]) == ""


def test_an_exception_excuses_init_containers_too_and_nothing_else() -> None:
    both = objects.container()["securityContext"] | {
        "capabilities": {"drop": ["ALL"], "add": ["IPC_LOCK", "SYS_ADMIN"]}
    }
    found = said(init(securityContext=both), exceptions=[excuse("capabilities.add", "IPC_LOCK")])
    assert "capabilities.add SYS_ADMIN" in found and "IPC_LOCK" not in found


def test_apparmor_is_also_seen_in_its_old_annotation() -> None:
    bent = objects.template()
    annotations = {"container.apparmor.security.beta.kubernetes.io/rank": "unconfined"}
    bent["spec"]["job"]["spec"]["template"]["metadata"] = {"annotations": annotations}
    assert "appArmorProfile Unconfined" in "; ".join(map(str, parse(TemplateSpec, bent["spec"]).problems))


@pytest.mark.parametrize("item", [headless(), policy()], ids=["a headless Service", "a NetworkPolicy"])
def test_support_objects_of_the_two_kinds_are_accepted(item: Object) -> None:
    assert said(support=[item]) == ""


@pytest.mark.parametrize("item", [item for item, _ in SUPPORT_DENIED.values()], ids=SUPPORT_DENIED.keys())
def test_other_support_objects_are_refused(item: Object) -> None:
    assert "support" in said(support=[item]).lower()

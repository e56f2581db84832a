"""Who may approve a registration, and what: the policy tau-validation-approval-guard, with real roles."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.cluster.bed.control import ControlPlane
from tests.deploy import objects
from tests.deploy.attempts import bind, create_refusal, patch_refusal, refusal

pytestmark = pytest.mark.cluster

CHECK = "validationchecks/ib-pair"
ADMIN = ("--as=ada", "--as-group=tau-platform-admins")
SECOND_ADMIN = ("--as=ben", "--as-group=tau-system-admins")
OPERATOR = ("--as=olga", "--as-group=operators")
CONTROLLER = (f"--as={objects.CONTROLLER}",)
ONLY_APPROVERS = "Only tau-system-admins, tau-platform-admins, system:masters"


def marks(**values: str | None) -> dict[str, Any]:
    """A patch of the annotations; None removes one."""
    named = {f"tau.azure.com/{name.replace('_', '-')}": value for name, value in values.items()}
    return {"metadata": {"annotations": named}}


def approval(by: str = "ada", digest: str = objects.DIGEST) -> dict[str, Any]:
    return marks(approved=digest, reviewed_by=by)


class Registration:
    """The check `ib-pair` in a namespace of the test's own; every change is tried by somebody with real rights."""

    def __init__(self, control: ControlPlane, namespace: str) -> None:
        self.control, self.namespace = control, namespace

    def change(self, patch: Mapping[str, Any], who: tuple[str, ...], subresource: str = "") -> str:
        return patch_refusal(self.control, CHECK, self.namespace, patch, *who, subresource=subresource)

    def observe(self, generation: int = 1, digest: str = objects.DIGEST) -> None:
        """The controller writes the digest of the spec that it saw."""
        seen = {"status": {"observedGeneration": generation, "specDigest": digest}}
        assert self.change(seen, CONTROLLER, "status") == ""

    @property
    def annotations(self) -> dict[str, str]:
        held = self.control.get(CHECK, "--namespace", self.namespace)
        return {k.rpartition("/")[2]: v for k, v in held["metadata"].get("annotations", {}).items()}


@pytest.fixture
def registration(guarded: ControlPlane, namespace: str) -> Registration:
    """A registration by an operator, whose digest the controller has written."""
    bind(guarded, namespace, "tau-validation-operator", group="operators")
    assert create_refusal(guarded, objects.check(namespace), *OPERATOR) == ""
    made = Registration(guarded, namespace)
    made.observe()
    return made


@pytest.mark.parametrize("who", [ADMIN, SECOND_ADMIN], ids=["platform admin", "system admin"])
def test_an_approver_approves_what_the_controller_saw(registration: Registration, who: tuple[str, ...]) -> None:
    name = who[0].partition("=")[2]
    assert registration.change(approval(by=name), who) == ""
    assert registration.annotations == {"approved": objects.DIGEST, "reviewed-by": name}


def test_an_approver_rejects_with_a_reason(registration: Registration) -> None:
    assert registration.change(marks(rejected="too many nodes", reviewed_by="ada"), ADMIN) == ""


def test_an_approver_rejects_what_was_approved_and_approves_what_was_rejected(registration: Registration) -> None:
    assert registration.change(approval(), ADMIN) == ""
    rejected = marks(approved=None, rejected="it hangs", reviewed_by="ben")
    assert registration.change(rejected, SECOND_ADMIN) == ""
    assert "Remove the annotation tau.azure.com/rejected" in registration.change(approval(), ADMIN)
    assert (
        registration.change(approval() | marks(approved=objects.DIGEST, reviewed_by="ada", rejected=None), ADMIN) == ""
    )


def test_an_approver_withdraws_an_approval(registration: Registration) -> None:
    assert registration.change(approval(), ADMIN) == ""
    assert registration.change(marks(approved=None, reviewed_by=None), ADMIN) == ""
    assert registration.annotations == {}


@pytest.mark.parametrize("mark", ["approved", "rejected", "reviewed_by"])
def test_an_operator_touches_no_mark_of_a_review(registration: Registration, mark: str) -> None:
    assert ONLY_APPROVERS in registration.change(marks(**{mark: objects.DIGEST}), OPERATOR)
    assert registration.annotations == {}


@pytest.mark.parametrize("mark", ["approved", "reviewed_by"])
def test_an_operator_removes_no_mark_of_a_review(registration: Registration, mark: str) -> None:
    assert registration.change(approval(), ADMIN) == ""
    assert ONLY_APPROVERS in registration.change(marks(**{mark: None}), OPERATOR)


def test_the_controller_approves_nothing_whatever_roles_it_has(
    registration: Registration, guarded: ControlPlane
) -> None:
    own = approval(by=objects.CONTROLLER)
    assert "cannot patch resource" in registration.change(own, CONTROLLER)
    bind(guarded, registration.namespace, "tau-validation-approver", user=objects.CONTROLLER)
    assert ONLY_APPROVERS in registration.change(own, CONTROLLER)


def test_the_role_of_an_approver_without_the_group_approves_nothing(
    registration: Registration, guarded: ControlPlane
) -> None:
    bind(guarded, registration.namespace, "tau-validation-approver", user="eve")
    assert ONLY_APPROVERS in registration.change(approval(by="eve"), ("--as=eve",))


def test_an_operator_changes_the_spec_of_an_approved_check_and_the_approval_stays_as_it_was(
    registration: Registration,
) -> None:
    assert registration.change(approval(), ADMIN) == ""
    assert registration.change({"spec": {"title": "Another title"}}, OPERATOR) == ""
    assert registration.annotations["approved"] == objects.DIGEST


def test_other_annotations_are_anybodys(registration: Registration) -> None:
    assert registration.change({"metadata": {"annotations": {"note": "mine"}}}, OPERATOR) == ""


def test_nobody_signs_with_another_name(registration: Registration) -> None:
    assert "reviewed-by must be ada" in registration.change(approval(by="ben"), ADMIN)


def test_nobody_approves_without_a_name(registration: Registration) -> None:
    assert "reviewed-by must be ada" in registration.change(marks(approved=objects.DIGEST), ADMIN)


def test_nobody_lets_anothers_name_stand_under_a_new_decision(registration: Registration) -> None:
    assert registration.change(approval(), ADMIN) == ""
    assert "reviewed-by must be ben" in registration.change(marks(rejected="no"), SECOND_ADMIN)


def test_another_digest_is_not_approved(registration: Registration) -> None:
    said = registration.change(approval(digest=objects.OTHER_DIGEST), ADMIN)
    assert f"must be {objects.DIGEST}, the digest of the current spec" in said


def test_a_spec_that_the_controller_has_not_seen_is_not_approved(registration: Registration) -> None:
    assert registration.change({"spec": {"title": "Another title"}}, OPERATOR) == ""
    assert "has not written the digest of the current spec yet" in registration.change(approval(), ADMIN)
    registration.observe(generation=2, digest=objects.OTHER_DIGEST)
    assert "must be " + objects.OTHER_DIGEST in registration.change(approval(), ADMIN)
    assert registration.change(approval(digest=objects.OTHER_DIGEST), ADMIN) == ""


def test_spec_and_approval_do_not_change_in_one_step(registration: Registration) -> None:
    both = approval() | {"spec": {"title": "Another title"}}
    said = registration.change(both, ADMIN)
    assert "Change the spec and review it in two steps" in said


def test_a_registration_is_not_created_approved(guarded: ControlPlane, namespace: str) -> None:
    item = objects.annotated(objects.check(namespace), approved=objects.DIGEST, reviewed_by="ada")
    item["status"] = {"observedGeneration": 1, "specDigest": objects.DIGEST}
    said = refusal(guarded, item, "--as=ada", "--as-group=tau-platform-admins", "--as-group=system:masters")
    assert "cannot be created approved" in said


def test_an_operator_creates_no_registration_with_marks(registration: Registration, guarded: ControlPlane) -> None:
    item = objects.annotated(objects.check(registration.namespace, "other"), rejected="by nobody")
    assert ONLY_APPROVERS in refusal(guarded, item, *OPERATOR)


def test_a_write_of_the_status_carries_no_approval(registration: Registration) -> None:
    smuggled = approval(by=objects.CONTROLLER) | {"status": {"observedGeneration": 1}}
    assert registration.change(smuggled, CONTROLLER, "status") == ""
    assert registration.annotations == {}

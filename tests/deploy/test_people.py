"""What people may do: the roles of the chart, and what Kubernetes' own view, edit and admin gain from them."""

import contextlib
import time
from collections.abc import Iterator

import pytest

from tests.cluster.bed.control import ControlPlane
from tests.deploy.attempts import bind
from tests.deploy.reviews import Question, Reviewer

pytestmark = pytest.mark.cluster

GROUP = "tau.azure.com"
KINDS = ("validationtemplates", "validationchecks", "validationruns", "validationresults")
READ = {(verb, kind) for verb in ("get", "list", "watch") for kind in KINDS}
WRITE = ("create", "update", "patch", "delete")
OPERATE = READ | {(verb, kind) for verb in WRITE for kind in ("validationchecks", "validationruns")}
REVIEW = (
    READ
    | {(verb, "validationtemplates") for verb in WRITE}
    | {(verb, "validationchecks") for verb in ("update", "patch")}
)
ALL = {
    (verb, resource)
    for verb in ("get", "list", "watch", *WRITE, "deletecollection", "*")
    for resource in (*KINDS, "validationchecks/status", "validationruns/status", "validationresults/status", "*")
}
ROLES = {
    "tau-validation-viewer": READ,
    "tau-validation-operator": OPERATE,
    "tau-validation-approver": REVIEW,
    "tau-validation-template-viewer": {(verb, "validationtemplates") for verb in ("get", "list", "watch")},
    "tau-validation-cluster-viewer": {(verb, "validationtemplates") for verb in ("get", "list", "watch")},
    "view": READ,
    "edit": OPERATE,
    "admin": OPERATE,
}


@pytest.fixture(scope="module")
def reviewer(guarded: ControlPlane, controllers: ControlPlane) -> Iterator[Reviewer]:
    """Somebody who asks, once the roles are aggregated."""
    rules = ("get", "clusterrole", "view", "-o", "jsonpath={.rules[*].resources}")
    deadline = time.monotonic() + 30
    while "validationresults" not in controllers.kubectl(*rules):
        assert time.monotonic() < deadline, "The role view has not gained the rights of viewers after 30 s."
        time.sleep(0.2)
    with contextlib.closing(Reviewer(guarded)) as asking:
        yield asking


@pytest.mark.parametrize("role", ROLES)
def test_a_role_gives_what_it_says_and_only_in_its_namespace(
    guarded: ControlPlane, reviewer: Reviewer, namespace: str, role: str
) -> None:
    group = f"{role}-{namespace}"
    bind(guarded, namespace, role, group=group)
    here = {Question(verb, resource, GROUP, namespace) for verb, resource in ALL}
    told = reviewer.allowed("ada", [group, "system:authenticated"], here)
    assert told == sorted(str(Question(verb, resource, GROUP, namespace)) for verb, resource in ROLES[role])
    elsewhere = {Question(verb, resource, GROUP, place) for verb, resource in ALL for place in ("", "default")}
    assert reviewer.allowed("ada", [group, "system:authenticated"], elsewhere) == []


def test_the_approver_groups_review_in_every_namespace(reviewer: Reviewer) -> None:
    everywhere = {Question(verb, resource, GROUP) for verb, resource in ALL}
    for group in ("tau-platform-admins", "tau-system-admins"):
        told = reviewer.allowed("ada", [group, "system:authenticated"], everywhere)
        assert told == sorted(str(Question(verb, resource, GROUP)) for verb, resource in REVIEW)


def test_somebody_without_a_role_may_nothing(reviewer: Reviewer) -> None:
    everywhere = {Question(verb, resource, GROUP) for verb, resource in ALL}
    assert reviewer.allowed("ada", ["system:authenticated"], everywhere) == []

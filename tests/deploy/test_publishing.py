"""Who may ask for a run, write a status and publish a result: three policies, tried with real roles and tokens."""

import json

import pytest

from checks.contract.guard import judge
from tests.cluster.bed.control import ControlPlane, Refused
from tests.deploy import objects
from tests.deploy.attempts import bind, create_refusal, patch_refusal, refusal, register

pytestmark = pytest.mark.cluster

CONTROLLER = f"--as={objects.CONTROLLER}"
OPERATOR = ("--as=olga", "--as-group=operators")
MASTER = ("--as=root", "--as-group=system:masters")


@pytest.fixture
def workspace(guarded: ControlPlane, namespace: str) -> str:
    """A namespace with the registration `ib-pair`, and with operators."""
    bind(guarded, namespace, "tau-validation-operator", group="operators")
    may = {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["create"]}
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "jobs"}}
    guarded.apply([role | {"rules": [may]}])
    bind(guarded, namespace, "jobs", group="operators", right=("create", "jobs", "batch"))
    register(guarded, objects.check(namespace))
    return namespace


def test_what_the_chart_installs_is_a_guard_in_force_for_the_reader(guarded: ControlPlane) -> None:
    policies = guarded.get("validatingadmissionpolicies")["items"]
    bindings = guarded.get("validatingadmissionpolicybindings")["items"]
    verdict = judge(policies, bindings)
    assert (verdict.in_force, verdict.why) == (True, "")
    assert verdict.policy == "tau-validation-result-publisher"


def test_the_registered_publisher_publishes(guarded: ControlPlane, workspace: str) -> None:
    assert refusal(guarded, objects.result(workspace), CONTROLLER) == ""


def test_the_registered_account_publishes_with_its_own_token(guarded: ControlPlane, workspace: str) -> None:
    kubeconfig = guarded.kubeconfig_for_account("tau-system", "tau-validation-controller")
    guarded.kubectl("create", "-f", "-", stdin=json.dumps(objects.result(workspace)), kubeconfig=kubeconfig)
    with pytest.raises(Refused, match="already exists"):
        guarded.kubectl("create", "-f", "-", stdin=json.dumps(objects.result(workspace)), kubeconfig=kubeconfig)


def test_nobody_publishes_under_another_name(guarded: ControlPlane, workspace: str) -> None:
    said = refusal(guarded, objects.result(workspace), *MASTER)
    assert "spec.publisher.username must be root, who publishes this result." in said


def test_an_administrator_is_not_the_publisher(guarded: ControlPlane, workspace: str) -> None:
    said = refusal(guarded, objects.result(workspace, publisher="root"), *MASTER)
    assert "Only the publisher that check ib-pair registers may publish its results" in said
    assert "service account tau-validation-controller of namespace tau-system" in said


def test_a_check_with_its_own_controller_has_its_own_publisher(guarded: ControlPlane, namespace: str) -> None:
    account = f"system:serviceaccount:{namespace}:storage-checker"
    results = objects.check(namespace)["spec"]["results"]
    results["publisher"] = {"namespace": namespace, "serviceAccount": "storage-checker"}
    register(guarded, objects.check(namespace, launch={"controller": {"name": "a.example/b"}}, results=results))
    by_account = refusal(
        guarded, objects.result(namespace, publisher=account), f"--as={account}", "--as-group=system:masters"
    )
    assert by_account == ""
    said = refusal(guarded, objects.result(namespace), CONTROLLER)
    assert f"service account storage-checker of namespace {namespace}" in said


def test_where_no_check_is_registered_nobody_publishes(guarded: ControlPlane, namespace: str) -> None:
    said = refusal(guarded, objects.result(namespace), CONTROLLER)
    assert "tau-validation-result-publisher" in said
    assert "no params found for policy binding with `Deny` parameterNotFoundAction" in said


def test_a_result_speaks_of_its_own_namespace(guarded: ControlPlane, workspace: str) -> None:
    item = objects.result(workspace, envelope=objects.envelope("team-other"))
    assert f"scope.namespace must be {workspace}" in refusal(guarded, item, CONTROLLER)


def test_a_result_cannot_be_changed_by_anybody(guarded: ControlPlane, workspace: str) -> None:
    assert create_refusal(guarded, objects.result(workspace), CONTROLLER) == ""
    name = f"validationresults/{objects.result(workspace)['metadata']['name']}"
    change = {"spec": {"envelope": {"outcome": "failed"}}}
    assert "cannot patch resource" in patch_refusal(guarded, name, workspace, change, CONTROLLER)
    assert "A sealed result never changes" in patch_refusal(guarded, name, workspace, change, *MASTER)
    relabelled = patch_refusal(guarded, name, workspace, {"metadata": {"labels": {"mine": "yes"}}}, *MASTER)
    assert "spec.publisher.username must be root" in relabelled


def test_a_result_deleted_in_the_foreground_goes_with_a_second_deletion(guarded: ControlPlane, workspace: str) -> None:
    assert create_refusal(guarded, objects.result(workspace), CONTROLLER) == ""
    name = f"validationresults/{objects.result(workspace)['metadata']['name']}"
    delete = ("delete", name, "--namespace", workspace, "--wait=false")
    guarded.kubectl(*delete, "--cascade=foreground")
    held = guarded.get(name, "--namespace", workspace)["metadata"]
    assert held["finalizers"] == ["foregroundDeletion"]
    change = {"metadata": {"finalizers": None}}
    collector = ("--as=system:serviceaccount:kube-system:generic-garbage-collector", "--as-group=system:masters")
    assert "tau-validation-result-publisher" in patch_refusal(guarded, name, workspace, change, *collector)
    guarded.kubectl(*delete)
    with pytest.raises(Refused, match="not found"):
        guarded.get(name, "--namespace", workspace)


def test_a_run_is_asked_for_under_ones_own_name(guarded: ControlPlane, workspace: str) -> None:
    assert refusal(guarded, objects.run(workspace, "olga"), *OPERATOR) == ""
    said = refusal(guarded, objects.run(workspace, "ada"), *OPERATOR)
    assert "spec.requestedBy must be olga, who creates this run." in said


def test_who_may_not_create_jobs_may_not_ask_for_a_run(guarded: ControlPlane, workspace: str) -> None:
    bind(guarded, workspace, "tau-validation-operator", user="nina")
    said = refusal(guarded, objects.run(workspace, "nina"), "--as=nina")
    assert f"nina may not create Jobs in {workspace}, which starting a run does." in said


def test_only_a_controller_starts_by_schedule(guarded: ControlPlane, workspace: str) -> None:
    said = refusal(guarded, objects.run(workspace, "olga", trigger="Schedule"), *OPERATOR)
    assert "Only a controller starts a run by schedule" in said
    assert refusal(guarded, objects.run(workspace, objects.CONTROLLER, trigger="Schedule"), CONTROLLER) == ""


def test_what_was_asked_for_does_not_change(guarded: ControlPlane, workspace: str) -> None:
    assert create_refusal(guarded, objects.run(workspace, "olga"), *OPERATOR) == ""
    name = f"validationruns/ib-pair-{objects.RUN_ID}"
    changed = patch_refusal(guarded, name, workspace, {"spec": {"requestedBy": "ada"}}, *OPERATOR)
    assert "What was asked for never changes; create another run." in changed
    assert patch_refusal(guarded, name, workspace, {"metadata": {"labels": {"mine": "yes"}}}, *OPERATOR) == ""


@pytest.mark.parametrize("who", [OPERATOR, MASTER, ("--as=ada", "--as-group=tau-platform-admins")])
def test_nobody_but_the_controller_writes_a_status(guarded: ControlPlane, workspace: str, who: tuple[str, ...]) -> None:
    assert create_refusal(guarded, objects.run(workspace, "olga"), *OPERATOR) == ""
    for name, status in (
        (f"validationruns/ib-pair-{objects.RUN_ID}", {"phase": "Sealed"}),
        ("validationchecks/ib-pair", {"specDigest": objects.OTHER_DIGEST}),
    ):
        change = {"status": status}
        said = patch_refusal(guarded, name, workspace, change, *who, subresource="status")
        expected = f"Only {objects.CONTROLLER} may write the status" if who == MASTER else "is forbidden"
        assert expected in said
        assert patch_refusal(guarded, name, workspace, change, CONTROLLER, subresource="status") == ""


def test_a_status_in_a_created_object_is_dropped(guarded: ControlPlane, workspace: str) -> None:
    item = objects.run(workspace, "olga") | {"status": {"phase": "Sealed"}}
    assert create_refusal(guarded, item, *OPERATOR) == ""
    assert "status" not in guarded.get(f"validationruns/ib-pair-{objects.RUN_ID}", "--namespace", workspace)

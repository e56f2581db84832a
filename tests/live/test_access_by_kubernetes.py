"""What a person sees is what the API server says they may: asked with real RBAC."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import override_settings

from checks.cluster.client import Api
from checks.models import Check
from checks.models import Cluster as ClusterRow
from checks.scope import Scope, Viewer
from taugrid_portal import clusters
from taugrid_portal.access import AccessError
from taugrid_portal.access import kubernetes as access_module
from taugrid_portal.access.kubernetes import KubernetesAccess
from tests.cluster.bed import chart
from tests.cluster.bed.control import ControlPlane

pytestmark = [pytest.mark.cluster, pytest.mark.django_db(transaction=True)]


def binding(name: str, role: str, group: str, namespace: str = "") -> dict[str, Any]:
    """A group bound to a ClusterRole, in a namespace or everywhere."""
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    kind = "RoleBinding" if namespace else "ClusterRoleBinding"
    subject = {"kind": "Group", "name": group, "apiGroup": "rbac.authorization.k8s.io"}
    reference = {"kind": "ClusterRole", "name": role, "apiGroup": "rbac.authorization.k8s.io"}
    version = "rbac.authorization.k8s.io/v1"
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "roleRef": reference, "subjects": [subject]}


@pytest.fixture
def access(apiserver: ControlPlane, crds: None, transactional_db: None) -> Iterator[KubernetesAccess]:
    """The real reviews, asked with the portal's own account as the chart binds it."""
    chart.install(apiserver, chart.ROLES)
    kubeconfig = apiserver.kubeconfig_for_account("tau-system", "portal")
    row = ClusterRow.objects.create(name="west-1")
    for space in ("alpha", "beta"):
        Check.objects.create(cluster=row, namespace=space, name="ib-pair")
    clusters.api.cache_clear()
    with override_settings(CLUSTERS={"west-1": clusters.Connection(str(kubeconfig))}):
        yield KubernetesAccess()
    clusters.api.cache_clear()


def scope_of(access: KubernetesAccess, *groups: str) -> Scope:
    """The scope of a person in these groups."""
    return access.scope(Viewer("oidc:olu", groups))


def test_somebody_without_a_binding_sees_nothing(access: KubernetesAccess) -> None:
    scope = scope_of(access, "nobody")
    assert (scope.clusters, scope.namespaces, scope.fleet, scope.reviews) == (
        frozenset(),
        frozenset(),
        frozenset(),
        False,
    )


def test_a_role_binding_shows_that_namespace_and_no_other(access: KubernetesAccess, apiserver: ControlPlane) -> None:
    apiserver.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "alpha"}}])
    apiserver.apply([binding("see-alpha", "tau-validation-viewer", "team-alpha", "alpha")])
    assert scope_of(access, "team-alpha").namespaces == {("west-1", "alpha")}
    assert not scope_of(access, "team-alpha").clusters


def test_a_cluster_role_binding_shows_all_of_it(access: KubernetesAccess, apiserver: ControlPlane) -> None:
    apiserver.apply([binding("see-all", "tau-validation-viewer", "sre")])
    assert scope_of(access, "sre").clusters == {"west-1"}
    assert not scope_of(access, "sre").reviews


def test_an_approver_may_review(access: KubernetesAccess, apiserver: ControlPlane) -> None:
    apiserver.apply([binding("review", "tau-validation-approver", "reviewers")])
    assert scope_of(access, "reviewers").reviews


def test_a_right_that_was_taken_away_is_gone_after_the_cache_time(
    access: KubernetesAccess, apiserver: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_module, "YES_SECONDS", 1.0)
    apiserver.apply([binding("for-a-while", "tau-validation-viewer", "guests")])
    assert scope_of(access, "guests").clusters == {"west-1"}
    apiserver.kubectl("delete", "clusterrolebinding", "for-a-while")
    assert scope_of(access, "guests").clusters == {"west-1"}
    time.sleep(1.2)
    assert scope_of(access, "guests").clusters == frozenset()


def test_a_cluster_that_cannot_be_asked_shows_nothing_and_says_why(access: KubernetesAccess) -> None:
    with override_settings(CLUSTERS={"west-1": clusters.Connection("/nowhere/kubeconfig")}):
        clusters.api.cache_clear()
        with pytest.raises(AccessError, match="west-1 cannot be asked what you may read"):
            scope_of(access, "sre-2")


def test_five_hundred_workspaces_are_asked_in_parallel(
    access: KubernetesAccess, apiserver: ControlPlane, record_property: Any
) -> None:
    row = ClusterRow.objects.get()
    Check.objects.bulk_create([Check(cluster=row, namespace=f"w{n}", name="ib-pair") for n in range(500)])
    single = access_module._review(Api(str(apiserver.kubeconfig)), Viewer("x"), access_module.READ_ALL)
    assert single is False
    began = time.perf_counter()
    for _ in range(20):
        access_module._review(clusters.api("west-1"), Viewer("x"), access_module.READ_ALL)
    one = (time.perf_counter() - began) / 20
    began = time.perf_counter()
    scope_of(access, "everywhere")
    whole = time.perf_counter() - began
    record_property("one_review_seconds", round(one, 4))
    record_property("five_hundred_seconds", round(whole, 3))
    budget = 1 + one * 500 / access_module.PARALLEL
    print(f"one review {one * 1000:.1f} ms, 500 workspaces {whole:.2f} s, budget {budget:.2f} s")
    began = time.perf_counter()
    scope_of(access, "everywhere")
    assert time.perf_counter() - began < whole / 5, "answers are not kept"

"""The portal and its sync as processes, with the portal's own account, between Keycloak and a real API server.

Ada may read everything and review, her groups say so; Ben's group may read the workspace `blue`, Cleo's two groups
`blue` and `green`. Nothing but role bindings says that.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.cluster.bed import chart
from tests.cluster.bed.control import ControlPlane
from tests.cluster.bed.keycloak import CLIENT_ID, CLIENT_SECRET, PASSWORDS, Keycloak
from tests.cluster.bed.processes import Server, Servers, answers, free_port
from tests.deploy import objects

ROOT = Path(__file__).parents[2]
BLUE, GREEN, NODE = "endtoend-blue", "endtoend-green", "endtoend-gpu-01"
PATIENCE = 60_000  # milliseconds; machines that build things are slow
RBAC = "rbac.authorization.k8s.io"
Object = dict[str, Any]


def binding(name: str, role: str, group: str, namespace: str = "") -> Object:
    """A group of Keycloak, as the API server names it, bound to a ClusterRole; without a namespace: everywhere."""
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "RoleBinding" if namespace else "ClusterRoleBinding",
        "metadata": {"name": name} | ({"namespace": namespace} if namespace else {}),
        "roleRef": {"kind": "ClusterRole", "name": role, "apiGroup": RBAC},
        "subjects": [{"kind": "Group", "name": f"oidc:{group}", "apiGroup": RBAC}],
    }


BLUE_BINDING = binding("blue", "tau-validation-viewer", "team-blue", BLUE)
FLEET: Object = {
    "apiVersion": f"{RBAC}/v1",
    "kind": "ClusterRole",
    "metadata": {"name": "endtoend-fleet"},
    "rules": [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list", "watch"]}],
}


@pytest.fixture(scope="package")
def workspaces(apiserver: ControlPlane, policies: None) -> Iterator[ControlPlane]:
    """Two workspaces with a check each, a node, and who may read what."""
    chart.install(apiserver, chart.ROLES)
    spaces: list[Object] = [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name, "labels": {"tau.azure.com/workspace": name, "tau.azure.com/gpu": "true"}},
        }
        for name in (BLUE, GREEN)
    ]
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}}
    whole = [
        binding("endtoend-approver", "tau-validation-approver", "tau-platform-admins"),
        binding("endtoend-fleet", "endtoend-fleet", "tau-platform-admins"),
    ]
    apiserver.apply([*spaces, node, FLEET, *whole])
    green = binding("green", "tau-validation-viewer", "team-green", GREEN)
    apiserver.apply([objects.check(BLUE), objects.check(GREEN), BLUE_BINDING, green])
    yield apiserver
    apiserver.kubectl("delete", "clusterrolebinding", "endtoend-approver", "endtoend-fleet")
    apiserver.kubectl("delete", "clusterrole/endtoend-fleet", f"node/{NODE}")
    apiserver.kubectl("delete", "namespace", BLUE, GREEN, "--wait=false")


@pytest.fixture(scope="package")
def portal(
    servers: Servers, workspaces: ControlPlane, keycloak: Keycloak, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of a portal whose sync has seen the cluster."""
    port = free_port()
    url = f"http://localhost:{port}"  # another site than the provider, which is at 127.0.0.1
    keycloak.allow_portal(url)
    environment = {
        "PATH": os.environ["PATH"],
        "PORTAL_MODE": "test",  # plain http on loopback; everything else is what production has
        "ACCESS": "kubernetes",
        "SECRET_KEY": "only for this test, and fifty or more characters long",
        "DATABASE_URL": f"sqlite:///{tmp_path_factory.mktemp('portal') / 'portal.sqlite3'}",
        "CLUSTERS": f"west-1={workspaces.kubeconfig_for_account('tau-system', 'portal')}",
        "PORT": str(port),
        "PORTAL_URL": url,
        "OIDC_ISSUER": keycloak.issuer,
        "OIDC_CLIENT_ID": CLIENT_ID,
        "OIDC_CLIENT_SECRET": CLIENT_SECRET,
        "OIDC_USERNAME_CLAIM": "preferred_username",
        "OIDC_USERNAME_PREFIX": "oidc:",
        "OIDC_GROUPS_PREFIX": "oidc:",
        "OIDC_RENEW_SECONDS": "60",  # the shortest there is
    }
    manage = [sys.executable, str(ROOT / "manage.py")]
    subprocess.run([*manage, "migrate", "--noinput"], env=environment, check=True, capture_output=True)
    running: list[Server] = [
        servers.start(f"portal-{name}", [*manage, name], environment) for name in ("sync", "serve")
    ]
    running[1].wait_until(answers(f"{url}/readyz"), seconds=120)
    yield url
    for server in running:
        servers.kill(server)


@pytest.fixture
def new_page(portal: str, chromium: Browser) -> Iterator[Callable[[], Page]]:
    """Opens the browser of somebody who is not signed in anywhere."""
    contexts: list[BrowserContext] = []

    def _new_page() -> Page:
        context = chromium.new_context(base_url=portal, viewport={"width": 1280, "height": 900})
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        return context.new_page()

    yield _new_page
    for context in contexts:
        context.close()


def fill_in(page: Page, name: str) -> None:
    """Signs in with Keycloak's own form."""
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password", exact=True).fill(PASSWORDS[name])
    page.get_by_role("button", name="Sign In").click()


@pytest.fixture
def signed_in(portal: str, new_page: Callable[[], Page]) -> Callable[[str], Page]:
    """A browser after somebody's sign-in, at the list of checks."""

    def _signed_in(name: str) -> Page:
        page = new_page()
        page.goto("/checks/")
        fill_in(page, name)
        page.wait_for_url(f"{portal}/checks/")
        return page

    return _signed_in

"""Cluster DNS: CoreDNS on the bridges, so that the pods of a Job find each other by a headless Service's names.

It answers for `cluster.local` and refuses every other name: there is no way out of a test bed.
"""

from collections.abc import Sequence

from tests.cluster.bed.control import ControlPlane
from tests.cluster.bed.processes import Server, answers, free_port
from tests.cluster.tools import tool

DOMAIN = "cluster.local"
USER = "coredns"
RBAC = "rbac.authorization.k8s.io"


def start_dns(control: ControlPlane, addresses: Sequence[str]) -> Server:
    """Start it on port 53 of these addresses and wait until it knows the cluster."""
    ready = f"127.0.0.1:{free_port()}"
    control.apply(_rights())
    corefile = control.folder / "Corefile"
    corefile.write_text(
        f".:53 {{\n  bind {' '.join(addresses)}\n  errors\n  ready {ready}\n"
        f"  kubernetes {DOMAIN} {{\n    kubeconfig {control.kubeconfig_for(USER)}\n  }}\n}}\n"
    )
    server = control.servers.start("coredns", [tool("coredns"), "-conf", corefile])
    server.wait_until(answers(f"http://{ready}/ready"))
    return server


def _rights() -> list[dict[str, object]]:
    read = ["list", "watch"]
    return [
        {
            "apiVersion": f"{RBAC}/v1",
            "kind": "ClusterRole",
            "metadata": {"name": USER},
            "rules": [
                {"apiGroups": [""], "resources": ["services", "namespaces", "pods"], "verbs": read},
                {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": read},
            ],
        },
        {
            "apiVersion": f"{RBAC}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": USER},
            "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": USER},
            "subjects": [{"apiGroup": RBAC, "kind": "User", "name": USER}],
        },
    ]

"""The clusters this portal reads: their names, and how each API server is reached.

CLUSTER_NAME alone is the cluster the portal runs in. CLUSTERS names more: `east-1=/etc/portal/east.yaml#portal`, one
per comma, each with a kubeconfig file and, after `#`, a context of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

if TYPE_CHECKING:
    from checks.cluster.client import Api


@dataclass(frozen=True, slots=True)
class Connection:
    """kubeconfig "" is the pod's own service account."""

    kubeconfig: str = ""
    context: str = ""


def parse(own: str, others: list[str]) -> Mapping[str, Connection]:
    """Connections by cluster name. Raises ImproperlyConfigured with a sentence."""
    found = {own: Connection()} if own else {}
    for entry in others:
        name, equals, where = entry.partition("=")
        kubeconfig, _, context = where.partition("#")
        if not (name and equals and kubeconfig):
            raise ImproperlyConfigured(
                f"CLUSTERS takes NAME=KUBECONFIG[#CONTEXT] by commas; {entry[:60]!r} is not that."
            )
        if name in found:
            raise ImproperlyConfigured(f"CLUSTERS names {name[:60]!r} twice (or as CLUSTER_NAME does).")
        found[name] = Connection(kubeconfig, context)
    return found


@cache
def api(name: str) -> "Api":
    """The API server of a configured cluster, one connection pool per process. Raises ClusterError, KeyError."""
    from checks.cluster.client import Api  # the client library takes a second to import; pages need none of it

    connection = settings.CLUSTERS[name]
    return Api(connection.kubeconfig, connection.context)

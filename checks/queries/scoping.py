"""What a scope admits, as conditions on rows. What it does not admit cannot be told apart from what is not there."""

from django.db.models import Q

from ..models import Check, Namespace
from ..scope import Scope


class InvalidArgumentError(ValueError):
    """A parameter cannot be read, or contradicts what the viewer may read. The text names the parameter."""


def visible(scope: Scope) -> Q:
    """Rows with `cluster` and `namespace` that the viewer may read."""
    condition = Q(cluster__in=scope.clusters)
    spaces: dict[str, list[str]] = {}
    for cluster, namespace in sorted(scope.namespaces):
        spaces.setdefault(cluster, []).append(namespace)
    for cluster, names in spaces.items():
        condition |= Q(cluster=cluster, namespace__in=names)
    return condition


def known_clusters(scope: Scope) -> frozenset[str]:
    """Clusters of which the viewer may read anything at all."""
    return scope.clusters | scope.fleet | {cluster for cluster, _ in scope.namespaces}


def admits_workspace(scope: Scope, cluster: str, namespace: str) -> bool:
    """Whether a filter by this namespace stays within the scope; cluster "" means any of them."""
    clusters = {cluster} if cluster else known_clusters(scope)
    return any(scope.may_read(each, namespace) for each in clusters)


def places(cluster: str) -> list[str]:
    """The namespaces of a cluster in which there may be anything to see: workspaces, and those that hold a check."""
    workspaces = Namespace.objects.filter(cluster=cluster, gone_at=None).exclude(workspace="")
    found = set(workspaces.values_list("name", flat=True))
    found.update(Check.objects.filter(cluster=cluster).values_list("namespace", flat=True).distinct())
    return sorted(found)

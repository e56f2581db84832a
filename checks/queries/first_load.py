"""Whether there is anything to answer from yet."""

from ..models import Cluster
from ..scope import Scope
from .scoping import known_clusters


def was_read(scope: Scope) -> bool:
    """Whether a cluster of this scope was ever read in full, or captured; for a scope without clusters, any cluster."""
    names = known_clusters(scope)
    rows = Cluster.objects.exclude(complete=False, captured_at=None)
    return (rows.filter(name__in=names) if names else rows).exists()

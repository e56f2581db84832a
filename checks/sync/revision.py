"""The marks by which answers that are kept know that a cluster was written to; saved together with the write."""

import secrets
from collections.abc import Collection

from ..models import Cluster

# Seen on the fleet page alone; where a verdict needs a node, judging writes the verdict anew.
OF_THE_FLEET = frozenset({"Node", "ClusterQueue", "LocalQueue", "Workload"})


def revise(row: Cluster, written: Collection[str] = ()) -> None:
    """Gives the row another revision, or only that of its fleet where nothing else was written.

    By chance and not counted: two writers at once, or a database that was restored, never come to the same one.
    """
    row.fleet_revision = secrets.randbits(62)
    if not written or not OF_THE_FLEET.issuperset(written):
        row.revision = secrets.randbits(62)

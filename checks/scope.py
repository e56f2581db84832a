"""Who is looking, and what they may read.

Pure values: the site decides them (from a sign-in and from Kubernetes), queries only obey them. An empty
scope reads nothing; there is no value that means "not decided yet".
"""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Viewer:
    """A signed-in person, named as the API server names them."""

    username: str
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scope:
    """What one viewer may read, at one moment.

    clusters: names of clusters in which every namespace, and the nodes, may be read.
    namespaces: (cluster, namespace) pairs that may be read where the whole cluster may not.
    fleet: names of clusters whose nodes and queues may be seen (capacity facts; never a check by itself).
    reviews: may see registrations under review (platform admins).
    problem: why the scope may be smaller than the viewer's rights, as a sentence; empty when it is complete.
    """

    clusters: frozenset[str] = frozenset()
    namespaces: frozenset[tuple[str, str]] = frozenset()
    fleet: frozenset[str] = frozenset()
    reviews: bool = False
    problem: str = ""
    viewer: Viewer = field(default=Viewer(""))

    def may_read(self, cluster: str, namespace: str) -> bool:
        """Whether objects of this namespace may be read."""
        return cluster in self.clusters or (cluster, namespace) in self.namespaces


NOTHING = Scope()

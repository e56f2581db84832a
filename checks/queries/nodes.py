"""Single nodes on demand: those of a place, in pages, each with its condition at the reader's clock."""

from dataclasses import dataclass

from django.db.models import Q

from ..models import Node
from ..scope import Scope
from . import cursor
from .fleet import CONDITIONS, seen_nodes
from .scoping import InvalidArgumentError
from .sources import Sources


@dataclass(frozen=True, slots=True)
class Place:
    """Which nodes are asked for; "" and None do not narrow (a site or pool may have no name, so those are None)."""

    cluster: str = ""
    site: str | None = None
    pool: str | None = None
    condition: str = ""
    name: str = ""

    @property
    def words(self) -> str:
        """What is asked for, as people would say it."""
        asked = (self.name, self.condition, self.pool, self.site, self.cluster)
        return " · ".join(part for part in asked if part) or "all that you may see"

    def condition_on_rows(self) -> Q:
        asked = {"cluster": self.cluster or None, "site": self.site, "pool": self.pool, "name": self.name or None}
        asked["condition"] = self.condition or None
        return Q(**{key: value for key, value in asked.items() if value is not None})


@dataclass(frozen=True, slots=True)
class NodeList:
    """One page of nodes by name, each with its `condition`."""

    nodes: list[Node]
    next_cursor: str


def nodes(scope: Scope, sources: Sources, place: Place, *, after: str = "", limit: int = 100) -> NodeList:
    """Single nodes of a place. Raises InvalidArgumentError for a value that cannot be, or outside the scope."""
    if place.condition and place.condition not in CONDITIONS:
        raise InvalidArgumentError(f"condition: one of {', '.join(CONDITIONS)}")
    if place.cluster and place.cluster not in scope.fleet:
        raise InvalidArgumentError("cluster: none whose nodes you may see")
    rows = seen_nodes(scope, sources).filter(place.condition_on_rows())
    binding = cursor.bound_to(scope, "nodes", place)
    found, next_cursor = cursor.page(rows, ("cluster_id", "name", "pk"), after=after, limit=limit, binding=binding)
    return NodeList(found, next_cursor)

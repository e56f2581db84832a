"""How each cluster was last seen: part of every answer, and what decides whether its verdicts count."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from ..assembly import as_of, source_facts
from ..facts import Inventory
from ..models import Cluster, SourceKind
from ..rules import Case, source_was_seen
from ..scope import Scope
from .scoping import known_clusters


@dataclass(frozen=True, slots=True)
class SourceHealth:
    """One cluster at the reader's clock.

    as_of: the instant at which its verdicts are made. is_dump: it is a capture, not a live cluster. problem: why it
    counts as unavailable, "" where it does not. *revision: see models.
    """

    name: str
    as_of: datetime
    seen_at: datetime | None
    is_dump: bool
    problem: str
    guard_in_force: bool
    guard_policy: str
    guard_why: str
    revision: int = 0
    fleet_revision: int = 0

    @property
    def is_available(self) -> bool:
        return not self.problem


@dataclass(frozen=True, slots=True)
class Sources:
    """The clusters of which the viewer may read something, by name."""

    rows: tuple[SourceHealth, ...]
    now: datetime

    def __iter__(self) -> Iterator[SourceHealth]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def broken(self) -> list[str]:
        return [row.name for row in self.rows if not row.is_available]

    @property
    def latest(self) -> datetime:
        """The reader's clock, or where everything is a capture the last one's time."""
        return max((row.as_of for row in self.rows), default=self.now)

    @property
    def captures(self) -> list[tuple[datetime, list[str]]]:
        """Dumps by the minute of their capture, the newest first."""
        found: dict[datetime, list[str]] = {}
        for row in self.dumps:
            found.setdefault(row.as_of.replace(second=0, microsecond=0), []).append(row.name)
        return sorted(found.items(), reverse=True)

    @property
    def dumps(self) -> list[SourceHealth]:
        return [row for row in self.rows if row.is_dump]


def sources(scope: Scope, now: datetime) -> Sources:
    """The health of every cluster that the viewer may know of."""
    rows = Cluster.objects.filter(name__in=known_clusters(scope)).order_by("name")
    return Sources(tuple(_health(row, now) for row in rows), now)


@dataclass(frozen=True, slots=True)
class Faulty:
    """A kind that cannot be read from a cluster at present."""

    cluster: str
    kind: str
    problem: str


def faulty_kinds(scope: Scope, known: Sources) -> tuple[Faulty, ...]:
    """Of clusters whose fleet may be seen and that are in reach otherwise; one that is not says so as a whole."""
    rows = SourceKind.objects.filter(cluster__in=scope.fleet).exclude(cluster__in=known.broken)
    rows = rows.exclude(problem="").order_by("cluster", "kind")[:20]
    return tuple(Faulty(row.cluster_id, row.kind, row.problem) for row in rows)


def _health(row: Cluster, now: datetime) -> SourceHealth:
    at = as_of(row, now)
    found = source_was_seen(Case(None, None, None, Inventory(), source_facts(row), at))
    return SourceHealth(
        name=row.name,
        as_of=at,
        seen_at=row.captured_at or row.heartbeat_at,
        is_dump=row.captured_at is not None,
        problem=found.message if found else "",
        guard_in_force=row.guard_in_force,
        guard_policy=row.guard_policy,
        guard_why=row.guard_why,
        revision=row.revision,
        fleet_revision=row.fleet_revision,
    )

"""Facts of the fleet: nodes, GPUs, node signals, queues. Words and counts of their own, never a verdict.

Only clusters in `scope.fleet`. What is missing, or was read from a cluster that is out of reach now, is Unknown and
counted as such, never as 0.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Case, CharField, Count, F, Min, Q, QuerySet, Sum, Value, When

from ..models import Node, NodeSignal, Queue, Workload
from ..scope import Scope
from .keeping import horizon
from .sources import Faulty, Sources, faulty_kinds

DRAWN_SINGLY, POOLS, QUEUES = 400, 200, 50
# What a node is drawn as; each node is exactly one of these.
OK, FAULT, UNKNOWN, NOT_READY = "ok", "fault", "unknown", "not-ready"
CONDITIONS = (FAULT, NOT_READY, UNKNOWN, OK)


@dataclass(frozen=True, slots=True)
class Cell:
    """One node of the map."""

    name: str
    condition: str
    faults: str


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a pool's bar, in percent."""

    condition: str
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class Pool:
    """The nodes of one pool at one site, by condition; cells only where the fleet is small enough to draw each."""

    cluster: str
    site: str
    name: str
    counts: dict[str, int]
    cells: tuple[Cell, ...] = ()

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def parts(self) -> list[Part]:
        found, start = [], 0.0
        for condition, count in self.counts.items():
            if count:
                width = round(100 * count / self.total, 3)
                found.append(Part(condition, round(start, 3), width))
                start += width
        return found


@dataclass(frozen=True, slots=True)
class Site:
    """The pools of one site of one cluster."""

    cluster: str
    name: str
    pools: tuple[Pool, ...]


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of something: of how many, and of how many nothing is known. None: not known at all."""

    value: int | None
    total: int | None
    unknown: int = 0


@dataclass(frozen=True, slots=True)
class QueueRow:
    """One ClusterQueue; None is Unknown."""

    cluster: str
    name: str
    cohort: str
    used: int | None
    nominal: int | None
    pending: int | None


@dataclass(frozen=True, slots=True)
class Fleet:
    """Everything the fleet page says about machines. ready, free: of nodes and GPUs. waiting: workloads in queues.

    signals: nodes by what node health says. used, nominal: GPUs that queues have handed out, and may. *_left_out: not
    listed.
    """

    ready: Amount
    free: Amount
    used: int | None
    nominal: int | None
    signals: dict[str, int]
    waiting: int | None
    waiting_since: datetime | None
    sites: tuple[Site, ...]
    pools_left_out: int
    queues: tuple[QueueRow, ...]
    queues_left_out: int
    faulty: tuple[Faulty, ...] = field(default=())

    @property
    def nodes(self) -> int:
        return self.ready.total or 0


def fleet(scope: Scope, sources: Sources) -> Fleet | None:
    """The fleet as far as the viewer may see it; None where no cluster's nodes may be."""
    if not any(source.name in scope.fleet for source in sources):
        return None
    places = _places(scope, sources)
    total = sum(place.total for place in places)
    cells = _cells(scope, sources) if total <= DRAWN_SINGLY else {}
    pools = [Pool(*place.key, place.counts, cells.get(place.key, ())) for place in places[:POOLS]]
    queues = _queues(scope, sources)
    used = _sum(queue.used for queue in queues)
    gpus = _sum(place.gpus for place in places if place.gpus is not None)
    return Fleet(
        ready=Amount(_sum(place.ready for place in places), total, sum(place.ready_unknown for place in places)),
        free=Amount(
            None if used is None or gpus is None else max(0, gpus - used),
            gpus,
            sum(place.gpus_unknown for place in places),
        ),
        used=used,
        nominal=_sum(queue.nominal for queue in queues),
        signals={name: sum(place.signals[name] for place in places) for name in NodeSignal.values},
        waiting=_sum(queue.pending for queue in queues),
        waiting_since=_waiting_since(scope, sources),
        sites=_by_site(pools),
        pools_left_out=max(0, len(places) - POOLS),
        queues=tuple(queues[:QUEUES]),
        queues_left_out=max(0, len(queues) - QUEUES),
        faulty=faulty_kinds(scope, sources),
    )


def _fresh(sources: Sources) -> Q:
    """Whether a node's signal still counts, by the clock of its cluster; never where that is out of reach."""
    at: dict[datetime, list[str]] = {}
    for source in sources:
        if source.is_available:
            at.setdefault(source.as_of, []).append(source.name)
    condition = Q(pk__in=[])
    for instant, names in at.items():
        condition |= Q(cluster__in=names, signal_until__gte=instant)
    return condition


def seen_nodes(scope: Scope, sources: Sources) -> QuerySet[Any]:
    """The visible nodes (rows of Node), each with its `condition` at the reader's clock."""
    fresh, broken = _fresh(sources), Q(cluster__in=sources.broken)
    return Node.objects.filter(cluster__in=scope.fleet, gone_at=None).annotate(
        condition=Case(
            When(fresh & Q(signal=FAULT), then=Value(FAULT)),
            When(broken | Q(ready=None), then=Value(UNKNOWN)),
            When(ready=False, then=Value(NOT_READY)),
            When(fresh, then=F("signal")),
            default=Value(UNKNOWN),
            output_field=CharField(),
        )
    )


@dataclass(slots=True)
class _Place:
    """One pool while its groups are added up. None and `*_unknown`: not known, as opposed to 0."""

    cluster: str
    site: str
    pool: str
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(CONDITIONS, 0))
    signals: dict[str, int] = field(default_factory=lambda: dict.fromkeys(NodeSignal.values, 0))
    ready: int | None = None
    ready_unknown: int = 0
    gpus: int | None = None
    gpus_unknown: int = 0

    @property
    def key(self) -> tuple[str, str, str]:
        return self.cluster, self.site, self.pool

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def add(self, row: Mapping[str, Any]) -> None:
        """Nodes that agree in readiness and signal; of these `fresh` ones have a signal that still counts."""
        nodes, fresh, ready, signal = row["nodes"], row["fresh"], row["ready"], row["signal"]
        for seen, count in ((signal, fresh), (UNKNOWN, nodes - fresh)):
            self.signals[seen] += count
            self.counts[_condition(ready, seen)] += count
        self.ready = (self.ready or 0) + (nodes if ready else 0)
        self.ready_unknown += nodes if ready is None else 0
        self.gpus_unknown += row["unmeasured"]
        if row["allocatable"] is not None:
            self.gpus = (self.gpus or 0) + row["allocatable"]

    def add_unseen(self, row: Mapping[str, Any]) -> None:
        """Nodes of a cluster that is out of reach: that they exist is all that is known."""
        nodes = row["nodes"]
        self.signals[UNKNOWN] += nodes
        self.counts[UNKNOWN] += nodes
        self.ready_unknown += nodes
        self.gpus_unknown += nodes if row["allocatable"] is not None or row["unmeasured"] else 0


def _condition(ready: bool | None, seen: str) -> str:
    """The same as `condition` of `seen_nodes`."""
    if seen == FAULT or ready:
        return seen
    return UNKNOWN if ready is None else NOT_READY


def _places(scope: Scope, sources: Sources) -> list[_Place]:
    """Every pool with its numbers: one query, which groups by columns as they are and so stays quick at any size."""
    rows = (
        Node.objects.filter(cluster__in=scope.fleet, gone_at=None)
        .order_by("cluster", "site", "pool")
        .values("cluster", "site", "pool", "ready", "signal")
        .annotate(
            nodes=Count("cluster"),
            fresh=Count("cluster", filter=_fresh(sources)),
            ends=Min("signal_until", filter=_fresh(sources)),
            allocatable=Sum("gpus_allocatable"),
            unmeasured=Count("cluster", filter=Q(gpus_allocatable=None) & (Q(gpus__gt=0) | ~Q(gpu_product=""))),
        )
    )
    broken, noted = set(sources.broken), horizon()
    dumps = {source.name for source in sources.dumps}
    found: dict[tuple[str, str, str], _Place] = {}
    for row in rows:
        key = (row["cluster"], row["site"], row["pool"])
        place = found.setdefault(key, _Place(*key))
        if noted and place.cluster not in dumps:
            noted.ends_at(row["ends"])
        if place.cluster in broken:
            place.add_unseen(row)
        else:
            place.add(row)
    return list(found.values())


def _cells(scope: Scope, sources: Sources) -> dict[tuple[str, str, str], tuple[Cell, ...]]:
    found: dict[tuple[str, str, str], list[Cell]] = {}
    columns = ("cluster_id", "site", "pool", "name", "condition", "signal_faults")
    for cluster, site, pool, name, condition, faults in (
        seen_nodes(scope, sources).order_by("name").values_list(*columns)
    ):
        found.setdefault((cluster, site, pool), []).append(Cell(name, condition, faults if condition == FAULT else ""))
    return {key: tuple(cells) for key, cells in found.items()}


def _by_site(pools: list[Pool]) -> tuple[Site, ...]:
    found: dict[tuple[str, str], list[Pool]] = {}
    for pool in pools:
        found.setdefault((pool.cluster, pool.site), []).append(pool)
    return tuple(Site(*key, tuple(inside)) for key, inside in found.items())


def _queues(scope: Scope, sources: Sources) -> list[QueueRow]:
    """The fullest first: by workloads that wait, then by name. Of a cluster out of reach the numbers are Unknown."""
    broken = set(sources.broken)
    rows = Queue.objects.filter(cluster__in=scope.fleet, gone_at=None).order_by(
        F("pending").desc(nulls_last=True), "cluster", "name"
    )
    return [
        QueueRow(row.cluster_id, row.name, row.cohort, None, None, None)
        if row.cluster_id in broken
        else QueueRow(row.cluster_id, row.name, row.cohort, row.gpus_used, row.gpus_nominal, row.pending)
        for row in rows[:1000]
    ]


def _waiting_since(scope: Scope, sources: Sources) -> datetime | None:
    waiting = Workload.objects.filter(cluster__in=scope.fleet, phase="Pending", gone_at=None)
    oldest: datetime | None = waiting.exclude(cluster__in=sources.broken).aggregate(at=Min("created_at"))["at"]
    return oldest


def _sum(values: Iterable[int | None]) -> int | None:
    """The sum of what is known; None where nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None

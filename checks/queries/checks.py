"""The list of checks: counted, filtered and sorted by their steps at the reader's clock, shown as evaluated again."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import structlog
from django.db.models import Case, Count, DateTimeField, F, Q, QuerySet, SmallIntegerField, Value, When
from django.db.models.functions import Coalesce, Left, Lower

from ..assembly import verdicts
from ..contract.reasons import Reason, State
from ..models import NEVER, Check
from ..scope import Scope
from ..verdict import LastVerdict, Verdict
from . import cursor, keeping
from .scoping import InvalidArgumentError, admits_workspace, known_clusters, visible
from .sources import Sources

log = structlog.get_logger(__name__)

LONGEST_TEXT = 200
_BROKEN = str(Reason.SOURCE_UNAVAILABLE)
# What each order compares; the last key is unique and none is null.
SORTS: dict[str, tuple[str, ...]] = {
    "state": ("step_severity", "sort_title", "pk"),
    "name": ("sort_title", "pk"),
    "workspace": ("namespace", "name", "pk"),
    "age": ("sort_at", "pk"),
}


@dataclass(frozen=True, slots=True)
class Filter:
    """What a list is narrowed to; "" does not narrow. workspace: a namespace. text: words, each of which must occur."""

    state: str = ""
    cluster: str = ""
    workspace: str = ""
    type: str = ""
    text: str = ""

    def check(self, scope: Scope) -> None:
        """Raises InvalidArgumentError where a value cannot be, or leads outside the scope."""
        if self.state and self.state not in list(State):
            raise InvalidArgumentError(f"state: one of {', '.join(State)}")
        if self.cluster and self.cluster not in known_clusters(scope):
            raise InvalidArgumentError("cluster: none that you may read")
        if self.workspace and not admits_workspace(scope, self.cluster, self.workspace):
            raise InvalidArgumentError("workspace: none that you may read")
        for name, value in asdict(self).items():
            if len(value) > 253 or "\0" in value:
                raise InvalidArgumentError(f"{name}: too long, or not text")

    @property
    def is_narrow(self) -> bool:
        return any(asdict(self).values())

    def without_state(self) -> Q:
        condition = Q()
        if self.cluster:
            condition &= Q(cluster=self.cluster)
        if self.workspace:
            condition &= Q(namespace=self.workspace)
        if self.type:
            condition &= Q(type=self.type)
        for word in self.text[:LONGEST_TEXT].lower().split():
            condition &= Q(search__contains=word)
        return condition


@dataclass(frozen=True, slots=True)
class Row:
    """One check as it is shown: its verdict at `as_of`, evaluated for this reading.

    last: the last sealed verdict. since: when the present run began, for a Running one.
    """

    check: Check
    state: State
    reason: str
    message: str
    last: LastVerdict | None
    as_of: datetime
    since: datetime | None = None

    @property
    def workspace(self) -> str:
        return self.check.namespace

    @property
    def title(self) -> str:
        return self.check.title or self.check.name

    @property
    def at(self) -> datetime | None:
        """The moment its age counts from: the present run's beginning, else the last result."""
        return self.since or (self.last.observed_at if self.last else None)


@dataclass(frozen=True, slots=True)
class CheckList:
    """One page of checks. counts: of everything that the filter (without its state) admits, by state."""

    rows: list[Row]
    counts: dict[State, int]
    next_cursor: str

    @property
    def total(self) -> int:
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class Choices:
    """What can be filtered by, within the scope."""

    clusters: list[str]
    workspaces: list[str]
    types: list[str]


def current(scope: Scope, sources: Sources) -> QuerySet[Any]:
    """The visible checks (rows of Check) with their present step: `step_state`, `step_reason`, `step_severity`.

    A cluster that is not available gives Unknown for all of its checks, whatever their steps say.
    """
    at = Coalesce(F("cluster__captured_at"), Value(sources.now), output_field=DateTimeField())
    broken = Q(cluster__in=sources.broken)
    there = Q(registered=True, gone_at=None) | Q(run__isnull=False) | Q(result__isnull=False)
    return (
        Check.objects.filter(visible(scope), there | Q(last_result__isnull=False))
        .filter(Q(steps__until=None) | Q(steps__until__gt=at), steps__since__lte=at)
        .annotate(
            step_state=Case(When(broken, then=Value(str(State.UNKNOWN))), default=F("steps__state")),
            step_reason=Case(When(broken, then=Value(_BROKEN)), default=F("steps__reason")),
            step_severity=Case(
                When(broken & Q(last_state=State.FAILED), then=Value(1)),
                When(broken, then=Value(2)),
                default=F("steps__severity"),
                output_field=SmallIntegerField(),
            ),
            sort_title=Lower(Left(Case(When(title="", then=F("name")), default=F("title")), LONGEST_TEXT)),
            sort_at=Coalesce(F("observed_at"), F("created_at"), Value(NEVER), output_field=DateTimeField()),
        )
    )


def checks(
    scope: Scope,
    sources: Sources,
    wanted: Filter,
    *,
    sort: str = "state",
    after: str = "",
    limit: int = 20,
) -> CheckList:
    """One page of checks, worst first unless another order (of SORTS, with "-" for its reverse) is asked for.

    Raises InvalidArgumentError for a filter, order or cursor that cannot be.
    """
    wanted.check(scope)
    keys = SORTS.get(sort.removeprefix("-"))
    if keys is None:
        raise InvalidArgumentError(f"sort: one of {', '.join(SORTS)}, with - in front for the reverse")
    rows = current(scope, sources).filter(wanted.without_state())
    counted = dict(rows.order_by().values_list("step_state").annotate(Count("pk")))
    counts = {state: counted.get(str(state), 0) for state in State}
    if wanted.state:
        rows = rows.filter(step_state=wanted.state)
    # Newest first is what "by age" means to a reader.
    descending = sort.startswith("-") != (keys is SORTS["age"])
    # Sorted by what is compared alone; whole rows are read of one page only.
    heads, next_cursor = cursor.page(
        rows.only("pk", "namespace", "name"),
        keys,
        after=after,
        limit=limit,
        binding=cursor.bound_to(scope, "checks", asdict(wanted), sort),
        descending=descending,
    )
    keeping.note_steps(scope, sources)
    found = _in_full(scope, sources, [head.pk for head in heads])
    rows_shown = [shown(check, verdict, sources.now) for check, verdict in judged(scope, sources, found)]
    return CheckList(rows_shown, counts, next_cursor)


def _in_full(scope: Scope, sources: Sources, pks: Sequence[int]) -> list[Check]:
    """Rows of `current` in this order, with cluster and run."""
    rows = current(scope, sources).filter(pk__in=pks).select_related("cluster", "run")
    found = {check.pk: check for check in rows}
    return [found[pk] for pk in pks if pk in found]


def choices(scope: Scope) -> Choices:
    """Filter values of the checks that the viewer may see; at most 200 of each."""
    rows = Check.objects.filter(visible(scope)).order_by()
    found = rows.values_list("cluster", "namespace", "type").distinct()[:2000]
    clusters, workspaces, types = ({row[column] for row in found if row[column]} for column in range(3))
    return Choices(*(sorted(values)[:200] for values in (clusters, workspaces, types)))


def judged(scope: Scope, sources: Sources, found: Sequence[Check]) -> list[tuple[Check, Verdict]]:
    """Rows of `current` (with cluster and run loaded), each with its verdict of this moment.

    Where a step says otherwise the row is read a second time: the sync may have written between two queries.
    """
    made = _verdicts(found, sources)
    doubtful = {check.pk for check, verdict in made if not _agrees(check, verdict)}
    if not doubtful:
        return made
    again = _in_full(scope, sources, sorted(doubtful))
    second = {check.pk: (check, verdict) for check, verdict in _verdicts(again, sources)}
    return [second.get(check.pk, (check, verdict)) for check, verdict in made]


def _verdicts(found: Sequence[Check], sources: Sources) -> list[tuple[Check, Verdict]]:
    made = verdicts(found, sources.now) if found else {}
    return [(check, made[check.pk]) for check in found]


def _agrees(check: Any, verdict: Verdict) -> bool:
    return (check.step_state, check.step_reason) == (str(verdict.state), str(verdict.reason))


def shown(check: Check, verdict: Verdict, now: datetime) -> Row:
    """A row of `current` by its own evaluation; Unknown where that is not what its step says."""
    state, reason, message = verdict.state, str(verdict.reason), verdict.message
    if not _agrees(check, verdict):
        log.warning("step and evaluation disagree", check=check.pk, state=str(state), reason=reason)
        state, reason = State.UNKNOWN, _BROKEN
        message = "The portal's own index does not agree with what it read; it is Unknown until they do"
    run = check.run if state is State.RUNNING else None
    return Row(
        check=check,
        state=state,
        reason=reason,
        message=message,
        last=verdict.last,
        as_of=check.cluster.captured_at or now,
        since=run.created_at if run else None,
    )

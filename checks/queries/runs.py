"""The history of a check: its runs and the results that only their publisher knew, newest first."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet

from ..contract.kinds import ACTIVE_PHASES
from ..contract.reasons import Reason, State, sentence, severity
from ..models import Result, Run
from ..scope import Scope
from . import cursor
from .checks import Row
from .scoping import visible

STRIP = 30
_RUN, _RESULT = 0, 1


@dataclass(frozen=True, slots=True)
class Told:
    """What one run said when it was sealed, or why it says nothing. uid: "" where the run cannot be opened."""

    uid: str
    run_id: str
    attempt: int
    state: State
    reason: str
    at: datetime | None

    @property
    def sentence(self) -> str:
        return sentence(self.reason)


@dataclass(frozen=True, slots=True)
class History:
    """One page of runs, newest first."""

    runs: list[Told]
    next_cursor: str

    @property
    def oldest_first(self) -> list[Told]:
        return self.runs[::-1]

    @property
    def counts(self) -> dict[State, int]:
        return dict(Counter(told.state for told in self.runs).most_common())


def history(scope: Scope, row: Row, *, after: str = "", limit: int = STRIP) -> History:
    """The runs of a check. row: the check as it stands now, which decides what its newest run says."""
    binding = cursor.bound_to(scope, "runs", row.check.pk)
    runs = Run.objects.filter(visible(scope), subject=row.check.pk)
    results = Result.objects.filter(visible(scope), subject=row.check.pk, run=None)
    alone = results.defer("envelope", "body")
    start = cursor.decode(after, binding) if after else None
    found = [(run.ordered_at, _RUN, run.pk, run) for run in _newest(runs.defer("body"), _RUN, start, limit)]
    found += [(each.ordered_at, _RESULT, each.pk, each) for each in _newest(alone, _RESULT, start, limit)]
    found.sort(key=lambda item: item[:3], reverse=True)
    shown = found[:limit]
    said = _results(item[3] for item in shown if item[1] == _RUN)
    told = [_told_run(obj, said.get(pk), row) if kind == _RUN else _told(obj) for _, kind, pk, obj in shown]
    return History(told, cursor.encode(shown[-1][:3], binding) if len(found) > limit else "")


def _newest(rows: QuerySet, kind: int, start: list | None, limit: int) -> QuerySet:  # type: ignore[type-arg]
    """The rows of one kind behind `start` (moment, kind, pk), newest first, one more than a page."""
    if start is not None:
        at, other, pk = start
        behind = Q(ordered_at__lt=at)
        if kind == other:
            behind |= Q(ordered_at=at, pk__lt=pk)
        elif kind < other:
            behind |= Q(ordered_at=at)
        rows = rows.filter(behind)
    return rows.order_by("-ordered_at", "-pk")[: limit + 1]


def _results(runs: Iterable[Run]) -> dict[int, Result]:
    """The result of each run by the run's key; the worst where there are several."""
    shown = list(runs)
    by_uid = {(run.cluster_id, run.uid): run.pk for run in shown}
    theirs = Q(run__in=[run.pk for run in shown]) | Q(run_uid__in={run.uid for run in shown} - {""})
    rows = sorted(Result.objects.filter(theirs).defer("envelope", "body"), key=_rank, reverse=True)
    owners = ((row.run_id or by_uid.get((row.cluster_id, row.run_uid)), row) for row in rows)
    return {pk: row for pk, row in owners if pk is not None}


def _rank(row: Result) -> int:
    return severity(State(row.state), None) if row.state in list(State) else 0


def _told_run(run: Run, result: Result | None, row: Row) -> Told:
    if result is not None:
        return _told(result, run)
    if run.pk == row.check.run_id:
        state, reason = row.state, row.reason
    elif run.phase in ACTIVE_PHASES:
        state, reason = State.UNKNOWN, str(Reason.RUN_LOST)
    elif run.reason in (Reason.LAUNCH_FAILED, Reason.WORKLOAD_FAILED, Reason.DEADLINE_EXCEEDED, Reason.EVICTED):
        state = State.FAILED if run.reason == Reason.WORKLOAD_FAILED else State.UNKNOWN
        reason = run.reason
    else:
        state, reason = State.UNKNOWN, str(Reason.RESULT_MISSING)
    return Told(run.uid, run.run_id, run.attempt, state, reason, run.created_at)


def _told(result: Result, run: Run | None = None) -> Told:
    """A result that the loader has not judged yet says nothing."""
    known = result.state in list(State)
    return Told(
        uid=run.uid if run else result.run_uid,
        run_id=run.run_id if run else "",
        attempt=run.attempt if run else result.attempt,
        state=State(result.state) if known else State.UNKNOWN,
        reason=result.reason if known else str(Reason.RESULT_MISSING),
        at=(run.created_at if run else None) or result.created_at,
    )

"""One check, or one of its runs: the verdict with its proof and everything it was read from."""

import copy
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q

from ..assembly import Assembly, as_of, result_facts, run_facts
from ..contract.reasons import Reason, State, sentence
from ..facts import Registration
from ..facts import Result as ResultFacts
from ..facts import Run as RunFacts
from ..models import Check, Result, Run
from ..proof import Clause, Holds, first_fault, prove
from ..rules import fresh_until
from ..scope import Scope
from ..selection import result_of
from ..verdict import LastVerdict, Verdict
from .checks import Row, current, judged, shown
from .scoping import visible
from .sources import Sources


@dataclass(frozen=True, slots=True)
class Detail:
    """A verdict with its proof. row: the check as lists show it. clauses: all of them; fault: the one that decided.

    result_pk: the row of the result that speaks, for its exact bytes. run_row: only on the page of one run.
    """

    row: Row
    verdict: Verdict
    clauses: tuple[Clause, ...]
    fault: Clause | None
    result_pk: int | None

    @property
    def check(self) -> Check:
        return self.row.check

    @property
    def registration(self) -> Registration | None:
        return self.verdict.case.registration

    @property
    def run(self) -> RunFacts | None:
        return self.verdict.case.run

    @property
    def result(self) -> ResultFacts | None:
        return self.verdict.case.result

    @property
    def holding(self) -> int:
        return sum(clause.holds is Holds.YES for clause in self.clauses)

    @property
    def failing(self) -> int:
        return sum(clause.holds is Holds.NO for clause in self.clauses)

    @property
    def not_known(self) -> int:
        return len(self.clauses) - self.holding - self.failing

    @property
    def fresh_until(self) -> datetime | None:
        """The last instant at which the result is fresh; None where there is none that can be read."""
        case = self.verdict.case
        readable = case.result and case.result.envelope and case.registration and case.registration.spec
        return fresh_until(case) if readable else None

    @property
    def observed_at(self) -> datetime | None:
        """When the result was sealed."""
        return self.result.envelope.observed_at if self.result and self.result.envelope else None

    @property
    def fresh_for(self) -> timedelta | None:
        """How long the result is fresh from then on."""
        until, start = self.fresh_until, self.observed_at
        return until - start if until and start else None

    @property
    def spent(self) -> int:
        """How much of that has passed, in percent."""
        start, whole = self.observed_at, self.fresh_for
        return min(100, max(0, int(100 * (self.row.as_of - start) / whole))) if start and whole else 100


def check(scope: Scope, sources: Sources, cluster: str, namespace: str, name: str) -> Detail | None:
    """The check under this name; None where there is none that the viewer may read."""
    rows = current(scope, sources).select_related("cluster", "run")
    found = rows.filter(cluster=cluster, namespace=namespace, name=name).first()
    if found is None:
        return None
    [(row, verdict)] = judged(scope, sources, [found])
    return _detail(row, shown(row, verdict, sources.now), verdict, row.result_id)


def _detail(check: Check, row: Row, verdict: Verdict, result_pk: int | None) -> Detail:
    clauses = prove(verdict)
    return Detail(row, verdict, clauses, first_fault(clauses, verdict), result_pk)


@dataclass(frozen=True, slots=True)
class RunDetail:
    """One run as a case of its own: its verdict is the one it would give if no other run had followed.

    said: what its result said when it was sealed, as the history tells it; None without a result. is_newest: it still
    speaks for the check. now: the check's own verdict at present.
    """

    detail: Detail
    said: LastVerdict | None
    is_newest: bool
    now: Row
    uid: str
    run_id: str
    attempt: int


def run(scope: Scope, sources: Sources, uid: str) -> RunDetail | None:
    """The run with this UID, or the result of one that only its publisher knew; None where the viewer may see none."""
    run_row = Run.objects.filter(visible(scope), uid=uid).order_by("gone_at", "cluster", "pk").first() if uid else None
    results = Result.objects.filter(visible(scope), run_uid=uid) if uid else Result.objects.none()
    if run_row is not None:
        results = Result.objects.filter(visible(scope), Q(run=run_row) | Q(run_uid=uid), cluster=run_row.cluster_id)
    candidates = list(results.order_by("-ordered_at", "-name")[:20])
    subject = run_row.subject_id if run_row else candidates[0].subject_id if candidates else None
    if subject is None:
        return None
    check = current(scope, sources).select_related("cluster", "run").filter(pk=subject).first()
    if check is None:
        return None
    [(check, present)] = judged(scope, sources, [check])
    return _run_detail(shown(check, present, sources.now), run_row, candidates, sources)


def _run_detail(now: Row, run_row: Run | None, candidates: list[Result], sources: Sources) -> RunDetail:
    check = now.check
    alone = copy.copy(check)
    alone.run_id, alone.newest_unknown = run_row.pk if run_row else None, False
    result_row = _speaking(run_row, candidates)
    alone.result_id = result_row.pk if result_row else None
    alone.last_run_id, alone.last_result_id = alone.run_id, alone.result_id
    verdict = Assembly([alone]).verdict(alone, sources.now)
    own = Row(
        check=check,
        state=verdict.state,
        reason=str(verdict.reason),
        message=verdict.message,
        last=None,
        as_of=as_of(check.cluster, sources.now),
        since=run_row.created_at if run_row and verdict.state == "Running" else None,
    )
    detail = _detail(check, own, verdict, alone.result_id)
    return RunDetail(
        detail=detail,
        said=_said(result_row, verdict, run_row) if result_row else None,
        is_newest=(alone.run_id, alone.result_id) == (check.run_id, check.result_id),
        now=now,
        uid=run_row.uid if run_row else candidates[0].run_uid,
        run_id=run_row.run_id if run_row else _run_id(verdict),
        attempt=run_row.attempt if run_row else candidates[0].attempt,
    )


def _said(row: Result, verdict: Verdict, run_row: Run | None) -> LastVerdict:
    """As stored when the history was made: old evidence is not read again for it."""
    state = State(row.state) if row.state in list(State) else State.UNKNOWN
    envelope = verdict.case.result.envelope if verdict.case.result else None
    own_words = envelope.message if envelope and row.reason in (envelope.reason, Reason.PROVED) else ""
    uid = run_row.uid if run_row else row.run_uid
    return LastVerdict(state, row.reason, own_words or sentence(row.reason), row.observed_at, uid)


def _speaking(run_row: Run | None, candidates: list[Result]) -> Result | None:
    """The result that counts for a run, by the same rule as everywhere."""
    if run_row is None or len(candidates) < 2:
        return candidates[0] if candidates else None
    facts = {row.uid: row for row in candidates}
    chosen = result_of(run_facts(run_row), [result_facts(row, ()) for row in candidates])
    return facts.get(chosen.uid) if chosen else None


def _run_id(verdict: Verdict) -> str:
    result = verdict.case.result
    return result.envelope.run.id if result and result.envelope else ""

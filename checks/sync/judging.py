"""Verdicts made anew: for checks that something was written about, in the transaction that wrote it.

Chooses which run and result speak for a check, reads their evidence where a reader is given, and stores the steps of
the verdict's future.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from ..assembly import Assembly, as_of, source_facts
from ..contract.clock import parse_time
from ..contract.envelope import Evidence as EvidenceItem
from ..contract.guard import judge as judge_guard
from ..contract.kinds import WORKSPACE_LABEL
from ..contract.reasons import BY_CODE, Reason, severity
from ..facts import Inventory, Registration, Verification, Verified
from ..facts import Result as ResultFacts
from ..models import NEVER, Check, Cluster, Evidence, Policy, Result, Review, Run, Step, TargetNode
from ..rules import Case, is_approved
from ..snapshot import BINDING, POLICY
from ..verdict import BEGINNING, evaluate, steps
from .history import COLUMNS, History, deciding
from .kinds import run_columns
from .revision import revise
from .statements import insert, update
from .version import RULES

Reader = Callable[[EvidenceItem], Verified]
CHUNK = 50
_REVIEW = {
    Reason.NOT_APPROVED: Review.PENDING,
    Reason.REJECTED: Review.REJECTED,
    Reason.APPROVAL_OUTDATED: Review.OUTDATED,
    Reason.TEMPLATE_CHANGED: Review.OUTDATED,
    Reason.REGISTRATION_INVALID: Review.INVALID,
}


def judge_policy(cluster: Cluster) -> bool:
    """Judges again whether the guard of a cluster is in force; true if that changed."""
    rows = Policy.objects.filter(cluster=cluster, gone_at=None, ambiguous=False)
    bodies = {kind: [json.loads(row.body) for row in rows if row.kind == kind] for kind in (POLICY, BINDING)}
    guard = judge_guard(bodies[POLICY], bodies[BINDING])
    before = (cluster.guard_in_force, cluster.guard_why, cluster.guard_policy)
    cluster.guard_in_force, cluster.guard_why, cluster.guard_policy = guard.in_force, guard.why, guard.policy
    cluster.save(update_fields=["guard_in_force", "guard_why", "guard_policy"])
    return before != (guard.in_force, guard.why, guard.policy)


def judge_checks(pks: Iterable[int], now: datetime, reader: Reader | None = None) -> None:
    """Makes the verdicts of these checks anew. now: the reader's clock. reader: reads evidence; None leaves it."""
    wanted = sorted(pks)
    for start in range(0, len(wanted), CHUNK):
        rows = list(Check.objects.filter(pk__in=wanted[start : start + CHUNK]).select_related("cluster"))
        documents = Assembly(rows, history=False)
        registrations = {check.pk: documents.registration(check) for check in rows}
        history, pen = History(rows), _Pen(reader)
        history.read(registrations)
        for check in rows:
            _point(check, registrations[check.pk], history, as_of(check.cluster, now))
        history.fetch(pk for check in rows for pk in (check.result_id, check.last_result_id) if pk)
        for check in rows:
            pen.note(check, history)
        update(Result, history.changed, COLUMNS)
        pen.write()
        _store_steps(rows, now, _CHOSEN)


def judge_evidence(pks: Iterable[int], now: datetime) -> None:
    """Makes the steps of these checks anew where only evidence was read: which run and result speak for a check, and
    what its history says, does not depend on that."""
    wanted = sorted(pks)
    for start in range(0, len(wanted), CHUNK):
        _store_steps(list(Check.objects.filter(pk__in=wanted[start : start + CHUNK]).select_related("cluster")), now)


_CHOSEN = ("run", "result", "last_run", "last_result", "newest_unknown", "review", "workspace", "observed_at")


@dataclass
class _Pen:
    """The evidence and the targets of a chunk of checks: each table is read and written once."""

    reader: Reader | None
    evidence: list[Evidence] = field(default_factory=list)
    targets: dict[int, set[str]] = field(default_factory=dict)

    def note(self, check: Check, history: History) -> None:
        """What of the results that speak for a check is to be written."""
        for pk in sorted({pk for pk in (check.result_id, check.last_result_id) if pk}):
            self.evidence += evidence_rows(pk, history.facts[pk], self.reader)
        speaking = history.facts[check.result_id] if check.result_id else None
        observed = speaking.envelope.targets.observed if speaking and speaking.envelope else ()
        self.targets[check.pk] = {target.name for target in observed}

    def write(self) -> None:
        """Writes all of it."""
        if self.reader is None:  # what was read before stays, unless it was read of another envelope
            if outdated := self._outdated():
                Evidence.objects.filter(pk__in=outdated).delete()
            Evidence.objects.bulk_create(self.evidence, ignore_conflicts=True, batch_size=500)
        else:
            columns = ["state", "verified_at", "reader", "why", "counts_until"]
            # Two checks may point at one result; PostgreSQL takes no row twice in one command.
            rows = {(e.result_id, e.name): e for e in self.evidence}
            Evidence.objects.bulk_create(
                rows.values(), update_conflicts=True, unique_fields=["result", "name"], update_fields=columns
            )
        self._write_targets()

    def _outdated(self) -> list[int]:
        """Rows that say something else than the results do now: a verification of other bytes proves nothing."""
        said = {(e.result_id, e.name): (e.uri, e.sha256, e.size_bytes) for e in self.evidence}
        rows = Evidence.objects.filter(result__in={result for result, _ in said})
        columns = rows.values_list("pk", "result_id", "name", "uri", "sha256", "size_bytes")
        return [pk for pk, result, name, *rest in columns if said.get((result, name)) != tuple(rest)]

    def _write_targets(self) -> None:
        before: dict[int, set[str]] = {}
        for pk, name in TargetNode.objects.filter(subject__in=self.targets).values_list("subject_id", "name"):
            before.setdefault(pk, set()).add(name)
        changed = {pk: names for pk, names in self.targets.items() if names != before.get(pk, set())}
        if changed:
            TargetNode.objects.filter(subject__in=changed).delete()
        rows = [TargetNode(subject_id=pk, name=name) for pk, names in changed.items() for name in sorted(names)]
        TargetNode.objects.bulk_create(rows, batch_size=500)


def _point(check: Check, reg: Registration | None, history: History, at: datetime) -> None:
    """The run and result that speak for the check, those that spoke last, and what the reviewer's page needs."""
    chosen = history.chosen[check.pk]
    words = history.judged(check, reg, at)
    run, result = chosen.run, chosen.result
    check.newest_unknown = run is None and result is None and bool(chosen.history)
    check.run_id = run.of.pk if run else None
    check.result_id = result.of.pk if result else None
    last = deciding(chosen, words, reg)
    check.last_run_id = last[0].of.pk if last and last[0] else None
    check.last_result_id = last[1].of.pk if last else None
    check.observed_at = result.of.observed_at if result else None
    check.workspace = ((reg.namespace_labels if reg else None) or {}).get(WORKSPACE_LABEL, "")
    finding = is_approved(Case(reg, None, None, Inventory(), source_facts(check.cluster), at)) if reg else None
    check.review = _REVIEW[BY_CODE[finding.reason]] if finding else Review.APPROVED


def evidence_rows(result: int, facts: ResultFacts, reader: Reader | None) -> list[Evidence]:
    """The evidence of a result (by primary key) as rows to be written: read and compared where there is a reader."""
    if facts.envelope is None:
        return []
    found = []
    for item in facts.envelope.evidence:
        read = reader(item) if reader else Verified(Verification.UNVERIFIED)
        found.append(
            Evidence(
                result_id=result,
                name=item.name,
                uri=item.uri,
                sha256=item.sha256,
                size_bytes=item.size_bytes,
                media_type=item.media_type,
                captured_at=parse_time(item.captured_at),
                state=str(read.state),
                verified_at=read.at,
                reader=read.reader,
                why=read.why,
                counts_until=read.until,
            )
        )
    return found


def _store_steps(checks: list[Check], now: datetime, columns: Sequence[str] = ()) -> None:
    assembly = Assembly(checks)
    rows: list[Step] = []
    for check in checks:
        arguments = assembly.arguments(check, unbroken=True)
        at = as_of(check.cluster, now)
        last = evaluate(**arguments, now=at, history=assembly.history(check)).last
        check.last_state = str(last.state) if last else ""
        for step in steps(**arguments):
            rows.append(
                Step(
                    subject=check,
                    since=NEVER if step.since == BEGINNING else step.since,
                    until=step.until,
                    state=str(step.state),
                    reason=str(step.reason)[:63],
                    severity=severity(step.state, last.state if last else None),
                )
            )
    Step.objects.filter(subject__in=checks).delete()
    insert(Step, [row for row in rows if row.until is None or row.until > row.since])
    update(Check, checks, (*columns, "last_state"))


def all_checks(cluster: Cluster) -> set[int]:
    """Every check of a cluster that there is anything to say about."""
    return set(
        Check.objects.filter(cluster=cluster).filter(Q(registered=True) | Q(gone_at=None)).values_list("pk", flat=True)
    )


def judge_outdated(cluster: Cluster, now: datetime, reader: Reader | None = None) -> bool:
    """Makes everything anew that another version of the rules made; true if there was something."""
    if cluster.rules == RULES:
        return False
    _read_runs_again(cluster)
    judge_policy(cluster)
    judge_checks(all_checks(cluster), now, reader)
    cluster.rules = RULES
    cluster.save(update_fields=["rules"])
    return True


def judge_outdated_dumps() -> None:
    """The same for every cluster that is known by a dump: nobody reads that again."""
    for cluster in Cluster.objects.exclude(captured_at=None).exclude(rules=RULES):
        with transaction.atomic():
            judge_outdated(cluster, cluster.captured_at)  # type: ignore[arg-type]
            revise(cluster)
            cluster.save(update_fields=["revision", "fleet_revision"])


def _read_runs_again(cluster: Cluster) -> None:
    """Columns of runs that another version read otherwise, or did not have."""
    changed = []
    for run in Run.objects.filter(cluster=cluster).iterator(CHUNK):
        columns = run_columns(json.loads(run.body))
        if any(getattr(run, name) != value for name, value in columns.items()):
            for name, value in columns.items():
                setattr(run, name, value)
            changed.append(run)
    update(Run, changed, tuple(run_columns({})))

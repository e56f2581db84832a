"""The newest runs and results of a check as marks from columns, and what each result says by itself.

An envelope is read, hashed and judged when its result was written, and again only if something changed that this was
made from (`judged`); a new result of a check does not cost the reading of those before it.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import QuerySet

from ..assembly import result_facts, run_facts, source_facts
from ..contract.reasons import Reason, State
from ..facts import Inventory, Registration, Verification, Verified
from ..facts import Result as ResultFacts
from ..facts import Run as RunFacts
from ..models import Check, Result, Run
from ..rules import Case
from ..selection import Choice, ResultMark, RunMark, choose, claimed_at, result_mark
from ..verdict import sealed_verdict
from .version import RULES

HISTORY = 30


class RunRow(NamedTuple):
    """What is asked of a run, by column."""

    pk: int
    name: str
    uid: str
    created_at: datetime | None
    attempt: int
    result_name: str
    content: str
    ambiguous: bool


class ResultRow(NamedTuple):
    """What is asked of a result, by column; not its envelope."""

    pk: int
    name: str
    uid: str
    created_at: datetime | None
    observed_at: datetime | None
    claimed_at: datetime | None
    run_uid: str
    attempt: int
    digest_read: str
    sound: bool
    ambiguous: bool
    conflict: bool
    state: str
    reason: str
    judged: str


RunOf = RunMark[RunRow]
ResultOf = ResultMark[ResultRow]
Chosen = Choice[RunRow, ResultRow]


@dataclass(slots=True)
class Said:
    """What a result says by itself; reason "" where its run cannot be read."""

    state: str
    reason: str
    key: str


@dataclass
class History:
    """The histories of some checks (rows with `cluster` loaded), read together."""

    checks: Sequence[Check]
    chosen: dict[int, Chosen] = field(default_factory=dict)
    facts: dict[int, ResultFacts] = field(default_factory=dict)
    runs: dict[int, RunFacts] = field(default_factory=dict)
    due: set[tuple[int, int]] = field(default_factory=set)
    changed: list[Result] = field(default_factory=list)

    def read(self, registrations: dict[int, Registration | None]) -> None:
        """Chooses for each check; reads what was not judged as it is now."""
        runs = {check.pk: _newest(Run.objects.all(), RunRow, check, "-attempt") for check in self.checks}
        results = {check.pk: self._results_of(check, runs[check.pk]) for check in self.checks}
        self.fetch(row.pk for rows in results.values() for row in rows if not row.judged.startswith(RULES))
        for check in self.checks:
            reg = registrations[check.pk]
            marks = [self._mark(row) for row in results[check.pk]]
            self.chosen[check.pk] = choose(reg.last_run_uid if reg else None, map(_run_mark, runs[check.pk]), marks)
        self._judge(registrations)

    def fetch(self, pks: Iterable[int]) -> None:
        """Reads the envelopes of these results."""
        for row in Result.objects.filter(pk__in=set(pks) - self.facts.keys()):
            self.facts[row.pk] = result_facts(row, ())

    def _results_of(self, check: Check, runs: Sequence[RunRow]) -> list[ResultRow]:
        """The newest results that claim a check, and those that its runs point at."""
        found: list[ResultRow] = _newest(Result.objects.all(), ResultRow, check)
        names = {f"{run.name}-{run.attempt or 1}" for run in runs} | {run.result_name for run in runs}
        names -= {row.name for row in found} | {""}
        if names:
            rows = Result.objects.filter(cluster=check.cluster, namespace=check.namespace, name__in=names)
            found += map(ResultRow._make, rows.values_list(*ResultRow._fields))
        return found

    def _mark(self, row: ResultRow) -> ResultOf:
        facts = self.facts.get(row.pk)
        if facts is not None:
            mark = result_mark(replace(facts, conflict=row.ambiguous))
            return ResultMark(row, mark.name, mark.uid, mark.at, mark.claims, mark.digest, mark.conflict)
        claims = (row.run_uid, row.attempt) if row.sound else None
        at = row.claimed_at or row.created_at
        return ResultMark(row, row.name, row.uid, at, claims, row.digest_read, row.ambiguous)

    def said(self, check: Check, reg: Registration | None, run: RunOf | None, result: ResultOf) -> Said | None:
        """What is stored of a result, if it was made from what is there now."""
        row, key = result.of, _key(check, reg, run, result)
        # A time that lies in the future stops doing so by itself.
        is_settled = row.judged == key and row.reason != Reason.CLOCK_INVALID
        return Said(row.state, row.reason, key) if is_settled else None

    def _judge(self, registrations: dict[int, Registration | None]) -> None:
        due = [
            (check, run, result)
            for check in self.checks
            for run, result in self.chosen[check.pk].history
            if self.said(check, registrations[check.pk], run, result) is None
        ]
        self.fetch(result.of.pk for _, _, result in due)
        named = {run.of.pk for _, run, _ in due if run}
        self.runs = {row.pk: run_facts(row) for row in Run.objects.filter(pk__in=named)}
        self.due = {(check.pk, result.of.pk) for check, _, result in due}

    def judged(self, check: Check, reg: Registration | None, at: datetime) -> list[Said]:
        """What each result of a check's history says by itself, newest first; what is new goes to `changed`."""
        found = []
        for run, result in self.chosen[check.pk].history:
            if (check.pk, result.of.pk) not in self.due:
                said = Said(result.of.state, result.of.reason, result.of.judged)
            else:
                said = self._say(check, reg, run, result, at)
            found.append(said)
        return found

    def _say(self, check: Check, reg: Registration | None, run: RunOf | None, result: ResultOf, at: datetime) -> Said:
        facts = replace(_as_if_verified(self.facts[result.of.pk]), conflict=result.conflict)
        source = source_facts(check.cluster)
        words = sealed_verdict(Case(reg, self.runs[run.of.pk] if run else None, facts, Inventory(), source, at))
        said = Said(*((str(words.state), str(words.reason)[:63]) if words else (str(State.UNKNOWN), "")), "")
        said.key = _key(check, reg, run, result)
        self.changed.append(
            Result(
                pk=result.of.pk,
                state=said.state,
                reason=said.reason,
                conflict=result.conflict,
                judged=said.key,
                sound=facts.envelope is not None,
                digest_read=facts.digest,
                claimed_at=claimed_at(facts),
            )
        )
        return said


COLUMNS = ("state", "reason", "conflict", "judged", "sound", "digest_read", "claimed_at")


def _newest(rows: QuerySet[Any], row: Any, check: Check, *then: str) -> list[Any]:
    """The newest rows of a check, from its index."""
    found = rows.filter(subject=check).order_by("-ordered_at", *then, "-name")
    return [row._make(values) for values in found.values_list(*row._fields)[:HISTORY]]


def _run_mark(row: RunRow) -> RunOf:
    return RunMark(row, row.name, row.uid, row.created_at, row.attempt, row.result_name)


def _key(check: Check, reg: Registration | None, run: RunOf | None, result: ResultOf) -> str:
    """All that a result's own verdict is made from, besides its bytes: `judged` is set back when those change."""
    spec = hashlib.sha256(_asked(check, reg).encode()).hexdigest()[:16] if reg else ""
    behind = f"{run.of.content[:16]}{run.of.ambiguous:d}" if run else ""
    return f"{RULES}:{spec}:{check.cluster.guard_in_force:d}:{behind}:{result.conflict:d}"


def _asked(check: Check, reg: Registration) -> str:
    """What a result is held against: the registration, its template and the workspace that its namespace is."""
    template = reg.template.digest if reg.template else ""
    labels = "unread" if reg.namespace_labels is None else repr(sorted(reg.namespace_labels.items()))
    return f"{check.body}\n{template}\n{labels}"


def _as_if_verified(result: ResultFacts) -> ResultFacts:
    """History tells what a run found; whether old evidence can still be read is not asked again."""
    envelope = result.envelope
    read = {item.name: Verified(Verification.VERIFIED) for item in envelope.evidence} if envelope else {}
    return replace(result, evidence=read)


def deciding(chosen: Chosen, words: Sequence[Said], reg: Registration | None) -> tuple[RunOf | None, ResultOf] | None:
    """The pair that gives the last verdict (`verdict.last_sealed`), as if no evidence had been read: what could not be
    proved without it must not clear an older failure here."""
    needs_evidence = reg is not None and reg.spec is not None and bool(reg.spec.results.required_evidence)
    newest: tuple[RunOf | None, ResultOf] | None = None
    for pair, said in zip(chosen.history, words, strict=True):
        speaking = chosen.result
        is_twin = speaking is not None and pair[1] is not speaking and pair[1].uid == speaking.uid
        if is_twin or not said.reason:
            continue
        newest = newest or pair
        if said.state == State.FAILED:
            return pair
        if said.state == State.PASSED and not needs_evidence:
            break
    return newest

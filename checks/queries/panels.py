"""What the panels of a check or a run show: read from the verdict's own case, so that they never tell another story."""

import json
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from ..assembly import result_spec
from ..contract.clock import parse_time
from ..contract.envelope import Envelope, ObservedTarget
from ..contract.kinds import ACTIVE_PHASES, RunCleanup
from ..contract.problem import Problem
from ..facts import Verification, Verified
from ..models import Result
from ..rules import Case, Finding, targets_are_the_same
from .check import Detail


@dataclass(frozen=True, slots=True)
class TargetRow:
    """One target then and now. outcome: "" before there is a result. now: what has become of the node; None: the same.

    known_now: whether the node was compared at all.
    """

    rank: int | None
    name: str
    uid: str | None
    pod_uid: str | None
    image: str | None
    accelerators: tuple[str, ...]
    outcome: str
    now: Finding | None
    known_now: bool


@dataclass(frozen=True, slots=True)
class Targets:
    """requested: how many, None where nothing says. left_out: asked for by name and not tested."""

    rows: tuple[TargetRow, ...]
    requested: int | None
    left_out: tuple[str, ...]


def targets(detail: Detail) -> Targets:
    """The result's targets; before there is one, those the run's status lists."""
    envelope, run = _envelope(detail), detail.run
    if envelope is not None:
        names = {target.name for target in envelope.targets.observed}
        return Targets(
            tuple(_target(target, detail.verdict.case) for target in envelope.targets.observed),
            envelope.targets.requested.count,
            tuple(name for name in envelope.targets.requested.nodes or () if name not in names),
        )
    seen = run.status.targets or () if run and run.status else ()
    spec = detail.registration.spec if detail.registration else None
    rows = tuple(TargetRow(t.rank, t.name, t.uid, t.pod_uid, None, (), "", None, False) for t in seen)
    return Targets(rows, spec.targets.count if spec else None, ())


def _target(target: ObservedTarget, case: Case) -> TargetRow:
    assert case.result is not None and case.result.envelope is not None
    comparable = case.registration is not None and case.registration.spec is not None
    return TargetRow(
        rank=target.rank,
        name=target.name,
        uid=target.uid,
        pod_uid=target.pod_uid,
        image=target.image,
        accelerators=tuple(f"{item.kind} {item.id}" for item in target.accelerators or ()),
        outcome=target.outcome,
        now=targets_are_the_same(_only(target, case)) if comparable else None,
        known_now=comparable,
    )


def _only(target: ObservedTarget, case: Case) -> Case:
    """The same case with this target alone, so that the rule of the verdict judges it."""
    assert case.result is not None and case.result.envelope is not None
    envelope = case.result.envelope
    one = envelope.model_copy(update={"targets": envelope.targets.model_copy(update={"observed": (target,)})})
    return replace(case, result=replace(case.result, envelope=one))


@dataclass(frozen=True, slots=True)
class EvidenceRow:
    """One piece of evidence: what the result says of it, and how it was last read. uri "": not in the result."""

    name: str
    state: Verification
    is_required: bool
    uri: str = ""
    sha256: str = ""
    size_bytes: int | None = None
    media_type: str = ""
    captured_at: datetime | None = None
    read: Verified | None = None


def evidence(detail: Detail) -> list[EvidenceRow]:
    """Every piece that the result lists, and every required one that it does not."""
    envelope, result = _envelope(detail), detail.result
    spec = detail.registration.spec if detail.registration else None
    required = spec.results.required_evidence if spec else ()
    if envelope is None or result is None:
        return []
    rows = []
    for item in envelope.evidence:
        read = result.evidence.get(item.name)
        state = read.state if read else Verification.UNVERIFIED
        captured = parse_time(item.captured_at)
        facts = (item.uri, item.sha256, item.size_bytes, item.media_type, captured, read)
        rows.append(EvidenceRow(item.name, state, item.name in required, *facts))
    listed = {row.name for row in rows}
    return rows + [EvidenceRow(name, Verification.MISSING, True) for name in required if name not in listed]


@dataclass(frozen=True, slots=True)
class OwnedObject:
    """An object that the run made. remains: None where nobody could see."""

    kind: str
    name: str
    namespace: str
    uid: str
    remains: bool | None


@dataclass(frozen=True, slots=True)
class Cleanup:
    """What the run left behind. said: the result's word; seen: the control plane's own, "" where it has none."""

    said: str
    seen: str
    objects: tuple[OwnedObject, ...]


def cleanup(detail: Detail) -> Cleanup:
    envelope, status = _envelope(detail), detail.run.status if detail.run else None
    seen: RunCleanup | None = status.cleanup if status else None
    refs: dict[str, tuple[dict[str, Any], bool | None]] = {}
    if envelope is not None:
        said = envelope.cleanup
        gone = False if said.state == "complete" else None
        refs |= {ref.uid: (ref.model_dump(by_alias=True), gone) for ref in said.owned}
        refs |= {ref.uid: (ref.model_dump(by_alias=True), True) for ref in said.remaining}
    if seen is not None:
        gone = False if seen.state == "complete" else None
        for ref in seen.owned:
            refs.setdefault(str(ref.get("uid")), (ref, gone))
        refs |= {str(ref.get("uid")): (ref, True) for ref in seen.remaining}
    objects = tuple(OwnedObject(*_words(ref), left) for ref, left in refs.values())
    return Cleanup(envelope.cleanup.state if envelope else "", seen.state if seen else "", objects)


def _words(ref: dict[str, Any]) -> tuple[str, str, str, str]:
    kind, name, namespace, uid = (str(ref.get(word) or "")[:253] for word in ("kind", "name", "namespace", "uid"))
    return kind, name, namespace, uid


@dataclass(frozen=True, slots=True)
class Moment:
    """One step of a run: when it was reached, and how long until the next one. took None: not over, or not known."""

    name: str
    at: datetime | None
    took: timedelta | None
    is_now: bool = False


@dataclass(frozen=True, slots=True)
class Segment:
    """A step as a stretch of the whole run, in percent."""

    name: str
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """The steps of one run in their order. deadline_at, alive_at: of one that is still active."""

    moments: tuple[Moment, ...]
    deadline_at: datetime | None
    alive_at: datetime | None
    phase: str
    whole: timedelta | None

    @property
    def first(self) -> datetime | None:
        return next((moment.at for moment in self.moments if moment.at), None)

    @property
    def segments(self) -> list[Segment]:
        """The steps that took time, as parts of the whole."""
        taken = [(moment.name, moment.took.total_seconds()) for moment in self.moments if moment.took]
        whole, start, found = sum(seconds for _, seconds in taken), 0.0, []
        for name, seconds in taken:
            if seconds:
                found.append(Segment(name, round(100 * start / whole, 3), round(100 * seconds / whole, 3)))
                start += seconds
        return found


_STEPS = (
    ("Created", "created", ""),
    ("Queued", "queued", "queued_at"),
    ("Admitted", "admitted", "admitted_at"),
    ("Running", "started", "started_at"),
    ("Completed", "completed", "completed_at"),
    ("Cleaned", "cleaned", "cleaned_at"),
    ("Sealed", "observed", "sealed_at"),
)


def lifecycle(detail: Detail) -> Lifecycle:
    """The times of the result; before there is one, those of the run's status."""
    envelope, run = _envelope(detail), detail.run
    times: list[datetime | None] = []
    for _, in_result, in_status in _STEPS:
        if envelope is not None:
            times.append(parse_time(getattr(envelope.times, in_result)))
        elif in_status:
            times.append(parse_time(getattr(run.status, in_status)) if run and run.status else None)
        else:
            times.append(run.created_at if run else None)
    is_active = run is not None and run.phase in ACTIVE_PHASES
    reached = [index for index, at in enumerate(times) if at is not None]
    moments = []
    for index, (name, _, _) in enumerate(_STEPS):
        at, after = times[index], next((t for t in times[index + 1 :] if t is not None), None)
        took = after - at if at and after and after >= at else None
        moments.append(Moment(name, at, took, is_active and bool(reached) and index == reached[-1]))
    whole = times[reached[-1]] - times[reached[0]] if len(reached) > 1 and not is_active else None  # type: ignore[operator]
    deadline, alive = (run.deadline_at, run.alive_at) if run and is_active else (None, None)
    return Lifecycle(tuple(moments), deadline, alive, run.phase if run else "", whole)


@dataclass(frozen=True, slots=True)
class Raw:
    """The result as it was read. text: the envelope, laid out for reading. is_interpreted: it keeps the contract."""

    text: str
    stated_digest: str
    digest: str
    publisher: str
    schema: str
    problems: tuple[Problem, ...]
    is_interpreted: bool


def raw(detail: Detail) -> Raw | None:
    """The bytes of the result that speaks; None where there is no result."""
    row = Result.objects.filter(pk=detail.result_pk).first() if detail.result_pk else None
    result = detail.result
    if row is None or result is None:
        return None
    spec = result_spec(row)
    shown = spec.get("envelope", spec) if isinstance(spec, dict) else spec
    return Raw(
        text=json.dumps(shown, indent=2, ensure_ascii=False, sort_keys=False),
        stated_digest=result.stated_digest,
        digest=result.digest,
        publisher=result.publisher,
        schema=result.schema,
        problems=result.problems,
        is_interpreted=result.envelope is not None,
    )


def _envelope(detail: Detail) -> Envelope | None:
    return detail.result.envelope if detail.result else None

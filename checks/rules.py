"""The verdict table, row by row: one function per row, each says what it found where its clause does not hold.

A rule sees a `Case` in which all rows before it found nothing. It returns None (the clause holds) or a finding.
Order is the contract; see docs/verdict.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from .contract.clock import format_time
from .contract.envelope import SCHEMA, Cleanup, Envelope, ObservedTarget
from .contract.kinds import ACTIVE_PHASES, CheckSpec, RunCleanup
from .contract.problem import Problem
from .contract.reasons import BY_CODE, State, sentence
from .contract.reasons import Reason as R
from .facts import SIGN_OF_LIFE, SKEW, Inventory, Node, Registration, Result, Run, Source, Verification, Verified

PASSED, FAILED, RUNNING, UNKNOWN, STALE = (
    State.PASSED,
    State.FAILED,
    State.RUNNING,
    State.UNKNOWN,
    State.STALE,
)


@dataclass(slots=True)
class Case:
    """All inputs of one verdict at one instant."""

    registration: Registration | None
    run: Run | None
    result: Result | None
    inventory: Inventory
    source: Source
    now: datetime


class Finding(NamedTuple):
    """What a row found: the verdict it gives if it is the first, and the sentence."""

    state: State
    reason: str
    message: str


def source_was_seen(case: Case) -> Finding | None:
    source = case.source
    if source.unbroken:
        return None
    if not source.complete:
        return Finding(UNKNOWN, R.SOURCE_UNAVAILABLE, source.why or f"{source.cluster} has not been seen completely")
    at = source.heartbeat_at
    if at is None or case.now - at > source.heartbeat_limit or at - case.now > SKEW:
        seen = f"last seen at {format_time(at)}" if at else "never seen"
        return Finding(UNKNOWN, R.SOURCE_UNAVAILABLE, f"{source.cluster} is out of reach, {seen}")
    return None


def is_registered(case: Case) -> Finding | None:
    return Finding(UNKNOWN, R.NOT_REGISTERED, R.NOT_REGISTERED.sentence) if case.registration is None else None


def is_approved(case: Case) -> Finding | None:
    reg = case.registration
    assert reg is not None
    if reg.spec is None or reg.ambiguous:
        why = "two different copies of it were read" if reg.ambiguous else _first(reg.problems)
        return Finding(UNKNOWN, R.REGISTRATION_INVALID, f"The registration does not keep the contract: {why}")
    if reg.rejected is not None:
        return Finding(UNKNOWN, R.REJECTED, f"Rejected by {reg.reviewed_by or 'a reviewer who is not named'}")
    if not reg.approved or not reg.reviewed_by:
        return Finding(UNKNOWN, R.NOT_APPROVED, R.NOT_APPROVED.sentence)
    if reg.approved != reg.digest:
        return Finding(
            UNKNOWN,
            R.APPROVAL_OUTDATED,
            f"Approved was {_short(reg.approved)}, there is {_short(reg.digest)}",
        )
    return _template_fits(reg, reg.spec)


def _template_fits(reg: Registration, spec: CheckSpec) -> Finding | None:
    launch, template = spec.launch.template, reg.template
    if launch is None:
        return None
    if template is None:
        return Finding(UNKNOWN, R.TEMPLATE_CHANGED, f"The template {launch.name} is gone")
    if template.digest != launch.digest:
        was = f"was approved as {_short(launch.digest)} and is {_short(template.digest)} now"
        return Finding(UNKNOWN, R.TEMPLATE_CHANGED, f"The template {launch.name} {was}")
    if template.spec is None:
        why = f"The template {launch.name} does not keep the contract: {_first(template.problems)}"
        return Finding(UNKNOWN, R.REGISTRATION_INVALID, why)
    if faults := template.spec.parameter_faults(launch.parameters):
        return Finding(UNKNOWN, R.REGISTRATION_INVALID, f"The registration does not keep the contract: {faults[0]}")
    if not template.spec.allowed_workspaces.admits(reg.namespace_labels or {}):
        why = f"The template {launch.name} is not allowed in the workspace {reg.namespace}"
        return Finding(UNKNOWN, R.REGISTRATION_INVALID, why)
    return None


def no_run_is_active(case: Case) -> Finding | None:
    run = case.run
    if run is None or run.phase not in ACTIVE_PHASES or not _is_alive(run, case.now):
        return None
    words = BY_CODE[run.phase.lower()]
    return Finding(RUNNING, words, words.sentence)


def no_run_is_lost(case: Case) -> Finding | None:
    run = case.run
    if run is None or run.phase not in ACTIVE_PHASES:
        return None
    sign = f"last sign of life at {format_time(run.alive_at)}" if run.alive_at else "no sign of life"
    late = run.deadline_at is not None and case.now > run.deadline_at
    what = f"should have ended by {format_time(run.deadline_at)}" if run.deadline_at and late else "has gone silent"
    return Finding(UNKNOWN, R.RUN_LOST, f"The run {what}, {sign} in phase {run.phase}")


def _is_alive(run: Run, now: datetime) -> bool:
    """A sign of life that lies in the future is none."""
    return now <= run_limit(run) and (run.alive_at is None or run.alive_at <= now + SKEW)


def run_limit(run: Run) -> datetime:
    """The last instant at which an active run still counts as alive."""
    alive = run.alive_at or run.created_at
    if alive is None:
        return datetime.min.replace(tzinfo=UTC)
    limit = alive + SIGN_OF_LIFE
    return limit if run.deadline_at is None else min(limit, run.deadline_at)


def has_run(case: Case) -> Finding | None:
    reg = case.registration
    if case.run is None and case.result is None:
        if reg is not None and reg.last_run_uid:
            return Finding(UNKNOWN, R.RESULT_MISSING, "The newest run is gone, and its result with it")
        return Finding(UNKNOWN, R.NO_RESULT, R.NO_RESULT.sentence)
    return None


def result_is_there(case: Case) -> Finding | None:
    run = case.run
    if run is not None and run.problems:
        return Finding(UNKNOWN, R.RESULT_MISSING, f"The run does not keep the contract: {_first(run.problems)}")
    if run is not None and run.phase != "Sealed":
        return Finding(UNKNOWN, R.RESULT_MISSING, "The run is in a phase that this version does not know")
    if case.result is not None:
        return None
    assert run is not None and run.status is not None
    ended = run.status.reason
    if ended in _ENDINGS:
        words = BY_CODE[ended]
        return Finding(FAILED if words is R.WORKLOAD_FAILED else UNKNOWN, words, run.status.message or words.sentence)
    return Finding(UNKNOWN, R.RESULT_MISSING, R.RESULT_MISSING.sentence)


def is_as_sealed(case: Case) -> Finding | None:
    result = case.result
    assert result is not None
    broken = [problem for problem in result.problems if not problem.clock]
    foreign = bool(result.schema) and result.schema != SCHEMA
    if broken and not (foreign and all(problem.pointer == "/spec/envelope/schema" for problem in broken)):
        return Finding(UNKNOWN, R.MALFORMED_RESULT, f"The result does not keep the contract: {broken[0]}")
    if not result.digest or result.digest != result.stated_digest:
        seen = f"It says {_short(result.stated_digest)}, its bytes give {_short(result.digest)}"
        return Finding(UNKNOWN, R.DIGEST_MISMATCH, seen)
    return None


def is_supported(case: Case) -> Finding | None:
    result, spec = case.result, _spec(case)
    assert result is not None
    envelope = result.envelope
    if envelope is None:
        why = f"The result's schema is {result.schema[:80]}; this version reads {SCHEMA}"
        return Finding(UNKNOWN, R.UNSUPPORTED_SCHEMA, why)
    if envelope.details is not None and envelope.details.schema_ not in spec.results.details_schemas:
        why = f"Details are written in {envelope.details.schema_}, which the registration does not list"
        return Finding(UNKNOWN, R.UNSUPPORTED_SCHEMA, why)
    if envelope.check.version not in spec.results.versions:
        why = f"Version {envelope.check.version} of the check is not among {', '.join(spec.results.versions)}"
        return Finding(UNKNOWN, R.UNSUPPORTED_VERSION, why)
    return None


def publisher_is_the_registered_one(case: Case) -> Finding | None:
    result, expected = case.result, _spec(case).results.publisher.username
    assert result is not None
    if result.publisher != expected:
        why = f"Published by {result.publisher[:253]}; registered is {expected}"
        return Finding(UNKNOWN, R.UNAUTHORIZED_PUBLISHER, why)
    guard = case.source.guard
    if not guard.in_force:
        return Finding(UNKNOWN, R.PUBLISHER_UNVERIFIED, f"{guard.policy} is not in force: {guard.why}")
    return None


def clock_is_sound(case: Case) -> Finding | None:
    envelope, latest = envelope_of(case), case.now + SKEW
    if problems := envelope.clock_problems or (case.run.clock_problems if case.run else ()):
        return Finding(UNKNOWN, R.CLOCK_INVALID, str(problems[0]))
    if why := _clock_of_the_api_server(case, envelope):
        return Finding(UNKNOWN, R.CLOCK_INVALID, why)
    for where, at in instants(case):
        if at > latest:
            return Finding(UNKNOWN, R.CLOCK_INVALID, f"{where} lies in the future: {format_time(at)}")
    return None


def _clock_of_the_api_server(case: Case, envelope: Envelope) -> str:
    """The API server notes when a result was created: nothing in it can have been observed later."""
    created = case.result.created_at if case.result else None
    if created is None or (case.run is not None and case.run.created_at is None):
        return "It is not known when the result, or its run, was created"
    if envelope.observed_at is not None and envelope.observed_at > created + SKEW:
        return f"It says that it was observed after it was created, at {format_time(envelope.observed_at)}"
    return ""


def instants(case: Case) -> list[tuple[str, datetime]]:
    """Every time that must not lie in the future, with where it stands."""
    result, run, reg = case.result, case.run, case.registration
    found = list(result.envelope.instants) if result and result.envelope else []
    if result and result.created_at:
        found.append(("The result's creation", result.created_at))
    if reg and reg.created_at:
        found.append(("The registration's creation", reg.created_at))
    return found + list(run.instants if run else ())


def outcome_is_what_it_saw(case: Case) -> Finding | None:
    envelope = envelope_of(case)
    if envelope.outcome != (real := envelope.recomputed_outcome):
        why = f"It states {envelope.outcome}; its own targets and errors give {real}"
        return Finding(UNKNOWN, R.OUTCOME_MISMATCH, why)
    return None


def targets_are_the_same(case: Case) -> Finding | None:
    bound = "bootID" in _spec(case).targets.bind_to
    for target in envelope_of(case).targets.observed:
        nodes = case.inventory.nodes.get(target.name)
        if not nodes:
            return Finding(STALE, R.TARGET_GONE, f"Node {target.name} is no longer there")
        for node in nodes:
            if not _same_machine(target, node):
                return Finding(STALE, R.TARGET_REPLACED, f"Node {target.name} was replaced after this run")
            if bound and target.boot_id != node.boot_id:
                return Finding(STALE, R.TARGET_REBOOTED, f"Node {target.name} was rebooted after this run")
    return None


def _same_machine(target: ObservedTarget, node: Node) -> bool:
    """The UID must be equal; the machine's own ids where both sides know them."""
    then = (target.provider_id, target.system_uuid, target.machine_id)
    now = (node.provider_id, node.system_uuid, node.machine_id)
    if target.uid != node.uid:
        return False
    return then == now or all(not one or not other or one == other for one, other in zip(then, now, strict=True))


def is_fresh(case: Case) -> Finding | None:
    until = fresh_until(case)
    if until is None or case.now > until:
        return Finding(STALE, R.EXPIRED, f"It was fresh until {format_time(until)}" if until else R.EXPIRED.sentence)
    return None


def fresh_until(case: Case) -> datetime | None:
    """The last instant at which the result is fresh: its own limit or the registration's, whichever is earlier."""
    envelope = envelope_of(case)
    if envelope.observed_at is None or envelope.valid_until_at is None:
        return None
    return min(envelope.valid_until_at, envelope.observed_at + _spec(case).results.fresh_for)


def nothing_was_left(case: Case) -> Finding | None:
    for cleanup in _cleanups(case):
        if cleanup.state == "incomplete" or cleanup.remaining:
            left = len(cleanup.remaining)
            what = f"{left} object{'s' if left != 1 else ''}" if left else "something that was not listed"
            return Finding(FAILED, R.CLEANUP_INCOMPLETE, f"The run left {what} behind")
    return None


def did_not_fail(case: Case) -> Finding | None:
    envelope = envelope_of(case)
    if envelope.outcome == "failed":
        reason = _own_reason(envelope, R.CHECK_FAILED)
        return Finding(FAILED, reason, envelope.message or sentence(reason))
    return None


def cleanup_was_seen(case: Case) -> Finding | None:
    unseen = case.run is not None and (case.run.status is None or case.run.status.cleanup is None)
    if unseen or any(cleanup.state != "complete" for cleanup in _cleanups(case)):
        return Finding(UNKNOWN, R.CLEANUP_UNKNOWN, R.CLEANUP_UNKNOWN.sentence)
    return None


def all_targets_were_tested(case: Case) -> Finding | None:
    targets = envelope_of(case).targets
    tested = {target.name for target in targets.observed}
    left_out = [name for name in targets.requested.nodes or () if name not in tested]
    if left_out or len(tested) < targets.requested.count:
        names = f": {', '.join(left_out[:5])} left out" if left_out else ""
        why = f"{len(tested)} of {targets.requested.count} targets were tested{names}"
        return Finding(UNKNOWN, R.TARGETS_INCOMPLETE, why)
    return None


_EVIDENCE = {
    Verification.MISMATCH: (R.EVIDENCE_MISMATCH, "is not what the result says it is"),
    Verification.MISSING: (R.EVIDENCE_MISSING, "is not there"),
    Verification.UNVERIFIED: (R.EVIDENCE_UNVERIFIED, "has not been read and compared yet"),
}


def evidence_was_verified(case: Case) -> Finding | None:
    return evidence_was_read(case) or _verification_counts(case)


def required_readings(case: Case) -> Iterator[tuple[str, Verified]]:
    """What reading each required piece gave, where it was read."""
    if case.result is None or case.registration is None or case.registration.spec is None:
        return
    read = case.result.evidence
    yield from ((name, read[name]) for name in case.registration.spec.results.required_evidence if name in read)


def _verification_counts(case: Case) -> Finding | None:
    for name, read in required_readings(case):
        if read.until is not None and case.now > read.until:
            when = f"was last read at {format_time(read.at)}" if read.at else "was read"
            words = f"{when} and has not been since: that counted until {format_time(read.until)}"
            return Finding(UNKNOWN, R.EVIDENCE_UNVERIFIED, f"Evidence “{name}” {words}")
        if read.at is not None and read.at - case.now > SKEW:
            words = f"is said to have been read in the future, at {format_time(read.at)}"
            return Finding(UNKNOWN, R.EVIDENCE_UNVERIFIED, f"Evidence “{name}” {words}")
    return None


def evidence_was_read(case: Case) -> Finding | None:
    """What row 20 finds whatever the time is."""
    result, required = case.result, _spec(case).results.required_evidence
    assert result is not None and result.envelope is not None
    listed, read = result.envelope.evidence_names, result.evidence
    for name in required:
        if name not in listed:
            return Finding(UNKNOWN, R.EVIDENCE_MISSING, f"Evidence “{name}” is required and not in the result")
    doubtful = [name for name in required if name not in read or read[name].state is not Verification.VERIFIED]
    for wrong, (reason, words) in _EVIDENCE.items():
        for name in doubtful:
            if (read[name].state if name in read else Verification.UNVERIFIED) is wrong:
                why = f" ({read[name].why})" if name in read and read[name].why else ""
                return Finding(UNKNOWN, reason, f"Evidence “{name}” {words}{why}")
    return None


def outcome_is_passed(case: Case) -> Finding | None:
    envelope = envelope_of(case)
    if envelope.outcome != "passed":
        reason = _own_reason(envelope, R.CHECK_UNDECIDED)
        return Finding(UNKNOWN, reason, envelope.message or sentence(reason))
    return None


def is_still_there(case: Case) -> Finding | None:
    """A result that was deleted keeps the faults it found, and proves nothing any more."""
    if (case.result and case.result.gone) or (case.run and case.run.gone):
        return Finding(UNKNOWN, R.RESULT_MISSING, "The result was deleted from the cluster")
    return None


_ENDINGS = (R.LAUNCH_FAILED, R.WORKLOAD_FAILED, R.DEADLINE_EXCEEDED, R.EVICTED)


def _own_reason(envelope: Envelope, otherwise: R) -> str:
    """The check's reason; but a word that the verdict keeps for itself (`proved`, `expired`) says nothing here."""
    return otherwise if envelope.reason in BY_CODE and envelope.reason not in _ENDINGS else envelope.reason


def _cleanups(case: Case) -> list[Cleanup | RunCleanup]:
    """What the envelope says was left behind, and what the run's own status says."""
    found: list[Cleanup | RunCleanup] = [envelope_of(case).cleanup]
    if case.run and case.run.status and case.run.status.cleanup:
        found.append(case.run.status.cleanup)
    return found


def _spec(case: Case) -> CheckSpec:
    assert case.registration is not None and case.registration.spec is not None
    return case.registration.spec


def envelope_of(case: Case) -> Envelope:
    """The envelope of a case that has come past row 9, which asks for it."""
    assert case.result is not None and case.result.envelope is not None
    return case.result.envelope


def _first(problems: tuple[Problem, ...]) -> str:
    return str(problems[0]) if problems else "it cannot be read"


def _short(digest: str) -> str:
    return digest[:19] + "…" if len(digest) > 20 else digest or "nothing"

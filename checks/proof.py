"""The proof of a verdict: its clauses in plain words, whether each holds, and the object each was read from.

A clause stands for one or two rows of the table. It does not hold where a row found something, and is not known where
an earlier fault leaves nothing to read.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from .contract.clock import format_time
from .contract.envelope import SCHEMA
from .contract.kinds import CHECK, RESULT, RUN
from .contract.reasons import State, next_step
from .rules import Case, fresh_until
from .verdict import TABLE, Verdict


class Holds(StrEnum):
    """Whether a clause holds."""

    YES = "holds"
    NO = "does_not_hold"
    NOT_KNOWN = "not_known"


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause of a proof.

    key: stable name for links. says: what it claims. detail: what was seen. source: kind and name of the object it was
    read from. reason, next_step: only where it does not hold.
    """

    key: str
    says: str
    holds: Holds
    detail: str
    source: str
    reason: str = ""
    next_step: str = ""


@dataclass(frozen=True, slots=True)
class _Claim:
    key: str
    says: str
    rows: tuple[int, ...]
    source: Callable[[Case], str]
    seen: Callable[[Case], str]


def _check(case: Case) -> str:
    return f"{CHECK} {case.registration.name}" if case.registration else f"no {CHECK}"


def _run(case: Case) -> str:
    return f"{RUN} {case.run.name}" if case.run else f"no {RUN}"


def _result(case: Case) -> str:
    return f"{RESULT} {case.result.name}" if case.result else f"no {RESULT}"


def _nodes(case: Case) -> str:
    names = [t.name for t in case.result.envelope.targets.observed] if case.result and case.result.envelope else []
    return f"Node {', '.join(names[:4])}{' …' if len(names) > 4 else ''}" if names else "no Node"


def _seen_source(case: Case) -> str:
    at = case.source.heartbeat_at
    return f"last seen {format_time(at)}" if at else ""


def _seen_approval(case: Case) -> str:
    reg = case.registration
    return f"approved by {reg.reviewed_by}; nothing changed since" if reg else ""


def _seen_run(case: Case) -> str:
    return "sealed" if case.run else "published by the check's own controller"


def _seen_seal(case: Case) -> str:
    return f"{case.result.digest[:19]}… matches its bytes" if case.result else ""


def _seen_schema(case: Case) -> str:
    envelope = case.result.envelope if case.result else None
    if envelope is None:
        return ""
    details = f", details {envelope.details.schema_}" if envelope.details else ""
    return f"{envelope.schema_}, version {envelope.check.version}{details}"


def _seen_publisher(case: Case) -> str:
    return f"{case.result.publisher}; the policy that enforces this is in force" if case.result else ""


def _seen_identity(case: Case) -> str:
    envelope = case.result.envelope if case.result else None
    return f"run {envelope.run.id}, attempt {envelope.run.attempt}, in {envelope.scope.namespace}" if envelope else ""


def _seen_targets(case: Case) -> str:
    bound = case.registration and case.registration.spec and "bootID" in case.registration.spec.targets.bind_to
    return "node UID and machine ids unchanged" + (", boot id unchanged" if bound else "")


def _seen_fresh(case: Case) -> str:
    until = fresh_until(case)
    return f"fresh until {format_time(until)}" if until else ""


def _seen_cleanup(case: Case) -> str:
    owned = len(case.result.envelope.cleanup.owned) if case.result and case.result.envelope else 0
    return f"{owned} object{'s' if owned != 1 else ''} created by the run, all gone"


def _seen_tested(case: Case) -> str:
    targets = case.result.envelope.targets if case.result and case.result.envelope else None
    return f"{len(targets.observed)} of {targets.requested.count} tested" if targets else ""


def _seen_evidence(case: Case) -> str:
    required = case.registration.spec.results.required_evidence if case.registration and case.registration.spec else ()
    if not required or case.result is None:
        return "the registration requires none"
    read = [case.result.evidence[name] for name in required if name in case.result.evidence]
    oldest = min((each.at for each in read if each.at), default=None)
    when = f", none longer ago than {format_time(oldest)}" if oldest else ""
    readers = ", ".join(sorted({each.reader for each in read if each.reader}))
    return f"{len(required)} of {len(required)} verified{when}{f' (reader {readers})' if readers else ''}"


def _seen_outcome(case: Case) -> str:
    return case.result.envelope.message if case.result and case.result.envelope else ""


CLAIMS = (
    _Claim(
        "source",
        "The cluster was seen completely and recently",
        (1,),
        lambda c: f"Cluster {c.source.cluster}",
        _seen_source,
    ),
    _Claim(
        "registered",
        "The check is registered",
        (2,),
        _check,
        lambda c: c.registration.name if c.registration else "",
    ),
    _Claim(
        "approved",
        "The registration and its template are approved and unchanged",
        (3,),
        _check,
        _seen_approval,
    ),
    _Claim("run", "Its newest run has ended with a sealed result", (4, 5, 6, 7), _run, _seen_run),
    _Claim("sealed", "The result is exactly what was sealed", (8,), _result, _seen_seal),
    _Claim("supported", "Its schema and version are among those registered", (9,), _result, _seen_schema),
    _Claim(
        "publisher",
        "The registered publisher published it",
        (10,),
        lambda c: f"ValidatingAdmissionPolicy {c.source.guard.policy}",
        _seen_publisher,
    ),
    _Claim("identity", "It is the result of this check, this run and these targets", (11,), _run, _seen_identity),
    _Claim(
        "clock",
        "No time lies in the future or out of order",
        (12,),
        _result,
        lambda c: "all times in UTC and in order",
    ),
    _Claim(
        "stated",
        "The outcome it states is what its targets and errors give",
        (13,),
        _result,
        lambda c: "recomputed: the same",
    ),
    _Claim("machines", "The nodes that were tested are still the same machines", (14,), _nodes, _seen_targets),
    _Claim("fresh", "It is still fresh", (15,), _result, _seen_fresh),
    _Claim("cleanup", "Nothing was left behind", (16, 18), _result, _seen_cleanup),
    _Claim("targets", "Every target that was asked for was tested", (19,), _result, _seen_tested),
    _Claim("evidence", "All required evidence was read and matches", (20,), _result, _seen_evidence),
    _Claim("outcome", "The check itself passed", (17, 21), _result, _seen_outcome),
    _Claim("kept", "The result is still in the cluster", (22,), _result, lambda c: "present"),
)
_RULE = dict(TABLE)


def prove(verdict: Verdict) -> tuple[Clause, ...]:
    """Every clause of the verdict, in order. All hold exactly when the state is Passed."""
    case = verdict.case
    return tuple(_clause(claim, case) for claim in CLAIMS)


def _clause(claim: _Claim, case: Case) -> Clause:
    source = claim.source(case)
    if not _readable(claim.key, case):
        return Clause(claim.key, claim.says, Holds.NOT_KNOWN, "nothing to read it from", source)
    for row in claim.rows:
        found = _RULE[row](case)
        if found is not None:
            return Clause(claim.key, claim.says, Holds.NO, found.message, source, found.reason, next_step(found.reason))
    return Clause(claim.key, claim.says, Holds.YES, claim.seen(case), source)


def _readable(key: str, case: Case) -> bool:
    """Whether what a clause reads is there at all."""
    if key in ("source", "registered"):
        return True
    reg, run, result = case.registration, case.run, case.result
    if reg is None:
        return False
    if key in ("approved", "run"):
        return True
    if reg.spec is None or result is None or (run is not None and (run.problems or run.phase != "Sealed")):
        return False
    if key in ("sealed", "kept"):
        return True
    if key == "supported":
        return result.envelope is not None or result.schema not in ("", SCHEMA)
    return result.envelope is not None


def first_fault(clauses: tuple[Clause, ...], verdict: Verdict) -> Clause | None:
    """The clause that decided the verdict; None for Passed."""
    if verdict.state is State.PASSED:
        return None
    return next((clause for clause in clauses if clause.reason == verdict.reason), None)

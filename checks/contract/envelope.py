"""The result envelope `tau.validation-result.v1`: what one attempt of one run proved, sealed once.

`parse_envelope` reads bytes, `read_envelope` an already decoded value. Times are text in the shapes; `clock_problems`
judges them, so that a wrong clock is told apart from a wrong document.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, field_validator

from . import fields as f
from .clock import parse_time
from .document import canonical, decode, digest_of, text_problems
from .parsing import parse
from .problem import Problem, kind_of

# Name, UID, pod UID, rank, boot.
TargetIdentity = tuple[str, str | None, str | None, int | None, str | None]
SCHEMA = "tau.validation-result.v1"
MAX_BYTES = 256 * 1024
MAX_TARGETS = 512


class CheckIdentity(f.Shape):
    type: f.CheckType
    version: f.Version
    name: f.Name
    uid: f.Uid
    spec_digest: f.Digest


class RunIdentity(f.Shape):
    id: f.RunId
    uid: f.Uid
    attempt: Annotated[int, Field(ge=1, le=1000)]
    trigger: f.TriggerWord
    requested_by: f.Username


class ResultScope(f.Shape):
    cluster: f.Name
    workspace: f.Name | None
    namespace: f.Name


class Requested(f.Shape):
    count: f.Count
    nodes: Annotated[tuple[f.Name, ...], Field(max_length=MAX_TARGETS, strict=False)] | None

    @field_validator("nodes")
    @classmethod
    def _names_are_as_many_as_asked_for(
        cls, nodes: tuple[str, ...] | None, info: ValidationInfo
    ) -> tuple[str, ...] | None:
        if nodes is not None and not len(nodes) == len(set(nodes)) == info.data.get("count", len(nodes)):
            raise ValueError("as many different nodes as `count`, or null")
        return nodes


class Accelerator(f.Shape):
    kind: f.ItemName
    id: f.ShortText


class ObservedTarget(f.Shape):
    """One target as the control plane saw it. Null means not observed."""

    kind: Literal["Node"]
    name: f.Name
    uid: f.Uid | None
    provider_id: f.Text | None = Field(alias="providerID")
    machine_id: f.ShortText | None = Field(alias="machineID")
    system_uuid: f.ShortText | None = Field(alias="systemUUID")
    boot_id: f.ShortText | None = Field(alias="bootID")
    pod_uid: f.Uid | None = Field(alias="podUID")
    image: f.Text | None
    accelerators: Annotated[tuple[Accelerator, ...], Field(max_length=64, strict=False)] | None
    rank: Annotated[int, Field(ge=0, le=100_000)] | None
    outcome: f.OutcomeWord


class Targets(f.Shape):
    requested: Requested
    observed: Annotated[tuple[ObservedTarget, ...], Field(max_length=MAX_TARGETS, strict=False)]


class Times(f.Shape):
    """Instants of one attempt, in their order; null where the step was not reached or not observed."""

    created: f.TimeText
    queued: f.TimeText | None
    admitted: f.TimeText | None
    started: f.TimeText | None
    completed: f.TimeText | None
    cleaned: f.TimeText | None
    observed: f.TimeText


class Cleanup(f.Shape):
    state: f.CleanupWord
    owned: Annotated[tuple[f.ObjectRef, ...], Field(max_length=256, strict=False)]
    remaining: Annotated[tuple[f.ObjectRef, ...], Field(max_length=256, strict=False)]


class Fault(f.Shape):
    """One error the run met, by code."""

    reason: f.Code
    message: f.Text


class Evidence(f.Shape):
    name: f.ItemName
    uri: f.Uri
    sha256: f.Sha256
    size_bytes: Annotated[int, Field(ge=0, le=2**53 - 1)]
    media_type: f.MediaType
    captured_at: f.TimeText


class Program(f.Shape):
    name: f.ShortText
    version: f.Version


class Details(f.Shape):
    """What only the check itself understands; shown by the registration's display hints, never judged."""

    schema_: f.DetailsSchema = Field(alias="schema")
    data: f.Json


class Envelope(f.Shape):
    schema_: Literal["tau.validation-result.v1"] = Field(alias="schema")
    check: CheckIdentity
    run: RunIdentity
    scope: ResultScope
    targets: Targets
    times: Times
    fresh_for_seconds: f.Seconds
    valid_until: f.TimeText
    outcome: f.OutcomeWord
    reason: f.Code
    message: f.Text
    errors: Annotated[tuple[f.Text | Fault, ...], Field(max_length=100, strict=False)]
    cleanup: Cleanup
    evidence: Annotated[tuple[Evidence, ...], Field(max_length=256, strict=False)]
    producer: Program
    parser: Program | None
    details: Details | None

    @field_validator("evidence")
    @classmethod
    def _names_differ(cls, evidence: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
        if len({item.name for item in evidence}) != len(evidence):
            raise ValueError("names that all differ")
        return evidence

    @cached_property
    def observed_at(self) -> datetime | None:
        """When the result was sealed; None where that time is not a time."""
        return parse_time(self.times.observed)

    @cached_property
    def valid_until_at(self) -> datetime | None:
        """When it says that it ends, bounded by its own freshness."""
        return _valid_until(self)

    @cached_property
    def recomputed_outcome(self) -> f.OutcomeWord:
        """The outcome that the envelope's own targets and errors allow (verdict table, row 13)."""
        return _recomputed_outcome(self)

    @cached_property
    def evidence_names(self) -> frozenset[str]:
        """The evidence that it lists."""
        return frozenset(item.name for item in self.evidence)

    @cached_property
    def identities(self) -> frozenset[TargetIdentity]:
        """What was tested, to be compared with what the run's status lists."""
        return frozenset((t.name, t.uid, t.pod_uid, t.rank, t.boot_id) for t in self.targets.observed)

    @cached_property
    def instants(self) -> tuple[tuple[str, datetime], ...]:
        """Every time that must not lie in the future, with its pointer."""
        named = [(f"/times/{name}", getattr(self.times, name)) for name in Times.model_fields]
        named += [(f"/evidence/{i}/capturedAt", item.captured_at) for i, item in enumerate(self.evidence)]
        return tuple((where, at) for where, text in named if (at := parse_time(text)) is not None)

    @cached_property
    def clock_problems(self) -> tuple[Problem, ...]:
        """Times that are not UTC, or not in the order in which things happen."""
        return tuple(_clock_problems(self))


@dataclass(frozen=True, slots=True)
class Read:
    """What reading an envelope gave.

    envelope: present when the document itself is sound; its times may still be wrong (`problems` with clock=True).
    data: the canonical bytes, where the value has any; digest: over them.
    schema: what the document calls itself, "" where it does not.
    """

    envelope: Envelope | None
    problems: tuple[Problem, ...]
    data: bytes = b""
    digest: str = ""
    schema: str = ""


def parse_envelope(data: bytes) -> Envelope | list[Problem]:
    """An envelope, or everything that is wrong with the bytes. Never raises."""
    value, problems = decode(data, MAX_BYTES)
    if problems:
        return problems
    read = read_envelope(value)
    return read.envelope if read.envelope is not None and not read.problems else list(read.problems)


def read_envelope(value: Any, data: bytes | None = None) -> Read:
    """Reads a plain value (from `decode` or `plain`). data: the canonical bytes it was just read from, if it was."""
    if not isinstance(value, dict):
        return Read(None, (Problem("", kind_of(value), "an object"),))
    try:
        data = canonical(value) if data is None else data
    except (ValueError, TypeError, RecursionError):
        return Read(None, (Problem("", "a value that is not plain JSON", "plain JSON"),))
    schema = value.get("schema")
    named = schema if isinstance(schema, str) else ""
    sealed = digest_of(data)
    if len(data) > MAX_BYTES:
        return Read(None, (Problem("", f"{len(data)} bytes", f"at most {MAX_BYTES} bytes"),), data, sealed, named)
    problems = text_problems(value, data)
    if named != SCHEMA:
        found = "another schema" if named else kind_of(schema)
        return Read(None, (*problems, Problem("/schema", found, SCHEMA)), data, sealed, named)
    parsed = parse(Envelope, value)
    if parsed.value is None or problems:
        return Read(None, (*problems, *parsed.problems), data, sealed, named)
    if promise := _promise_problems(parsed.value):
        return Read(None, tuple(promise), data, sealed, named)
    return Read(parsed.value, parsed.value.clock_problems, data, sealed, named)


def _valid_until(envelope: Envelope) -> datetime | None:
    until, observed = parse_time(envelope.valid_until), envelope.observed_at
    if until is None or observed is None:
        return None
    return min(until, observed + timedelta(seconds=envelope.fresh_for_seconds))


def _recomputed_outcome(envelope: Envelope) -> f.OutcomeWord:
    observed = envelope.targets.observed
    if envelope.errors or any(target.outcome == "failed" for target in observed):
        return "failed"
    ranks = [target.rank for target in observed]
    names = [target.name for target in observed]
    if (
        any(target.outcome != "passed" for target in observed)
        or len(observed) < envelope.targets.requested.count
        or None in ranks
        or len(set(ranks)) != len(ranks)
        or len(set(names)) != len(names)
    ):
        return "unknown"
    return "passed"


def _promise_problems(envelope: Envelope) -> list[Problem]:
    """A result may end sooner than its freshness says, never later."""
    until, observed = parse_time(envelope.valid_until), envelope.observed_at
    if until is None or observed is None or until <= observed + timedelta(seconds=envelope.fresh_for_seconds):
        return []
    return [Problem("/validUntil", "a later time", "times.observed + freshForSeconds at the latest")]


def _clock_problems(envelope: Envelope) -> list[Problem]:
    problems: list[Problem] = []
    last: tuple[str, datetime] | None = None
    for name in Times.model_fields:
        text = getattr(envelope.times, name)
        at = parse_time(text)
        if text is None:
            if envelope.outcome == "passed" and name in ("started", "completed", "cleaned"):
                problems.append(Problem(f"/times/{name}", "null", "a time, since the outcome is passed", clock=True))
        elif at is None:
            problems.append(Problem(f"/times/{name}", "a string", "a time in UTC that ends with Z", clock=True))
        else:
            if last is not None and at < last[1]:
                problems.append(
                    Problem(f"/times/{name}", "an earlier time", f"a time not before {last[0]}", clock=True)
                )
            last = (name, at)
    until, observed, created = (
        parse_time(envelope.valid_until),
        envelope.observed_at,
        parse_time(envelope.times.created),
    )
    if until is None:
        problems.append(Problem("/validUntil", "a string", "a time in UTC that ends with Z", clock=True))
    elif observed is not None and until < observed:
        problems.append(Problem("/validUntil", "an earlier time", "a time not before times.observed", clock=True))
    for index, item in enumerate(envelope.evidence):
        where, at = f"/evidence/{index}/capturedAt", parse_time(item.captured_at)
        if at is None:
            problems.append(Problem(where, "a string", "a time in UTC that ends with Z", clock=True))
        elif observed is not None and created is not None and not created <= at <= observed:
            problems.append(Problem(where, "another time", "a time from times.created to times.observed", clock=True))
    return problems

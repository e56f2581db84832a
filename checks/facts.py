"""What a verdict is made from: the inputs, already parsed, as frozen values.

`checks/objects.py` makes them from Kubernetes objects, the database keeps what they need. Nothing here reads a clock.
Absent is always None or empty, and never means healthy.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from .contract.envelope import Envelope
from .contract.guard import Guard
from .contract.kinds import CheckSpec, RunSpec, RunStatus, TemplateSpec
from .contract.problem import Problem

SKEW = timedelta(seconds=60)
SIGN_OF_LIFE = timedelta(minutes=15)
HEARTBEAT_LIMIT = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Source:
    """One cluster as it was last seen.

    complete: every kind has been listed at least once. heartbeat_at: when the watch was last known to be alive.
    guard: whether the admission policy that makes publishers certain is in force. unbroken: row 1 of the table is
    judged elsewhere (stored steps leave it to SQL, since a heartbeat changes every few seconds).
    """

    cluster: str
    complete: bool
    heartbeat_at: datetime | None
    guard: Guard
    heartbeat_limit: timedelta = HEARTBEAT_LIMIT
    why: str = ""
    unbroken: bool = False


@dataclass(frozen=True, slots=True)
class Template:
    """A template that is there: its computed digest, and its spec where it keeps the contract."""

    name: str
    digest: str
    spec: TemplateSpec | None
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Registration:
    """A TauValidationCheck with the template it names and the namespace it stands in.

    digest: computed here over the spec, "" where it has none. approved, rejected, reviewed_by: the annotations.
    namespace_labels: None where the namespace itself is not known. ambiguous: two different copies were read.
    """

    cluster: str
    namespace: str
    name: str
    uid: str
    digest: str
    spec: CheckSpec | None
    problems: tuple[Problem, ...] = ()
    approved: str | None = None
    rejected: str | None = None
    reviewed_by: str | None = None
    template: Template | None = None
    namespace_labels: Mapping[str, str] | None = None
    created_at: datetime | None = None
    last_run_uid: str | None = None
    ambiguous: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """A TauValidationRun. `spec` or `status` is None where it does not keep the contract (`problems` say how).

    instants: every time it states, with its name; clock_problems: those that are no time in UTC.
    """

    namespace: str
    name: str
    uid: str
    created_at: datetime | None
    spec: RunSpec | None
    status: RunStatus | None
    problems: tuple[Problem, ...] = ()
    deadline_at: datetime | None = None
    alive_at: datetime | None = None
    instants: tuple[tuple[str, datetime], ...] = ()
    clock_problems: tuple[Problem, ...] = ()
    gone: bool = False

    @property
    def phase(self) -> str:
        """The phase on the wire; "" where the status cannot be read."""
        return self.status.phase if self.status else ""


class Verification(StrEnum):
    """What reading one piece of evidence gave."""

    VERIFIED = "verified"
    UNVERIFIED = "unverified"
    MISSING = "missing"
    MISMATCH = "mismatch"


@dataclass(frozen=True, slots=True)
class Verified:
    """One piece of evidence as it was last read: when, by which reader, and why it is not verified.

    until: how long that counts, so that green does not outlive whoever reads again; None where no clock runs (a dump).
    """

    state: Verification
    at: datetime | None = None
    reader: str = ""
    why: str = ""
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """A TauValidationResult.

    stated_digest: what the object says; digest: computed over the envelope. evidence: by name, as it was read.
    conflict: another result for the same run and attempt has other bytes. gone: no longer in the cluster.
    """

    namespace: str
    name: str
    uid: str
    created_at: datetime | None
    publisher: str
    stated_digest: str
    digest: str
    schema: str
    envelope: Envelope | None
    problems: tuple[Problem, ...] = ()
    evidence: Mapping[str, Verified] = field(default_factory=dict)
    conflict: bool = False
    gone: bool = False


@dataclass(frozen=True, slots=True)
class Node:
    """The identity of a machine: of a node that is there now."""

    uid: str
    boot_id: str = ""
    system_uuid: str = ""
    machine_id: str = ""
    provider_id: str = ""


@dataclass(frozen=True, slots=True)
class Inventory:
    """The nodes of a cluster by name; more than one under a name where copies disagree."""

    nodes: Mapping[str, tuple[Node, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sealed:
    """A run that ended, with its result: one step of a check's history."""

    run: Run | None
    result: Result

"""Verdicts on the wire: the forms that the command line and the API share, so that both say the same.

Names are camelCase, times RFC 3339 in UTC. A field is always there unless it says otherwise; null means not known.
"""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from .contract.clock import format_time
from .contract.fields import camel
from .contract.reasons import State
from .proof import Clause as Claimed
from .proof import Holds
from .proof import prove as clauses_of
from .verdict import LastVerdict as Last
from .verdict import Verdict

Time = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
# Left out where there is nothing to say.
Said = Annotated[str, Field(exclude_if=lambda value: not value)]


class Form(BaseModel):
    """A JSON object of an answer."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=camel, validate_by_name=True, serialize_by_alias=True
    )


class LastVerdict(Form):
    """What the last sealed result said, whatever has happened since."""

    state: State
    reason: str
    message: str
    observed_at: Time | None
    run_uid: str


class Clause(Form):
    """One clause of a proof. reason and nextStep are there only where it does not hold."""

    clause: str
    says: str
    holds: Holds
    detail: str
    source: str
    reason: Said = ""
    next_step: Said = ""


class Explained(Form):
    """One check with its verdict and the proof of it."""

    cluster: str
    namespace: str
    name: str
    state: State
    reason: str
    message: str
    last_verdict: LastVerdict | None
    proof: list[Clause]


def time(at: datetime | None) -> str | None:
    """A time, or null."""
    return format_time(at) if at else None


def last_verdict(last: Last | None) -> LastVerdict | None:
    """The last sealed verdict, or null."""
    if last is None:
        return None
    return LastVerdict(
        state=last.state,
        reason=str(last.reason),
        message=last.message,
        observed_at=time(last.observed_at),
        run_uid=last.run_uid,
    )


def clause(claimed: Claimed) -> Clause:
    """One clause of a proof."""
    return Clause(
        clause=claimed.key,
        says=claimed.says,
        holds=claimed.holds,
        detail=claimed.detail,
        source=claimed.source,
        reason=str(claimed.reason),
        next_step=claimed.next_step,
    )


def proof(clauses: tuple[Claimed, ...]) -> list[Clause]:
    """A whole proof, in its order."""
    return [clause(each) for each in clauses]


def explained(cluster: str, namespace: str, name: str, verdict: Verdict) -> Explained:
    """One check of a dump, as contract.md has it."""
    return Explained(
        cluster=cluster,
        namespace=namespace,
        name=name,
        state=verdict.state,
        reason=str(verdict.reason),
        message=verdict.message,
        last_verdict=last_verdict(verdict.last),
        proof=proof(clauses_of(verdict)),
    )

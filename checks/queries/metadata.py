"""What can be said of results from the outside, also where nothing inside them is interpreted."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from ..assembly import result_spec
from ..contract.envelope import SCHEMA
from ..contract.reasons import State
from ..models import Result
from ..objects import section, text
from .checks import Row

LONGEST_SCHEMA = 253


@dataclass(frozen=True, slots=True)
class Metadata:
    """A result by its name and what it says of itself. schema: "" where it does not name one."""

    name: str
    uid: str
    schema: str
    digest: str
    publisher: str
    attempt: int
    run_uid: str
    created_at: datetime | None


def metadata(rows: Iterable[Row]) -> dict[int, Metadata]:
    """The metadata of the results that speak for these checks, by the check's key: at most two queries.

    Only what is Unknown is opened to see what it calls itself: everything else is a result that could be read.
    """
    wanted = {row.check.result_id: row for row in rows if row.check.result_id}
    unread = {pk for pk, row in wanted.items() if row.state is State.UNKNOWN}
    known = Result.objects.filter(pk__in=wanted.keys() - unread).defer("envelope", "body")
    found = {wanted[result.pk].check.pk: _metadata(result, SCHEMA) for result in known}
    for result in Result.objects.filter(pk__in=unread):
        found[wanted[result.pk].check.pk] = _metadata(result, schema_of(result))
    return found


def of_result(pk: int | None) -> Metadata | None:
    """The metadata of one result."""
    result = Result.objects.filter(pk=pk).first() if pk else None
    return _metadata(result, schema_of(result)) if result else None


def schema_of(result: Result) -> str:
    """What a result calls itself."""
    return text(section(result_spec(result), "envelope"), "schema")[:LONGEST_SCHEMA]


def _metadata(result: Result, schema: str) -> Metadata:
    return Metadata(
        name=result.name,
        uid=result.uid,
        schema=schema,
        digest=result.stated_digest,
        publisher=result.publisher,
        attempt=result.attempt,
        run_uid=result.run_uid,
        created_at=result.created_at,
    )

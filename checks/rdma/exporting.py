"""From an envelope back to the fixed contract, where nothing is lost by it.

The fixed form has no place for a registration, a boot id or a check's own details, so only what came from it goes
back. Everything else gets a sentence that names what would be lost.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ..contract.envelope import Envelope, read_envelope
from ..contract.problem import Problem, pointer
from .document import FRESH_FOR_SECONDS, SCHEMA
from .importing import import_document

_STATUS = {"passed": "pass", "failed": "fail", "unknown": "unknown"}
# Decided anew at each import, by the evidence that is read; compared by outcome instead.
_DECIDED = {"outcome", "reason", "message"}
_NO_PLACE = {"providerID", "machineID", "systemUUID", "bootID"}


@dataclass(frozen=True, slots=True)
class Export:
    """document: the fixed form; None where `problems` (an unsound envelope) or `lost` (what has no place) say why."""

    document: dict[str, Any] | None
    problems: tuple[Problem, ...] = ()
    lost: tuple[str, ...] = ()

    @property
    def says(self) -> str:
        """What would be lost, as a sentence."""
        first, more = self.lost[:12], len(self.lost) - 12
        rest = f" and {more} more" if more > 0 else ""
        return f"rdma-validation.v1 cannot hold this result; lost would be: {'; '.join(first)}{rest}."


def export_document(value: Any) -> Export:
    """The document that an envelope (decoded) was imported from, if the envelope says nothing beyond it."""
    read = read_envelope(value)
    if read.envelope is None or read.problems:
        return Export(None, read.problems)
    envelope = read.envelope
    if envelope.details is None or envelope.details.schema_ != SCHEMA:
        return Export(None, (), tuple(_without_place(envelope)))
    document = envelope.details.data
    again = import_document(document, None, None, datetime.max.replace(tzinfo=UTC, year=2999))
    if again.envelope is None:
        return Export(None, tuple(problem.below("/details/data") for problem in again.problems))
    lost = list(_differences(_comparable(value), _comparable(again.envelope), ()))
    if _STATUS[envelope.outcome] != document["status"]:
        lost.append(
            f"/outcome {envelope.outcome} ({envelope.reason}), since the document it came from says "
            f"{document['status']}"
        )
    return Export(None, (), tuple(lost)) if lost else Export(document)


def _comparable(envelope: dict[str, Any]) -> dict[str, Any]:
    targets = envelope["targets"]
    observed = [{key: item for key, item in target.items() if key != "outcome"} for target in targets["observed"]]
    kept = {key: item for key, item in envelope.items() if key not in _DECIDED}
    return kept | {"targets": targets | {"observed": observed}}


def _differences(mine: Any, theirs: Any, path: tuple[str | int, ...]) -> Iterator[str]:
    """Pointers at what the envelope says and the document does not give."""
    if isinstance(mine, dict) and isinstance(theirs, dict):
        for key in [*mine, *(key for key in theirs if key not in mine)]:
            yield from _differences(mine.get(key), theirs.get(key), (*path, key))
    elif isinstance(mine, list) and isinstance(theirs, list) and len(mine) == len(theirs):
        for index, pair in enumerate(zip(mine, theirs, strict=True)):
            yield from _differences(*pair, (*path, index))
    elif mine != theirs or type(mine) is not type(theirs):
        yield pointer(path)


def _without_place(envelope: Envelope) -> Iterator[str]:
    """What an envelope of another check says that the fixed form has no field for."""
    details = envelope.details
    yield f"/details of schema {details.schema_}" if details else "/details, which the fixed form cannot do without"
    yield f"/check {envelope.check.name} of type {envelope.check.type}, with its UID and the digest of its registration"
    yield f"/run/trigger {envelope.run.trigger} and /run/requestedBy"
    if envelope.fresh_for_seconds != FRESH_FOR_SECONDS:
        yield f"/freshForSeconds, which is {FRESH_FOR_SECONDS} there"
    if envelope.times.queued is not None:
        yield "/times/queued"
    for index, target in enumerate(envelope.targets.observed):
        said = target.model_dump(by_alias=True)
        if kept := [name for name in said if name in _NO_PLACE and said[name] is not None]:
            yield f"/targets/observed/{index}: {', '.join(kept)}"
    if envelope.evidence:
        yield "/evidence/…/mediaType"

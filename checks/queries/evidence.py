"""The evidence of a run within what the viewer may read: where it lies, and how it was last read."""

import json
from dataclasses import dataclass
from typing import Any

from ..assembly import result_spec
from ..contract.envelope import Evidence
from ..evidence.locating import Place
from ..models import Result
from ..scope import Scope
from ..sync.verifying import places_of
from . import check as check_queries
from . import panels
from .check import RunDetail
from .panels import EvidenceRow
from .scoping import visible
from .sources import Sources


@dataclass(frozen=True, slots=True)
class Listed:
    """A piece as its result names it. row: with how it was last read."""

    item: Evidence
    row: EvidenceRow


@dataclass(frozen=True, slots=True)
class RunEvidence:
    """All evidence of a run. spec: of the result as it was read; envelope: its exact canonical bytes."""

    run: RunDetail
    place: Place
    pieces: tuple[Listed, ...]
    spec: dict[str, Any]
    envelope: bytes

    @property
    def cluster(self) -> str:
        return self.place.cluster

    @property
    def namespace(self) -> str:
        return self.place.namespace

    def piece(self, name: str) -> Listed | None:
        """The piece under this name; None where the result lists none."""
        return next((piece for piece in self.pieces if piece.item.name == name), None)


def of_run(scope: Scope, sources: Sources, uid: str) -> RunEvidence | None:
    """The evidence of the run with this UID; None where the viewer may see none, or no result can be read."""
    run = check_queries.run(scope, sources, uid)
    result = run.detail.result if run else None
    if run is None or result is None or result.envelope is None or run.detail.result_pk is None:
        return None
    row = Result.objects.filter(visible(scope), pk=run.detail.result_pk).select_related("subject").first()
    if row is None:
        return None
    rows = {each.name: each for each in panels.evidence(run.detail)}
    return RunEvidence(
        run=run,
        place=places_of([row])[row.pk],
        pieces=tuple(Listed(item, rows[item.name]) for item in result.envelope.evidence),
        spec=result_spec(row),
        envelope=row.envelope.encode() or json.dumps(result_spec(row)["envelope"]).encode(),
    )

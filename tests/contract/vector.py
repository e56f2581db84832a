"""One vector: a case of the verdict table with the answer, as a value and as the JSON file that implementers read."""

import base64
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from checks.contract.clock import format_time
from tests.contract.example import CLUSTER, NOW, Example

VECTORS = Path(__file__).parents[2] / "checks" / "contract" / "vectors"
CLAUSES = (
    *("source", "registered", "approved", "run", "sealed", "supported", "publisher", "identity", "clock", "stated"),
    *("machines", "fresh", "cleanup", "targets", "evidence", "outcome", "kept"),
)
# What cannot be read at all: without a result, without a registration, without a registration that can be read.
NO_RESULT = CLAUSES[4:]
NO_REGISTRATION = CLAUSES[2:]
NO_ENVELOPE = CLAUSES[6:16]


@dataclass(frozen=True)
class Vector:
    """A named change of the example and the verdict it must have; expectations are written by hand.

    fails: clauses that do not hold. unread: clauses of which nothing is known. All others hold. verified: when the
    evidence was read and until when that counts; None: at `now`, in a dump.
    """

    name: str
    about: str
    row: int
    state: str
    reason: str
    change: Callable[[Example], None]
    last: str | None
    fails: tuple[str, ...]
    unread: tuple[str, ...] = ()
    now: datetime = NOW
    heartbeat: datetime | None = None
    complete: bool = True
    check: tuple[str, str] = ("team-vision", "ib-pair")
    verified: tuple[datetime, datetime] | None = None

    def document(self) -> dict[str, Any]:
        """The file, as a JSON value."""
        example = Example()
        self.change(example)
        evidence = example.evidence
        return {
            "name": self.name,
            "about": self.about,
            "row": self.row,
            "cluster": CLUSTER,
            "now": format_time(self.now),
            "source": {"complete": self.complete, "heartbeatAt": self.heartbeat and format_time(self.heartbeat)},
            "objects": example.objects,
            "evidence": evidence and {name: base64.b64encode(data).decode() for name, data in sorted(evidence.items())},
            **self._verification(),
            "expect": {
                "namespace": self.check[0],
                "name": self.check[1],
                "state": self.state,
                "reason": self.reason,
                "lastVerdict": self.last,
                "proof": {
                    "holds": [key for key in CLAUSES if key not in (*self.fails, *self.unread)],
                    "doesNotHold": [key for key in CLAUSES if key in self.fails],
                    "notKnown": [key for key in CLAUSES if key in self.unread],
                },
            },
        }

    def _verification(self) -> dict[str, Any]:
        if self.verified is None:
            return {}
        at, until = self.verified
        return {"verification": {"at": format_time(at), "countsUntil": format_time(until)}}


@dataclass
class Table:
    """Collects vectors; a change is a function whose docstring says what is the matter."""

    vectors: list[Vector] = field(default_factory=list)

    def add(
        self,
        row: int,
        state: str,
        reason: str,
        fails: str = "",
        *,
        last: str | None = "Passed",
        unread: Iterable[str] = (),
        **more: Any,
    ) -> Callable[[Callable[[Example], None]], Callable[[Example], None]]:
        """Decorates a change. fails: names of clauses, by spaces; more: the other fields of a Vector."""

        def keep(change: Callable[[Example], None]) -> Callable[[Example], None]:
            now = more.get("now", NOW)
            name = more.pop("name", change.__name__.strip("_").replace("_", "-"))
            about = more.pop("about", " ".join((change.__doc__ or "").split()))
            heartbeat = more.pop("heartbeat", now)
            self.vectors.append(
                Vector(
                    name,
                    about,
                    row,
                    state,
                    reason,
                    change,
                    last,
                    tuple(fails.split()),
                    tuple(unread),
                    heartbeat=heartbeat,
                    **more,
                )
            )
            return change

        return keep


def _lines(document: dict[str, Any]) -> str:
    """JSON with one object of the dump on a line."""
    objects = ",\n".join(json.dumps(item, ensure_ascii=False) for item in document["objects"])
    text = json.dumps(document | {"objects": ["HERE"]}, indent=1, ensure_ascii=False)
    return text.replace('"HERE"', objects) + "\n"


def write(vectors: Iterable[Vector], folder: Path) -> None:
    """One file for each vector; files that belong to none are removed."""
    names = set()
    for vector in vectors:
        path = folder / f"{vector.row:02}-{vector.name}.json"
        assert path.name not in names, path.name
        names.add(path.name)
        path.write_text(_lines(vector.document()))
    for path in folder.glob("*.json"):
        if path.name not in names:
            path.unlink()

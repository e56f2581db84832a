"""What a check measured, found by its registration's display hints: facts, a matrix of pairs, a series over runs.

Shown as it was reported and never judged. Nothing is interpreted that the registration does not list as its schema.
"""

import json
import math
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..contract.kinds import CheckSpec, Hint
from ..models import Result
from ..rules import is_supported
from .check import Detail

LARGEST_MATRIX, LONGEST_VALUE, RUNS = 24, 200, 30


@dataclass(frozen=True, slots=True)
class Measurement:
    """One fact by its hint. value: text for people; None where it was not measured."""

    label: str
    value: str | None
    unit: str


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """Values from one node to every other; None where the pair was not measured. weight 0–4: low to high."""

    name: str
    cells: tuple[tuple[str, int] | None, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Pairs of nodes. left_out: nodes beyond what fits on a page."""

    label: str
    unit: str
    names: tuple[str, ...]
    rows: tuple[MatrixRow, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class Point:
    """One run of a series. x, y: 0 to 100, for drawing; y None where it was not measured."""

    at: datetime
    text: str | None
    state: str
    x: float
    y: float | None


@dataclass(frozen=True, slots=True)
class Series:
    """One measurement over the last runs, oldest first. lines: stretches without a gap, as SVG points."""

    label: str
    unit: str
    points: tuple[Point, ...]
    lines: tuple[str, ...]
    low: str
    high: str

    @property
    def last(self) -> str:
        return self.points[-1].text or "not measured"

    @property
    def until(self) -> datetime:
        return self.points[-1].at


@dataclass(frozen=True, slots=True)
class Details:
    """The check's own details. why_not: why nothing is interpreted; then only `text` is there, or nothing."""

    facts: tuple[Measurement, ...]
    errors: tuple[str, ...]
    schema: str
    text: str
    producer: str
    parser: str
    why_not: str


def details(detail: Detail) -> Details | None:
    """Facts by the registration's hints, and the whole of the details; None without a result."""
    result = detail.result
    if result is None or result.envelope is None:
        return None
    envelope, spec = result.envelope, _spec(detail)
    data = envelope.details.data if envelope.details else None
    unsupported = is_supported(detail.verdict.case) if spec else None
    why_not = "There is no registration that says how to read them" if spec is None else ""
    why_not = unsupported.message if unsupported else why_not
    hints = spec.display.summary if spec and not why_not and data is not None else ()
    return Details(
        facts=tuple(_measurement(hint, data) for hint in hints),
        errors=tuple(e if isinstance(e, str) else f"{e.reason}: {e.message}" for e in envelope.errors),
        schema=envelope.details.schema_ if envelope.details else "",
        text=json.dumps(data, indent=2, ensure_ascii=False) if data is not None else "",
        producer=f"{envelope.producer.name} {envelope.producer.version}",
        parser=f"{envelope.parser.name} {envelope.parser.version}" if envelope.parser else "",
        why_not=why_not,
    )


def _spec(detail: Detail) -> CheckSpec | None:
    return detail.registration.spec if detail.registration else None


def _readable(detail: Detail) -> Any:
    """The details' data where it may be interpreted; None otherwise."""
    envelope = detail.result.envelope if detail.result else None
    if envelope is None or envelope.details is None or _spec(detail) is None or is_supported(detail.verdict.case):
        return None
    return envelope.details.data


def at_pointer(data: Any, pointer: str) -> Any:
    """The value at a JSON pointer (RFC 6901); None where there is none."""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(data, dict):
            data = data.get(key)
        elif isinstance(data, list) and key.isdigit() and len(key) < 7 and int(key) < len(data):
            data = data[int(key)]
        else:
            return None
    return data


def _measurement(hint: Hint, data: Any) -> Measurement:
    return Measurement(hint.label or hint.pointer, _words(at_pointer(data, hint.pointer)), hint.unit)


def _words(value: Any) -> str | None:
    """A value for people; None for null and for numbers that are none."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:,.4g}" if isinstance(value, float) and abs(value) < 1000 else f"{value:,}"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else text[:LONGEST_VALUE] + "…"


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def matrix(detail: Detail) -> Matrix | None:
    """The pair matrix that the registration points at; None where it does, or the result has, none."""
    spec, data = _spec(detail), _readable(detail)
    hint = spec.display.pair_matrix if spec else None
    pairs = at_pointer(data, hint.pointer) if hint and data is not None else None
    if hint is None or not isinstance(pairs, list):
        return None
    values: dict[tuple[str, str], float | None] = {}
    for pair in pairs:
        if isinstance(pair, dict) and isinstance(pair.get("from"), str) and isinstance(pair.get("to"), str):
            values[(pair["from"], pair["to"])] = _number(pair.get("value"))
    if not values:
        return None
    every = sorted({name for pair in values for name in pair})
    names = every[:LARGEST_MATRIX]
    known = [value for value in values.values() if value is not None]
    low, high = (min(known), max(known)) if known else (0.0, 0.0)

    def cell(start: str, end: str) -> tuple[str, int] | None:
        value = values.get((start, end))
        if value is None:
            return None
        return _words(value) or "", round(4 * (value - low) / (high - low)) if high > low else 4

    rows = tuple(MatrixRow(start, tuple(cell(start, end) for end in names)) for start in names)
    return Matrix(hint.label or "Pairs", hint.unit, tuple(names), rows, len(every) - len(names))


def series(detail: Detail) -> list[Series]:
    """What the registration wants to see over time, from the last runs' results."""
    spec = _spec(detail)
    hints = spec.display.series if spec else ()
    if not hints or spec is None:
        return []
    rows = Result.objects.filter(subject=detail.check.pk, conflict=False).exclude(observed_at=None)
    newest = rows.order_by("-observed_at", "-pk").values_list("observed_at", "state", "envelope")[:RUNS]
    read = [(at, state, _data(text, spec)) for at, state, text in reversed(newest) if at is not None]
    return [drawn for hint in hints if (drawn := _series(hint, read))]


def _data(text: str, spec: CheckSpec) -> Any:
    """The details of one stored envelope, where their schema is one that the registration lists."""
    try:
        envelope = json.loads(text) if text else None
    except ValueError:
        return None
    found = envelope.get("details") if isinstance(envelope, dict) else None
    known = isinstance(found, dict) and found.get("schema") in spec.results.details_schemas
    return found.get("data") if known and isinstance(found, dict) else None


def _series(hint: Hint, read: list[tuple[datetime, str, Any]]) -> Series | None:
    values = [_number(at_pointer(data, hint.pointer)) for _, _, data in read]
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return None
    low, high = min(known), max(known)
    wide = high - low
    points: list[Point] = []
    lines: list[str] = []
    line: list[str] = []
    for index, ((at, state, _), value) in enumerate(zip(read, values, strict=True)):
        x = round(100 * index / (len(values) - 1), 2)
        y = None if value is None else round(100 * (high - value) / wide if wide else 50.0, 2)
        points.append(Point(at, _words(value), state or "Unknown", x, y))
        if y is not None:
            line.append(f"{x},{y}")
        elif line:
            lines, line = [*lines, " ".join(line)], []
    lines = [*lines, " ".join(line)] if line else lines
    ends = _words(low) or "", _words(high) or ""
    return Series(hint.label or hint.pointer, hint.unit, tuple(points), tuple(lines), *ends)

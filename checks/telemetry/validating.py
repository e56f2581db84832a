"""Is a stream of NDJSON what it should be? Each line by itself, and the laws that hold between lines. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..contract.clock import parse_time
from ..contract.document import decode, text_problems
from ..contract.parsing import parse
from ..contract.problem import Problem
from .lifecycle import TERMINAL, LifecycleRow, observation_id
from .line import MAX_BYTES
from .metric import SCHEMA, MetricEvent, event_id


def line_problems(data: bytes) -> tuple[LifecycleRow | MetricEvent | None, list[Problem]]:
    """One line without its end: the row or event, or everything that is wrong with it. Never raises."""
    value, problems = decode(data, MAX_BYTES)
    if problems or not isinstance(value, dict):
        return None, problems or [Problem("", "no object", "one JSON object")]
    if "schema_version" in value:
        return _metric(value)
    found = parse(LifecycleRow, value)
    problems = [*text_problems(value), *found.problems]
    row = found.value
    if row is not None:
        wanted = observation_id(row.durable_id, row.state, row.observed_at)
        if row.observation_id != wanted:
            problems.append(Problem("/observation_id", "another id", f"{wanted}, which its columns give"))
        if row.durable_id != f"{row.cluster}/{row.namespace}/{row.resource_uid}":
            problems.append(Problem("/durable_id", "something else", "cluster, namespace and resource_uid"))
    return (None if problems else row), problems


def _metric(value: dict[str, Any]) -> tuple[MetricEvent | None, list[Problem]]:
    if value["schema_version"] != SCHEMA:
        return None, [Problem("/schema_version", "another schema", SCHEMA)]
    found = parse(MetricEvent, value)
    problems = [*text_problems(value), *found.problems]
    if found.value is not None and found.value.event_id != (wanted := event_id(value)):
        problems.append(Problem("/event_id", "another id", f"{wanted}, which its columns give"))
    return (None if problems else found.value), problems


@dataclass
class Stream:
    """Reads one line after the other. once: whether an id that comes a second time is a problem, too."""

    once: bool = False
    rows: list[LifecycleRow] = field(default_factory=list)
    events: list[MetricEvent] = field(default_factory=list)
    _seen: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    _runs: dict[str, tuple[str, float]] = field(default_factory=dict)  # how it ended, its latest time

    def take(self, data: bytes) -> list[Problem]:
        """What is wrong with the next line, by itself or after those before it."""
        read, problems = line_problems(data)
        if isinstance(read, LifecycleRow):
            self.rows.append(read)
            return [*self._row(read)]
        if isinstance(read, MetricEvent):
            self.events.append(read)
            return [*self._repeated(read.event_id, "/event_id", (read.metric_name, read.value))]
        return problems

    def _row(self, row: LifecycleRow) -> Iterator[Problem]:
        if row.observation_id in self._seen:
            yield from self._repeated(row.observation_id, "/observation_id", (row.state, row.reason))
            return
        yield from self._repeated(row.observation_id, "/observation_id", (row.state, row.reason))
        ended, latest = self._runs.get(row.durable_id, ("", 0.0))
        at = _instant(row)
        if ended:
            yield Problem("/state", f"{row.state} after {ended}", "nothing more of a run that has ended")
        if row.state in TERMINAL:
            ended = row.state
            if at < latest:
                yield Problem("/observed_at", "an earlier time", "the end of a run to be its latest row")
        self._runs[row.durable_id] = (ended, max(latest, at))

    def _repeated(self, identity: str, pointer: str, content: tuple[Any, ...]) -> Iterator[Problem]:
        before = self._seen.setdefault(identity, content)
        if before != content:
            yield Problem(pointer, "an id that stood for something else before", "the same line under the same id")
        elif self.once and before is not content:
            yield Problem(pointer, "an id for the second time", "each id once")


def _instant(row: LifecycleRow) -> float:
    at = parse_time(row.observed_at)
    return at.timestamp() if at else 0.0


def stream_problems(lines: Iterable[bytes], *, once: bool = False) -> Iterator[tuple[int, Problem]]:
    """(line number, problem) for everything that is wrong with a file."""
    stream = Stream(once)
    for number, data in enumerate(lines, 1):
        for problem in stream.take(data.removesuffix(b"\n")):
            yield number, problem

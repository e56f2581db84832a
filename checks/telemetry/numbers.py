"""The numbers of a run that has ended, as metric events. Pure.

Numbers that a check measured are among them where its registration, as it was approved for this run, shows them: name
and unit are the registration's, only the number is the workload's.
"""

import math
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from ..contract.clock import format_time, parse_time
from ..contract.envelope import Envelope
from ..contract.kinds import CheckSpec, Hint
from ..contract.parsing import parse
from ..objects import section, spec_digest, text
from .line import PROJECT, SOURCE
from .metric import MetricEvent, metric_event
from .runs import Around, Ending, tags

Object = dict[str, Any]
Number = tuple[str, float, str]  # metric name, value, unit
_WORTH = {"passed": 1.0, "failed": -1.0, "unknown": 0.0}


def events(run: Object, around: Around, ended: Ending, now: datetime) -> list[MetricEvent]:
    """One event for each number; the run's own status first. Raises pydantic.ValidationError."""
    spec, metadata = section(run, "spec"), section(run, "metadata")
    common = {
        "workspace_id": around.workspace or "",
        "cluster": around.cluster,
        "namespace": text(metadata, "namespace"),
        "source_store_id": SOURCE,
        "project": PROJECT,
        "experiment_id": text(section(spec, "checkRef"), "name"),
        "run_group_id": text(spec, "trigger").lower(),
        "run_id": text(spec, "runID"),
        "step": int(spec.get("attempt", 1)),
        "wall_time": format_time(ended.at),
        "source": SOURCE,
        "split": "",
        "tags": tags(run, ended.envelope),
        "exported_at": format_time(now),
    }
    marker = {"tau.status.state": ended.state, "tau.status.reason": ended.reason}
    status = common | {"metric_name": "tau/run_status", "value": _WORTH[ended.outcome], "unit": ""}
    found = [metric_event(status | {"tags": tags(run, ended.envelope) | marker})]
    numbers = [*_of_the_run(section(run, "status"), ended, parse_time(metadata.get("creationTimestamp")))]
    if ended.envelope is not None:
        numbers += _of_the_check(ended.envelope, around.check)
    return found + [metric_event(common | {"metric_name": n, "value": v, "unit": u}) for n, v, u in numbers]


def _of_the_run(status: Object, ended: Ending, created: datetime | None) -> Iterator[Number]:
    queued = created or parse_time(status.get("queuedAt"))
    admitted, started, completed = (
        parse_time(status.get(f"{word}At")) for word in ("admitted", "started", "completed")
    )
    for name, begin, end in (("queue", queued, admitted), ("run", started, completed)):
        if begin and end and end >= begin:
            yield f"validation/{name}_duration", (end - begin).total_seconds(), "s"
    if (envelope := ended.envelope) is None:
        return
    if envelope.cleanup.state != "unknown":
        yield "validation/cleanup_complete", float(envelope.cleanup.state == "complete"), ""
    yield "validation/targets_requested", float(envelope.targets.requested.count), ""
    passed = sum(target.outcome == "passed" for target in envelope.targets.observed)
    yield "validation/targets_passed", float(passed), ""


def _of_the_check(envelope: Envelope, check: Object | None) -> Iterator[Number]:
    """What the registration that this run was approved with shows of the details, where it is a number."""
    if check is None or envelope.details is None or spec_digest(check) != envelope.check.spec_digest:
        return
    registered = parse(CheckSpec, section(check, "spec")).value
    taken: set[str] = set()
    for hint in registered.display.summary if registered else ():
        name = f"details/{_slug(hint)}"
        value = _at(envelope.details.data, hint.pointer)
        if (
            name not in taken
            and isinstance(value, int | float)
            and not isinstance(value, bool)
            and math.isfinite(value)
        ):
            taken.add(name)
            yield name, float(value), hint.unit


def _slug(hint: Hint) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", hint.pointer).strip("_")[:200] or "value"


def _at(value: Any, pointer: str) -> Any:
    """What a JSON pointer leads to, None where to nothing."""
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and key.isascii() and key.isdigit() and len(key) < 7 and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value

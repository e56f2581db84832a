"""Every problem of a document of the contract, found without a cluster: template, registration, run, result, report.

What the cluster alone can say (approval, workspaces, nodes) is not asked here. Where a registration and its template
are given together they are compared.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from ..contract import envelope, report
from ..contract import fields as f
from ..contract.document import MAX_DEPTH, canonical, plain, text_problems
from ..contract.kinds import (
    API_VERSION,
    CHECK,
    PLURALS,
    RESULT,
    RUN,
    TEMPLATE,
    CheckSpec,
    ResultSpec,
    RunSpec,
    RunStatus,
    TemplateSpec,
)
from ..contract.parsing import parse
from ..contract.pods import template_faults
from ..contract.problem import Problem, kind_of
from ..objects import section, spec_digest, text

Object = dict[str, Any]
ENVELOPE, REPORT = "envelope", "report"


@dataclass(frozen=True, slots=True)
class Named:
    """A document with what it is: one of the kinds, `envelope`, `report`, or "" for what is none of these."""

    kind: str
    name: str
    value: Object


class _Metadata(f.Tolerant):
    name: f.Name


def named(value: Object) -> Named:
    """What a document says that it is."""
    kind = text(value, "kind")
    if kind in PLURALS and text(value, "apiVersion").rpartition("/")[0] in ("", API_VERSION.partition("/")[0]):
        return Named(kind, text(section(value, "metadata"), "name"), value)
    schema = text(value, "schema")
    if schema.startswith("tau.validation-report."):
        return Named(REPORT, f"rank {value.get('rank')}", value)
    if schema.startswith("tau.validation-result."):
        return Named(ENVELOPE, text(section(value, "run"), "id"), value)
    return Named("", "", value)


def problems_of(document: Named, templates: Iterable[Object]) -> list[Problem]:
    """All that is wrong with a document. templates: those that were given along with it."""
    found = list(_FINDERS[document.kind](document.value))
    if document.kind in PLURALS:
        found = [*_object_problems(document.value), *found]
        if document.kind == CHECK and not found:
            found += _against_template(document.value, templates)
    return list(dict.fromkeys(found))


def notes_of(document: Named, templates: Iterable[Object]) -> Iterator[str]:
    """What was not looked at, as sentences."""
    launch = section(section(section(document.value, "spec"), "launch"), "template")
    name = text(launch, "name")
    if document.kind == CHECK and name and not any(_name(item) == name for item in templates):
        yield f"TauValidationTemplate {name} is not among the files; digest and parameters were not compared"


def _name(item: Object) -> str:
    return text(section(item, "metadata"), "name")


def _object_problems(value: Object) -> Iterator[Problem]:
    if text(value, "apiVersion") != API_VERSION:
        yield Problem("/apiVersion", kind_of(value.get("apiVersion")), API_VERSION)
    yield from parse(_Metadata, value.get("metadata", {}), "/metadata").problems


def _template(value: Object) -> Iterator[Problem]:
    """Shape, and the rules of pods even where the shape is broken elsewhere: one round of mending, not two."""
    spec, broken = plain(value.get("spec"))
    if broken:
        yield from (problem.below("/spec") for problem in broken)
        return
    faults = _pod_faults(spec)
    for problem in parse(TemplateSpec, spec, "/spec").problems:
        if problem.expected != "; ".join(faults):
            yield problem
    yield from (Problem("/spec/job", "something else", fault) for fault in faults)


def _pod_faults(spec: Any) -> list[str]:
    job, support = section(spec, "job"), spec.get("support", []) if isinstance(spec, dict) else []
    written = spec.get("exceptions", []) if isinstance(spec, dict) else []
    if not job or not isinstance(support, list) or not isinstance(written, list):
        return []
    exceptions = {(text(item, "rule"), text(item, "value")) for item in written}
    return template_faults(job, [item for item in support if isinstance(item, dict)], exceptions)


def _check(value: Object) -> Iterator[Problem]:
    spec, broken = plain(value.get("spec"))
    yield from (problem.below("/spec") for problem in broken)
    if broken:
        return
    parsed = parse(CheckSpec, spec, "/spec")
    yield from parsed.problems
    if parsed.value is None:
        yield from _own_version(spec)
    schedule = section(spec, "schedule")
    if schedule:
        yield from _schedule(text(schedule, "cron"), text(schedule, "timeZone"))


def _own_version(spec: Any) -> Iterator[Problem]:
    """The rule across fields, said also where another field is broken."""
    versions, own = section(spec, "results").get("versions"), text(spec, "version")
    if own and isinstance(versions, list) and own not in versions:
        yield Problem("/spec", "an object", "`results.versions` with the version of this check among them")


def _schedule(cron: str, zone: str) -> Iterator[Problem]:
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        yield Problem("/spec/schedule/timeZone", "no time zone", "one of the IANA database, such as Etc/UTC")
    try:
        next(CronSim(cron, datetime(2026, 1, 1, tzinfo=UTC)))
    except (CronSimError, StopIteration):
        yield Problem("/spec/schedule/cron", "no cron expression", "five fields that come true some day")


def _against_template(check: Object, templates: Iterable[Object]) -> Iterator[Problem]:
    parsed = parse(CheckSpec, check.get("spec")).value
    launch = parsed.launch.template if parsed else None
    if launch is None:
        return
    at = "/spec/launch/template"
    for item in templates:
        if _name(item) != launch.name:
            continue
        digest = spec_digest(item)
        if digest != launch.digest:
            yield Problem(f"{at}/digest", "another digest", f"{digest}, as TauValidationTemplate {launch.name} has it")
        template = parse(TemplateSpec, item.get("spec")).value
        if template is not None:
            for fault in template.parameter_faults(launch.parameters):
                yield Problem(f"{at}/parameters", "another value", fault)


def _run(value: Object) -> Iterator[Problem]:
    for shape, key in ((RunSpec, "spec"), (RunStatus, "status")):
        if key == "status" and value.get(key) is None:
            continue
        part, broken = plain(value.get(key))
        yield from (problem.below(f"/{key}") for problem in broken)
        if not broken:
            yield from parse(shape, part, f"/{key}").problems


def _result(value: Object) -> Iterator[Problem]:
    spec, broken = plain(value.get("spec"), MAX_DEPTH + 1)
    yield from (problem.below("/spec") for problem in broken)
    if broken:
        return
    parsed = parse(ResultSpec, spec, "/spec")
    yield from parsed.problems
    read = envelope.read_envelope(section(spec, "envelope"))
    yield from (problem.below("/spec/envelope") for problem in read.problems)
    if parsed.value is not None and read.digest and parsed.value.digest != read.digest:
        yield Problem("/spec/digest", "another digest", f"{read.digest}, which is that of the envelope")


def _envelope(value: Object) -> Iterator[Problem]:
    data, broken = plain(value)
    if broken:
        yield from broken
        return
    read = envelope.read_envelope(data)
    yield from read.problems
    if read.envelope is not None and read.envelope.outcome != read.envelope.recomputed_outcome:
        words = f"{read.envelope.recomputed_outcome}, which its targets and errors give"
        yield Problem("/outcome", "another outcome", words)


def _report(value: Object) -> Iterator[Problem]:
    data, broken = plain(value)
    if broken:
        yield from broken
        return
    if (size := len(canonical(data))) > report.MAX_BYTES:
        yield Problem("", f"{size} bytes", f"at most {report.MAX_BYTES} bytes; details go to evidence")
    yield from text_problems(data)
    yield from parse(report.Report, data).problems


_FINDERS: dict[str, Callable[[Object], Iterator[Problem]]] = {
    TEMPLATE: _template,
    CHECK: _check,
    RUN: _run,
    RESULT: _result,
    ENVELOPE: _envelope,
    REPORT: _report,
}

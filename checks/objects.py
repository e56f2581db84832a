"""Kubernetes objects, as plain values, to the facts a verdict is made from. Total: a bad object is a fact too.

A reader of other people's objects: nothing is required to be there, everything that is there is checked.
"""

from collections.abc import Mapping
from typing import Any

from .contract.clock import parse_time
from .contract.document import MAX_DEPTH, canonical, digest_of, plain
from .contract.envelope import Read, read_envelope
from .contract.fields import camel
from .contract.kinds import (
    APPROVED,
    CHECK,
    REJECTED,
    REVIEWED_BY,
    CheckSpec,
    ResultSpec,
    RunSpec,
    RunStatus,
    TemplateSpec,
)
from .contract.parsing import Parsed, T, parse
from .contract.problem import Problem
from .facts import Node, Registration, Result, Run, Template, Verified

Object = Mapping[str, Any]
WITHHELD = "withheld"  # beside the spec of an object in a dump: what was left out of it


def section(item: Any, key: str) -> dict[str, Any]:
    """An inner object; empty where there is none."""
    value = item.get(key) if isinstance(item, (dict, Mapping)) else None
    return value if isinstance(value, dict) else {}


def text(item: Any, key: str) -> str:
    """An inner string; empty where there is none."""
    value = item.get(key) if isinstance(item, (dict, Mapping)) else None
    return value if isinstance(value, str) else ""


def labels_of(item: Object) -> dict[str, str]:
    """The labels of an object that are strings."""
    return {key: value for key, value in section(section(item, "metadata"), "labels").items() if isinstance(value, str)}


def spec_digest(item: Object) -> str:
    """Digest over the spec as it is; "" where it has no canonical form."""
    return _sealed(item.get("spec"))[1]


def _sealed(spec: Any) -> tuple[Any, str, tuple[Problem, ...]]:
    value, problems = plain(spec)
    if problems or not isinstance(value, dict):
        return value, "", tuple(problem.below("/spec") for problem in problems)
    return value, digest_of(canonical(value)), ()


def template_from(item: Object) -> Template:
    """Facts of a TauValidationTemplate. In a dump values may be withheld, which says the digest of the whole spec; an
    API server keeps no such field."""
    value, digest, problems = _sealed(item.get("spec"))
    digest = text(section(item, WITHHELD), "specDigest") or digest
    parsed = parse(TemplateSpec, value, "/spec")
    broken = problems or parsed.problems
    return Template(text(section(item, "metadata"), "name"), digest, None if broken else parsed.value, broken)


def registration_from(
    item: Object,
    cluster: str,
    template: Template | None,
    namespace_labels: Mapping[str, str] | None,
    *,
    ambiguous: bool = False,
) -> Registration:
    """Facts of a TauValidationCheck. template: the one its spec names, if it is there."""
    metadata = section(item, "metadata")
    annotations = section(metadata, "annotations")
    value, digest, problems = _sealed(item.get("spec"))
    parsed = parse(CheckSpec, value, "/spec")
    broken = problems or parsed.problems
    return Registration(
        cluster=cluster,
        namespace=text(metadata, "namespace"),
        name=text(metadata, "name"),
        uid=text(metadata, "uid"),
        digest=digest,
        spec=None if broken else parsed.value,
        problems=broken,
        approved=_annotation(annotations, APPROVED),
        rejected=_annotation(annotations, REJECTED),
        reviewed_by=_annotation(annotations, REVIEWED_BY),
        template=template,
        namespace_labels=namespace_labels,
        created_at=parse_time(metadata.get("creationTimestamp")),
        last_run_uid=text(section(section(item, "status"), "lastRun"), "uid") or None,
        ambiguous=ambiguous,
    )


def _read(shape: type[T], item: Object, key: str) -> Parsed[T]:
    value, problems = plain(item.get(key))
    if problems:
        return Parsed(None, tuple(problem.below(f"/{key}") for problem in problems))
    return parse(shape, {} if value is None and key == "status" else value, f"/{key}")


def _annotation(annotations: Object, key: str) -> str | None:
    value = annotations.get(key)
    return None if value is None else str(value)[:512]


_STATUS_TIMES = (
    "queued_at",
    "admitted_at",
    "started_at",
    "completed_at",
    "cleaned_at",
    "sealed_at",
    "deadline_at",
    "last_observed_at",
)


def run_from(item: Object, *, gone: bool = False) -> Run:
    """Facts of a TauValidationRun. A status that is not there yet is a run that is Pending."""
    metadata = section(item, "metadata")
    spec, status = _read(RunSpec, item, "spec"), _read(RunStatus, item, "status")
    created = parse_time(metadata.get("creationTimestamp"))
    stated = {name: getattr(status.value, name, None) for name in _STATUS_TIMES}
    times = {name: parse_time(text) for name, text in stated.items()}
    instants = [
        (f"/status/{camel(name)}", at) for name, at in times.items() if at is not None and name != "deadline_at"
    ]
    no_times = [
        Problem(f"/status/{camel(name)}", "a string", "a time in UTC that ends with Z", clock=True)
        for name, text in stated.items()
        if text is not None and times[name] is None
    ]
    if created is not None:
        instants.append(("The run's creation", created))
    return Run(
        namespace=text(metadata, "namespace"),
        name=text(metadata, "name"),
        uid=text(metadata, "uid"),
        created_at=created,
        spec=spec.value,
        status=status.value,
        problems=(*spec.problems, *status.problems),
        deadline_at=times["deadline_at"],
        alive_at=times["last_observed_at"] or created,
        instants=tuple(instants),
        clock_problems=tuple(no_times),
        gone=gone,
    )


def result_from(
    item: Object, evidence: Mapping[str, Verified], *, conflict: bool = False, gone: bool = False
) -> Result:
    """Facts of a TauValidationResult. evidence: how each piece was read, by name."""
    metadata = section(item, "metadata")
    value, problems = plain(item.get("spec"), MAX_DEPTH + 1)  # the envelope itself has as many levels as anywhere
    parsed = parse(ResultSpec, value, "/spec")
    broken = tuple(problem.below("/spec") for problem in problems) or parsed.problems
    read = Read(None, ()) if problems else read_envelope(section(value, "envelope"))
    return Result(
        namespace=text(metadata, "namespace"),
        name=text(metadata, "name"),
        uid=text(metadata, "uid"),
        created_at=parse_time(metadata.get("creationTimestamp")),
        publisher=parsed.value.publisher.username if parsed.value else "",
        stated_digest=parsed.value.digest if parsed.value else "",
        digest=read.digest,
        schema=read.schema,
        envelope=None if broken else read.envelope,
        problems=(*broken, *(problem.below("/spec/envelope") for problem in read.problems)),
        evidence=evidence,
        conflict=conflict,
        gone=gone,
    )


def node_from(item: Object) -> Node:
    """The identity of a Node."""
    info = section(section(item, "status"), "nodeInfo")
    return Node(
        uid=text(section(item, "metadata"), "uid"),
        boot_id=text(info, "bootID"),
        system_uuid=text(info, "systemUUID"),
        machine_id=text(info, "machineID"),
        provider_id=text(section(item, "spec"), "providerID"),
    )


def check_name_of(item: Object) -> str:
    """The name of the check that a run or a result says it belongs to; "" where it does not say."""
    spec = section(item, "spec")
    if item.get("kind") == CHECK:
        return text(section(item, "metadata"), "name")
    return text(section(spec, "checkRef"), "name") or text(section(section(spec, "envelope"), "check"), "name")

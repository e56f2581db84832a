"""The draft of a result: everything that is known of a run before what it created is removed. Pure.

It is stored under its sha256, which stands in the guarded status: the result is sealed from these bytes and from the
status alone, so sealing twice gives the same bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from .. import __version__
from ..contract.clock import format_time
from ..contract.kinds import CheckSpec, RunSpec
from ..contract.report import Report
from ..objects import labels_of, section, text
from . import names
from .artifacts import Stored
from .pods import Pod, replaced
from .reports import Ending, Overall, Part, overall, parts
from .world import World

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Findings:
    """What the pods' reports and the machines under them give. targets: of the status, each with its outcome."""

    targets: list[Object]
    overall: Overall
    data: Object
    reported: list[tuple[int, Report]] = field(default_factory=list)


def findings(
    run: RunSpec, count: int, reporters: int, seen: Sequence[Object], pods: Sequence[Pod], world: World, ending: Ending
) -> Findings:
    """Joins reports with what was observed. seen: the targets of the status, first seen and read again now."""
    found = parts(pods, run.run_id, reporters, ending)
    moved = {target["name"]: why for target in seen if (why := replaced(target, world.nodes.get(target["name"])))}
    images = {pod.uid: pod.image_asked for pod in pods}
    asked = _asked_image(world)
    by_pod: dict[str, Part] = {part.pod_uid: part for part in found if part.pod_uid}
    targets: list[Object] = []
    for target in seen:
        part = by_pod.get(target.get("podUID", ""))
        outcome = part.outcome if part else "unknown"
        foreign = asked and images.get(target.get("podUID", ""), asked) != asked
        if outcome == "passed" and (ending.reason or target["name"] in moved or foreign):
            outcome = "unknown"
        targets.append(target | {"outcome": outcome})
    verdict = overall(found, ending, count)
    if verdict.outcome == "passed":
        verdict = _doubts(verdict, targets, moved, count)
    sound = [(part.rank or 0, part.report) for part in found if part.report is not None]
    data = next((report.data for _, report in sound if report.data), {})
    return Findings(targets, verdict, data, sound)


def _asked_image(world: World) -> str:
    """The image that the Job's first container names; "" where the Job is gone."""
    pod = section(section(section(world.job, "spec"), "template"), "spec")
    return text(next(iter(pod.get("containers") or ()), {}), "image")


def _doubts(verdict: Overall, targets: list[Object], moved: dict[str, str], count: int) -> Overall:
    """Every rank says passed; whether that was said on the machines that were asked for."""
    if moved:
        return Overall("unknown", "placement_mismatch", next(iter(moved.values())))
    different = {target["name"] for target in targets}
    if len(different) < len(targets):
        return Overall("unknown", "placement_mismatch", "Two ranks ran on one node.")
    if len(targets) < count:
        return Overall("unknown", "placement_mismatch", f"{len(targets)} of {count} targets were seen.")
    if any(target["outcome"] != "passed" for target in targets):
        return Overall("unknown", "placement_mismatch", "A pod ran another image than the template names.")
    return verdict


def draft(
    world: World, run: RunSpec, check: CheckSpec, found: Findings, evidence: list[Object], cluster: str
) -> Object:
    """The envelope without its times, its cleanup, and what follows from them."""
    metadata = world.run["metadata"]
    workspace = labels_of(world.namespace or {}).get(names.WORKSPACE)
    return {
        "schema": "tau.validation-result.v1",
        "check": {
            "type": check.type,
            "version": check.version,
            "name": run.check_ref.name,
            "uid": run.check_ref.uid,
            "specDigest": run.check_ref.spec_digest,
        },
        "run": {
            "id": run.run_id,
            "uid": metadata["uid"],
            "attempt": run.attempt,
            "trigger": run.trigger,
            "requestedBy": run.requested_by,
        },
        "scope": {"cluster": cluster, "workspace": workspace, "namespace": metadata["namespace"]},
        "targets": {
            "requested": {"count": check.targets.count, "nodes": None},
            "observed": [_observed(target) for target in found.targets],
        },
        "freshForSeconds": check.results.fresh_for_seconds,
        "outcome": found.overall.outcome,
        "reason": found.overall.reason,
        "message": found.overall.message[:1024],
        "errors": [],
        "evidence": evidence,
        "producer": {"name": names.ACCOUNT, "version": __version__},
        "parser": None,
        "details": _details(found, check.results.details_schemas),
    }


def _details(found: Findings, known: Sequence[str]) -> Object | None:
    """What the pods measured. A pod that says which schema its data has is believed, above all where the registration
    does not know it: then the reader refuses the result, as a replay's where a measurement is registered."""
    stated = [report.details_schema for _, report in found.reported if report.details_schema]
    foreign = [schema for schema in stated if schema not in known]
    schema = next(iter([*foreign, *stated, *known]), None)
    return {"schema": schema, "data": found.data} if schema and (found.data or foreign) else None


def _observed(target: Object) -> Object:
    known = ("uid", "providerID", "machineID", "systemUUID", "bootID", "podUID", "image", "rank")
    return {
        "kind": "Node",
        "name": target["name"],
        "accelerators": None,
        "outcome": target["outcome"],
        **{key: target.get(key) for key in known},
    }


def evidence_item(name: str, stored: Stored, media_type: str, at: datetime) -> Object:
    """One piece as the envelope lists it."""
    return {
        "name": name,
        "uri": stored.uri,
        "sha256": stored.sha256,
        "sizeBytes": stored.size,
        "mediaType": media_type,
        "capturedAt": format_time(at),
    }


def reported_evidence(found: Findings, taken: set[str], uri: Any, at: datetime) -> list[Object]:
    """What pods say that they wrote to the artifact store. The same piece of several ranks is one; equal names of
    different pieces get their rank."""
    pieces: dict[str, Object] = {}
    for rank, report in found.reported:
        for item in report.evidence:
            name = item.name
            if name in taken or (name in pieces and pieces[name]["sha256"] != item.sha256):
                name = f"{name[:50]}-rank-{rank}"
            stored = Stored(uri(item.sha256), item.sha256, item.size_bytes)
            pieces.setdefault(name, evidence_item(name, stored, "application/octet-stream", at))
    return list(pieces.values())[: 256 - len(taken)]

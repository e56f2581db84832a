"""From one document of the fixed contract to an envelope that never says more than it.

The whole document stands in the envelope's details, so that nothing of it is lost. What it does not say (who asked
for the run, the boot of a node, a media type) is not made up: it is null, or a word that says so.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from ..contract.clock import format_time
from ..contract.document import MAX_DEPTH, digest, digest_of, plain
from ..contract.envelope import SCHEMA as ENVELOPE
from ..contract.envelope import CheckIdentity, Envelope, read_envelope
from ..contract.kinds import CHECK, CheckSpec
from ..contract.parsing import parse
from ..contract.problem import Problem
from ..contract.reasons import sentence
from ..evidence.folder import verify
from ..facts import Verification
from .document import FRESH_FOR_SECONDS, REQUIRED_EVIDENCE, SCHEMA, Document, parse_time
from .findings import Finding, faults, wanting
from .log import MAX_BYTES, transports

SKEW = timedelta(seconds=60)
CONTROLLER = "tau.azure.com/rdma-validation-import"
NOT_RECORDED = "not recorded by rdma-validation.v1"
_RUN_ID = re.compile(r"^[0-9a-f]{24}$")
_STATES = {"complete": "complete", "incomplete": "incomplete"}
Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Registered:
    """The registration that imported results are published for."""

    check: CheckIdentity
    publisher: str


@dataclass(frozen=True, slots=True)
class Import:
    """envelope: None where the document cannot be read (`problems` says why). stated: its own status.

    found: what made the outcome failed or unknown, first the one that decided.
    """

    envelope: Object | None
    problems: tuple[Problem, ...] = ()
    stated: str = ""
    found: tuple[Finding, ...] = ()


def registered(item: Object) -> Registered | list[Problem]:
    """The registration in a TauValidationCheck, or what prevents an import for it."""
    metadata = item.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    if item.get("kind") != CHECK:
        return [Problem("/kind", "another kind", CHECK)]
    spec, broken = plain(item.get("spec"))
    parsed = parse(CheckSpec, spec, "/spec")
    if broken or parsed.value is None:
        return [*(problem.below("/spec") for problem in broken), *parsed.problems]
    launch = parsed.value.launch.controller
    if launch is None or launch.name != CONTROLLER:
        return [Problem("/spec/launch", "another way to launch", f"controller {{name: {CONTROLLER}}}")]
    identity = {
        "type": parsed.value.type,
        "version": parsed.value.version,
        "name": metadata.get("name"),
        "uid": metadata.get("uid"),
        "specDigest": digest(spec),
    }
    check = parse(CheckIdentity, identity, "/metadata")
    if check.value is None:
        return list(check.problems)
    return Registered(check.value, parsed.value.results.publisher.username)


def import_document(value: Any, check: Registered | None, evidence: Path | None, now: datetime) -> Import:
    """Reads one decoded document. evidence: folder of files named by their sha256; without it nothing was read, and
    nothing passes. now: the reader's clock; a document from the future passes nothing."""
    value, problems = plain(value, MAX_DEPTH - 2)  # it stands two levels deep in the envelope
    parsed = parse(Document, value)
    if problems or parsed.value is None:
        return Import(None, tuple(problems) or parsed.problems)
    doc = parsed.value
    for name in ("created_at", "observed_at", "valid_until"):
        if parse_time(getattr(doc, name)) is None:
            return Import(None, (Problem(f"/{name}", "a day that is not in the calendar", "a time in UTC"),))
    draft = read_envelope(_envelope(doc, value, check, "passed", ()))
    if draft.envelope is None:
        return Import(None, draft.problems)
    broken = tuple(faults(doc))
    if broken:
        return _sealed(doc, value, check, "failed", broken)
    missing = [*wanting(doc), *_clock(draft.envelope, now), *_unread(doc, draft.envelope, evidence)]
    if not missing and draft.envelope.recomputed_outcome != "passed":
        missing.append(Finding("topology_evidence_incomplete", "its targets do not give a pass"))
    return _sealed(doc, value, check, "unknown" if missing else "passed", tuple(missing))


def _sealed(doc: Document, value: Object, check: Registered | None, outcome: str, found: tuple[Finding, ...]) -> Import:
    envelope = _envelope(doc, value, check, outcome, found)
    read = read_envelope(envelope)
    if read.envelope is None:
        return Import(None, read.problems)
    return Import(envelope, (), doc.status, found)


def _clock(envelope: Envelope, now: datetime) -> Iterator[Finding]:
    for problem in envelope.clock_problems:
        yield Finding("parser_rejected", str(problem))
    for where, at in envelope.instants:
        if at > now + SKEW:
            yield Finding("parser_rejected", f"{where} lies in the future")


def _unread(doc: Document, envelope: Envelope, folder: Path | None) -> Iterator[Finding]:
    """Required evidence that was not read and compared here, and a log that does not show what the document says."""
    if folder is None:
        yield Finding("missing_required_evidence", "no evidence was read; --evidence says where it is")
        return
    listed = {item.name: item for item in envelope.evidence}
    for name in REQUIRED_EVIDENCE:
        if (item := listed.get(name)) is None:
            continue  # said already
        read = verify(item, folder, None)
        if read.state is not Verification.VERIFIED:
            differs = read.state is Verification.MISMATCH
            reason = "evidence_integrity_missing" if differs else "missing_required_evidence"
            yield Finding(reason, f"evidence {name}: {read.why}")
        elif name == "sanitized-logs":
            yield from _log(doc, folder / item.sha256, item.sha256, item.size_bytes)


def _log(doc: Document, path: Path, sha256: str, size: int) -> Iterator[Finding]:
    if size > MAX_BYTES:
        yield Finding("missing_required_evidence", f"evidence sanitized-logs is larger than {MAX_BYTES} bytes")
        return
    data = path.read_bytes()
    if digest_of(data) != f"sha256:{sha256}":
        yield Finding("evidence_integrity_missing", "evidence sanitized-logs changed while it was read")
        return
    said = transports(data)
    if said.socket:
        yield Finding("ib_transport_not_proven", "the log itself says NET/Socket, which the document does not")
    for rank in range(doc.requested.topology.node_count):
        if rank not in said.ranks:
            yield Finding("ib_transport_not_proven", f"the log itself shows no NET/IB of rank {rank}")


def _envelope(
    doc: Document, value: Object, check: Registered | None, outcome: str, found: tuple[Finding, ...]
) -> Object:
    observed, until = parse_time(doc.observed_at), parse_time(doc.valid_until)
    assert observed is not None and until is not None
    fresh = min(doc.stale_after_seconds, FRESH_FOR_SECONDS)
    identity = check.check.model_dump(by_alias=True) if check else _unregistered(value)
    program = doc.producer.model_dump(include={"name", "version"})
    parser = doc.parser.model_dump(include={"name", "version"}) if doc.parser else None
    return {
        "schema": ENVELOPE,
        "check": identity,
        "run": _run(doc),
        "scope": {"cluster": doc.cluster, "workspace": doc.workspace_id, "namespace": doc.namespace},
        "targets": {
            "requested": {"count": doc.requested.topology.node_count, "nodes": None},
            "observed": _targets(doc, outcome),
        },
        "times": _times(doc),
        "freshForSeconds": fresh,
        "validUntil": format_time(min(until, observed + timedelta(seconds=fresh))),
        "outcome": outcome,
        "reason": found[0].reason if found else "validation_passed",
        "message": _message(doc, outcome, found),
        "errors": [{"reason": f.reason, "message": f.says} for f in found[:100]] if outcome == "failed" else [],
        "cleanup": _cleanup(doc),
        "evidence": list(_evidence(doc)),
        "producer": program,
        "parser": parser,
        "details": {"schema": SCHEMA, "data": value},
    }


def _unregistered(value: Object) -> Object:
    """An identity that no registration has: the digest is of what was asked for."""
    return {
        "type": "rdma-validation.tau.azure.com/v1",
        "version": "1",
        "name": "rdma-validation",
        "uid": "not-registered",
        "specDigest": digest({key: value.get(key) for key in ("requested", "image", "source")}),
    }


def _run(doc: Document) -> Object:
    """Its own run id where it has the form of one, else one derived from it: the same document, the same run."""
    seed = "/".join((doc.cluster, doc.namespace, doc.run_id, doc.validation_id))
    derived = hashlib.sha256(seed.encode()).hexdigest()[:24]
    return {
        "id": doc.run_id if _RUN_ID.fullmatch(doc.run_id) else derived,
        "uid": doc.validation_id,
        "attempt": doc.attempt,
        "trigger": "Manual",
        "requestedBy": NOT_RECORDED,
    }


def _targets(doc: Document, outcome: str) -> list[Object]:
    image = f"{doc.image.repository}@{doc.image.platform_digest}" if doc.image and doc.image.platform_digest else None
    found = []
    for node in doc.actual.nodes or []:
        ranks = [rank for rank in doc.ranks or [] if rank.node_name == node.name]
        own = ranks[0] if len(ranks) == 1 and ranks[0].node_uid == node.uid else None
        failed = own and any(item.exit_code for item in doc.rank_exits or [] if item.rank == own.rank)
        found.append(
            {
                "kind": "Node",
                "name": node.name,
                "uid": node.uid or None,
                **dict.fromkeys(("providerID", "machineID", "systemUUID", "bootID")),
                "podUID": (own.pod_uid or None) if own else None,
                "image": image,
                "accelerators": [{"kind": "gpu", "id": node.gpu_uuid}] if node.gpu_uuid else None,
                "rank": own.rank if own else None,
                "outcome": "failed" if failed else "passed" if outcome == "passed" else "unknown",
            }
        )
    return found


def _times(doc: Document) -> Object:
    """In the order of an envelope. `queued` is not recorded."""
    stated = {
        "created": doc.created_at,
        "queued": None,
        "admitted": doc.admitted_at,
        "started": doc.started_at,
        "completed": doc.completed_at,
        "cleaned": doc.cleanup.completed_at,
        "observed": doc.observed_at,
    }
    return {name: format_time(at) if (at := parse_time(text)) else None for name, text in stated.items()}


def _cleanup(doc: Document) -> Object:
    owned, remaining = (
        [
            {"apiVersion": item.api_version, "kind": item.kind, "name": item.name, "uid": item.uid}
            | ({"namespace": item.namespace} if item.namespace else {})
            for item in items or []
        ]
        for items in (doc.cleanup.owned_resources, doc.cleanup.remaining_resources)
    )
    state = "incomplete" if remaining else _STATES.get(doc.cleanup.state or "", "unknown")
    return {"state": state, "owned": owned, "remaining": remaining}


def _evidence(doc: Document) -> Iterator[Object]:
    """The pieces that have a digest, a size and a time; one without proves nothing and is not listed."""
    for item in doc.evidence or []:
        at = parse_time(item.captured_at)
        if item.sha256 and item.size_bytes is not None and at is not None:
            yield {
                "name": item.name,
                "uri": item.uri,
                "sha256": item.sha256.removeprefix("sha256:"),
                "sizeBytes": item.size_bytes,
                "mediaType": "application/octet-stream",
                "capturedAt": format_time(at),
            }


def _message(doc: Document, outcome: str, found: tuple[Finding, ...]) -> str:
    names = " and ".join(node.name for node in (doc.actual.nodes or [])[:4]) or "No node"
    if outcome == "passed":
        return f"{names} exchanged data over InfiniBand, as rdma-validation.v1 says and its evidence shows"
    says = "; ".join(item.says for item in found[:3]) + ("; …" if len(found) > 3 else "")
    if outcome == "failed":
        return f"{sentence(found[0].reason)} {names}: {says}"[:2048]
    return f"The source says {doc.status}; not proven here: {says}"[:2048]

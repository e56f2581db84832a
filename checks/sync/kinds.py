"""Which kinds are read, and the columns that each one's objects give."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..contract.clock import parse_time
from ..contract.document import canonical, ordinary, plain
from ..contract.kinds import API_VERSION, CHECK, GROUP, RESULT, RUN, TEMPLATE, WORKSPACE_LABEL, ResultSpec
from ..contract.parsing import parse
from ..models import NEVER, Check, LocalQueue, Namespace, Node, Policy, Queue, Result, Run, Seen, Template, Workload
from ..objects import WITHHELD, labels_of, run_from, section, spec_digest, template_from, text
from ..snapshot import BINDING, POLICY
from .nodes import local_queue_row, node_row, queue_row, workload_row

VERSION, KUEUE_VERSION = API_VERSION.partition("/")[2], "v1beta2"
KUEUE, ADMISSION = "kueue.x-k8s.io", "admissionregistration.k8s.io"
Columns = Callable[[dict[str, Any], datetime], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind: its API group and plural, where its rows are, and how an object becomes columns."""

    name: str
    group: str
    plural: str
    model: type[Seen]
    columns: Columns
    namespaced: bool = True
    version: str = "v1"


def _namespace(item: dict[str, Any], now: datetime) -> dict[str, Any]:
    labels = labels_of(item)
    return {"workspace": labels.get(WORKSPACE_LABEL, ""), "labels": json.dumps(labels, sort_keys=True)}


def _policy(item: dict[str, Any], now: datetime) -> dict[str, Any]:
    metadata = {k: v for k, v in section(item, "metadata").items() if k in ("name", "deletionTimestamp")}
    return {"kind": text(item, "kind"), "body": _text({"metadata": metadata, "spec": item.get("spec")})}


def _template(item: dict[str, Any], now: datetime) -> dict[str, Any]:
    withheld = {WITHHELD: item[WITHHELD]} if WITHHELD in item else {}
    return {"digest": template_from(item).digest, "body": _body(item, **withheld)}


def _check(item: dict[str, Any], now: datetime) -> dict[str, Any]:
    """Columns that pages filter and sort by, whether or not the spec keeps the contract."""
    spec, metadata, state = section(item, "spec"), section(item, "metadata"), section(item, "status")
    title = text(spec, "title")[:253]
    name = text(metadata, "name")
    return {
        "registered": True,
        "type": text(spec, "type")[:253],
        "title": title,
        "owner": text(spec, "owner")[:256],
        "template_name": text(section(section(spec, "launch"), "template"), "name")[:253],
        "digest": spec_digest(item),
        "approved_digest": str(section(metadata, "annotations").get(f"{GROUP}/approved") or "")[:512],
        "search": " ".join((title, name, text(metadata, "namespace"), text(spec, "type"), text(spec, "owner"))).lower(),
        "body": _body(item),
        "created_at": parse_time(metadata.get("creationTimestamp")),
        "next_run_at": parse_time(state.get("nextRunAt")),
    }


def run_columns(item: dict[str, Any]) -> dict[str, Any]:
    """Columns of a run, from the object or from the body that is kept of it."""
    facts = run_from(item)
    points_at = facts.status.result_ref if facts.status else None
    return {
        "run_id": facts.spec.run_id if facts.spec else "",
        "attempt": facts.spec.attempt if facts.spec else 0,
        "phase": storable(facts.phase[:256]),
        "reason": storable((facts.status.reason or "")[:256]) if facts.status else "",
        "result_name": points_at.name if points_at else "",
        "created_at": facts.created_at,
        "ordered_at": facts.created_at or NEVER,
    }


def _run(item: dict[str, Any], now: datetime) -> dict[str, Any]:
    return run_columns(item) | {"body": _body(item)}


def _result(item: dict[str, Any], now: datetime) -> dict[str, Any]:
    return result_columns(item, ordinary(section(item.get("spec"), "envelope")))


def result_columns(item: dict[str, Any], sealed: bytes | None) -> dict[str, Any]:
    """The envelope as its canonical bytes; the whole spec beside it only where those cannot give it back.

    sealed: those bytes, where they are known; None where the spec has to be looked at first.
    """
    metadata, spec = section(item, "metadata"), item.get("spec")
    spec, problems = plain(spec) if sealed is None else (spec, [])
    parsed = None if problems else parse(ResultSpec, spec).value
    envelope = parsed.envelope if parsed else {}
    data = (canonical(envelope) if sealed is None else sealed).decode() if parsed else ""
    run = section(envelope, "run")
    attempt = run.get("attempt")
    return {
        "publisher": parsed.publisher.username if parsed else "",
        "stated_digest": parsed.digest if parsed else "",
        "envelope": data,
        "body": "" if parsed else _text(item.get("spec")),
        "run_uid": text(run, "uid")[:128],
        "attempt": attempt if type(attempt) is int and 0 <= attempt < 2**31 else 0,
        "outcome": text(envelope, "outcome")[:8],
        "state": "",
        "reason": "",
        "judged": "",
        "created_at": (created := parse_time(metadata.get("creationTimestamp"))),
        "ordered_at": created or NEVER,
        "observed_at": parse_time(section(envelope, "times").get("observed")),
    }


_KEPT = ("name", "namespace", "uid", "generation", "creationTimestamp", "annotations", "labels", "deletionTimestamp")


def _body(item: dict[str, Any], **more: Any) -> str:
    """What facts are made from; managed fields and the like are left out."""
    metadata = {key: value for key, value in section(item, "metadata").items() if key in _KEPT}
    annotations = section(metadata, "annotations")
    if annotations:
        metadata["annotations"] = {k: v for k, v in annotations.items() if k.startswith(f"{GROUP}/")}
    return _text(
        {"kind": item.get("kind"), "metadata": metadata, "spec": item.get("spec"), "status": item.get("status")} | more
    )


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), default=str)


KINDS = {
    kind.name: kind
    for kind in (
        Kind("Namespace", "", "namespaces", Namespace, _namespace, namespaced=False),
        Kind("Node", "", "nodes", Node, node_row, namespaced=False),
        Kind(POLICY, ADMISSION, "validatingadmissionpolicies", Policy, _policy, namespaced=False),
        Kind(BINDING, ADMISSION, "validatingadmissionpolicybindings", Policy, _policy, namespaced=False),
        Kind("ClusterQueue", KUEUE, "clusterqueues", Queue, lambda i, now: queue_row(i), False, KUEUE_VERSION),
        Kind("LocalQueue", KUEUE, "localqueues", LocalQueue, lambda i, now: local_queue_row(i), True, KUEUE_VERSION),
        Kind("Workload", KUEUE, "workloads", Workload, lambda i, now: workload_row(i), True, KUEUE_VERSION),
        Kind(TEMPLATE, GROUP, "validationtemplates", Template, _template, False, VERSION),
        Kind(CHECK, GROUP, "validationchecks", Check, _check, True, VERSION),
        Kind(RUN, GROUP, "validationruns", Run, _run, True, VERSION),
        Kind(RESULT, GROUP, "validationresults", Result, _result, True, VERSION),
    )
}


def kind_of(item: dict[str, Any]) -> Kind | None:
    """The kind of an object, where it is one that is read here."""
    kind = KINDS.get(text(item, "kind"))
    return kind if kind is not None and text(item, "apiVersion").rpartition("/")[0] == kind.group else None


def storable(value: Any) -> Any:
    """A value that every database takes: no NUL, no half surrogate pairs."""
    if not isinstance(value, str) or (value.isascii() and "\x00" not in value):
        return value
    return value.replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def sealed_bytes(item: dict[str, Any]) -> bytes | None:
    """The canonical bytes of a result's envelope, where it is an ordinary one."""
    envelope = section(item, "spec").get("envelope")
    return ordinary(envelope) if text(item, "kind") == RESULT and isinstance(envelope, dict) else None


def content_hash(item: dict[str, Any], sealed: bytes | None) -> str:
    """sha256 of an object as it was read, without the server's own bookkeeping. sealed: see `sealed_bytes`; what is in
    there is not written out a second time."""
    metadata = {k: v for k, v in section(item, "metadata").items() if k not in ("managedFields", "resourceVersion")}
    rest = {**item, "metadata": metadata}
    if sealed is not None:
        rest["spec"] = {**item["spec"], "envelope": None}
    text_form = json.dumps(rest, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text_form.encode("utf-8", "surrogatepass") + (sealed or b"")).hexdigest()

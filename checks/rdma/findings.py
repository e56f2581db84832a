"""What a document of the fixed contract proves by itself: faults, and what a pass would need and does not have.

Status and reason that it states are not believed upwards: the worse of what it says and what it shows counts. Reasons
are those of the fixed contract; the verdict's own words are left to the verdict.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from .document import FAILURES, REQUIRED_EVIDENCE, Document, Node, unknown_fields
from .log import uses_socket

_ACTIVE = re.compile(r"(^|[ :])ACTIVE$")


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault, or a thing that is wanting: reason code, and a sentence that names the field."""

    reason: str
    says: str


def faults(doc: Document) -> Iterator[Finding]:
    """What went wrong, worst first: a socket fallback counts beside any proof of InfiniBand."""
    transport = doc.transport
    excerpts = transport.evidence or []
    if transport.socket_fallback_observed or transport.nccl_net == "Socket" or any(map(uses_socket, excerpts)):
        yield Finding("socket_fallback_observed", "transport says that NCCL used sockets")
    for index, error in enumerate(doc.errors or []):
        if error.code in FAILURES:
            said = f": {error.message[:512]}" if error.message else ""
            yield Finding(error.code, f"errors[{index}]{said}")
    for index, node in enumerate(doc.actual.nodes or []):
        if node.rdma_link_state and "DOWN" in node.rdma_link_state:
            yield Finding("transport_failure", f"actual.nodes[{index}].rdma_link_state is down")
    if any(rank.peer_auth_verified is False for rank in doc.ranks or []):
        yield Finding("peer_authentication_failed", "ranks: a peer could not be authenticated")
    if doc.placement.matches_request is False or doc.placement.distinct_nodes is False:
        yield Finding("placement_mismatch", "placement is not what was asked for")
    if doc.correctness.error_count:
        yield Finding("correctness_error", f"correctness.error_count is {doc.correctness.error_count}")
    codes = [doc.job_exit_code, *(pod.exit_code for pod in doc.pods or [])]
    if any(codes) or any(rank.exit_code for rank in doc.rank_exits or []):
        yield Finding("nonzero_exit", "an exit code is not 0")
    if doc.cleanup.state == "incomplete" or doc.cleanup.remaining_resources:
        yield Finding("cleanup_incomplete", "cleanup left something behind")
    if doc.status == "fail":
        reason = doc.reason if doc.reason in FAILURES else "runtime_error"
        yield Finding(reason, f"status is fail, with reason {doc.reason}")


def wanting(doc: Document) -> Iterator[Finding]:
    """What would have to be there for a pass, as far as the document alone can say."""
    if doc.status == "unknown":
        yield Finding("runtime_error" if doc.reason == "validation_passed" else doc.reason, "status is unknown")
    if doc.status == "pass" and doc.reason != "validation_passed":
        yield Finding("parser_rejected", "status is pass, and reason is another than validation_passed")
    for where in unknown_fields(doc):
        yield Finding("parser_rejected", f"{where} is no field of rdma-validation.v1 as known here")
    for index, error in enumerate(doc.errors or []):
        if error.code not in FAILURES:
            yield Finding(error.code, f"errors[{index}] names {error.field or 'no field'}")
    yield from _of_the_nodes(doc)
    yield from _of_the_ranks(doc)
    yield from _of_the_transport(doc)
    yield from _of_the_measurements(doc)
    if doc.cleanup.state != "complete" or doc.cleanup.completed_at is None:
        yield Finding("missing_required_evidence", "cleanup is not known to be complete")
    listed = {item.name: item for item in doc.evidence or []}
    for name in REQUIRED_EVIDENCE:
        item = listed.get(name)
        if item is None:
            yield Finding("missing_required_evidence", f"evidence has no {name}")
        elif not item.sha256 or item.size_bytes is None or item.captured_at is None:
            yield Finding("evidence_integrity_missing", f"evidence {name} has no sha256, size or time")


def _of_the_nodes(doc: Document) -> Iterator[Finding]:
    nodes, asked = doc.actual.nodes or [], doc.requested.topology
    if len({node.name for node in nodes}) != asked.node_count or len(nodes) != asked.node_count:
        yield Finding("missing_required_evidence", f"actual.nodes are not {asked.node_count} different nodes")
    for index, node in enumerate(nodes):
        for name in Node.model_fields:
            if not getattr(node, name):
                yield Finding("missing_required_evidence", f"actual.nodes[{index}].{name} was not observed")
        if node.rdma_link_state and not _ACTIVE.search(node.rdma_link_state):
            yield Finding("ib_transport_not_proven", f"actual.nodes[{index}].rdma_link_state is not ACTIVE")
        if asked.gpu_model and node.gpu_model and asked.gpu_model != node.gpu_model:
            yield Finding("topology_mismatch", f"actual.nodes[{index}].gpu_model is another than requested")
    for name in ("site", "pool"):
        if getattr(asked, name) and getattr(asked, name) != getattr(doc.actual, name):
            yield Finding("topology_evidence_incomplete", f"actual.{name} is not the one requested")
    if doc.placement.matches_request is None or doc.placement.distinct_nodes is None:
        yield Finding("topology_evidence_incomplete", "placement was not observed")


def _of_the_ranks(doc: Document) -> Iterator[Finding]:
    """Node, pod and rank must say the same of each other, one to one."""
    nodes = {(node.name, node.uid) for node in doc.actual.nodes or []}
    ranks, pods = doc.ranks or [], doc.pods or []
    count = doc.requested.topology.node_count
    wanted = list(range(count))
    if sorted(rank.rank if rank.rank is not None else -1 for rank in ranks) != wanted:
        yield Finding("missing_required_evidence", f"ranks are not 0 to {count - 1}, each once")
    if {(rank.node_name, rank.node_uid) for rank in ranks} != nodes:
        yield Finding("topology_evidence_incomplete", "ranks and actual.nodes name different nodes")
    seen = {(pod.node_name, pod.uid, pod.rank) for pod in pods if pod.uid}
    if len(pods) != count or seen != {(rank.node_name, rank.pod_uid, rank.rank) for rank in ranks}:
        yield Finding("topology_evidence_incomplete", "pods and ranks name different pods")
    if any(rank.peer_auth_verified is None for rank in ranks):
        yield Finding("missing_required_evidence", "ranks: peer_auth_verified was not observed")
    exits = {item.rank: item.exit_code for item in doc.rank_exits or []}
    if doc.job_exit_code is None or any(exits.get(rank) is None for rank in wanted):
        yield Finding("missing_required_evidence", "job_exit_code or rank_exits was not observed")
    if any(pod.exit_code is None for pod in pods):
        yield Finding("missing_required_evidence", "pods: exit_code was not observed")


def _of_the_transport(doc: Document) -> Iterator[Finding]:
    transport = doc.transport
    if transport.socket_fallback_observed is None:
        yield Finding("missing_required_evidence", "transport.socket_fallback_observed was not observed")
    if transport.positive_ib_evidence is not True or transport.nccl_net != "IB" or not transport.evidence:
        yield Finding("ib_transport_not_proven", "transport does not say that every rank used NET/IB")
    if transport.backend != "nccl" or (transport.environment or {}).get("NCCL_IB_DISABLE", "0") != "0":
        yield Finding("ib_transport_not_proven", "transport is not NCCL with InfiniBand enabled")


def _of_the_measurements(doc: Document) -> Iterator[Finding]:
    samples = doc.measurements.samples or []
    figures = [value for s in samples for value in (s.elapsed_seconds, s.algbw_gbps, s.busbw_gbps)]
    if {s.rank for s in samples} != set(range(doc.requested.topology.node_count)):
        yield Finding("invalid_measurement", "measurements.samples are not of every rank")
    if any(value is None or not math.isfinite(value) or value <= 0 for value in figures):
        yield Finding("invalid_measurement", "measurements.samples has a figure that is missing or not above 0")
    error = doc.correctness.max_error
    if error is None or not math.isfinite(error) or error < 0 or doc.correctness.error_count is None:
        yield Finding("missing_required_evidence", "correctness was not observed")

"""The shape of `rdma-validation.v1` (kind `tau.rdma_validation`, snake_case), as a reader needs it.

Only what places a result is required. Everything else may be absent, empty or null: that is a fact that was not
observed, and nothing passes without it. Fields that are not known here are kept, and named by `unknown_fields`.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from ..contract import fields as f
from ..contract.problem import pointer

SCHEMA, KIND = "rdma-validation.v1", "tau.rdma_validation"
FRESH_FOR_SECONDS = 86_400
REQUIRED_EVIDENCE = ("sanitized-manifest", "sanitized-logs", "placement", "image-receipt", "cleanup")
FAILURES = (
    *("socket_fallback_observed", "ib_transport_not_proven", "transport_failure", "peer_authentication_failed"),
    *("placement_mismatch", "topology_mismatch", "correctness_error", "nonzero_exit", "cleanup_incomplete"),
    *("invalid_measurement", "runtime_error"),
)

TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?Z$"
_TIME = re.compile(TIME, re.ASCII)
TimeText = Annotated[str, StringConstraints(max_length=40, pattern=TIME)]
OptionalUid = Annotated[str, StringConstraints(max_length=128, pattern=r"^([A-Za-z0-9][A-Za-z0-9._:-]*)?$")] | None
Said = f.ShortText | None
Rank = Annotated[int, Field(ge=0, le=100_000)]
Number = float | None


class Part(f.Tolerant):
    """An object of the fixed contract."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True, alias_generator=None)


class Topology(Part):
    node_count: f.Count
    pod_count: int | None = None
    rank_count: int | None = None
    distinct_hostname: bool | None = None
    site: Said = None
    pool: Said = None
    gpu_model: Said = None


class Requested(Part):
    topology: Topology
    resources: f.Json | None = None
    parameters: f.Json | None = None


class Node(Part):
    name: f.Name
    uid: OptionalUid = None
    gpu_model: Said = None
    gpu_uuid: Said = None
    rdma_device: Said = None
    rdma_interface: Said = None
    rdma_link_state: Said = None


class Actual(Part):
    site: Said = None
    pool: Said = None
    nodes: list[Node] | None = None


class Placement(Part):
    matches_request: bool | None = None
    distinct_nodes: bool | None = None


class Pod(Part):
    name: Said = None
    uid: OptionalUid = None
    node_name: Said = None
    rank: Rank | None = None
    exit_code: int | None = None


class RankResult(Part):
    rank: Rank | None = None
    pod_uid: OptionalUid = None
    node_name: Said = None
    node_uid: OptionalUid = None
    peer_auth_verified: bool | None = None
    memlock_soft_bytes: int | None = None
    memlock_hard_bytes: int | None = None


class Transport(Part):
    backend: Said = None
    nccl_net: Said = None
    interfaces: list[f.Text] | None = None
    socket_fallback_observed: bool | None = None
    positive_ib_evidence: bool | None = None
    evidence: list[f.Text] | None = None
    environment: dict[str, str] | None = None


class Sample(Part):
    rank: Rank | None = None
    elapsed_seconds: Number = None
    algbw_gbps: Number = None
    busbw_gbps: Number = None


class Measurements(Part):
    samples: list[Sample] | None = None
    algbw_gbps: f.Json | None = None
    busbw_gbps: f.Json | None = None
    max_rank_time_seconds: Number = None


class Correctness(Part):
    max_error: Number = None
    error_count: int | None = None


class Fault(Part):
    code: f.Code
    field: f.Text | None = None
    message: f.Text | None = None


class RankExit(Part):
    rank: Rank | None = None
    exit_code: int | None = None


class Resource(Part):
    api_version: f.ShortText
    kind: f.ShortText
    namespace: f.ShortText | None = None
    name: f.ShortText
    uid: f.Uid


class Cleanup(Part):
    state: Said = None
    started_at: TimeText | None = None
    completed_at: TimeText | None = None
    owned_resources: list[Resource] | None = None
    remaining_resources: list[Resource] | None = None


class Evidence(Part):
    name: f.ItemName
    uri: f.Uri
    sha256: Annotated[str, StringConstraints(pattern=r"^(sha256:[0-9a-f]{64})?$")] | None = None
    size_bytes: Annotated[int, Field(ge=0, le=2**53 - 1)] | None = None
    captured_at: TimeText | None = None


class Program(Part):
    name: f.ShortText
    version: f.Version


class Image(Part):
    """The digests beside the ones named here are kept, and judged by nobody."""

    repository: Said = None
    index_digest: Said = None
    platform_digest: Said = None
    config_digest: Said = None
    sbom_manifest_digest: Said = None
    sbom_layer_digest: Said = None
    vex_manifest_digest: Said = None
    vex_layer_digest: Said = None
    signature_manifest_digest: Said = None
    signature_layer_digest: Said = None
    signature_trust_verified: bool | None = None


class Document(Part):
    """One `rdma-validation.v1`. Lists and objects may be null, as Go writes them."""

    schema_: Literal["rdma-validation.v1"] = Field(alias="schema")
    kind: Literal["tau.rdma_validation"]
    validation_id: f.Uid
    run_id: f.Uid
    attempt: Annotated[int, Field(ge=1, le=1000)]
    workspace_id: f.Name
    cluster: f.Name
    namespace: f.Name
    project_id: Said = None
    experiment_id: Said = None
    run_group_id: Said = None
    created_at: TimeText
    started_at: TimeText | None = None
    admitted_at: TimeText | None = None
    completed_at: TimeText | None = None
    observed_at: TimeText
    stale_after_seconds: f.Seconds
    valid_until: TimeText
    source: f.Json | None = None
    image: Image | None = None
    requested: Requested
    actual: Actual = Field(default_factory=Actual)
    placement: Placement = Field(default_factory=Placement)
    pods: list[Pod] | None = None
    ranks: list[RankResult] | None = None
    nccl: f.Json | None = None
    transport: Transport = Field(default_factory=Transport)
    measurements: Measurements = Field(default_factory=Measurements)
    correctness: Correctness = Field(default_factory=Correctness)
    status: Literal["pass", "fail", "unknown"]
    reason: f.Code
    errors: list[Fault] | None = None
    job_exit_code: int | None = None
    rank_exits: list[RankExit] | None = None
    cleanup: Cleanup = Field(default_factory=Cleanup)
    evidence: list[Evidence] | None = None
    producer: Program
    parser: Program | None = None


def parse_time(text: str | None) -> datetime | None:
    """The instant, cut to microseconds; None where there is none (Go writes that as the year 1) or no such day."""
    if text is None or not _TIME.fullmatch(text):
        return None
    whole, _, fraction = text.removesuffix("Z").partition(".")
    try:
        at = datetime.fromisoformat(f"{whole}.{fraction[:6].ljust(6, '0')}").replace(tzinfo=UTC)
    except ValueError:
        return None
    return at if 1970 <= at.year < 3000 else None


def unknown_fields(part: BaseModel, path: tuple[str | int, ...] = ()) -> Iterator[str]:
    """JSON pointers of the fields that this version of the fixed contract does not have."""
    yield from (pointer((*path, name)) for name in part.model_extra or {})
    for name in type(part).model_fields:
        value: Any = getattr(part, name)
        if isinstance(value, BaseModel):
            yield from unknown_fields(value, (*path, name))
        elif isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, BaseModel):
                    yield from unknown_fields(item, (*path, name, index))

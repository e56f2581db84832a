"""Rows of the table TauExpRunLifecycle: their columns, their states, their ids. Pure."""

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from ..contract import fields as f
from ..objects import section, text
from .line import Line, Slug, Tags, Time, sha256_of

Object = dict[str, Any]
TABLE = "TauExpRunLifecycle"
State = Literal["submitted", "queued", "admitted", "running", "succeeded", "failed", "cancelled", "stale"]
TERMINAL: tuple[State, ...] = ("succeeded", "failed", "cancelled")


class LifecycleRow(Line):
    observed_at: Time
    observation_id: f.Sha256
    run_id: f.RunId
    durable_id: Annotated[str, StringConstraints(max_length=1024, pattern=r"^[^/]+/[^/]+/[^/]+$")]
    workspace_id: f.Name | None
    result_scope: Literal["workspace", "cluster"]
    project: Slug
    run_group_id: Slug
    tags: Tags
    owning_resource_kind: Literal["TauValidationRun"]
    owning_resource_name: f.Name
    namespace: f.Name
    cluster: f.ShortText
    local_queue: f.Name | None
    cluster_queue: f.Name | None
    workload_kind: Literal["job"] | None
    resource_uid: f.Uid
    resource_version: f.ShortText
    generation: Annotated[int, Field(ge=0)]
    submit_time: Time
    created_time: Time
    kueue_admitted_time: Time | None
    pod_start_time: Time | None
    first_metric_time: Time | None
    latest_metric_time: Time | None
    completion_time: Time | None
    state: State
    reason: Annotated[str, StringConstraints(max_length=63, pattern=r"^[a-z][a-z0-9_]*$")]
    message: Annotated[str, StringConstraints(max_length=256)]
    artifact_uri: f.Uri | None
    checkpoint_uri: None
    image: Annotated[str, StringConstraints(max_length=1024)] | None
    image_digest: f.Digest | None
    config_hash: f.Digest
    code_sha: None
    tau_command: None
    result_path: Annotated[str, StringConstraints(max_length=512)] | None
    result_pvc: None
    experiment_tracking: Literal["tracked"]
    experiment_source: Slug
    controller_version: f.ShortText


def durable_id(run: Object, cluster: str) -> str:
    """The run in all of its states: cluster, namespace and UID, as TauGrid's recorder writes it."""
    metadata = section(run, "metadata")
    return f"{cluster}/{text(metadata, 'namespace')}/{text(metadata, 'uid')}"


def observation_id(durable: str, state: str, observed_at: str) -> str:
    """The id of a row. The end of a run has one id: it ends once, whatever is said of it later."""
    ended = state in TERMINAL
    identity = {"table": TABLE, "durable_id": durable, "state": "ended" if ended else state}
    return sha256_of(identity | ({} if ended else {"observed_at": observed_at}))

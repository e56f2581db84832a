"""Metric events, `tau.experiment.metric.v1`: one number of one run. The id follows from what it is a number of."""

import hashlib
import json
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator

from ..contract import fields as f
from .line import Line, Slug, Tags, Time

SCHEMA = "tau.experiment.metric.v1"
TABLE = "TauExpMetricEventsV1"
MetricName = Annotated[
    str, StringConstraints(max_length=253, pattern=r"^[a-z0-9][-_.a-z0-9]*/[A-Za-z0-9][-_.A-Za-z0-9]*$")
]


class MetricEvent(Line):
    schema_version: Literal["tau.experiment.metric.v1"]
    event_id: Annotated[str, StringConstraints(max_length=71, pattern=r"^metric-[0-9a-f]{64}$")]
    workspace_id: f.ShortText
    cluster: f.ShortText
    namespace: f.Name
    source_store_id: f.ShortText
    project: Slug
    experiment_id: Slug
    run_group_id: Slug
    run_id: f.RunId
    metric_name: MetricName
    step: Annotated[int, Field(ge=0)]
    wall_time: Time
    value: Annotated[float, Field(allow_inf_nan=False, strict=False)]
    unit: Annotated[str, StringConstraints(max_length=16)]
    source: f.ShortText
    split: f.ShortText
    tags: Tags
    exported_at: Time

    @field_validator("value", mode="before")
    @classmethod
    def _a_number(cls, value: object) -> object:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError("a finite number")
        return value

    @field_validator("tags")
    @classmethod
    def _not_a_column(cls, tags: dict[str, str]) -> dict[str, str]:
        if taken := sorted(set(tags) & set(cls.model_fields)):
            raise ValueError(f"tags with other names than columns have, not {taken[0]}")
        return tags


# Which columns say what a number is of, in this order. Its value, its tags and the time of export are not among them.
_IDENTITY = (
    "workspace_id",
    "cluster",
    "namespace",
    "source_store_id",
    "metric_file_id",
    "project",
    "experiment_id",
    "run_group_id",
    "run_id",
    "metric_name",
    "step",
    "wall_time",
)
_ESCAPED = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"})


def event_id(columns: dict[str, object]) -> str:
    """The id of an event, as TauGrid's own tools compute it: over the JSON that Go writes of these columns."""
    identity = {name: columns.get(name, "") for name in _IDENTITY}
    identity["wall_time"] = _go_time(str(identity["wall_time"]))
    written = json.dumps(identity, separators=(",", ":"), ensure_ascii=False).translate(_ESCAPED)
    return "metric-" + hashlib.sha256(written.encode()).hexdigest()


def _go_time(at: str) -> str:
    """RFC 3339 without zeros at the end of the fraction."""
    whole, point, fraction = at.removesuffix("Z").partition(".")
    return f"{whole}{point}{fraction}".rstrip("0").rstrip(".") + "Z" if point else at


def metric_event(columns: dict[str, object]) -> MetricEvent:
    """An event with its id. Raises pydantic.ValidationError."""
    return MetricEvent.model_validate({**columns, "schema_version": SCHEMA, "event_id": event_id(columns)})

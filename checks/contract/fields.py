"""The field types that all documents of the contract share, each with its bounds."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from .clock import TIME_PATTERN

Text = Annotated[str, StringConstraints(max_length=4096)]
ShortText = Annotated[str, StringConstraints(max_length=256)]
Name = Annotated[str, StringConstraints(max_length=253, pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")]
ItemName = Annotated[str, StringConstraints(max_length=63, pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")]
ParameterName = Annotated[str, StringConstraints(max_length=63, pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]
Uid = Annotated[str, StringConstraints(max_length=128, pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]*$")]
Username = Annotated[str, StringConstraints(min_length=1, max_length=1024)]
CheckType = Annotated[
    str,
    StringConstraints(
        max_length=253,
        pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+/[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
    ),
]
Version = Annotated[str, StringConstraints(max_length=63, pattern=r"^[0-9A-Za-z][0-9A-Za-z.+_-]*$")]
Code = Annotated[str, StringConstraints(max_length=63, pattern=r"^[a-z][a-z0-9_]*$")]
Digest = Annotated[str, StringConstraints(max_length=71, pattern=r"^sha256:[0-9a-f]{64}$")]
Sha256 = Annotated[str, StringConstraints(max_length=64, pattern=r"^[0-9a-f]{64}$")]
RunId = Annotated[str, StringConstraints(max_length=24, pattern=r"^[0-9a-f]{24}$")]
Pointer = Annotated[str, StringConstraints(max_length=256, pattern=r"^(/[^/]*)+$")]
MediaType = Annotated[str, StringConstraints(max_length=127, pattern=r"^[a-z0-9.+-]+/[a-z0-9.+-]+$")]
# No query, fragment, credentials or step upwards, not even percent-encoded: what is written is what is fetched.
_ESCAPE = r"%(?:2[0-9A-Da-d]|5[0-9ABD-Fabd-f]|[346-9A-Fa-f][0-9A-Fa-f])"  # but no control, dot, slash, backslash
_CHAR = rf"(?:[^/?#%\s\\]|{_ESCAPE})"
_SEGMENT = rf"(?:(?:[^/?#%\s\\.]|{_ESCAPE}){_CHAR}*|\.(?:[^/?#%\s\\.]|{_ESCAPE}){_CHAR}*)?"
URI_PATTERN = rf"^[a-z][a-z0-9+.-]{{1,20}}://[^/?#@%\s\\]*(?:/{_SEGMENT})*$"
Uri = Annotated[str, StringConstraints(max_length=2048, pattern=URI_PATTERN)]
# A time stays the text it was until the clock rules look at it: a bad time is told apart from a bad document.
TimeText = Annotated[
    str,
    StringConstraints(max_length=40),
    Field(json_schema_extra={"format": "date-time", "pattern": TIME_PATTERN}),
]
LabelKey = Annotated[str, StringConstraints(min_length=1, max_length=317)]
LabelValue = Annotated[str, StringConstraints(max_length=63)]
DetailsSchema = Annotated[str, StringConstraints(max_length=253, pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]*$")]
Seconds = Annotated[int, Field(ge=1, le=366 * 86400)]
Count = Annotated[int, Field(ge=1, le=100_000)]

OutcomeWord = Literal["passed", "failed", "unknown"]
CleanupWord = Literal["complete", "incomplete", "unknown"]
TriggerWord = Literal["Manual", "Schedule"]
BindWord = Literal["uid", "bootID"]


def camel(name: str) -> str:
    """The field name on the wire; identifiers keep their capitals as in Kubernetes (providerID, uid)."""
    for ending in ("_id", "_uid", "_uuid", "_url"):
        if name.endswith(ending):
            return to_camel(name.removesuffix(ending)) + ending[1:].upper()
    return to_camel(name)


class Shape(BaseModel):
    """An object of the contract: every field named, none guessed, none converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, alias_generator=camel, validate_by_alias=True)


class Tolerant(BaseModel):
    """An object that others may extend (a status): fields we do not know are left alone."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True, alias_generator=camel, validate_by_alias=True)


class ObjectRef(Shape):
    """One Kubernetes object by its UID; `namespace` where it is not the run's own."""

    api_version: ShortText
    kind: ShortText
    name: ShortText
    uid: Uid
    namespace: ShortText | None = None


Json = dict[str, Any]

"""One line of NDJSON: the shapes of both tables share how they are written and how their ids are made."""

import hashlib
import json
from typing import Annotated, Any

from pydantic import ConfigDict, StringConstraints

from ..contract import fields as f
from ..contract.clock import TIME_PATTERN
from ..contract.document import canonical

MAX_BYTES = 64 * 1024
PROJECT = "tau-validation"
SOURCE = "tau-validation-controller"

Time = Annotated[str, StringConstraints(max_length=40, pattern=TIME_PATTERN)]
Slug = Annotated[str, StringConstraints(max_length=253, pattern=r"^[a-z0-9]([-_.a-z0-9]*[a-z0-9])?$")]
Tags = dict[Annotated[str, StringConstraints(min_length=1, max_length=63)], f.ShortText]


class Line(f.Shape):
    """A row or an event: every column is there, under its name in the table; null where nothing is known."""

    model_config = ConfigDict(alias_generator=None)

    def ndjson(self) -> str:
        """The line without its end. Only ASCII, so no reader of lines can split it elsewhere."""
        return json.dumps(self.model_dump(), separators=(",", ":"), allow_nan=False)


def sha256_of(value: Any) -> str:
    """Hex digest over the canonical bytes of a plain value."""
    return hashlib.sha256(canonical(value)).hexdigest()

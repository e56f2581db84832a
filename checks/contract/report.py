"""The report of one pod, `tau.validation-report.v1`: at most 4096 bytes of JSON as the termination message.

A pod says how its part went. Where it ran and what it left behind is never read from here.
"""

from typing import Annotated, Literal

from pydantic import Field

from . import fields as f
from .document import decode, text_problems
from .parsing import parse
from .problem import Problem

SCHEMA = "tau.validation-report.v1"
MAX_BYTES = 4096


class ReportedEvidence(f.Shape):
    name: f.ItemName
    sha256: f.Sha256
    size_bytes: Annotated[int, Field(ge=0, le=2**53 - 1)]


class Report(f.Shape):
    schema_: Literal["tau.validation-report.v1"] = Field(alias="schema")
    rank: Annotated[int, Field(ge=0, le=100_000)]
    outcome: f.OutcomeWord
    reason: f.Code
    run_id: f.RunId | None = Field(default=None, alias="runID")
    message: Annotated[str, Field(max_length=1024)] = ""
    evidence: Annotated[tuple[ReportedEvidence, ...], Field(max_length=16, strict=False)] = ()
    details_schema: f.DetailsSchema | None = None
    data: f.Json = Field(default_factory=dict)


def parse_report(data: bytes) -> Report | list[Problem]:
    """A report, or everything that is wrong with the bytes. Never raises.

    A message of exactly 4096 bytes that is no JSON was probably cut by the kubelet; the problem says so.
    """
    value, problems = decode(data, MAX_BYTES)
    if problems:
        if len(data) >= MAX_BYTES:
            return [
                *problems,
                Problem("", "a message cut at 4096 bytes", "a shorter report; details go to evidence"),
            ]
        return problems
    parsed = parse(Report, value)
    found = [*text_problems(value), *parsed.problems]
    return found if found or parsed.value is None else parsed.value

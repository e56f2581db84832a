"""The four kinds of `tau.azure.com/v1alpha1`, as a reader needs them.

A spec is strict (an unknown field may change what was approved); a status is tolerant (a newer controller may
say more).
Times in a status and in metadata are text here, judged where they are used.
"""

from collections.abc import Mapping
from datetime import timedelta
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, model_validator

from . import fields as f
from .parsing import is_pattern, matches
from .pods import template_faults

GROUP = "tau.azure.com"
API_VERSION = "tau.azure.com/v1alpha1"
TEMPLATE, CHECK, RUN, RESULT = (f"TauValidation{noun}" for noun in ("Template", "Check", "Run", "Result"))
PLURALS = {
    TEMPLATE: "validationtemplates",
    CHECK: "validationchecks",
    RUN: "validationruns",
    RESULT: "validationresults",
}
APPROVED, REJECTED, REVIEWED_BY = (f"{GROUP}/{word}" for word in ("approved", "rejected", "reviewed-by"))
CANCEL = f"{GROUP}/cancel"  # annotation of a run: its requester wants it to end
CLUSTER_NAME = f"{GROUP}/cluster"  # annotation of the policy that guards results: the cluster's name in them
WORKSPACE_LABEL = f"{GROUP}/workspace"
SYSTEM_NAMESPACE = "tau-system"

ParameterValue = str | int | bool
ACTIVE_PHASES = ("Pending", "Queued", "Admitted", "Running", "Collecting", "Cleaning")


class Selector(f.Shape):
    """A Kubernetes label selector."""

    match_labels: dict[str, f.LabelValue] = Field(default_factory=dict, max_length=16)
    match_expressions: Annotated[tuple["Requirement", ...], Field(max_length=16, strict=False)] = ()

    def admits(self, labels: Mapping[str, str]) -> bool:
        """Whether these labels are selected; an empty selector selects everything."""
        return self.match_labels.items() <= labels.items() and all(
            requirement.admits(labels) for requirement in self.match_expressions
        )


class Requirement(f.Shape):
    key: f.LabelKey
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    values: Annotated[tuple[f.LabelValue, ...], Field(max_length=64, strict=False)] = ()

    @model_validator(mode="after")
    def _values_where_they_belong(self) -> "Requirement":
        if (self.operator in ("In", "NotIn")) != bool(self.values):
            raise ValueError("values with In and NotIn, none with Exists and DoesNotExist")
        return self

    def admits(self, labels: Mapping[str, str]) -> bool:
        """One requirement of a selector, as Kubernetes reads it."""
        match self.operator:
            case "In":
                return labels.get(self.key) in self.values
            case "NotIn":
                return labels.get(self.key) not in self.values
            case "Exists":
                return self.key in labels
        return self.key not in labels


class Parameter(f.Shape):
    name: f.ParameterName
    type: Literal["string", "integer", "boolean", "enum"]
    default: ParameterValue | None = None
    description: Annotated[str, Field(max_length=1024)] = ""
    values: Annotated[tuple[f.ShortText, ...], Field(max_length=64, strict=False)] = ()
    minimum: int | None = None
    maximum: int | None = None
    max_length: Annotated[int, Field(ge=1, le=4096)] | None = None
    pattern: Annotated[str, Field(max_length=256)] | None = None

    @model_validator(mode="after")
    def _the_default_is_allowed(self) -> "Parameter":
        if (self.type == "enum") != bool(self.values):
            raise ValueError("`values` with an enum, and with no other type")
        if self.type != "integer" and (self.minimum, self.maximum) != (None, None):
            raise ValueError("`minimum` and `maximum` with an integer only")
        if self.type != "string" and (self.max_length, self.pattern) != (None, None):
            raise ValueError("`maxLength` and `pattern` with a string only")
        if self.pattern is not None and not is_pattern(self.pattern):
            raise ValueError("a `pattern` that is a regular expression (RE2)")
        if self.default is not None and (fault := self.fault(self.default)):
            raise ValueError(f"a default that is {fault}")
        return self

    def fault(self, value: Any) -> str:
        """What a value should be, where it is not; "" where it is allowed."""
        if self.type == "enum":
            return "" if isinstance(value, str) and value in self.values else f"one of {', '.join(self.values)}"
        if self.type == "boolean":
            return "" if isinstance(value, bool) else "true or false"
        if self.type == "integer":
            low, high = self.minimum, self.maximum
            if isinstance(value, bool) or not isinstance(value, int):
                return "an integer"
            fits = (low is None or value >= low) and (high is None or value <= high)
            return "" if fits else f"an integer from {'…' if low is None else low} to {'…' if high is None else high}"
        if not isinstance(value, str) or len(value) > (self.max_length or 256):
            return f"a string of at most {self.max_length or 256} characters"
        if self.pattern is not None and not matches(self.pattern, value):
            return f"text that matches {self.pattern}"
        return ""


class Deadlines(f.Shape):
    queue_seconds: f.Seconds
    run_seconds: f.Seconds
    cleanup_seconds: f.Seconds


class PolicyException(f.Shape):
    """One departure from restricted pod security, with its reason."""

    rule: Annotated[str, StringConstraints(min_length=1, max_length=256)]
    value: f.ShortText = ""
    why: Annotated[str, StringConstraints(min_length=1, max_length=1024)]


class TemplateSpec(f.Shape):
    description: f.Text = ""
    parameters: Annotated[tuple[Parameter, ...], Field(max_length=32, strict=False)] = ()
    allowed_workspaces: Selector
    deadlines: Deadlines
    reporters: f.Count | None = None
    job: f.Json
    support: Annotated[tuple[f.Json, ...], Field(max_length=8, strict=False)] = ()
    exceptions: Annotated[tuple[PolicyException, ...], Field(max_length=16, strict=False)] = ()

    @model_validator(mode="after")
    def _pods_keep_the_rules(self) -> "TemplateSpec":
        written = {(item.rule, item.value) for item in self.exceptions}
        if faults := template_faults(self.job, self.support, written):
            raise ValueError("; ".join(faults))
        names = [parameter.name for parameter in self.parameters]
        if len(set(names)) != len(names):
            raise ValueError("parameters whose names all differ")
        return self

    @cached_property
    def _known(self) -> dict[str, Parameter]:
        return {parameter.name: parameter for parameter in self.parameters}

    def parameter_faults(self, values: dict[str, ParameterValue]) -> list[str]:
        """What is wrong with these parameter values, one sentence each."""
        known = self._known
        faults = [
            f"parameter {name} is not one of {', '.join(known) or 'none'}" for name in values if name not in known
        ]
        faults += [
            f"parameter {name} must be {fault}"
            for name, value in values.items()
            if name in known and (fault := known[name].fault(value))
        ]
        return faults


class LaunchTemplate(f.Shape):
    name: f.Name
    digest: f.Digest
    parameters: dict[f.ParameterName, ParameterValue] = Field(default_factory=dict, max_length=32)
    queue: f.Name | None = None


class LaunchController(f.Shape):
    name: Annotated[str, StringConstraints(min_length=1, max_length=253)]


class Launch(f.Shape):
    template: LaunchTemplate | None = None
    controller: LaunchController | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> "Launch":
        if (self.template is None) == (self.controller is None):
            raise ValueError("exactly one of `template` and `controller`")
        return self


class Schedule(f.Shape):
    cron: Annotated[str, StringConstraints(min_length=9, max_length=128, pattern=r"^\S+( +\S+){4}$")]
    time_zone: Annotated[str, StringConstraints(max_length=64, pattern=r"^[A-Za-z][A-Za-z0-9_+/-]*$")]


class WantedTargets(f.Shape):
    count: f.Count
    node_selector: dict[str, f.LabelValue] = Field(default_factory=dict, max_length=32)
    resource: Annotated[str, StringConstraints(min_length=1, max_length=256)] | None = None
    per_target: Annotated[int, Field(ge=1, le=1024)] | None = None
    bind_to: Annotated[tuple[f.BindWord, ...], Field(max_length=2, strict=False)] = ()

    @model_validator(mode="after")
    def _resource_and_amount(self) -> "WantedTargets":
        if (self.resource is None) != (self.per_target is None):
            raise ValueError("`resource` and `perTarget` together, or neither")
        return self


class Publisher(f.Shape):
    namespace: f.Name
    service_account: f.Name

    @property
    def username(self) -> str:
        """The user name that the API server gives this service account."""
        return f"system:serviceaccount:{self.namespace}:{self.service_account}"


class Results(f.Shape):
    details_schemas: Annotated[tuple[f.DetailsSchema, ...], Field(max_length=16, strict=False)] = ()
    versions: Annotated[tuple[f.Version, ...], Field(min_length=1, max_length=32, strict=False)]
    fresh_for_seconds: f.Seconds
    publisher: Publisher
    required_evidence: Annotated[tuple[f.ItemName, ...], Field(max_length=64, strict=False)] = ()
    history_limit: Annotated[int, Field(ge=1, le=1000)] = 20

    @cached_property
    def fresh_for(self) -> timedelta:
        """How long a result counts."""
        return timedelta(seconds=self.fresh_for_seconds)


class Hint(f.Shape):
    """One fact of `details.data` worth showing, by JSON pointer."""

    pointer: f.Pointer
    label: Annotated[str, StringConstraints(max_length=64)] = ""
    unit: Annotated[str, StringConstraints(max_length=16)] = ""


class Display(f.Shape):
    summary: Annotated[tuple[Hint, ...], Field(max_length=16, strict=False)] = ()
    pair_matrix: Hint | None = None
    series: Annotated[tuple[Hint, ...], Field(max_length=8, strict=False)] = ()


class CheckSpec(f.Shape):
    type: f.CheckType
    version: f.Version
    title: Annotated[str, StringConstraints(min_length=1, max_length=128)]
    owner: f.ShortText = ""
    runbook_url: Annotated[str, StringConstraints(max_length=2048, pattern=r"""^https?://[^\s"'<>]+$""")] | None = None
    launch: Launch
    schedule: Schedule | None = None
    suspend: bool = False
    targets: WantedTargets
    results: Results
    display: Display = Field(default_factory=Display)

    @model_validator(mode="after")
    def _its_own_version_counts(self) -> "CheckSpec":
        if self.version not in self.results.versions:
            raise ValueError("`results.versions` with the version of this check among them")
        return self


class CheckRef(f.Shape):
    name: f.Name
    uid: f.Uid
    spec_digest: f.Digest


class RunSpec(f.Shape):
    check_ref: CheckRef
    run_id: f.RunId
    attempt: Annotated[int, Field(ge=1, le=1000)]
    trigger: f.TriggerWord
    requested_by: f.Username
    parameters: dict[f.ParameterName, ParameterValue] = Field(default_factory=dict, max_length=32)


class RunTarget(f.Tolerant):
    name: f.Name
    uid: f.Uid | None = None
    boot_id: f.ShortText | None = Field(default=None, alias="bootID")
    pod_uid: f.Uid | None = Field(default=None, alias="podUID")
    rank: int | None = None


class RunCleanup(f.Tolerant):
    state: f.CleanupWord = "unknown"
    owned: Annotated[tuple[f.Json, ...], Field(max_length=256, strict=False)] = ()
    remaining: Annotated[tuple[f.Json, ...], Field(max_length=256, strict=False)] = ()


class NamedRef(f.Tolerant):
    name: f.Name
    uid: f.Uid | None = None


class RunStatus(f.Tolerant):
    """What the controller says of a run; every field may be absent."""

    phase: f.ShortText = "Pending"
    reason: f.ShortText | None = None
    message: f.Text | None = None
    queued_at: f.TimeText | None = None
    admitted_at: f.TimeText | None = None
    started_at: f.TimeText | None = None
    completed_at: f.TimeText | None = None
    cleaned_at: f.TimeText | None = None
    sealed_at: f.TimeText | None = None
    deadline_at: f.TimeText | None = None
    last_observed_at: f.TimeText | None = None
    job: NamedRef | None = None
    workload: NamedRef | None = None
    targets: Annotated[tuple[RunTarget, ...], Field(max_length=512, strict=False)] | None = None
    cleanup: RunCleanup | None = None
    result_ref: NamedRef | None = None

    @cached_property
    def identities(self) -> frozenset[tuple[str, str | None, str | None, int | None, str | None]]:
        """Name, UID, pod UID, rank and boot of each target, to be compared with what the result lists."""
        return frozenset((t.name, t.uid, t.pod_uid, t.rank, t.boot_id) for t in self.targets or ())


class ResultPublisher(f.Shape):
    username: f.Username


class ResultSpec(f.Shape):
    """The envelope is read by `read_envelope`; here it is only known to be an object."""

    publisher: ResultPublisher
    digest: Annotated[str, Field(max_length=256)]
    envelope: f.Json


SPECS: dict[str, type[f.Shape]] = {TEMPLATE: TemplateSpec, CHECK: CheckSpec, RUN: RunSpec, RESULT: ResultSpec}

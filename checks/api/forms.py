"""The JSON of every answer: what is sent, and the schemas of the OpenAPI document, in one place."""

from typing import Annotated, Any, Literal

from pydantic import Field

from ..contract.reasons import State
from ..facts import Verification
from ..models import Review
from ..wire import Clause, Form, LastVerdict, Time

Count = Annotated[int, Field(ge=0)]
Code = Literal[
    "invalid_argument",
    "unauthenticated",
    "not_found",
    "method_not_allowed",
    "too_many_groups",
    "internal",
    "backend_unavailable",
]


class Error(Form):
    """Every answer that is not the one asked for. retryable: the same request may succeed a little later."""

    code: Code
    reason: str
    retryable: bool


class Place(Form):
    """One namespace of one cluster."""

    cluster: str
    namespace: str


class Scope(Form):
    """What the answer was cut to. problem: why that may be less than the viewer's rights; "" where it is all."""

    viewer: str
    clusters: list[str]
    namespaces: list[Place]
    fleet: list[str]
    reviews: bool
    problem: str


class Source(Form):
    """How one cluster was last seen. asOf: the instant its verdicts are of. problem: why none of them counts now."""

    cluster: str
    available: bool
    as_of: Time
    seen_at: Time | None
    dump: bool
    problem: str
    publisher_guard: bool


class Answer(Form):
    """What every scoped answer carries.

    dataState: ready; no_data (read in full, and there is nothing); partial (a cluster is out of reach, or the scope may
    be smaller than the viewer's rights); unavailable (nothing in it can be relied on now).
    """

    scope: Scope
    data_state: Literal["ready", "no_data", "partial", "unavailable"]
    sources: list[Source]
    generated_at: Time


class Amount(Form):
    """A number of something, of how many, and of how many nothing is known. null: not known at all, which is not 0."""

    value: Count | None
    total: Count | None
    unknown: Count


class Pool(Form):
    """The nodes of one pool at one site; each is counted once."""

    cluster: str
    site: str
    name: str
    nodes: Count
    fault: Count
    not_ready: Count
    unknown: Count
    observed_ok: Annotated[int, Field(ge=0, alias="observedOK")]


class Queue(Form):
    """One ClusterQueue; null is not known."""

    cluster: str
    name: str
    cohort: str
    gpus_used: int | None = Field(alias="gpusUsed")
    gpus_nominal: int | None = Field(alias="gpusNominal")
    pending: int | None


class Signals(Form):
    """Nodes by what node health says, in words of its own."""

    observed_ok: Annotated[int, Field(ge=0, alias="observedOK")]
    fault: Count
    unknown: Count


class Unreadable(Form):
    """A kind that cannot be read from a cluster at present."""

    cluster: str
    kind: str
    problem: str


class Fleet(Form):
    """Machines, capacity and queues of the clusters whose nodes the viewer may see."""

    nodes_ready: Amount
    gpus_free: Amount
    gpus_used: int | None
    signals: Signals
    waiting: Count | None
    waiting_since: Time | None
    pools: list[Pool]
    pools_left_out: Count
    queues: list[Queue]
    queues_left_out: Count
    unreadable: list[Unreadable]


class FleetAnswer(Answer):
    """null: no cluster's nodes may be seen."""

    fleet: Fleet | None


class Counts(Form):
    """Checks by state."""

    failed: Count = Field(alias="Failed")
    stale: Count = Field(alias="Stale")
    unknown: Count = Field(alias="Unknown")
    running: Count = Field(alias="Running")
    passed: Count = Field(alias="Passed")


class SummaryAnswer(Answer):
    """worst: the state of the check that needs a person first; null where there is no check."""

    total: Count
    counts: Counts
    worst: State | None


class ResultMetadata(Form):
    """A result from the outside, also where nothing inside it is interpreted. schema: what it calls itself."""

    name: str
    uid: str
    schema_: str = Field(alias="schema")
    digest: str
    publisher: str
    attempt: Count
    run_uid: str
    created_at: Time | None


class Named(Form):
    """Which check it is, by place, and what its owners call it."""

    cluster: str
    namespace: str
    name: str
    workspace: str
    title: str
    type: str
    owner: str


class Check(Named):
    """One check with its verdict. since: when the present run began. result: the one that speaks for it."""

    registered: bool
    state: State
    reason: str
    message: str
    as_of: Time
    since: Time | None
    last_verdict: LastVerdict | None
    result: ResultMetadata | None


class ChecksAnswer(Answer):
    """One page of checks. counts, total: of everything the filter admits, without its state."""

    items: list[Check]
    counts: Counts
    total: Count
    next_cursor: str | None


class Target(Form):
    """One target then, and what has become of it. changed: "" where it is the same machine or was not compared."""

    name: str
    rank: int | None
    uid: str | None
    pod_uid: str | None
    outcome: str
    changed: str


class Object(Form):
    """An object that the run made. remains: null where nobody could see."""

    kind: str
    namespace: str
    name: str
    uid: str
    remains: bool | None


class Cleanup(Form):
    """What the run left behind. stated: the result's word; observed: the control plane's; "" where there is none."""

    stated: str
    observed: str
    objects: list[Object]


class Moment(Form):
    """One step of a run. seconds: until the next one; null where it is not over, or not known."""

    step: str
    at: Time | None
    seconds: float | None


class Details(Form):
    """What the check itself reports, in a schema that its registration lists."""

    schema_: str = Field(alias="schema")
    data: dict[str, Any]


class Proven(Form):
    """A verdict in full. result, details: null where there is none, or where it cannot be interpreted."""

    proof: list[Clause]
    fresh_until: Time | None
    phase: str
    requested: Count | None
    targets: list[Target]
    cleanup: Cleanup
    lifecycle: list[Moment]
    problems: list[str]
    details: Details | None


class CheckDetail(Check, Proven):
    """One check with everything that its verdict was read from."""

    review: Review
    spec_digest: str
    approved_digest: str
    runbook_url: str | None
    next_run_at: Time | None


class CheckAnswer(Answer):
    """One check."""

    check: CheckDetail


class Told(Form):
    """What one run said when it was sealed, or why it says nothing. uid: "" where it cannot be opened."""

    uid: str
    run_id: str
    attempt: Count
    state: State
    reason: str
    message: str
    at: Time | None


class RunsAnswer(Answer):
    """One page of a check's runs, newest first."""

    items: list[Told]
    next_cursor: str | None


class Run(Proven):
    """One run as a case of its own. newest: it still speaks for the check. said: its result by itself, at the time."""

    cluster: str
    namespace: str
    name: str
    uid: str
    run_id: str
    attempt: Count
    newest: bool
    state: State
    reason: str
    message: str
    as_of: Time
    said: LastVerdict | None
    result: ResultMetadata | None


class RunAnswer(Answer):
    """One run."""

    run: Run


class Evidence(Form):
    """One piece of evidence: what the result says of it, and how it was last read. uri "": the result has none."""

    name: str
    state: Verification
    required: bool
    uri: str
    sha256: str
    size_bytes: Count | None
    media_type: str
    captured_at: Time | None
    verified_at: Time | None
    reader: str
    problem: str


class EvidenceAnswer(Answer):
    """The evidence of one run."""

    items: list[Evidence]


class EvidencePieceAnswer(Answer):
    """One piece of evidence. content: where its bytes are, for the same session."""

    item: Evidence
    content: str


class Registration(Named):
    """One registration as reviewers see it."""

    review: Review
    spec_digest: str
    approved_digest: str
    template: str
    created_at: Time | None


class RegistrationsAnswer(Answer):
    """One page of registrations, by place."""

    items: list[Registration]
    next_cursor: str | None

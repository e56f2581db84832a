"""Vectors of rows 8 to 13: is the result what was sealed, by whom it should be, of what it says, and honest?"""

import copy
from datetime import timedelta
from typing import Any

from tests.contract.example import MICROSECOND, SEALED_AT, Example
from tests.contract.vector import NO_ENVELOPE, Table

TABLE = Table()
case = TABLE.add


def nested(levels: int) -> list[Any]:
    """A list in a list, so many levels deep, around null."""
    inner: list[Any] = [None]
    for _ in range(levels):
        inner = [inner]
    return inner


UNREADABLE = ("supported", *NO_ENVELOPE)


# Row 8.
def _malformed(name: str, about: str, path: tuple[str | int, ...], value: Any) -> None:
    def change(example: Example) -> None:
        *steps, last = path
        inner: Any = example.envelope
        for step in steps:
            inner = inner[step]
        if value is ...:
            del inner[last]
        else:
            inner[last] = value
        example.seal()

    case(8, "Unknown", "malformed_result", "sealed", name=name, about=about, last="Unknown", unread=UNREADABLE)(change)


_URI = "https://artifacts.example/tau/"
_malformed("field-missing", "A required field is missing.", ("cleanup",), ...)
_malformed("unknown-field", "A field that the contract does not have.", ("verified",), True)
_malformed("wrong-kind", "A number is written as a string.", ("freshForSeconds",), "86400")
_malformed("unknown-outcome", "An outcome beyond passed, failed and unknown.", ("outcome",), "skipped")
_malformed("long-string", "A string of 4097 characters.", ("details", "data", "log"), "x" * 4097)
_malformed("too-deep", "33 levels.", ("details", "data"), {"a": nested(29)})
_malformed("credential", "A string that looks like a credential.", ("message",), "login with password=hunter22")
_malformed("uri-query", "An evidence URI with a query.", ("evidence", 0, "uri"), _URI + "manifest?x=1")
_malformed("uri-fragment", "An evidence URI with a fragment.", ("evidence", 0, "uri"), _URI + "manifest#x")
_malformed("uri-user", "An evidence URI with a user.", ("evidence", 0, "uri"), "https://me@artifacts.example/manifest")
_malformed("uri-upwards", "An evidence URI with a step upwards.", ("evidence", 0, "uri"), _URI + "../manifest")
_malformed("uri-dots-encoded", "The same, percent-encoded.", ("evidence", 0, "uri"), _URI + "%2e%2E/manifest")
_malformed("upper-case-sha256", "A sha256 in capitals.", ("evidence", 0, "sha256"), "A" * 64)
_malformed("evidence-twice", "Two pieces of evidence with one name.", ("evidence", 1, "name"), "manifest")
_malformed("promises-more", "Valid for longer than its own freshness.", ("validUntil",), "2026-12-01T05:12:00.000001Z")


@case(8, "Unknown", "malformed_result", "sealed", last="Unknown", unread=UNREADABLE)
def publisher_missing(example: Example) -> None:
    """The object does not say who published it."""
    del example.result["spec"]["publisher"]


@case(8, "Unknown", "digest_mismatch", "sealed", last="Unknown")
def changed_after_sealing(example: Example) -> None:
    """The message was changed, the digest was not."""
    example.envelope["message"] = "all is well"


@case(8, "Unknown", "digest_mismatch", "sealed", last="Unknown")
def digest_in_capitals(example: Example) -> None:
    """A digest is lower-case."""
    example.result["spec"]["digest"] = "sha256:" + example.result["spec"]["digest"].removeprefix("sha256:").upper()


# Row 9.
@case(9, "Unknown", "unsupported_schema", "supported", last="Unknown", unread=NO_ENVELOPE)
def schema_of_the_future(example: Example) -> None:
    """The envelope calls itself v2; its digest is right, and nothing in it is interpreted."""
    example.envelope["schema"] = "tau.validation-result.v2"
    example.seal()


@case(9, "Unknown", "unsupported_schema", "supported", last="Unknown")
def details_not_registered(example: Example) -> None:
    """The details are written in a schema that the registration does not list."""
    example.envelope["details"]["schema"] = "nccl-ib.v2"
    example.seal()


@case(9, "Unknown", "unsupported_version", "supported", last="Unknown")
def version_not_registered(example: Example) -> None:
    """The check's version is not among those that the registration lists."""
    example.envelope["check"]["version"] = "1.3"
    example.seal()


# Row 10.
@case(10, "Unknown", "unauthorized_publisher", "publisher", last="Unknown")
def published_by_another(example: Example) -> None:
    """Another account published it."""
    example.result["spec"]["publisher"]["username"] = "system:serviceaccount:team-vision:default"


def _unguarded(name: str, about: str, kind: str, path: tuple[str, ...], value: Any) -> None:
    def change(example: Example) -> None:
        *steps, last = path
        inner = example.one(kind)["spec"]
        for step in steps:
            inner = inner[step] if isinstance(inner, dict) else inner[0]
        inner[last] = value

    case(10, "Unknown", "publisher_unverified", "publisher", name=name, about=about, last="Unknown")(change)


_POLICY, _BINDING = "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"
_unguarded("guard-fails-open", "The policy lets through what it cannot judge.", _POLICY, ("failurePolicy",), "Ignore")
_unguarded(
    "guard-conditions",
    "A match condition narrows it.",
    _POLICY,
    ("matchConditions",),
    [{"name": "a", "expression": "false"}],
)
_unguarded(
    "guard-creation-only",
    "The policy looks at creation only.",
    _POLICY,
    ("matchConstraints", "resourceRules", "0", "operations"),
    ["CREATE"],
)
_unguarded(
    "guard-leaves-namespaces-out",
    "The policy leaves namespaces out.",
    _POLICY,
    ("matchConstraints", "namespaceSelector"),
    {"matchLabels": {"guarded": "yes"}},
)
_unguarded("guard-rule-missing", "Its second rule is missing.", _POLICY, ("validations",), [
    {"expression": "object.spec.publisher.username == request.userInfo.username"}
])  # fmt: skip
_unguarded("guard-warns", "The binding warns and does not deny.", _BINDING, ("validationActions",), ["Warn", "Audit"])
_unguarded(
    "guard-without-parameter",
    "A missing registration admits.",
    _BINDING,
    ("paramRef", "parameterNotFoundAction"),
    "Allow",
)
_unguarded("guard-one-registration", "The binding names one registration.", _BINDING, ("paramRef", "name"), "ib-pair")
_unguarded("guard-not-bound", "No binding names the policy.", _BINDING, ("policyName",), "another")


@case(10, "Unknown", "publisher_unverified", "publisher", last="Unknown")
def guard_gone(example: Example) -> None:
    """The admission policy is gone."""
    example.drop(example.policy)


@case(22, "Passed", "proved")
def guard_with_defaults(example: Example) -> None:
    """The API server filled its defaults into policy and binding; they guard as before."""
    match = example.policy["spec"]["matchConstraints"]
    match |= {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}}
    match["resourceRules"][0]["scope"] = "*"


# Row 11.
def _other(name: str, about: str, path: tuple[str | int, ...], value: Any, fails: str = "identity") -> None:
    def change(example: Example) -> None:
        *steps, last = path
        inner: Any = example.envelope
        for step in steps:
            inner = inner[step]
        inner[last] = value
        example.seal()

    case(11, "Unknown", "identity_mismatch", fails, name=name, about=about, last="Unknown")(change)


_UID = "00000000-0000-4000-8000-0000000000ff"
_other("other-type", "It is of another type of check.", ("check", "type"), "nccl.tau.azure.com/intra-node")
_other("other-check", "It names another check; it is the result of this check's run.", ("check", "name"), "ib-triple")
_other("other-check-uid", "It is of a check that was deleted and made again.", ("check", "uid"), _UID)
_other("other-registration", "It is of another spec of the check.", ("check", "specDigest"), "sha256:" + "1" * 64)
_other("other-cluster", "It was sealed in another cluster.", ("scope", "cluster"), "west-2")
_other("other-namespace", "It is of another namespace.", ("scope", "namespace"), "team-audio")
_other("other-workspace", "It is of another workspace.", ("scope", "workspace"), "team-audio")
_other("no-workspace", "It says that it is of no workspace.", ("scope", "workspace"), None)
_other("other-run", "It is of another run.", ("run", "uid"), _UID)
_other("other-run-id", "Its run id is another.", ("run", "id"), "0" * 24)
_other("other-attempt", "It is of another attempt.", ("run", "attempt"), 2)
_other("other-trigger", "It says that the run was started by hand.", ("run", "trigger"), "Manual")
_other("other-requester", "It says that another user asked for the run.", ("run", "requestedBy"), "mallory@example.org")
_other("other-pod", "A pod is not the one that the run's status lists.", ("targets", "observed", 0, "podUID"), _UID)
_other("no-node-uid", "A node's UID was not observed.", ("targets", "observed", 0, "uid"), None, "identity machines")
_other("other-rank", "A rank is not the one that the run's status lists.", ("targets", "observed", 0, "rank"), 7)
_other(
    "more-asked-for",
    "It asks for more targets than registered.",
    ("targets", "requested", "count"),
    3,
    "identity stated targets",
)
_other(
    "other-node",
    "A node is not one of the run's status.",
    ("targets", "observed", 0, "name"),
    "gpu-04",
    "identity machines",
)


@case(11, "Unknown", "identity_mismatch", "identity machines", last="Unknown")
def boot_not_observed(example: Example) -> None:
    """The check is bound to the boot, and neither run nor result saw it on one node."""
    example.envelope["targets"]["observed"][0]["bootID"] = None
    del example.status["targets"][0]["bootID"]
    example.node["status"]["nodeInfo"]["bootID"] = ""
    example.seal()


@case(11, "Unknown", "identity_mismatch", "identity", last="Unknown")
def check_made_again(example: Example) -> None:
    """The registration was deleted and made again with the same spec: another UID."""
    example.check["metadata"]["uid"] = _UID


@case(11, "Unknown", "identity_mismatch", "identity", last="Unknown")
def run_points_elsewhere(example: Example) -> None:
    """The run's resultRef has the UID of another object."""
    example.status["resultRef"]["uid"] = _UID


@case(11, "Unknown", "identity_mismatch", "identity", last="Unknown")
def run_points_nowhere(example: Example) -> None:
    """The run has no resultRef."""
    del example.status["resultRef"]


@case(11, "Unknown", "identity_mismatch", "identity", last="Unknown")
def run_gone(example: Example) -> None:
    """The run that the result names is gone."""
    example.drop(example.run)


@case(11, "Unknown", "identity_mismatch", "identity", last="Unknown")
def run_of_another_spec(example: Example) -> None:
    """The run was started for another spec of the check."""
    example.run["spec"]["checkRef"]["specDigest"] = "sha256:" + "1" * 64


@case(11, "Unknown", "identity_mismatch", "identity", last="Unknown")
def run_with_another_parameter(example: Example) -> None:
    """The run was started with another value of a parameter that the registration fixes."""
    example.run["spec"]["parameters"] = {"linkLayer": "any"}


@case(11, "Unknown", "identity_mismatch", "identity", last="Unknown")
def run_with_a_refused_parameter(example: Example) -> None:
    """The run was started with a value that the template does not allow."""
    example.run["spec"]["parameters"] = {"minBusBandwidthGBps": -1}


@case(22, "Passed", "proved")
def run_with_an_open_parameter(example: Example) -> None:
    """A run may fill in what the registration leaves open."""
    example.run["spec"]["parameters"] = {"linkLayer": "InfiniBand", "minBusBandwidthGBps": 300}


@case(11, "Unknown", "identity_mismatch", "identity", last="Unknown")
def namespace_without_workspace(example: Example) -> None:
    """The namespace is no workspace any more."""
    del example.namespace["metadata"]["labels"]["tau.azure.com/workspace"]


@case(11, "Unknown", "identity_mismatch", "identity", last="Unknown")
def sealed_twice(example: Example) -> None:
    """Two results for one run and attempt with different bytes prove nothing."""
    second = copy.deepcopy(example.result)
    second["metadata"] |= {"name": "ib-pair-7d0f3c9a51b2e84466aa91c0-01", "uid": _UID}
    second["spec"]["envelope"]["message"] = "sealed a second time"
    example.objects.append(second)
    example.seal()


# Row 12. Nothing may lie more than 60 seconds ahead of the reader's clock, or of the creation of the result.
for word, offset in (("just-beyond", -MICROSECOND), ("exactly-at", timedelta(0)), ("just-within", MICROSECOND)):
    row: tuple[Any, ...] = (
        (12, "Unknown", "clock_invalid", "clock") if offset < timedelta(0) else (22, "Passed", "proved")
    )
    late = "Unknown" if offset < timedelta(0) else "Passed"

    def untouched(example: Example) -> None:
        """Nothing is changed."""

    says = f"Read {word.replace('-', ' ')} 60 seconds before it was sealed."
    reader = SEALED_AT - timedelta(seconds=60) + offset
    case(*row, name=f"skew-{word}", about=says, now=reader, last=late)(untouched)

    def created(example: Example, offset: timedelta = offset) -> None:
        example.observe(SEALED_AT + timedelta(seconds=60) - offset)
        for key in ("sealedAt", "lastObservedAt"):
            example.status[key] = example.envelope["times"]["observed"]

    says = f"Observed {word.replace('-', ' ')} 60 seconds after the API server took the result."
    case(*row, name=f"created-{word}", about=says, last=late)(created)


def _clock(name: str, about: str, path: tuple[str | int, ...], value: Any, fails: str = "clock") -> None:
    def change(example: Example) -> None:
        *steps, last = path
        inner: Any = example.envelope
        for step in steps:
            inner = inner[step]
        inner[last] = value
        example.seal()

    case(12, "Unknown", "clock_invalid", fails, name=name, about=about, last="Unknown")(change)


_clock("not-utc", "A time with an offset.", ("times", "started"), "2026-11-30T06:08:49+01:00")
_clock(
    "observed-not-utc",
    "The time of sealing is not UTC.",
    ("times", "observed"),
    "2026-11-30T06:12:00+01:00",
    "clock fresh",
)
_clock("no-such-day", "A day that does not exist.", ("times", "started"), "2026-11-31T05:08:49Z")
_clock("nanoseconds", "More digits than a microsecond.", ("times", "started"), "2026-11-30T05:08:49.0000000Z")
_clock("out-of-order", "It completed before it started.", ("times", "completed"), "2026-11-30T05:08:48.999999Z")
_clock("never-started", "It passed and never started.", ("times", "started"), None)
_clock(
    "ends-before-it-begins",
    "It ends before it was sealed.",
    ("validUntil",),
    "2026-11-30T05:11:59.999999Z",
    "clock fresh",
)
_clock(
    "evidence-too-late", "Evidence of after the sealing.", ("evidence", 0, "capturedAt"), "2026-11-30T05:12:00.000001Z"
)
_clock(
    "evidence-too-early", "Evidence of before the run.", ("evidence", 0, "capturedAt"), "2026-11-30T05:07:59.999999Z"
)


@case(12, "Unknown", "clock_invalid", "clock", last="Unknown")
def creation_unknown(example: Example) -> None:
    """It is not known when the result was created."""
    del example.result["metadata"]["creationTimestamp"]


@case(12, "Unknown", "clock_invalid", "clock", last="Unknown")
def run_from_the_future(example: Example) -> None:
    """The run was sealed tomorrow."""
    example.status["sealedAt"] = "2026-12-01T05:12:00Z"


@case(12, "Unknown", "clock_invalid", "clock", last="Unknown")
def run_not_utc(example: Example) -> None:
    """A time of the run's status has an offset."""
    example.status["startedAt"] = "2026-11-30T06:08:49+01:00"


# Row 13.
@case(13, "Unknown", "outcome_mismatch", "stated", last="Unknown")
def passed_with_errors(example: Example) -> None:
    """It passed and lists an error."""
    example.envelope["errors"] = [{"reason": "correctness_error", "message": "1 element differs"}]
    example.seal()


@case(13, "Unknown", "outcome_mismatch", "stated", last="Unknown")
def passed_with_a_failed_target(example: Example) -> None:
    """It passed and one target failed."""
    example.envelope["targets"]["observed"][0]["outcome"] = "failed"
    example.seal()


@case(13, "Unknown", "outcome_mismatch", "stated", last="Unknown")
def passed_with_an_unknown_target(example: Example) -> None:
    """It passed and of one target nothing is known."""
    example.envelope["targets"]["observed"][0]["outcome"] = "unknown"
    example.seal()


@case(13, "Unknown", "outcome_mismatch", "stated targets", last="Unknown")
def passed_with_one_target(example: Example) -> None:
    """It passed and saw one of two targets."""
    example.envelope["targets"]["observed"].pop()
    example.status["targets"].pop()
    example.seal()


@case(13, "Unknown", "outcome_mismatch", "stated targets", last="Unknown")
def passed_on_one_node_twice(example: Example) -> None:
    """Both ranks ran on one node."""
    for targets in (example.envelope["targets"]["observed"], example.status["targets"]):
        for key in {"name", "uid", "bootID", "providerID", "machineID", "systemUUID"} & targets[0].keys():
            targets[1][key] = targets[0][key]
    example.seal()


@case(13, "Unknown", "outcome_mismatch", "stated", last="Unknown")
def passed_with_one_rank_twice(example: Example) -> None:
    """Two targets have one rank."""
    for targets in (example.envelope["targets"]["observed"], example.status["targets"]):
        targets[1]["rank"] = 0
    example.seal()


@case(13, "Unknown", "outcome_mismatch", "stated outcome", last="Unknown")
def failed_without_a_fault(example: Example) -> None:
    """It failed, and neither a target nor an error says so."""
    example.envelope.update({"outcome": "failed", "reason": "runtime_error"})
    example.seal()

"""Which states a run has been in, as rows of the lifecycle table, from the run as it stands in the cluster. Pure.

A row says what was known when its state began. Its id is made of the run and of when the state began, so whoever
derives it again, and whenever, finds the same id. A run has one id for its end, whatever the end is.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from .. import __version__
from ..contract import fields as f
from ..contract.clock import format_time, parse_time
from ..contract.envelope import Envelope, read_envelope
from ..contract.kinds import SYSTEM_NAMESPACE
from ..contract.reasons import sentence
from ..facts import SIGN_OF_LIFE
from ..objects import section, text
from .lifecycle import TERMINAL, LifecycleRow, State, durable_id, observation_id
from .line import PROJECT, SOURCE

Object = dict[str, Any]
REQUEUED = "Requeued"
# Readers of the table take the latest row of a run: states that begin within one second still follow each other.
_RANK: dict[State, int] = {"submitted": 0, "queued": 1, "admitted": 2, "running": 3}
_LAST = 4


@dataclass(frozen=True, slots=True)
class Around:
    """What other objects say of a run; None where that is not known, or no longer. result: the TauValidationResult.

    check: the registration as it is now, which may be another one than the run was asked of.
    """

    cluster: str
    workspace: str | None = None
    local_queue: str | None = None
    cluster_queue: str | None = None
    result: Object | None = None
    check: Object | None = None


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended. envelope: of a result that keeps the contract and is this run's own, else None."""

    state: State
    reason: str
    outcome: f.OutcomeWord
    at: datetime
    envelope: Envelope | None


@dataclass(frozen=True, slots=True)
class _Step:
    state: State
    at: datetime
    reason: str
    message: str


_BEGUN: dict[State, str] = {
    "submitted": "The run was asked for.",
    "queued": "Its Job waits for Kueue.",
    "admitted": "Kueue admitted its Job.",
    "running": "Its pods are at work.",
}


def ending(run: Object, around: Around) -> Ending | None:
    """How a sealed run ended, None before. A result counts only if it is whole and of this run."""
    status = section(run, "status")
    at = parse_time(status.get("sealedAt"))
    if text(status, "phase") != "Sealed":
        return None
    at = at or parse_time(status.get("lastObservedAt")) or _created(run)
    if text(section(status, "resultRef"), "name"):
        if around.result is None:
            return Ending("failed", "result_missing", "unknown", at, None)
        envelope, fault = _own_envelope(run, around.result)
        if envelope is None:
            return Ending("failed", fault, "unknown", at, None)
        return Ending(_state(envelope.outcome, envelope.reason), envelope.reason, envelope.outcome, at, envelope)
    reason = text(status, "reason") or "result_missing"
    outcome: f.OutcomeWord = "failed" if reason == "workload_failed" else "unknown"
    return Ending(_state(outcome, reason), reason, outcome, at, None)


def _own_envelope(run: Object, result: Object) -> tuple[Envelope | None, str]:
    spec = section(result, "spec")
    read = read_envelope(section(spec, "envelope"))
    envelope = read.envelope
    if envelope is None or read.problems:
        return None, "malformed_result"
    if read.digest != text(spec, "digest"):
        return None, "digest_mismatch"
    if envelope.run.uid != text(section(run, "metadata"), "uid"):
        return None, "identity_mismatch"
    return (envelope, "") if envelope.outcome == envelope.recomputed_outcome else (None, "outcome_mismatch")


def _state(outcome: str, reason: str) -> State:
    """A run that could not tell has not succeeded."""
    if outcome == "passed":
        return "succeeded"
    return "cancelled" if outcome == "unknown" and reason == "cancelled" else "failed"


def rows(
    run: Object, around: Around, now: datetime, *, gone: bool = False, resumed: bool = False
) -> list[LifecycleRow]:
    """Every row that the run as it stands gives, in order. gone: it was deleted. resumed: the last row was `stale`.

    Raises pydantic.ValidationError for a run whose own fields break the contract.
    """
    ended = ending(run, around)
    found: list[LifecycleRow] = []
    latest = _created(run)
    for step in _steps(run, ended, now, gone=gone, resumed=resumed):
        latest = max(latest, step.at)
        over = step.state in TERMINAL  # what ends it was the last, whatever a clock said of what came before
        observed = (latest if over else step.at) + timedelta(milliseconds=_RANK.get(step.state, _LAST))
        found.append(_row(run, around, step, _sortable(observed), ended if over else None))
    return found


def _steps(run: Object, ended: Ending | None, now: datetime, *, gone: bool, resumed: bool) -> Iterator[_Step]:
    status = section(run, "status")
    times: list[tuple[State, datetime | None]] = [("submitted", _created(run))]
    times.append(("queued", parse_time(status.get("queuedAt"))))
    reached: list[_Step] = [_Step(state, at, state, _BEGUN[state]) for state, at in times if at]
    again = next((c for c in status.get("conditions") or () if text(c, "type") == REQUEUED), None)
    if at := parse_time(text(again, "lastTransitionTime")):
        reached.append(_Step("queued", at, "requeued", "Kueue took its place back before it had started."))
    times = [("admitted", parse_time(status.get("admittedAt"))), ("running", parse_time(status.get("startedAt")))]
    reached += [_Step(state, at, state, _BEGUN[state]) for state, at in times if at]
    yield from reached
    if ended is not None:
        yield _Step(ended.state, ended.at, ended.reason, sentence(ended.reason))
        return
    if gone:
        yield _Step("cancelled", now, "run_deleted", "Somebody deleted the run before it was sealed.")
        return
    alive = parse_time(status.get("lastObservedAt")) or _created(run)
    if now - alive > SIGN_OF_LIFE:
        yield _Step("stale", alive + SIGN_OF_LIFE, "run_lost", sentence("run_lost"))
    elif resumed:
        yield _Step(reached[-1].state, alive, "resumed", "The controller is back and watches it again.")


def _created(run: Object) -> datetime:
    created = parse_time(section(run, "metadata").get("creationTimestamp"))
    if created is None:
        raise ValueError("a run without its time of creation")
    return created


def _sortable(at: datetime) -> str:
    """Always with a fraction, so that times sort as text does."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _row(run: Object, around: Around, step: _Step, observed: str, ended: Ending | None) -> LifecycleRow:
    metadata, spec, status = (section(run, key) for key in ("metadata", "spec", "status"))
    check = section(spec, "checkRef")
    created, namespace = text(metadata, "creationTimestamp"), text(metadata, "namespace")
    durable = durable_id(run, around.cluster)
    begun = step.state in ("running", "stale", *TERMINAL)
    image = _image(status) if begun else None
    envelope = ended.envelope if ended else None
    measured = format_time(ended.at) if ended else None
    return LifecycleRow(
        observed_at=observed,
        observation_id=observation_id(durable, step.state, observed),
        run_id=text(spec, "runID"),
        durable_id=durable,
        workspace_id=around.workspace,
        result_scope="cluster" if namespace == SYSTEM_NAMESPACE else "workspace",
        project=PROJECT,
        run_group_id=text(spec, "trigger").lower(),
        tags=tags(run, envelope),
        owning_resource_kind="TauValidationRun",
        owning_resource_name=text(metadata, "name"),
        namespace=namespace,
        cluster=around.cluster,
        local_queue=around.local_queue,
        cluster_queue=around.cluster_queue if begun or step.state == "admitted" else None,
        workload_kind="job" if status.get("job") else None,
        resource_uid=text(metadata, "uid"),
        resource_version=text(metadata, "resourceVersion"),
        generation=int(metadata.get("generation", 1)),
        submit_time=created,
        created_time=created,
        kueue_admitted_time=_time(status, "admittedAt") if begun or step.state == "admitted" else None,
        pod_start_time=_time(status, "startedAt") if begun else None,
        first_metric_time=measured,
        latest_metric_time=measured,
        completion_time=(_time(status, "completedAt") or format_time(ended.at)) if ended else None,
        state=step.state,
        reason=step.reason,
        message=step.message[:256],
        artifact_uri=next((item.uri for item in envelope.evidence if item.name == "manifest"), None)
        if envelope
        else None,
        checkpoint_uri=None,
        image=image,
        image_digest=_digest(image),
        config_hash=text(check, "specDigest"),
        code_sha=None,
        tau_command=None,
        result_path=f"validationresults/{text(section(status, 'resultRef'), 'name')}" if envelope else None,
        result_pvc=None,
        experiment_tracking="tracked",
        experiment_source=SOURCE,
        controller_version=__version__,
    )


def tags(run: Object, envelope: Envelope | None) -> dict[str, str]:
    """What readers filter by. Nobody's name is in it."""
    spec = section(run, "spec")
    found = {"check": text(section(spec, "checkRef"), "name"), "trigger": text(spec, "trigger")}
    found["attempt"] = str(spec.get("attempt", 1))
    if envelope is not None:
        found |= {"check_type": envelope.check.type, "check_version": envelope.check.version}
        found["outcome"] = envelope.outcome
    return found


def _time(status: Object, key: str) -> str | None:
    at = parse_time(status.get(key))
    return format_time(at) if at else None


def _image(status: Object) -> str | None:
    targets = status.get("targets") or ()
    return text(targets[0], "image")[:1024] or None if targets else None


def _digest(image: str | None) -> str | None:
    digest = (image or "").rpartition("@")[2]
    return digest if digest.startswith("sha256:") and len(digest) == 71 else None

"""Takes the steps that `plan` names. Each one can be taken twice; a status is written only over the version read."""

import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import structlog

from ..cluster.errors import ClusterError, Forbidden
from ..cluster.writing import AlreadyExists, Conflict, NotFound, Refusal, WritingApi
from ..contract.clock import format_time, parse_time
from ..contract.document import canonical
from ..contract.kinds import RESULT, RUN
from ..objects import section, text
from . import evidence, names
from .artifacts import ArtifactStore, put
from .draft import Findings, draft, evidence_item, findings, reported_evidence
from .launch import faults, review_of
from .moments import COLLECTED, ENDED, milestone, queue_deadline, reached
from .plan import Action, Collect, Delete, Launch, Record, Seal, Settle, end
from .pod_files import PodFiles
from .pods import Pod, pod_from, targets
from .readiness import Condition, Guards
from .reports import Ending, Overall
from .sealing import cleanup_of, envelope, result, sound
from .workload import objects, reporters
from .world import World

Object = dict[str, Any]
log = structlog.get_logger(__name__)
ALL_LOG_BYTES = 16 * 1024 * 1024
# What a run's status says by itself: a result that tested nothing would only hide it.
ENDINGS = ("launch_failed", "deadline_exceeded", "evicted", "workload_failed")


@dataclass(frozen=True, slots=True)
class Steps:
    """api: with the rights of the controller. username: its own, as the API server gives it. log_bytes: of each pod.

    pod_files: where pods leave files; None where they write to the store themselves.
    """

    api: WritingApi
    store: ArtifactStore
    cluster: str
    username: str
    log_bytes: int = 256 * 1024
    pod_files: PodFiles | None = None
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def take(self, action: Action, world: World, ready: Condition, guards: Guards) -> tuple[str, str] | None:
        """Takes one step; (reason, sentence) of the event that it is worth. Raises ClusterError, ArtifactError."""
        match action:
            case Launch():
                return self._launch(world, ready, guards)
            case Settle(entry, create):
                return self._settle(world, entry, create=create)
            case Record(changes, event):
                self._write(world, changes)
                return event
            case Collect():
                return self._collect(world)
            case Delete(entries):
                for entry in entries:
                    self._delete(world, entry)
            case Seal():
                return self._seal(world)
        return None

    def _write(self, world: World, changes: Object) -> Object:
        """Merges into the status, and only into the version that was looked at."""
        metadata = world.run["metadata"]
        alive = {"lastObservedAt": format_time(self.clock()), "observedGeneration": metadata.get("generation", 1)}
        body = {"metadata": {"resourceVersion": metadata["resourceVersion"]}, "status": alive | changes}
        return self.api.patch(names.own_path(RUN, *world.key) + "/status", body)

    def _launch(self, world: World, ready: Condition, guards: Guards) -> tuple[str, str] | None:
        now = self.clock()
        if now > queue_deadline(world):
            late = end(world, now, "deadline_exceeded", "It was taken up only after its time in the queue was over.")
            self._write(world, late.changes)
            return late.event
        nodes = self.api.select("/api/v1/nodes")
        if found := faults(world, ready, nodes, self._refused(world, guards)):
            refused = end(world, now, "launch_failed", "; ".join(found))
            self._write(world, refused.changes)
            return "Refused", refused.changes["message"]
        ledger = [
            {"apiVersion": item["apiVersion"], "kind": item["kind"], "name": item["metadata"]["name"]}
            for item in self._objects(world)
        ]
        cleanup = {"state": "unknown", "owned": ledger, "remaining": []}
        deadline = format_time(queue_deadline(world))
        self._write(world, {"phase": "Pending", "cleanup": cleanup, "deadlineAt": deadline})
        return None

    def _refused(self, world: World, guards: Guards) -> str:
        """Why the requester may not create Jobs here. Admission has asked with all groups of theirs, where it is in
        force; by the name alone it can only be asked again."""
        requester = world.run["spec"]["requestedBy"]
        if guards.runs_by_right:
            return ""
        review = self.api.create(
            "/apis/authorization.k8s.io/v1/subjectaccessreviews", review_of(requester, world.key[0])
        )
        if section(review, "status").get("allowed") is True:
            return ""
        return f"{requester} may not create Jobs in {world.key[0]}."

    def _objects(self, world: World) -> list[Object]:
        registration = world.registration
        assert registration and registration.spec and registration.template and registration.template.spec
        assert world.spec is not None and world.namespace is not None
        return objects(world.run, world.spec, registration.spec, registration.template.spec, world.namespace)

    def _settle(self, world: World, entry: Object, *, create: bool) -> tuple[str, str] | None:
        """Gives an entry of the ledger its UID: creates the object, or finds the one that is there to be the run's own.

        What stands under the name and is not the run's own is left alone, and is no longer in the ledger.
        """
        path = names.path_of_kind(entry["apiVersion"], entry["kind"], world.key[0])
        if not create:
            there = self.api.get(f"{path}/{entry['name']}")
            own = there is not None and names.is_owned_by(there, world.uid)
            self._enter(world, entry, there if own else None)
            return None
        wanted = next(item for item in self._objects(world) if _same(item, entry))
        try:
            made: Object | None = self.api.create(path, wanted)
        except AlreadyExists:
            made = self.api.get(f"{path}/{entry['name']}")
            if made is None or not names.is_owned_by(made, world.uid):
                words = f"There is another {entry['kind']} {entry['name']} that is not of this run."
                return self._refuse(world, words)
            if not self._is_as_wanted(path, made, wanted):
                # Whoever wrote this run's owner reference gave it away: it is removed with the run.
                words = f"{entry['kind']} {entry['name']} was there, and is not what this run would have created."
                return self._refuse(world, words, self._entered(world, entry, made))
        except Conflict:
            raise  # the API server asks to try again, as it does where quotas are counted
        except (Refusal, Forbidden) as error:
            return self._refuse(world, f"{entry['kind']} {entry['name']}: {error}")
        self._enter(world, entry, made)
        return None

    def _is_as_wanted(self, path: str, there: Object, wanted: Object) -> bool:
        """Whether an object is what creating it would have given: anybody may know its name, and an owner reference is
        quickly written."""
        probe = wanted | {
            "metadata": wanted["metadata"] | {"name": "probe-" + wanted["metadata"]["labels"][names.RUN_ID]}
        }
        return _comparable(there) == _comparable(self.api.create_as_if(path, probe))

    def _refuse(self, world: World, words: str, more: Object | None = None) -> tuple[str, str]:
        self._write(world, end(world, self.clock(), "launch_failed", words).changes | (more or {}))
        return "LaunchFailed", words

    def _enter(self, world: World, entry: Object, item: Object | None) -> None:
        self._write(world, self._entered(world, entry, item))

    def _entered(self, world: World, entry: Object, item: Object | None) -> Object:
        """The ledger with the UID of an entry; without the entry where there is no such object."""
        uid = text(section(item, "metadata"), "uid")
        owned = [each for each in world.ledger if item is not None or not _same_entry(each, entry)]
        owned = [(each | {"uid": uid}) if _same_entry(each, entry) else each for each in owned]
        changes: Object = {"cleanup": section(world.status, "cleanup") | {"owned": owned}}
        if item is not None and entry["kind"] == "Job":
            changes["job"] = {"name": entry["name"], "uid": uid}
        return changes

    def _delete(self, world: World, entry: Object) -> None:
        path = names.path_of_kind(entry["apiVersion"], entry["kind"], world.key[0], entry["name"])
        with contextlib.suppress(NotFound, Conflict):  # gone, or another one by now: not ours to touch
            self.api.delete(path, entry["uid"])

    def _collect(self, world: World) -> tuple[str, str] | None:
        ended = reached(world, ENDED)
        at = parse_time(ended.get("lastTransitionTime")) or self.clock()
        pods = sorted((pod_from(item) for item in world.pods), key=lambda pod: (pod.rank is None, pod.rank or 0))
        seen = targets(world.status.get("targets") or [], pods, world.nodes)
        ending = Ending(text(world.status, "reason"), text(world.status, "message"))
        found = self._findings(world, seen, pods, ending)
        changes: Object = {"phase": "Cleaning", "targets": seen or None}
        changes |= {"reason": found.overall.reason, "message": found.overall.message[:1024]}
        changes["cleanup"] = section(world.status, "cleanup") or {"state": "unknown", "owned": [], "remaining": []}
        body = self._draft(world, found, pods, at)
        stored = put(self.store, canonical(body)) if body is not None else None
        changes["conditions"] = [
            ended or milestone(ENDED, at),
            milestone(COLLECTED, at, stored.sha256 if stored else ""),
        ]
        self._write(world, changes)
        return "Collected", found.overall.message or found.overall.reason

    def _findings(self, world: World, seen: list[Object], pods: list[Pod], ending: Ending) -> Findings:
        registration = world.registration
        spec = registration.spec if registration else None
        template = registration.template.spec if registration and registration.template else None
        count = spec.targets.count if spec else max(1, len(seen))
        ranks = reporters(template) if template else count
        if world.spec is None:  # never launched, so nothing was seen
            return Findings([], Overall("unknown", ending.reason, ending.message), {})
        return findings(world.spec, count, ranks, seen, pods, world, ending)

    def _draft(self, world: World, found: Findings, pods: list[Pod], at: datetime) -> Object | None:
        """None where there is nothing to publish: nothing was tested, or nobody could say of which check."""
        registration = world.registration
        if registration is None or registration.spec is None or world.spec is None:
            return None
        if not found.targets and found.overall.reason in ENDINGS:
            return None
        support = [item for (kind, _), item in world.owned.items() if kind != "Job"]
        limit = min(self.log_bytes, ALL_LOG_BYTES // max(1, len(pods)))
        logs = evidence.logs([(pod, self._log(world, pod, limit)) for pod in pods], limit)
        pieces = [
            ("manifest", evidence.manifest(world.job, support), "application/json"),
            ("logs", logs, "text/plain"),
            ("placement", evidence.placement(found.targets), "application/json"),
            ("image-receipt", evidence.image_receipt(pods), "application/json"),
        ]
        items = [evidence_item(name, put(self.store, data), kind, at) for name, data, kind in pieces]
        taken = {item["name"] for item in items} | {"cleanup"}
        reported = reported_evidence(found, taken, self.store.uri, at)
        self._bring(world, found, {item["sha256"] for item in reported})
        items += reported
        return draft(world, world.spec, registration.spec, found, items, self.cluster)

    def _bring(self, world: World, found: Findings, wanted: set[str]) -> None:
        """Stores what the pods left on their volume, each digest once; without one they wrote to the store itself."""
        for rank, report in found.reported if self.pod_files and world.spec else ():
            for item in report.evidence:
                if item.sha256 in wanted and self.pod_files and world.spec:
                    why = self.pod_files.bring(self.store, world.key[0], world.spec.run_id, rank, item)
                    if why:
                        log.warning("evidence of a pod not stored", rank=rank, name=item.name, why=why)
                    else:
                        wanted.discard(item.sha256)

    def _log(self, world: World, pod: Pod, limit: int) -> bytes | str:
        if pod.started_at is None:
            return "the container never started"
        path = names.path_of_kind("v1", "Pod", world.key[0], pod.name)
        try:
            return self.api.log(path, pod.container, limit)
        except ClusterError as error:
            return f"no log: {error}"

    def _seal(self, world: World) -> tuple[str, str] | None:
        status = world.status
        body = self._stored_draft(world)
        changes: Object = {"phase": "Sealed"}
        event: tuple[str, str] = ("SealedWithoutResult", f"Nothing was tested: {text(status, 'message')}"[:1000])
        if body is not None:
            cleanup = put(self.store, evidence.cleanup(cleanup_of(status), text(status, "message")))
            sealed = sound(envelope(body, world.run, cleanup))
            item = result(sealed, world.run, self.username)
            published = self._publish(world, item)
            if isinstance(published, str):
                event = ("SealedWithoutResult", published)
                changes["message"] = published[:1024]
            else:
                metadata = published["metadata"]
                changes["resultRef"] = {"name": metadata["name"], "uid": metadata["uid"]}
                changes |= {"reason": sealed["reason"], "message": sealed["message"]}
                event = ("Sealed", f"{sealed['outcome']}: {sealed['message'] or sealed['reason']}"[:1000])
        self._write(world, changes)
        return event

    def _stored_draft(self, world: World) -> Object | None:
        sha256 = text(reached(world, COLLECTED), "message")
        data = self.store.read(sha256) if sha256 else None
        return json.loads(data) if data is not None else None

    def _publish(self, world: World, item: Object) -> Object | str:
        """The result that stands under the name: the one just made, or the same bytes from before. A sentence where
        there is none, or another one."""
        path = names.own_path(RESULT, world.key[0])
        try:
            return self.api.create(path, item)
        except AlreadyExists:
            there = self.api.get(f"{path}/{item['metadata']['name']}")
            if there is not None and section(there, "spec") == item["spec"]:
                return there
            return f"A result {item['metadata']['name']} with other bytes is there already: it was left as it is."
        except Conflict:
            raise
        except (Refusal, Forbidden) as error:
            return f"The result was refused: {error}"


def _same(item: Object, entry: Object) -> bool:
    return (item["kind"], item["metadata"]["name"]) == (entry["kind"], entry["name"])


def _same_entry(one: Object, other: Object) -> bool:
    return (one["kind"], one["name"]) == (other["kind"], other["name"])


def _comparable(item: Object) -> Object:
    """A spec without what the API server makes up for each object, and without what Kueue sets when it admits a Job."""
    spec: Object = json.loads(json.dumps(section(item, "spec")))
    pod = section(section(spec, "template"), "spec")
    if pod:
        spec["template"] = {key: value for key, value in pod.items() if key not in ("nodeSelector", "tolerations")}
        for made_up in ("selector", "suspend"):
            spec.pop(made_up, None)
    return spec

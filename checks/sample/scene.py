"""One check of the sample: its registration, and the runs and results that it left.

A scenario starts from a run that passed (`attempt`), changes the one thing it is about, and seals it (`seal`).
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from ..contract.clock import format_time
from ..contract.document import canonical, digest, digest_of
from ..contract.envelope import SCHEMA
from ..contract.kinds import API_VERSION, GROUP, RESULT, RUN, SYSTEM_NAMESPACE
from .families import Family, Measured
from .nodes import Machine
from .objects import Object, hexes, uid
from .registration import CONTROLLER, check_spec, publisher, registration, user
from .templates import image


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds from a run's creation to each of its steps."""

    queued: float = 2
    admitted: float = 43
    started: float = 49
    completed: float = 219
    cleaned: float = 223
    sealed: float = 232

    @classmethod
    def of(cls, family: Family, seed: str) -> "Pace":
        """The usual pace of a family: a wait that varies, then its work."""
        wait = 4 + int(hexes(seed, "wait", length=2), 16) % 90
        done = wait + 6 + family.seconds
        return cls(2, wait, wait + 6, done, done + 5, done + 12)


@dataclass(slots=True)
class Attempt:
    """One run and what it is about to publish; everything in it may still be changed. files: evidence by name."""

    run: Object
    envelope: Object
    files: dict[str, bytes]

    @property
    def status(self) -> Object:
        """The run's status."""
        return self.run["status"]  # type: ignore[no-any-return]

    def say(self, outcome: str, reason: str, message: str, **data: Any) -> None:
        """States another outcome, of every target too, and details that go with it."""
        self.envelope.update(outcome=outcome, reason=reason, message=message)
        self.envelope["details"]["data"].update(data)
        for target in self.envelope["targets"]["observed"]:
            target["outcome"] = outcome


@dataclass
class Scene:
    """The place of one check and what has been written of it.

    evidence: files by sha256, None for one that cannot be read. digest: of the spec that its runs were started with.
    """

    cluster: str
    namespace: str
    name: str
    family: Family
    machines: tuple[Machine, ...]
    now: datetime
    title: str = ""
    past: int = 0
    objects: list[Object] = field(default_factory=list)
    evidence: dict[str, bytes | None] = field(default_factory=dict)
    digest: str = ""
    _check: Object | None = None

    @property
    def check(self) -> Object:
        """The registration; an approved one where the scenario has not made its own."""
        return self._check or self.register()

    def spec(self) -> Object:
        """The registration's spec as its family has it."""
        return check_spec(self.family, self.title, self.machines[0].pool.name)

    def register(
        self, spec: Object | None = None, approved: str | None = "", rejected: str | None = None, days: float = 30
    ) -> Object:
        """Writes the registration. approved: the digest that was approved; "" for this one, None for none."""
        spec = spec or self.spec()
        self.digest = digest(spec)
        place = (self.cluster, self.namespace, self.name)
        marked = self.digest if approved == "" else approved
        self._check = registration(place, spec, marked, rejected, self.before(days=days))
        self.objects.append(self._check)
        return self._check

    def before(self, **delta: float) -> str:
        """The time that is so long before now, as text."""
        return format_time(self.now - timedelta(**delta))

    def start(self, created: datetime, pace: Pace, *, trigger: str = "Schedule", by: str = "") -> Object:
        """A run that was just asked for; not yet part of the scene."""
        metadata, seed = self.check["metadata"], (self.cluster, self.namespace, self.name, format_time(created))
        run_id = hexes(*seed, length=24)
        spec = {
            "checkRef": {
                "name": self.name,
                "uid": metadata["uid"],
                "specDigest": self.digest,
            },
            "runID": run_id,
            "attempt": 1,
            "trigger": trigger,
            "requestedBy": by or user(CONTROLLER),
            "parameters": {},
        }
        limit = pace.started + 4 * max(900, pace.completed - pace.started)
        status = {
            "phase": "Pending",
            "deadlineAt": format_time(created + timedelta(seconds=limit)),
            "lastObservedAt": format_time(created),
        }
        return {
            "apiVersion": API_VERSION,
            "kind": RUN,
            "metadata": {
                "name": f"{self.name}-{run_id}",
                "namespace": self.namespace,
                "uid": uid(*seed, "run"),
                "creationTimestamp": format_time(created),
                "labels": {f"{GROUP}/check": self.name},
            },
            "spec": spec,
            "status": status,
        }

    def attempt(self, created: datetime, pace: Pace | None = None, **asked: str) -> Attempt:
        """A run that passed, with its envelope; not yet sealed."""
        seed = "/".join((self.cluster, self.namespace, self.name, format_time(created)))
        pace = pace or Pace.of(self.family, seed)
        run = self.start(created, pace, **asked)
        steps = {name: format_time(created + timedelta(seconds=getattr(pace, name))) for name in Pace.__slots__}
        owned = self.owned(run)
        job = next((item for item in owned if item["kind"] == "Job"), None)
        run["status"] |= {
            "phase": "Sealed",
            **{f"{name}At": at for name, at in steps.items()},
            "lastObservedAt": steps["sealed"],
            "cleanup": {"state": "complete", "owned": owned, "remaining": []},
            "targets": self.targets(run, observed=False),
        }
        if job:
            run["status"]["job"] = {"name": job["name"], "uid": job["uid"]}
            run["status"]["workload"] = {
                "name": f"job-{job['name']}"[:63],
                "uid": uid(run["metadata"]["uid"], "workload"),
            }
        found = self.family.measure(self.machines, seed)
        return Attempt(run, self._envelope(run, steps, owned, found), self._files(run, found))

    def seal(self, attempt: Attempt, *, by: str = "") -> Object:
        """Writes evidence, run and result; the result is returned, to be tampered with."""
        run, envelope = attempt.run, attempt.envelope
        for item in envelope["evidence"]:
            content = attempt.files[item["name"]]
            item["sha256"], item["sizeBytes"] = digest_of(content).removeprefix("sha256:"), len(content)
            self.evidence.setdefault(item["sha256"], content)
        name = f"{run['metadata']['name']}-{run['spec']['attempt']}"
        result: Object = {
            "apiVersion": API_VERSION,
            "kind": RESULT,
            "metadata": {
                "name": name,
                "namespace": self.namespace,
                "uid": uid(run["metadata"]["uid"], "result"),
                "creationTimestamp": envelope["times"]["observed"],
                "labels": {f"{GROUP}/check": self.name},
            },
            "spec": {
                "publisher": {"username": by or user(publisher(self.family))},
                "digest": digest(envelope),
                "envelope": envelope,
            },
        }
        run["status"]["resultRef"] = {"name": name, "uid": result["metadata"]["uid"]}
        self.objects += [run, result] if self.family.template else [result]
        return result

    def owned(self, run: Object) -> list[Object]:
        """The objects that a run creates."""
        kinds = [("batch/v1", "Job")]
        if self.family.count > 1:
            kinds += [("v1", "Service"), ("networking.k8s.io/v1", "NetworkPolicy")]
        name, seed = run["metadata"]["name"], run["metadata"]["uid"]
        return [{"apiVersion": api, "kind": kind, "name": name, "uid": uid(seed, kind)} for api, kind in kinds]

    def targets(self, run: Object, *, observed: bool) -> list[Object]:
        """The targets as the run's status lists them, or as the envelope does."""
        found = []
        for rank, machine in enumerate(self.machines):
            target: Object = {"kind": "Node", "name": machine.name, "uid": machine.uid, "bootID": machine.boot_id}
            target |= {"podUID": uid(run["metadata"]["uid"], "pod", rank), "rank": rank}
            if observed:
                gpus: int = self.family.resource.get("perTarget", 0)
                target |= {
                    "providerID": machine.provider_id,
                    "machineID": machine.machine_id,
                    "systemUUID": machine.system_uuid,
                    "image": image(self.family.template or "fabric-sweeper"),
                    "accelerators": [{"kind": "gpu", "id": f"GPU-{uid(machine.uid, gpu)}"} for gpu in range(gpus)],
                    "outcome": "passed",
                }
            found.append(target)
        return found

    def _envelope(self, run: Object, steps: dict[str, str], owned: list[Object], found: Measured) -> Object:
        metadata, spec, check = run["metadata"], run["spec"], self.check
        captured, sealed = steps["completed"], steps["sealed"]
        fresh = self.family.fresh_hours * 3600
        until = datetime.fromisoformat(sealed) + timedelta(seconds=fresh)
        uri = f"https://artifacts.example/tau/v2/project=validation/experiment=_/group={self.name}/run={spec['runID']}"
        return {
            "schema": SCHEMA,
            "check": {
                "type": self.family.type,
                "version": self.family.version,
                **spec["checkRef"],
            },
            "run": {
                "id": spec["runID"],
                "uid": metadata["uid"],
                "attempt": spec["attempt"],
                "trigger": spec["trigger"],
                "requestedBy": spec["requestedBy"],
            },
            "scope": {
                "cluster": self.cluster,
                "workspace": None if self.namespace == SYSTEM_NAMESPACE else self.namespace,
                "namespace": self.namespace,
            },
            "targets": {
                "requested": {"count": check["spec"]["targets"]["count"], "nodes": None},
                "observed": self.targets(run, observed=True),
            },
            "times": {
                "created": metadata["creationTimestamp"],
                **{name: steps[name] for name in ("queued", "admitted", "started", "completed", "cleaned")},
                "observed": sealed,
            },
            "freshForSeconds": fresh,
            "validUntil": format_time(until),
            "outcome": "passed",
            "reason": "validation_passed",
            "message": found.message,
            "errors": [],
            "cleanup": {"state": "complete", "owned": owned, "remaining": []},
            "evidence": [
                {
                    "name": name,
                    "uri": f"{uri}/{name}",
                    "sha256": "",
                    "sizeBytes": 0,
                    "mediaType": kind,
                    "capturedAt": captured,
                }
                for name in self.family.evidence
                for kind in [_MEDIA.get(name, "application/json")]
            ],
            "producer": {"name": publisher(self.family)[1], "version": "0.1.0"},
            "parser": {"name": self.family.schema.partition(".")[0], "version": "1.0.0"},
            "details": {"schema": self.family.schema, "data": found.data},
        }

    def _files(self, run: Object, found: Measured) -> dict[str, bytes]:
        """What evidence holds. Files that say the same in every run are the same file."""
        template = self.family.template or "fabric-sweeper"
        where = [{"rank": rank, "node": machine.name, "uid": machine.uid} for rank, machine in enumerate(self.machines)]
        return {
            "manifest": f"kind: Job\ntemplate: {template}\ncheck: {self.namespace}/{self.name}\n".encode(),
            "logs": found.log.encode(),
            "placement": canonical(where),
            "image-receipt": canonical({"image": image(template)}),
            "cleanup": canonical({"remaining": []}),
        }


_MEDIA = {"manifest": "application/yaml", "logs": "text/plain"}

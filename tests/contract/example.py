"""The published example dump, to be changed by one fact at a time and sealed again."""

import copy
import hashlib
import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from checks.contract.clock import format_time, parse_time
from checks.contract.document import digest
from checks.contract.kinds import APPROVED, CHECK, RESULT, RUN, TEMPLATE
from checks.dump import read_files

DUMP = Path(__file__).parents[2] / "examples" / "dump"
CLUSTER = "west-1"
Object = dict[str, Any]


def at(text: str) -> datetime:
    """The instant of a literal."""
    found = parse_time(text)
    assert found is not None
    return found


NOW = at("2026-11-30T08:24:00Z")
SEALED_AT = at("2026-11-30T05:12:00Z")
MICROSECOND = timedelta(microseconds=1)
_OBJECTS = [item.value for item in read_files([DUMP / "west-1.yaml"]) if item.value is not None]
_EVIDENCE = {path.name: path.read_bytes() for path in (DUMP / "evidence").iterdir()}


class Example:
    """The objects of the example (`head` is its TauDump) and the evidence files by the name they have in the folder."""

    def __init__(self) -> None:
        self.head, *self.objects = copy.deepcopy(_OBJECTS)
        self.evidence: dict[str, bytes] | None = dict(_EVIDENCE)

    def all(self, kind: str) -> list[Object]:
        return [item for item in self.objects if item["kind"] == kind]

    def one(self, kind: str, index: int = 0) -> Object:
        return self.all(kind)[index]

    def drop(self, item: Object) -> None:
        self.objects = [other for other in self.objects if other is not item]

    template = property(lambda self: self.one(TEMPLATE))
    check = property(lambda self: self.one(CHECK))
    run = property(lambda self: self.one(RUN))
    status = property(lambda self: self.run["status"])
    result = property(lambda self: self.one(RESULT))
    envelope = property(lambda self: self.result["spec"]["envelope"])
    namespace = property(lambda self: self.one("Namespace"))
    node = property(lambda self: self.one("Node"))
    policy = property(lambda self: self.one("ValidatingAdmissionPolicy"))
    binding = property(lambda self: self.one("ValidatingAdmissionPolicyBinding"))

    def seal(self) -> None:
        """Makes the digest of each result right for what its envelope is now."""
        for result in self.all(RESULT):
            result["spec"]["digest"] = digest(result["spec"]["envelope"])

    def approve(self) -> None:
        """Approves the registration and its template as they are now, and moves run and result along with them."""
        self.check["spec"]["launch"]["template"]["digest"] = digest(self.template["spec"])
        approved = digest(self.check["spec"])
        self.check["metadata"]["annotations"][APPROVED] = approved
        self.run["spec"]["checkRef"]["specDigest"] = approved
        self.envelope["check"]["specDigest"] = approved
        self.seal()

    def fail(self) -> None:
        """The check finds a fault on its first target."""
        self.envelope["targets"]["observed"][0]["outcome"] = "failed"
        self.envelope.update(
            {"outcome": "failed", "reason": "transport_failure", "message": "gpu-03 cannot reach gpu-12"}
        )
        self.seal()

    def observe(self, when: datetime) -> None:
        """Moves the end of the run and its validity, so that it was observed at `when`."""
        self.envelope["times"]["observed"] = format_time(when)
        self.envelope["validUntil"] = format_time(when + timedelta(seconds=self.envelope["freshForSeconds"]))
        self.seal()

    def activate(
        self, phase: str, *, alive: str = "2026-11-30T08:20:00Z", deadline: str = "2026-11-30T09:00:00Z"
    ) -> None:
        """The only run is still at work, and nothing is sealed."""
        self.drop(self.result)
        self.run["metadata"]["creationTimestamp"] = "2026-11-30T08:10:00Z"
        self.run["status"] = {"phase": phase, "lastObservedAt": alive, "deadlineAt": deadline}

    def end(self, reason: str | None, message: str | None = None) -> None:
        """The only run ended without a result."""
        self.drop(self.result)
        del self.status["resultRef"]
        self.status.update({key: value for key, value in (("reason", reason), ("message", message)) if value})

    def again(self, created: str = "2026-11-30T08:00:00Z", *, sealed: bool = False) -> "tuple[Object, Object | None]":
        """A newer run of the check, Running, or sealed with a result like the first one's; the two objects."""
        run = copy.deepcopy(self.run)
        name = run["metadata"]["name"].replace("7d0f", "8e1a")
        run["metadata"] |= {"name": name, "uid": "00000000-0000-4000-8000-0000000000a3", "creationTimestamp": created}
        run["spec"]["runID"] = run["spec"]["runID"].replace("7d0f", "8e1a")
        self.objects.append(run)
        if not sealed:
            alive = "2026-11-30T08:20:00Z"
            run["status"] = {"phase": "Running", "lastObservedAt": alive, "deadlineAt": "2026-11-30T09:00:00Z"}
            return run, None
        result = copy.deepcopy(self.result)
        result["metadata"] |= {"name": f"{name}-1", "uid": "00000000-0000-4000-8000-0000000000a4"}
        result["metadata"]["creationTimestamp"] = "2026-11-30T08:12:00Z"
        envelope = result["spec"]["envelope"]
        envelope["run"] |= {"id": run["spec"]["runID"], "uid": run["metadata"]["uid"]}
        for key, text in {**envelope["times"], "validUntil": envelope["validUntil"]}.items():
            moved = format_time(at(text) + timedelta(hours=3))
            (envelope if key == "validUntil" else envelope["times"])[key] = moved
        envelope["times"]["created"] = created
        for item in envelope["evidence"]:
            item["capturedAt"] = format_time(at(item["capturedAt"]) + timedelta(hours=3))
        run["status"]["resultRef"] = {"name": f"{name}-1", "uid": result["metadata"]["uid"]}
        self.objects.append(result)
        self.seal()
        return run, result

    def keep_evidence(self, name: str, data: bytes | None) -> None:
        """Replaces the file of one piece of evidence, or removes it."""
        wanted = next(item["sha256"] for item in self.envelope["evidence"] if item["name"] == name)
        assert self.evidence is not None
        if data is None:
            del self.evidence[wanted]
        else:
            self.evidence[wanted] = data

    def write(self, folder: Path) -> tuple[Path, Path | None]:
        """The dump as JSON and the evidence folder, in `folder`."""
        dump = folder / "dump.json"
        dump.write_text("\n".join(json.dumps(item) for item in [self.head, *self.objects]))
        if self.evidence is None:
            return dump, None
        kept = folder / "evidence"
        kept.mkdir()
        for name, data in self.evidence.items():
            (kept / name).write_bytes(data)
        return dump, kept


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()

"""Generated cases of the verdict: the example's facts with any number of named changes, each known to do harm or not.

A failing case prints as the names of its changes and a time, so that it can be read and tried by hand.
"""

import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from checks.contract.clock import format_time
from checks.contract.envelope import read_envelope
from checks.contract.kinds import RunStatus
from checks.contract.parsing import parse
from checks.contract.problem import Problem
from checks.evidence.folder import verify_all
from checks.facts import Inventory, Node, Registration, Result, Run, Source, Verification, Verified
from checks.objects import labels_of, node_from, registration_from, result_from, run_from, template_from
from checks.snapshot import Snapshot
from checks.verdict import Verdict, evaluate
from tests.contract.example import CLUSTER, DUMP, NOW, SEALED_AT, Example

_EXAMPLE = Example()
_TEMPLATE = template_from(_EXAMPLE.template)
REGISTRATION = registration_from(_EXAMPLE.check, CLUSTER, _TEMPLATE, labels_of(_EXAMPLE.namespace))
RUN = run_from(_EXAMPLE.run)
RESULT = result_from(
    _EXAMPLE.result, verify_all(read_envelope(_EXAMPLE.envelope).envelope, DUMP / "evidence", SEALED_AT)
)
NODES = {item["metadata"]["name"]: (node_from(item),) for item in _EXAMPLE.all("Node")}
_SNAPSHOT = Snapshot(CLUSTER, NOW, True)
for _item in _EXAMPLE.objects:
    _SNAPSHOT.add(_item)
GUARD = _SNAPSHOT.guard()
_ENVELOPE, _STATUS = json.dumps(_EXAMPLE.envelope), json.dumps(_EXAMPLE.status)
_NUMBERS = itertools.count(0xF0)


def another() -> str:
    """A UID that nothing else has: two changes never agree with one another."""
    return f"00000000-0000-4000-8000-{next(_NUMBERS):012x}"


_RESULT_UID, _POD_UID = another(), another()


@dataclass
class World:
    """All inputs of one verdict, still to be changed. envelope: raw, read again where it was changed."""

    now: datetime = NOW
    registration: Registration | None = REGISTRATION
    run: Run | None = RUN
    result: Result | None = RESULT
    nodes: dict[str, tuple[Node, ...]] = field(default_factory=lambda: dict(NODES))
    source: Source = field(default_factory=lambda: Source(CLUSTER, True, NOW, GUARD))
    raw: dict[str, Any] = field(default_factory=lambda: dict(json.loads(_ENVELOPE)))
    status: dict[str, Any] = field(default_factory=lambda: dict(json.loads(_STATUS)))

    def seal(self) -> None:
        """The result is that of the raw envelope, with the right digest."""
        if self.result is not None:
            read = read_envelope(self.raw)
            problems = tuple(problem.below("/spec/envelope") for problem in read.problems)
            self.result = replace(
                self.result,
                envelope=read.envelope,
                digest=read.digest,
                stated_digest=read.digest,
                schema=read.schema,
                problems=problems,
            )

    def observe(self) -> None:
        """The run is what its raw status says."""
        if self.run is not None:
            item = _EXAMPLE.run | {"status": self.status}
            self.run = replace(run_from(item), spec=self.run.spec, uid=self.run.uid, gone=self.run.gone)

    @property
    def inventory(self) -> Inventory:
        return Inventory(self.nodes)

    def verdict(self, now: datetime | None = None) -> Verdict:
        return evaluate(self.registration, self.run, self.result, self.inventory, self.source, now or self.now)


@dataclass(frozen=True)
class Change:
    """One named change. harm: it must never leave a case Passed. touches: what it replaces; two changes of one thing
    could undo each other."""

    name: str
    harm: bool
    touches: str
    apply: Callable[[World], None]

    def __repr__(self) -> str:
        return self.name


CHANGES: list[Change] = []


def _registration(name: str, /, harm: bool = True, **fields: Any) -> None:
    def apply(world: World) -> None:
        if world.registration is not None:
            world.registration = replace(world.registration, **fields)

    CHANGES.append(Change(f"registration {name}", harm, f"registration {'/'.join(fields)}", apply))


def _run(name: str, touches: str, change: Callable[[dict[str, Any]], Any], harm: bool = True) -> None:
    def apply(world: World) -> None:
        change(world.status)
        world.observe()

    CHANGES.append(Change(f"run {name}", harm, f"run {touches}", apply))


def _envelope(name: str, touches: str, change: Callable[[dict[str, Any]], Any], harm: bool = True) -> None:
    def apply(world: World) -> None:
        change(world.raw)
        world.seal()

    CHANGES.append(Change(f"envelope {name}", harm, f"envelope {touches}", apply))


def _result(name: str, /, harm: bool = True, **fields: Any) -> None:
    def apply(world: World) -> None:
        if world.result is not None:
            world.result = replace(world.result, **fields)

    CHANGES.append(Change(f"result {name}", harm, f"envelope {'/'.join(fields)}", apply))


def _world(name: str, touches: str, apply: Callable[[World], None], harm: bool = True) -> None:
    CHANGES.append(Change(name, harm, touches, apply))


_registration("without spec", spec=None, problems=(Problem("/spec", "nothing", "this field"),))
_registration("approved for another digest", approved="sha256:" + "0" * 64)
_registration("approved by an empty word", approved="")
_registration("not approved", approved=None)
_registration("changed after approval", digest="sha256:" + "2" * 64)
_registration("rejected", rejected="sha256:" + "0" * 64)
_registration("rejected silently", rejected="")
_registration("reviewed by nobody", reviewed_by=None)
_registration("template gone", template=None)
_registration("template changed", template=replace(_TEMPLATE, digest="sha256:" + "3" * 64))
_registration("template unreadable", template=replace(_TEMPLATE, spec=None))
_registration("namespace unknown", namespace_labels=None)
_registration("namespace without labels", namespace_labels={})
_registration("twice", ambiguous=True)
_registration("made again", uid=another())
_registration("in another cluster", cluster="west-2")
_registration("in another namespace", namespace="team-audio")
_registration("under another name", name="ib-triple")
_registration("from the future", created_at=datetime.fromisoformat("2030-01-01T00:00:00+00:00"))
_registration("created at an unknown time", harm=False, created_at=None)

for _phase in ("Pending", "Queued", "Admitted", "Running", "Collecting", "Cleaning", "Archived", ""):
    _run(f"in phase {_phase or 'nothing'}", "phase", partial(dict.update, phase=_phase))
_run("pointing elsewhere", "resultRef", lambda status: status["resultRef"].update(uid=_RESULT_UID))
_run("pointing nowhere", "resultRef", lambda status: status.pop("resultRef", None))
_run("without cleanup", "cleanup", lambda status: status.pop("cleanup", None))
_run("cleanup unknown", "cleanup", lambda status: status.update(cleanup={"state": "unknown"}))
_run("cleanup incomplete", "cleanup", lambda status: status.update(cleanup={"state": "incomplete"}))
_run("with a Job left", "cleanup", lambda status: status.update(cleanup={"state": "complete", "remaining": [{}]}))
_run("without targets", "targets", lambda status: status.pop("targets", None))
_run("with one target", "targets", lambda status: status["targets"].pop())
_run("with another pod", "targets", lambda status: status["targets"][0].update(podUID=_POD_UID))
_run("with another rank", "targets", lambda status: status["targets"][0].update(rank=5))
_run("sealed in the future", "sealedAt", lambda status: status.update(sealedAt="2030-01-01T00:00:00Z"))
_run("sealed at no time", "sealedAt", lambda status: status.update(sealedAt="today"))
_run("unreadable", "message", lambda status: status.update(message=5))
_run("with a status of the future", "unknown", lambda status: status.update(reviewedIn="2040"), harm=False)
_run("with a reason", "reason", lambda status: status.update(reason="workload_failed"), harm=False)

for _path, _value in (
    ("schema", "tau.validation-result.v2"),
    ("check/type", "a.example/b"),
    ("check/version", "9"),
    ("check/name", "ib-triple"),
    ("check/uid", another()),
    ("check/specDigest", "sha256:" + "0" * 64),
    ("run/id", "0" * 24),
    ("run/uid", another()),
    ("run/attempt", 2),
    ("run/trigger", "Manual"),
    ("run/requestedBy", "mallory"),
    ("scope/cluster", "west-2"),
    ("scope/workspace", None),
    ("scope/namespace", "team-audio"),
    ("targets/requested/count", 1),
    ("targets/requested/count", 3),
    ("targets/requested/nodes", ["gpu-03", "gpu-99"]),
    ("targets/observed/0/uid", None),
    ("targets/observed/0/uid", another()),
    ("targets/observed/0/bootID", another()),
    ("targets/observed/0/systemUUID", another()),
    ("targets/observed/0/podUID", None),
    ("targets/observed/1/rank", 0),
    ("targets/observed/1/rank", None),
    ("targets/observed/1/outcome", "failed"),
    ("targets/observed/1/outcome", "unknown"),
    ("targets/observed", []),
    ("times/created", "2026-11-30T05:08:00+00:00"),
    ("times/started", None),
    ("times/started", "2026-11-30T05:08:00.5Z"),
    ("times/completed", "2026-11-30T05:08:48Z"),
    ("times/cleaned", None),
    ("times/observed", "2026-11-30T05:11:00Z"),
    ("times/observed", "2026-12-01T05:12:00Z"),
    ("validUntil", "2026-12-02T05:12:00Z"),
    ("validUntil", "never"),
    ("freshForSeconds", 0),
    ("outcome", "failed"),
    ("outcome", "unknown"),
    ("outcome", "skipped"),
    ("reason", "Proved"),
    ("errors", ["a fault"]),
    ("cleanup/state", "unknown"),
    ("cleanup/state", "incomplete"),
    ("cleanup/remaining", Example().envelope["cleanup"]["owned"]),
    ("evidence", []),
    ("evidence/0/name", "logs"),
    ("evidence/0/name", "another"),
    ("evidence/0/uri", "https://a.example/x?y"),
    ("evidence/0/sha256", "A" * 64),
    ("evidence/0/capturedAt", "2026-11-30T05:12:01Z"),
    ("details/schema", "other.v1"),
    ("message", "password=hunter22"),
    ("extra", 1),
):

    def _set(raw: dict[str, Any], path: str = _path, value: Any = _value) -> None:
        *steps, last = [int(step) if step.isdigit() else step for step in path.split("/")]
        inner: Any = raw
        for step in steps:
            inner = {} if isinstance(step, int) and step >= len(inner) else inner[step]
        inner[last] = value

    _envelope(f"{_path} = {_value!r:.40}", _path.split("/")[0], _set)
_envelope("with another message", "message", lambda raw: raw.update(message="fine"), harm=False)
_envelope("without details", "details", lambda raw: raw.update(details=None), harm=False)
_envelope("without a parser", "parser", lambda raw: raw.update(parser=None), harm=False)
_envelope("never queued", "times", lambda raw: raw["times"].update(queued=None), harm=False)
_envelope(
    "that gives the nodes",
    "targets",
    lambda raw: raw["targets"]["requested"].update(nodes=["gpu-12", "gpu-03"]),
    harm=False,
)
_envelope("with a word of the verdict", "reason", lambda raw: raw.update(reason="expired"), harm=False)

_result("digest of other bytes", stated_digest="sha256:" + "0" * 64)
_result("without digest", stated_digest="")
_result("by another publisher", publisher="system:serviceaccount:team-vision:default")
_result("by nobody", publisher="")
_result("in another namespace", namespace="team-audio")
_result("with another name", name="ib-pair-1")
_result("with another uid", uid=another())
_result("in conflict", conflict=True)
_result("deleted", gone=True)
_result("created at an unknown time", created_at=None)
_result("created long before it was observed", created_at=datetime.fromisoformat("2026-11-30T05:00:00+00:00"))
for _state in (Verification.MISSING, Verification.MISMATCH, Verification.UNVERIFIED):
    _result(f"evidence {_state}", evidence={**RESULT.evidence, "logs": Verified(_state)})
_result("evidence never read", evidence={})
_READ = {
    "until later": (True, {"until": NOW + timedelta(days=400)}),
    "at an unknown time": (True, {"at": None}),
    "long ago": (False, {"until": SEALED_AT - timedelta(microseconds=1)}),
    "in the future": (False, {"at": NOW + timedelta(days=400)}),
}
for _name, (_counts, _times) in _READ.items():
    _changed = {name: replace(read, **_times) for name, read in RESULT.evidence.items()}  # type: ignore[arg-type]
    _result(f"evidence read {_name}", harm=not _counts, evidence=_changed)

_world("no registration", "registration", lambda world: setattr(world, "registration", None))
_world("no run", "run", lambda world: setattr(world, "run", None))
_world("no result", "result", lambda world: setattr(world, "result", None))
_world("neither run nor result", "run", lambda world: world.__dict__.update(run=None, result=None))


def _node(name: str, harm: bool = True, *nodes: Node) -> None:
    def apply(world: World) -> None:
        world.nodes["gpu-03"] = nodes

    CHANGES.append(Change(f"node {name}", harm, "node", apply))


_NODE = NODES["gpu-03"][0]
_node("gone", True)
_node("replaced", True, replace(_NODE, uid=another()))
_node("rebooted", True, replace(_NODE, boot_id=another()))
_node("without boot", True, replace(_NODE, boot_id=""))
_node("on another machine", True, replace(_NODE, system_uuid=another()))
_node("read twice", True, _NODE, replace(_NODE, uid=another()))
_node("without a machine id", False, replace(_NODE, machine_id="", provider_id=""))


def _source(name: str, /, harm: bool = True, **fields: Any) -> None:
    def apply(world: World) -> None:
        world.source = replace(world.source, **fields)

    CHANGES.append(Change(f"source {name}", harm, "source", apply))


_source("incomplete", complete=False)
_source("never seen", heartbeat_at=None)
_source("seen long ago", heartbeat_at=NOW - timedelta(days=400))
_source("seen in the future", heartbeat_at=NOW + timedelta(days=400))
_source("without guard", guard=replace(GUARD, in_force=False, why="it is not there"))
assert parse(RunStatus, _EXAMPLE.status).value is not None


@dataclass
class Case:
    """A world with the changes that made it."""

    changes: tuple[Change, ...]
    now: datetime

    def world(self) -> World:
        world = World(now=self.now, source=Source(CLUSTER, True, self.now, GUARD))
        for change in self.changes:
            change.apply(world)
        return world

    def __repr__(self) -> str:
        return f"[{'; '.join(map(repr, self.changes))}] at {format_time(self.now)}"

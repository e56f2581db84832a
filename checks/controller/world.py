"""What there is of one run now: read from the API server when it is needed, never remembered."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..cluster.writing import WritingApi
from ..contract.clock import parse_time
from ..contract.kinds import CHECK, RUN, TEMPLATE, RunSpec
from ..contract.parsing import parse
from ..facts import Registration
from ..objects import labels_of, registration_from, section, template_from, text
from . import names

Object = dict[str, Any]
_NODES_ONE_BY_ONE = 8


@dataclass(frozen=True, slots=True)
class World:
    """run, check, template, job, workload: the objects, None where there is none. spec: None where it breaks the
    contract.

    pods: those of the run's own Job. nodes: the ones that pods are on, by name; None for one that is gone.
    owned: what the ledger lists and is there, by (kind, name). foreign: what carries the run's label and is not its
    own. result: what stands under the name of the run's result.
    """

    run: Object
    spec: RunSpec | None
    check: Object | None
    template: Object | None
    registration: Registration | None
    namespace: Object | None
    job: Object | None = None
    workload: Object | None = None
    pods: tuple[Object, ...] = ()
    nodes: dict[str, Object | None] = field(default_factory=dict)
    owned: dict[tuple[str, str], Object] = field(default_factory=dict)
    foreign: tuple[Object, ...] = ()

    @property
    def status(self) -> Object:
        """The status as it is; empty before the first step."""
        return section(self.run, "status")

    @property
    def phase(self) -> str:
        """The phase on the wire."""
        return text(self.status, "phase") or "Pending"

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and name of the run."""
        metadata = self.run["metadata"]
        return metadata["namespace"], metadata["name"]

    @property
    def uid(self) -> str:
        """UID of the run."""
        return str(self.run["metadata"]["uid"])

    @property
    def ledger(self) -> list[Object]:
        """What the run owns, or is about to create (no UID yet)."""
        owned = section(self.status, "cleanup").get("owned")
        return list(owned) if isinstance(owned, list) else []

    def time(self, name: str) -> datetime | None:
        """A time of the status."""
        return parse_time(self.status.get(name))


def look(api: WritingApi, namespace: str, name: str, cluster: str) -> World | None:
    """The world of one run; None where the run is gone. Raises ClusterError."""
    run = api.get(names.own_path(RUN, namespace, name))
    if run is None:
        return None
    place = api.get(f"/api/v1/namespaces/{namespace}")
    check, template, registration = registered(api, namespace, run["spec"]["checkRef"]["name"], cluster, place)
    spec = parse(RunSpec, run["spec"], "/spec").value
    world = World(run, spec, check, template, registration, place)
    if world.phase == "Sealed":
        return world
    owned = {(entry["kind"], entry["name"]): item for entry, item in _owned(api, world) if item is not None}
    job = owned.get(("Job", job_name(world)))
    pods, foreign = _labelled(api, world, owned, text(section(job, "metadata"), "uid") or job_uid(world))
    return World(
        run,
        spec,
        check,
        template,
        registration,
        place,
        job=job,
        workload=_workload(api, namespace, job),
        pods=tuple(pods),
        nodes=_nodes(api, {text(section(pod, "spec"), "nodeName") for pod in pods} - {""} | _seen(world)),
        owned=owned,
        foreign=tuple(foreign),
    )


def registered(
    api: WritingApi, namespace: str, name: str, cluster: str, place: Object | None
) -> tuple[Object | None, Object | None, Registration | None]:
    """A check, the template that it names, and the facts of both. Raises ClusterError."""
    check = api.get(names.own_path(CHECK, namespace, name))
    if check is None:
        return None, None, None
    named = text(section(section(section(check, "spec"), "launch"), "template"), "name")
    template = api.get(names.own_path(TEMPLATE, "", named)) if named else None
    facts = template_from(template) if template is not None else None
    return check, template, registration_from(check, cluster, facts, labels_of(place) if place else None)


def job_name(world: World) -> str:
    """The Job has the run's own name."""
    return str(world.run["metadata"]["name"])


def job_uid(world: World) -> str:
    """The UID of the run's Job as the ledger has it, "" before it was created."""
    return text(section(world.status, "job"), "uid")


def _owned(api: WritingApi, world: World) -> Iterable[tuple[Object, Object | None]]:
    """Each entry of the ledger with the object, where it is there and still the same one."""
    for entry in world.ledger:
        item = api.get(names.path_of_kind(entry["apiVersion"], entry["kind"], world.key[0], entry["name"]))
        same = item is not None and text(section(item, "metadata"), "uid") == entry.get("uid")
        yield entry, item if same else None


def _labelled(
    api: WritingApi, world: World, owned: dict[tuple[str, str], Object], job: str
) -> tuple[list[Object], list[Object]]:
    """The pods of the run's Job, and whatever else carries the run's label without being its own."""
    pods, foreign = [], []
    own = {section(item, "metadata")["uid"] for item in owned.values()}
    kinds = names.OWNABLE if world.phase in ("Collecting", "Cleaning") else (("v1", "Pod"),)
    for api_version, kind in kinds:
        path = names.path_of_kind(api_version, kind, world.key[0])
        for item in api.select(path, labelSelector=f"{names.RUN_UID}={world.uid}"):
            if kind == "Pod" and job and names.is_owned_by(item, job):
                pods.append(item)
            elif section(item, "metadata")["uid"] not in own:
                foreign.append(item | {"kind": kind, "apiVersion": api_version})
    return pods, foreign


def _workload(api: WritingApi, namespace: str, job: Object | None) -> Object | None:
    if job is None:
        return None
    path = names.path_in("kueue.x-k8s.io/v1beta2", "workloads", namespace)
    found = api.select(path, labelSelector=f"{names.KUEUE_JOB_UID}={section(job, 'metadata')['uid']}")
    return found[0] if found else None


def _seen(world: World) -> set[str]:
    return {target["name"] for target in world.status.get("targets") or ()}


def _nodes(api: WritingApi, wanted: set[str]) -> dict[str, Object | None]:
    if len(wanted) > _NODES_ONE_BY_ONE:
        there = {section(node, "metadata")["name"]: node for node in api.select("/api/v1/nodes")}
        return {name: there.get(name) for name in wanted}
    return {name: api.get(f"/api/v1/nodes/{name}") for name in wanted}
